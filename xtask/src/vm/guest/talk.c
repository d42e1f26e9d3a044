// SPDX-License-Identifier: GPL-2.0-only
/* The agent's voice: lines to the ports, marks on the console. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

int ktap_fd = -1, ctl_fd = -1;
long output_limit = 8 << 20;

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

void write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		buf += n;
		len -= n;
	}
}

void say(int fd, const char *fmt, ...)
{
	char buf[LINE_SIZE + 64];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n > 0 && fd >= 0)
		write_all(fd, buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

/* A mark on the console, by way of the kernel's log so that lines stay whole. */
void mark(const char *fmt, ...)
{
	char buf[1024];
	va_list ap;
	int fd, n;

	n = snprintf(buf, sizeof(buf), "<6>kseries: ");
	va_start(ap, fmt);
	n += vsnprintf(buf + n, sizeof(buf) - n - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(buf) - 2)
		n = sizeof(buf) - 2;
	buf[n++] = '\n';
	fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open("/dev/console", O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return;
	write_all(fd, buf, n);
	close(fd);
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	write_all(fd, text, strlen(text));
	close(fd);
}

/* A sign of life, once a second: the host tells a long test from a hung guest. */
void beat(void)
{
	static double last;

	if (now() - last >= 1) {
		last = now();
		say(ctl_fd, "beat %.1f\n", last);
	}
}

static long forwarded;

void forward(const char *prefix, const char *text, size_t len)
{
	char out[LINE_SIZE + 32];
	size_t n = strlen(prefix);

	if (forwarded > output_limit)
		return;
	forwarded += n + len + 1;
	if (forwarded > output_limit) {
		say(ktap_fd, "  # more than %ld bytes of output: the rest is dropped\n",
		    output_limit);
		return;
	}
	/* One write a line: lines of the two streams must not mix. */
	memcpy(out, prefix, n);
	memcpy(out + n, text, len);
	out[n + len] = '\n';
	write_all(ktap_fd, out, n + len + 1);
}

/* The limit holds for each test. */
void forward_reset(void)
{
	forwarded = 0;
}
