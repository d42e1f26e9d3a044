// SPDX-License-Identifier: GPL-2.0-only
/* Reads /dev/kmsg: one record a read, "prefix;text". */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "klog.h"

static const char *const complaints[] = {
	"BUG:", "WARNING:", "INFO: task", "detected stall",
	/* what the NAPI core and device removal say when they are misused */
	"Budget exhausted", "exceeding its budget", "Missing xdp_do_flush",
	"to become free. Usage count",
};

int klog_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	lseek(fd, 0, SEEK_END);
	return fd;
}

int klog_complaint(int klog, char *line, size_t size)
{
	char record[8192], *text;
	unsigned int i;
	ssize_t n;

	for (;;) {
		n = read(klog, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue; /* overwritten before it was read */
		if (n <= 0)
			return 0;
		record[n] = 0;
		text = strchr(record, ';');
		text = text ? text + 1 : record;
		for (i = 0; i < sizeof(complaints) / sizeof(*complaints); i++) {
			if (!strstr(text, complaints[i]))
				continue;
			text[strcspn(text, "\n")] = 0;
			snprintf(line, size, "%s", text);
			return 1;
		}
	}
}
