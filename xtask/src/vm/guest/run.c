// SPDX-License-Identifier: GPL-2.0-only
/* Runs one test: its streams, its time, its end, and whatever it left behind. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

/* Conventions of the kernel's own selftests. */
#define KSFT_SKIP	4
#define KSFT_TIMEOUT	124

struct stream {
	int fd;
	const char *prefix;
	size_t len;
	char buf[LINE_SIZE];
};

static void stream_bytes(struct stream *s, const char *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (buf[i] == '\n' || s->len == sizeof(s->buf)) {
			forward(s->prefix, s->buf, s->len);
			s->len = 0;
			if (buf[i] == '\n')
				continue;
		}
		s->buf[s->len++] = buf[i];
	}
}

/* False when the stream has ended. */
static bool stream_read(struct stream *s)
{
	char buf[LINE_SIZE];
	ssize_t n = read(s->fd, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	stream_bytes(s, buf, n);
	return n > 0;
}

static void stream_end(struct stream *s)
{
	if (s->len)
		forward(s->prefix, s->buf, s->len);
	s->len = 0;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* As init every process but ourselves is a test's; else those below us are. */
static void kill_all(pid_t group, int sig)
{
	char path[64], buf[4096];
	ssize_t n = 0;
	int fd;

	kill(-group, sig);
	if (is_init) {
		kill(-1, sig);
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, buf, sizeof(buf) - 1);
		close(fd);
	}
	if (n > 0) {
		char *save = NULL, *word;

		buf[n] = '\0';
		for (word = strtok_r(buf, " ", &save); word; word = strtok_r(NULL, " ", &save))
			if (atoi(word) > 1)
				kill(atoi(word), sig);
	}
}

/* Reaps whatever has ended; true once the child is among it. */
static bool reap(pid_t child, int *status)
{
	bool found = false;
	pid_t pid;
	int st;

	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		if (pid == child) {
			*status = st;
			found = true;
		}
	}
	return found;
}

static pid_t start(struct test *t, int out, int err)
{
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	setsid();
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(out, 1);
	dup2(err, 2);
	signal(SIGPIPE, SIG_DFL);
	if (chdir(t->dir))
		fprintf(stderr, "cannot go to %s: %s\n", t->dir, strerror(errno));
	execv(t->argv[0], t->argv);
	fprintf(stderr, "cannot run %s: %s\n", t->argv[0], strerror(errno));
	_exit(127);
}

struct run {
	int status;
	bool timed_out, stuck;
};

static void supervise(struct test *t, pid_t child, struct stream *out, struct stream *err,
		      struct run *r)
{
	double end = now() + t->timeout, kill_at = 0, stuck_at = 0, drain = 0;
	bool ended = false;

	for (;;) {
		struct pollfd fds[2] = {
			{ .fd = out->fd, .events = POLLIN },
			{ .fd = err->fd, .events = POLLIN },
		};

		poll(fds, 2, 50);
		beat();
		if (fds[0].revents && !stream_read(out))
			stream_end(out);
		if (fds[1].revents && !stream_read(err))
			stream_end(err);
		if (!ended && reap(child, &r->status)) {
			ended = true;
			/* Children it left may hold the pipes open. */
			drain = now() + 0.3;
		}
		if (ended && ((out->fd < 0 && err->fd < 0) || now() > drain))
			return;
		if (!ended && !r->timed_out && t->timeout > 0 && now() > end) {
			r->timed_out = true;
			kill(-child, SIGTERM);
			kill_at = now() + 2;
		}
		if (!ended && kill_at && now() > kill_at) {
			kill_all(child, SIGKILL);
			kill_at = 0;
			stuck_at = now() + 10;
		}
		if (!ended && stuck_at && now() > stuck_at) {
			/* Where do they wait? The console will say. */
			write_file("/proc/sysrq-trigger", "w");
			write_file("/proc/sysrq-trigger", "l");
			r->stuck = true;
			return;
		}
	}
}

