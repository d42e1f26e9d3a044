// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a TCP stream that a cpumap redirects cost?
 *
 *   stream [megabytes]
 *
 * The test network's receiver redirects all packets to a cpumap entry on
 * another CPU than the one that sends and receives. A run is one stream after
 * the other for at least a second; all their bytes are compared. Its figures
 * are the receiver's counters and the time that all CPUs worked.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/if_link.h>

#include "kselftest.h"
#include "lab.h"
#include "traffic.h"
#include "xdp.h"

#define QSIZE		2048
#define RUNS		3
#define RUN_SECONDS	1.0
#define MEGABYTE	1000000ULL

static struct lab lab;

static void need(int err, const char *what)
{
	if (err < 0)
		ksft_exit_fail_msg("%s: %s\n", what, strerror(-err));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/*
 * Seconds of work of all CPUs, interrupts included. Not the time that was not
 * idle: where the clock is made of ticks, as in an emulator, a CPU that misses
 * some makes the others seem to be idle for longer than there was time.
 */
static double work(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *file = fopen("/proc/stat", "re");

	if (!file || fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu",
			    &user, &nice, &system, &idle, &iowait, &irq,
			    &softirq) != 7)
		ksft_exit_fail_msg("/proc/stat cannot be read\n");
	fclose(file);
	return (double)(user + nice + system + irq + softirq) /
	       sysconf(_SC_CLK_TCK);
}

/* False when a byte went amiss. */
static bool one_stream(__u64 bytes)
{
	struct stream stream;

	need(stream_run(&lab, bytes, &stream), "run a stream");
	if (stream.complete && stream.intact)
		return true;
	ksft_print_msg("%s after %llu bytes\n",
		       stream.intact ? "broke off" : "damaged", stream.bytes);
	return false;
}

static bool measure(__u64 bytes)
{
	struct ip_counters before, after;
	double began, took, busy, megabytes = 0;

	need(lab_read_counters(&lab, &before), "read counters");
	began = now();
	busy = -work();
	do {
		if (!one_stream(bytes))
			return false;
		megabytes += (double)bytes / MEGABYTE;
		took = now() - began;
	} while (took < RUN_SECONDS);
	busy += work();
	need(lab_read_counters(&lab, &after), "read counters");
	ksft_print_msg("throughput: %.2f MB/s\n", megabytes / took);
	ksft_print_msg("CPU time of a megabyte: %.4f ms\n",
		       busy * 1e3 / megabytes);
	ksft_print_msg("aggregation: %.3f wire packets per skb (%llu / %llu)\n",
		       (double)(after.wire - before.wire) /
		       (after.skbs - before.skbs),
		       after.wire - before.wire, after.skbs - before.skbs);
	return true;
}

int main(int argc, char **argv)
{
	__u64 bytes = (argc > 1 ? strtoull(argv[1], NULL, 10) : 16) * MEGABYTE;
	int map, redirect, i;
	bool intact;
	cpu_set_t set;
	__u32 cpu;

	signal(SIGPIPE, SIG_IGN);
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("needs root\n");
	ksft_set_plan(1);
	cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	need(lab_open(&lab), "build the network");
	map = cpumap_create(sysconf(_SC_NPROCESSORS_CONF));
	need(map, "create a cpumap");
	redirect = xdp_load_redirect(map, cpu);
	need(redirect, "load a program");
	need(cpumap_set(map, cpu, QSIZE, 0), "set the entry");
	need(lab_attach_xdp(&lab, redirect, XDP_FLAGS_DRV_MODE), "attach XDP");
	intact = one_stream(bytes / 4); /* memory and caches warm up */
	for (i = 0; i < RUNS && intact; i++)
		intact = measure(bytes);
	ksft_test_result(intact, "every byte of each stream arrived\n");
	need(lab_detach_xdp(&lab), "detach XDP");
	ksft_finished();
}
