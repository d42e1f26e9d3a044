// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of a plan inside a guest, as its init or as a program.
 *
 * Results go as KTAP to the virtio port "kseries.ktap", signs of life to
 * "kseries.ctl"; the console gets only marks of where each test begins and
 * ends, so that a splat can be told to its test. A test's standard output is
 * its KTAP, nested by two columns; its standard error becomes comments.
 *
 * Called as modprobe, insmod or rmmod it loads and unloads the modules that
 * were put into the guest.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent.h"

#define MAX_TESTS	1024

static struct test tests[MAX_TESTS];
static int nr_tests;
static const char *plan_path = "/kseries/plan";
static bool power_off;
bool is_init;

static void mount_one(const char *type, const char *dir, const char *options)
{
	mkdir(dir, 0755);
	/* What this kernel lacks, the test that needs it will say. */
	mount(type, dir, type, 0, options);
}

static void set_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	struct rlimit core = { 0, 0 };
	int fd;

	mount_one("proc", "/proc", NULL);
	mount_one("sysfs", "/sys", NULL);
	mount_one("devtmpfs", "/dev", NULL);
	mount_one("devpts", "/dev/pts", "ptmxmode=0666");
	mount_one("tmpfs", "/dev/shm", NULL);
	mount_one("tmpfs", "/tmp", "mode=1777");
	mount_one("tmpfs", "/run", NULL);
	mount_one("cgroup2", "/sys/fs/cgroup", NULL);
	mount_one("bpf", "/sys/fs/bpf", NULL);
	mount_one("debugfs", "/sys/kernel/debug", NULL);
	mount_one("tracefs", "/sys/kernel/tracing", NULL);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");

	fd = open("/dev/console", O_RDWR | O_NOCTTY);
	if (fd >= 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
		if (fd > 2)
			close(fd);
	}
	setrlimit(RLIMIT_CORE, &core);
	sethostname("kseries", 7);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		ifr.ifr_flags = IFF_UP | IFF_RUNNING;
		ioctl(fd, SIOCSIFFLAGS, &ifr);
		close(fd);
	}
}

void leave(const char *how)
{
	say(ctl_fd, "bye %s\n", how);
	mark("bye %s", how);
	if (!is_init)
		exit(0);
	/* What is still in the ports' queues must reach the host. */
	sync();
	usleep(50 * 1000);
	if (power_off)
		reboot(RB_POWER_OFF);
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static int open_port(const char *wanted)
{
	char path[512], name[128];
	struct dirent *d;
	int fd = -1;
	DIR *dir;

	dir = opendir("/sys/class/virtio-ports");
	if (!dir)
		return -1;
	while (fd < 0 && (d = readdir(dir))) {
		ssize_t n;
		int f;

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", d->d_name);
		f = open(path, O_RDONLY | O_CLOEXEC);
		if (f < 0)
			continue;
		n = read(f, name, sizeof(name) - 1);
		close(f);
		if (n <= 0)
			continue;
		name[n] = '\0';
		name[strcspn(name, "\n")] = '\0';
		if (strcmp(name, wanted))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", d->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	closedir(dir);
	return fd;
}

static void open_ports(void)
{
	double limit = now() + 10;

	for (;;) {
		if (ctl_fd < 0)
			ctl_fd = open_port("kseries.ctl");
		if (ktap_fd < 0)
			ktap_fd = open_port("kseries.ktap");
		if (ctl_fd >= 0 && ktap_fd >= 0)
			return;
		if (now() > limit)
			break;
		usleep(20 * 1000);
	}
	mark("no-port");
	leave("no-port");
}

void bail(const char *what, const char *name, int err)
{
	say(ktap_fd, "Bail out! %s %s: %s\n", what, name, strerror(err));
	leave("bail");
}

/* Words are separated by spaces; a space, '%' or control character is %XX. */
static char *decode(char *word)
{
	char *in = word, *out = word;
	unsigned int c;

	while (*in) {
		if (*in == '%' && sscanf(in + 1, "%2x", &c) == 1) {
			*out++ = c;
			in += 3;
		} else {
			*out++ = *in++;
		}
	}
	*out = '\0';
	return word;
}

static void plan_line(char *line)
{
	char *words[MAX_ARGS + 5], *save = NULL, *word;
	int nr = 0, i;

	for (word = strtok_r(line, " \n", &save); word && nr < MAX_ARGS + 5;
	     word = strtok_r(NULL, " \n", &save))
		words[nr++] = decode(word);
	if (nr < 2)
		return;
	if (!strcmp(words[0], "module")) {
		int err = load_module(words[1], nr > 2 ? words[2] : "");

		if (err)
			mark("cannot load %s: %s", words[1], strerror(err));
	} else if (!strcmp(words[0], "env") && nr > 2) {
		setenv(words[1], words[2], 1);
	} else if (!strcmp(words[0], "path")) {
		char *old = getenv("PATH"), buf[4096];

		snprintf(buf, sizeof(buf), "%s/modprobe", words[1]);
		write_file("/proc/sys/kernel/modprobe", buf);
		snprintf(buf, sizeof(buf), "%s:%s", words[1], old ? old : "/sbin:/bin");
		setenv("PATH", buf, 1);
	} else if (!strcmp(words[0], "modules")) {
		modules_dir = strdup(words[1]);
		setenv("KSERIES_MODULES", modules_dir, 1);
	} else if (!strcmp(words[0], "end")) {
		power_off = !strcmp(words[1], "poweroff");
	} else if (!strcmp(words[0], "limit")) {
		output_limit = atol(words[1]);
	} else if (nr > 4 && nr_tests < MAX_TESTS &&
		   (!strcmp(words[0], "run") || !strcmp(words[0], "kunit"))) {
		struct test *t = &tests[nr_tests++];

		t->kind = words[0][0] == 'k' ? KUNIT : RUN;
		t->name = strdup(words[1]);
		t->timeout = atol(words[2]);
		t->dir = strdup(words[3]);
		for (i = 4; i < nr && i - 4 < MAX_ARGS; i++)
			t->argv[i - 4] = strdup(words[i]);
	}
}

static int read_plan(void)
{
	FILE *plan = fopen(plan_path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!plan)
		return errno;
	while (getline(&line, &size, plan) > 0)
		plan_line(line);
	free(line);
	fclose(plan);
	return 0;
}

int main(int argc, char **argv)
{
	const char *self = base_name(argc ? argv[0] : "init");
	struct utsname u;
	int err, i;

	if (!strcmp(self, "modprobe") || !strcmp(self, "insmod") || !strcmp(self, "rmmod"))
		return module_tool(self, argc, argv);
	is_init = getpid() == 1;
	signal(SIGPIPE, SIG_IGN);
	if (is_init) {
		set_up();
		setenv("PATH", "/sbin:/bin:/usr/sbin:/usr/bin", 1);
		setenv("HOME", "/tmp", 1);
	} else {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		if (argc > 1)
			plan_path = argv[1];
	}
	/* The plan may name the modules that the ports need. */
	err = read_plan();
	open_ports();
	if (err)
		bail("cannot read", plan_path, err);
	uname(&u);
	say(ctl_fd, "hello %s %s\n", u.release, u.machine);
	say(ktap_fd, "KTAP version 1\n1..%d\n", nr_tests);
	for (i = 0; i < nr_tests; i++) {
		struct test *t = &tests[i];
		double begun = now();

		say(ctl_fd, "begin %d %s\n", i, t->name);
		mark("begin %s", t->name);
		run_test(i + 1, t);
		mark("end %s", t->name);
		say(ctl_fd, "end %d %.3f\n", i, now() - begun);
	}
	leave("done");
}
