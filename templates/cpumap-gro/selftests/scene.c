// SPDX-License-Identifier: GPL-2.0-only
/* Sets the scene, and measures how many wire packets the receiver gets per skb. */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_link.h>

#include "kselftest.h"
#include "klog.h"
#include "scene.h"
#include "traffic.h"
#include "xdp.h"

#define STREAM_BYTES	(8ULL << 20)
#define MANY		10.0	/* wire packets per skb: GRO was at work */
#define ONE		1.5	/* it was not */
#define TRIES		3

struct scene t;

void need(int err, const char *what)
{
	if (err < 0)
		ksft_exit_fail_msg("%s: %s\n", what, strerror(-err));
}

void redirect_all(__u32 mode, int prog)
{
	need(lab_detach_xdp(&t.lab), "detach XDP");
	need(cpumap_set(t.map, t.cpu, QSIZE, prog), "set entry");
	need(lab_attach_xdp(&t.lab, t.redirect, mode), "attach XDP");
}

void redirect_none(void)
{
	need(lab_detach_xdp(&t.lab), "detach XDP");
	need(cpumap_delete(t.map, t.cpu), "delete entry");
}

static double measure(const char *what)
{
	struct ip_counters before, after;
	struct stream stream;
	double ratio;

	need(lab_read_counters(&t.lab, &before), "read counters");
	need(stream_run(&t.lab, STREAM_BYTES, &stream), "run a stream");
	need(lab_read_counters(&t.lab, &after), "read counters");
	if (!stream.complete || !stream.intact) {
		ksft_print_msg("%s: %s after %llu bytes\n", what,
			       stream.intact ? "broke off" : "damaged",
			       stream.bytes);
		return -1;
	}
	ratio = after.skbs > before.skbs ?
		(double)(after.wire - before.wire) / (after.skbs - before.skbs) :
		-1;
	ksft_print_msg("%s: %.2f wire packets per skb (%llu / %llu)\n", what,
		       ratio, (after.wire - before.wire),
		       (after.skbs - before.skbs));
	return ratio;
}

/*
 * A machine that is busy elsewhere lets queues run empty or over: what comes
 * out then is neither one nor many, and tells nothing.
 */
double packets_per_skb(const char *what)
{
	double ratio;
	int try = 0;

	do {
		ratio = measure(what);
	} while (ratio >= ONE && ratio <= MANY && ++try < TRIES);
	return ratio;
}

bool is_one(double ratio)
{
	return ratio > 0 && ratio < ONE;
}

bool is_many(double ratio)
{
	return ratio > MANY;
}

bool is_aggregated_by(double ratio, double factor)
{
	return t.baseline ? is_one(ratio) : ratio > MANY / factor;
}

bool is_aggregated(double ratio)
{
	return is_aggregated_by(ratio, 1);
}

void scene_set_up(void)
{
	cpu_set_t set;

	t.cpus = sysconf(_SC_NPROCESSORS_CONF);
	t.cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set); /* away from the entry's CPU */
	t.klog = klog_open();
	need(t.klog, "open the kernel log");
	need(lab_open(&t.lab), "build the network");
	t.map = cpumap_create(t.cpus);
	need(t.map, "create a cpumap");
	t.map2 = cpumap_create(t.cpus);
	need(t.map2, "create a cpumap");
	t.redirect = xdp_load_redirect(t.map, t.cpu);
	need(t.redirect, "load a program");
}
