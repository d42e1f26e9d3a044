/* SPDX-License-Identifier: GPL-2.0 */
/* Test results in the kernel's format (Documentation/dev-tools/ktap.rst). */
#ifndef KTAP_H
#define KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int ktap_count, ktap_failed;

static inline void ktap_plan(int n)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%d\n", n);
}

/* Says what was seen, above the result it belongs to. */
static inline void ktap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

static inline bool ktap_result(bool ok, const char *name)
{
	ktap_count++;
	if (!ok)
		ktap_failed++;
	printf("%s %d - %s\n", ok ? "ok" : "not ok", ktap_count, name);
	return ok;
}

static inline void ktap_skip(const char *name, const char *why)
{
	ktap_count++;
	printf("ok %d - %s # SKIP %s\n", ktap_count, name, why);
}

static inline int ktap_exit(void)
{
	return ktap_failed ? 1 : 0;
}

#endif
