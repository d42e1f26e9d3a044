/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAP on stdout, with the names that the kernel's own tests use.
 *
 * Only what the tests here need. Inside a kernel tree the same sources include
 * the header of that name in tools/testing/selftests instead.
 */
#ifndef KSELFTEST_H
#define KSELFTEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define KSFT_PASS 0
#define KSFT_FAIL 1
#define KSFT_SKIP 4

#define __printf(a, b) __attribute__((format(printf, a, b)))

static struct {
	unsigned int plan, pass, fail, skip;
} ksft;

static inline void ksft_print_header(void)
{
	/* A crash must not swallow the lines before it. */
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	printf("KTAP version 1\n");
}

static inline void ksft_set_plan(unsigned int plan)
{
	ksft.plan = plan;
	printf("1..%u\n", plan);
}

static inline __printf(1, 2) void ksft_print_msg(const char *msg, ...)
{
	va_list args;

	va_start(args, msg);
	printf("# ");
	vprintf(msg, args);
	va_end(args);
}

/* @msg ends with a newline, as it does in the kernel's tests. */
static inline __printf(2, 3) void ksft_test_result(bool ok, const char *msg, ...)
{
	va_list args;

	if (ok)
		ksft.pass++;
	else
		ksft.fail++;
	va_start(args, msg);
	printf("%sok %u ", ok ? "" : "not ", ksft.pass + ksft.fail + ksft.skip);
	vprintf(msg, args);
	va_end(args);
}

static inline __printf(1, 2) void ksft_test_result_skip(const char *msg, ...)
{
	va_list args;

	ksft.skip++;
	va_start(args, msg);
	printf("ok %u # SKIP ", ksft.pass + ksft.fail + ksft.skip);
	vprintf(msg, args);
	va_end(args);
}

static inline __attribute__((noreturn)) __printf(1, 2)
void ksft_exit_fail_msg(const char *msg, ...)
{
	va_list args;

	va_start(args, msg);
	printf("Bail out! ");
	vprintf(msg, args);
	va_end(args);
	exit(KSFT_FAIL);
}

static inline __attribute__((noreturn)) __printf(1, 2)
void ksft_exit_skip(const char *msg, ...)
{
	va_list args;

	va_start(args, msg);
	if (ksft.pass + ksft.fail + ksft.skip)
		printf("# ");
	else
		printf("1..0 # SKIP ");
	vprintf(msg, args);
	va_end(args);
	exit(KSFT_SKIP);
}

static inline __attribute__((noreturn)) void ksft_finished(void)
{
	printf("# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0\n",
	       ksft.pass, ksft.fail, ksft.skip);
	exit(ksft.plan == ksft.pass + ksft.skip ? KSFT_PASS : KSFT_FAIL);
}

#endif /* KSELFTEST_H */