static void result(int number, struct test *t, struct run *r)
{
	int code = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : -1;

	if (r->timed_out) {
		say(ktap_fd, "not ok %d - %s # TIMEOUT %ld seconds\n", number, t->name, t->timeout);
	} else if (code == 0) {
		say(ktap_fd, "ok %d - %s\n", number, t->name);
	} else if (code == KSFT_SKIP) {
		say(ktap_fd, "ok %d - %s # SKIP\n", number, t->name);
	} else if (code == KSFT_TIMEOUT) {
		say(ktap_fd, "not ok %d - %s # TIMEOUT exit code 124\n", number, t->name);
	} else if (code > 0) {
		say(ktap_fd, "# exit code %d\nnot ok %d - %s\n", code, number, t->name);
	} else {
		say(ktap_fd, "# ended by signal %d (%s)\nnot ok %d - %s\n",
		    WTERMSIG(r->status), strsignal(WTERMSIG(r->status)), number, t->name);
	}
}

static void run_program(int number, struct test *t)
{
	struct stream out = { .fd = -1, .prefix = "  " };
	struct stream err = { .fd = -1, .prefix = "  # stderr: " };
	struct run r = { 0 };
	int o[2], e[2], i;
	pid_t child;

	if (pipe2(o, O_CLOEXEC) || pipe2(e, O_CLOEXEC))
		bail("pipe for", t->name, errno);
	fcntl(o[0], F_SETFL, O_NONBLOCK);
	fcntl(e[0], F_SETFL, O_NONBLOCK);
	child = start(t, o[1], e[1]);
	if (child < 0)
		bail("fork for", t->name, errno);
	close(o[1]);
	close(e[1]);
	out.fd = o[0];
	err.fd = e[0];
	supervise(t, child, &out, &err, &r);
	stream_end(&out);
	stream_end(&err);
	if (r.stuck) {
		say(ktap_fd, "# it cannot be killed; the console has the blocked tasks\n");
		result(number, t, &r);
		say(ktap_fd, "Bail out! %s cannot be killed\n", t->name);
		leave("stuck");
	}
	/* Nothing of this test may run beside the next one. */
	for (i = 0; i < 100; i++) {
		int st;

		kill_all(child, SIGKILL);
		reap(0, &st);
		if (waitpid(-1, &st, WNOHANG) < 0 && errno == ECHILD)
			break;
		usleep(10 * 1000);
	}
	result(number, t, &r);
}

/* KUnit keeps what its suites wrote; a line "not ok" that is no skip fails it. */
static void run_kunit(int number, struct test *t)
{
	char path[512], *line = NULL;
	bool good = true;
	size_t size = 0;
	long lines = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kunit/%s/results", t->argv[0]);
	f = fopen(path, "re");
	if (!f) {
		say(ktap_fd, "# %s: %s; is the suite built in, and CONFIG_KUNIT_DEBUGFS set?\n",
		    path, strerror(errno));
		say(ktap_fd, "not ok %d - %s\n", number, t->name);
		return;
	}
	while ((n = getline(&line, &size, f)) > 0) {
		char *p = line;

		if (line[n - 1] == '\n')
			line[--n] = '\0';
		forward("  ", line, n < LINE_SIZE ? n : LINE_SIZE);
		while (*p == ' ')
			p++;
		lines++;
		if (!strncmp(p, "not ok ", 7) && !strcasestr(p, "# SKIP") &&
		    !strcasestr(p, "# TODO"))
			good = false;
		beat();
	}
	free(line);
	fclose(f);
	if (!lines)
		say(ktap_fd, "# %s is empty: the suite has not run\n", path);
	say(ktap_fd, "%s %d - %s\n", good && lines ? "ok" : "not ok", number, t->name);
}

void run_test(int number, struct test *t)
{
	forward_reset();
	if (t->kind == KUNIT)
		run_kunit(number, t);
	else
		run_program(number, t);
}
