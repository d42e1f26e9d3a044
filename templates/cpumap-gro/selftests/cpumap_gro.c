// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a cpumap aggregate what is redirected to it, and does it lose nothing when
 * its entries come and go?
 *
 * Traffic crosses a veth pair whose receiving end has an XDP program that
 * redirects all of it to a cpumap entry. How many wire packets the receiver's
 * stack gets in one skb says whether GRO was at work.
 *
 *   cpumap_gro [--baseline]
 *
 * --baseline: for kernels whose cpumap knows no GRO. Where aggregation would be
 * asked for, one packet per skb is; all the rest is the same.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "kselftest.h"
#include "klog.h"
#include "points.h"
#include "scene.h"

static bool kernel_log(void)
{
	char line[256];

	if (!klog_complaint(t.klog, line, sizeof(line)))
		return true;
	ksft_print_msg("%s\n", line);
	return false;
}

enum expectation { PLAIN, AGGREGATED, SINGLE };

static const struct {
	const char *name;
	bool (*run)(void);
	enum expectation expect;
	unsigned int cpus;	/* needed */
} points[] = {
	{ "no XDP", no_xdp, AGGREGATED, 1 },
	{ "generic XDP", generic_xdp, SINGLE, 1 },
	{ "native XDP", native_xdp, AGGREGATED, 1 },
	{ "native XDP with GRO off", gro_off, SINGLE, 1 },
	{ "native XDP with a cpumap program", program_pass, AGGREGATED, 1 },
	{ "native XDP through two cpumaps", program_redirect, AGGREGATED, 1 },
	{ "generic XDP with a cpumap program", program_pass_generic, SINGLE, 1 },
	{ "cpumap program drops, then does not", program_drop, PLAIN, 1 },
	{ "the entry's thread does the work", own_thread, PLAIN, 1 },
	{ "entry replaced under load", replaced_under_load, PLAIN, 1 },
	{ "teardown with packets queued loses none", teardown_pending, PLAIN, 1 },
	{ "map freed with packets queued loses none", map_freed_pending, PLAIN, 1 },
	{ "no thread outlives its entry", no_thread_left, PLAIN, 1 },
	{ "namespace deleted while redirecting", netns_deleted, PLAIN, 1 },
	{ "CPU offline and online again", cpu_offline, PLAIN, 2 },
	{ "kernel log has no complaint", kernel_log, PLAIN, 1 },
	{ }
};

static const char *expectation(unsigned int i)
{
	if (points[i].expect == PLAIN)
		return "";
	if (points[i].expect == SINGLE || (t.baseline && points[i].run != no_xdp))
		return ": one wire packet per skb";
	return ": more than 10 wire packets per skb";
}

int main(int argc, char **argv)
{
	unsigned int i, count = 0;

	if (argc > 1 && !strcmp(argv[1], "--baseline")) {
		t.baseline = true;
	} else if (argc > 1) {
		fprintf(stderr, "usage: cpumap_gro [--baseline]\n");
		return KSFT_FAIL;
	}
	signal(SIGPIPE, SIG_IGN);
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("needs root\n");
	while (points[count].name)
		count++;
	ksft_set_plan(count);
	scene_set_up();
	for (i = 0; i < count; i++) {
		if (t.cpus < points[i].cpus)
			ksft_test_result_skip("%s: needs %u CPUs\n",
					      points[i].name, points[i].cpus);
		else
			ksft_test_result(points[i].run(), "%s%s\n",
					 points[i].name, expectation(i));
	}
	ksft_finished();
}
