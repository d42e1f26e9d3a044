// SPDX-License-Identifier: GPL-2.0-only
/* Is what a cpumap delivers aggregated where it can be, and only there? */
#include <stdio.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/if_link.h>

#include "kselftest.h"
#include "cpu.h"
#include "points.h"
#include "scene.h"
#include "traffic.h"
#include "xdp.h"

bool no_xdp(void)
{
	return is_many(packets_per_skb("no XDP"));
}

bool generic_xdp(void)
{
	double ratio;

	redirect_all(XDP_FLAGS_SKB_MODE, 0);
	ratio = packets_per_skb("generic XDP");
	redirect_none();
	/* A device with a generic program never has GRO: netif_elide_gro(). */
	return is_one(ratio);
}

bool native_xdp(void)
{
	double ratio;

	redirect_all(XDP_FLAGS_DRV_MODE, 0);
	ratio = packets_per_skb("native XDP");
	redirect_none();
	return is_aggregated(ratio);
}

bool gro_off(void)
{
	double ratio;

	redirect_all(XDP_FLAGS_DRV_MODE, 0);
	need(lab_set_rx_gro(&t.lab, false), "switch GRO off");
	ratio = packets_per_skb("native XDP, GRO switched off");
	need(lab_set_rx_gro(&t.lab, true), "switch GRO on");
	redirect_none();
	return is_one(ratio);
}

/* The work must be done by the entry's thread, on its CPU. */
bool own_thread(void)
{
	struct cpumap_threads before, after;
	double ratio;

	redirect_all(XDP_FLAGS_DRV_MODE, 0);
	if (!cpumap_threads_await(1, PATIENCE_MS))
		ksft_print_msg("not one thread for one entry\n");
	before = cpumap_threads_read(t.cpu);
	ratio = packets_per_skb("native XDP");
	after = cpumap_threads_read(t.cpu);
	redirect_none();
	ksft_print_msg("%u threads, %u bound to CPU %u, slept %lu times\n",
		       after.count, after.bound, t.cpu,
		       after.switches - before.switches);
	return ratio > 0 && after.count == 1 && after.bound == 1 &&
	       after.switches > before.switches;
}

static bool entry_program(int prog, __u32 mode, const char *what,
			  bool (*is_right)(double))
{
	double ratio;

	need(prog, "load a cpumap program");
	redirect_all(mode, prog);
	ratio = packets_per_skb(what);
	redirect_none();
	close(prog);
	return is_right(ratio);
}

bool program_pass(void)
{
	return entry_program(cpumap_load_verdict(XDP_PASS), XDP_FLAGS_DRV_MODE,
			     "native XDP, cpumap program passes",
			     is_aggregated);
}

bool program_pass_generic(void)
{
	return entry_program(cpumap_load_verdict(XDP_PASS), XDP_FLAGS_SKB_MODE,
			     "generic XDP, cpumap program passes", is_one);
}

bool program_redirect(void)
{
	bool ok;

	need(cpumap_set(t.map2, t.cpu, QSIZE, 0), "set second entry");
	ok = entry_program(cpumap_load_redirect(t.map2, t.cpu),
			   XDP_FLAGS_DRV_MODE,
			   "native XDP, on to a second cpumap", is_aggregated);
	need(cpumap_delete(t.map2, t.cpu), "delete second entry");
	return ok;
}

bool program_drop(void)
{
	int prog = cpumap_load_verdict(XDP_DROP), dropped, missing;
	struct burst burst;

	need(prog, "load a cpumap program");
	need(burst_open(&t.lab, &burst), "open UDP sockets");
	redirect_all(XDP_FLAGS_DRV_MODE, prog);
	need(burst_send(&burst, 100), "send datagrams");
	dropped = burst_collect(&burst, 300);
	need(cpumap_set(t.map, t.cpu, QSIZE, 0), "replace entry");
	need(burst_send(&burst, 100), "send datagrams");
	missing = burst_collect(&burst, PATIENCE_MS);
	redirect_none();
	burst_close(&burst);
	close(prog);
	ksft_print_msg("dropped %d of 100, and %d of 100 without the program\n",
		       dropped, missing);
	return dropped == 100 && missing == 0;
}
