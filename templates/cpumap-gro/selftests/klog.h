/* SPDX-License-Identifier: GPL-2.0-only */
/* Complaints that the kernel logged while the test ran. */
#ifndef CPUMAP_GRO_KLOG_H
#define CPUMAP_GRO_KLOG_H

#include <stddef.h>

/* A descriptor at the log's end, or a negative errno. */
int klog_open(void);

/*
 * Copies the first complaint since klog_open() into @line and returns 1; 0 when
 * there is none.
 */
int klog_complaint(int klog, char *line, size_t size);

#endif /* CPUMAP_GRO_KLOG_H */
