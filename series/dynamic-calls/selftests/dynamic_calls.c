// SPDX-License-Identifier: GPL-2.0
/*
 * Does the receive path learn its callees, call the right ones meanwhile, and
 * forget those that are unloaded?
 *
 * Usage: dynamic_calls [path of af_packet.ko]
 *
 * Needs root, a kernel with debugfs and symbols, and the packet socket as a
 * module. All traffic is on the loopback device of a network namespace of
 * its own. Prints KTAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"
#include "module.h"
#include "stats.h"
#include "traffic.h"

#define ONE_CORE "netif_receive_skb_one_core"
#define DELIVER "deliver_skb"
#define MODULE "af_packet"

/* Emulated machines with debugging options are slow. */
#define PATIENCE 120
/* Each lost packet is waited for: after so many there is nothing to learn. */
#define LOST_ENOUGH 3
#define UNLOADS 3
#define LOADS 2

/* What the processes of the background load share with us. */
struct load {
	volatile int stop;
	volatile unsigned long packets, wrong;
};

static const enum flow three[] = { FLOW_IPV4, FLOW_IPV6, FLOW_PACKET };
static unsigned long wrong_packets;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* With one CPU all share it. */
	sched_setaffinity(0, sizeof(set), &set);
}

/*
 * A few packets of each of the first @count entries of @flow, unless too many
 * were lost already.
 */
static bool rounds(const enum flow *flow, int count, int packets)
{
	int i;

	for (i = 0; i < count && wrong_packets < LOST_ENOUGH; i++)
		wrong_packets += traffic_run(flow[i], packets, LOST_ENOUGH);
	return wrong_packets < LOST_ENOUGH;
}

static bool open_flows(const enum flow *flow, int count)
{
	const char *failed;
	int i;

	for (i = 0; i < count; i++) {
		failed = traffic_open(flow[i]);
		if (failed) {
			ktap_note("%s for %s: %s", failed,
				  flow_symbol[flow[i]], strerror(errno));
			return false;
		}
	}
	return true;
}

static void close_flows(const enum flow *flow, int count)
{
	while (count--)
		traffic_close(flow[count]);
}

/* Off and on: no branches, and learning from now. */
static void forget(const char *call, struct stats *s)
{
	stats_enable(call, false);
	stats_enable(call, true);
	stats_read(call, s);
}

/* Traffic until all three have branches. */
static bool three_learned(struct stats *s)
{
	time_t end = time(NULL) + PATIENCE;
	bool learned, flowing;

	do {
		flowing = rounds(three, 3, 16);
		stats_read(ONE_CORE, s);
		learned = stats_calls(s, "ip_rcv") &&
			  stats_calls(s, "ipv6_rcv") &&
			  stats_calls(s, "packet_rcv");
	} while (flowing && !learned && time(NULL) < end);
	stats_note(ONE_CORE, s);
	return learned;
}

/* Traffic of the three until the call is in @state. */
static bool reach(const char *state, struct stats *s)
{
	time_t end = time(NULL) + PATIENCE;

	do {
		stats_read(ONE_CORE, s);
		if (!strcmp(s->state, state))
			return true;
	} while (rounds(three, 3, 4) && time(NULL) < end);
	return false;
}

static void test_plain(void)
{
	struct stats before, after;

	stats_enable(NULL, false);
	stats_read(ONE_CORE, &before);
	wrong_packets = 0;
	rounds(three, 3, 500);
	stats_read(ONE_CORE, &after);
	stats_note(ONE_CORE, &after);
	ktap_result(!wrong_packets && !after.branches &&
		    !strcmp(after.state, "off") && after.hits == before.hits &&
		    after.misses == before.misses,
		    "switched off: packets right, nothing counted or patched");
	stats_enable(NULL, true);
}

static void test_learn(void)
{
	struct stats before, after;

	forget(ONE_CORE, &before);
	wrong_packets = 0;
	ktap_result(three_learned(&after) && after.updates > before.updates,
		    "three hot callees have branches");
	ktap_result(!wrong_packets && after.updates > before.updates,
		    "every packet reached its own callee meanwhile");
}

static void test_hits(void)
{
	unsigned long long hits, misses, packets = 3 * 400;
	struct stats before, after;
	bool learning;

	wrong_packets = 0;
	learning = reach("learning", &before);
	rounds(three, 3, 400);
	stats_read(ONE_CORE, &after);
	stats_note(ONE_CORE, &after);
	hits = after.hits - before.hits;
	misses = after.misses - before.misses;
	ktap_note("%llu packets: %llu hits, %llu misses", packets, hits, misses);
	/* The rest of the machine may have a packet of its own. */
	ktap_result(learning && hits >= packets && misses < 50,
		    "their packets are hits");
}

static void test_pause(void)
{
	time_t end = time(NULL) + PATIENCE;
	struct stats before, after = {};
	bool silent = false, seen = false;

	wrong_packets = 0;
	/* A pause of one second, right after an update. */
	while (!seen && time(NULL) < end) {
		forget(ONE_CORE, &before);
		if (!reach("paused", &before))
			break;
		rounds(three, 3, 40);
		stats_read(ONE_CORE, &after);
		seen = !strcmp(after.state, "paused") &&
		       after.updates == before.updates &&
		       after.skips == before.skips;
		silent = after.hits == before.hits &&
			 after.misses == before.misses;
	}
	stats_note(ONE_CORE, &after);
	ktap_result(seen && silent, "nothing is counted while paused");
}

static void test_deliver(void)
{
	time_t end = time(NULL) + PATIENCE;
	unsigned long seen = 0;
	struct stats s, after;
	bool learned = false;
	int i;

	forget(DELIVER, &s);
	if (!traffic_tap_open()) {
		ktap_note("tap: %s", strerror(errno));
		ktap_result(false, "a tap has a branch of deliver_skb()");
		return;
	}
	wrong_packets = 0;
	while (!learned && time(NULL) < end && rounds(three, 2, 16)) {
		traffic_tap_drain();
		stats_read(DELIVER, &s);
		learned = stats_calls(&s, "packet_rcv") &&
			  !strcmp(s.state, "learning");
	}
	for (i = 0; i < 10; i++) {
		rounds(three, 2, 10);
		seen += traffic_tap_drain();
	}
	stats_read(DELIVER, &after);
	stats_note(DELIVER, &after);
	ktap_note("the tap saw %lu copies of 200 packets, %llu of them by its branch",
		  seen, after.hits - s.hits);
	/* On the loopback device each packet goes out, and comes in. */
	ktap_result(learned && !wrong_packets && seen == 2 * 200 &&
		    after.hits - s.hits >= 200,
		    "a tap has a branch of deliver_skb()");
	traffic_tap_close();
}

/* More hot callees than branches: the reviews find nothing to change. */
static void test_skips(void)
{
	static const char *const name = "useless updates are skipped, the pause grows";
	enum flow all[FLOWS] = {
		FLOW_IPV4, FLOW_IPV6, FLOW_PACKET, FLOW_SPKT, FLOW_FANOUT,
		FLOW_RING,
	};
	time_t end = time(NULL) + PATIENCE;
	struct stats first, last = {};
	bool opened;

	opened = open_flows(all + 3, FLOWS - 3);
	forget(ONE_CORE, &first);
	wrong_packets = 0;
	while (opened && time(NULL) < end && rounds(all, FLOWS, 8)) {
		stats_read(ONE_CORE, &last);
		if (last.updates == first.updates)
			continue;
		if (last.branches >= FLOWS) {
			close_flows(all + 3, FLOWS - 3);
			ktap_skip(name, "as many branches as callees");
			return;
		}
		if (last.skips >= first.skips + 3)
			break;
	}
	stats_note(ONE_CORE, &last);
	close_flows(all + 3, FLOWS - 3);
	ktap_result(opened && !wrong_packets &&
		    last.updates == first.updates + 1 &&
		    last.skips >= first.skips + 3 && last.pause_ms >= 8000, name);
}

/* A process that sends and receives on its own until told to stop. */
static pid_t load_start(struct load *load, enum flow flow, int cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(cpu);
	/* A packet socket that stays open here would keep the module. */
	close_flows(three, 3);
	if (traffic_open(flow)) {
		load->wrong = 1;
		_exit(1);
	}
	while (!load->stop) {
		load->wrong += traffic_run(flow, 16, 16);
		load->packets += 16;
	}
	_exit(0);
}

static void test_unload(const char *path)
{
	bool patched = true, unloaded = true, forgotten = true, loaded = true;
	unsigned long packets = 0, wrong = 0;
	struct stats before, after;
	pid_t pid[LOADS];
	struct load *load;
	int i;

	load = mmap(NULL, LOADS * sizeof(*load), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (load == MAP_FAILED) {
		ktap_note("mmap: %s", strerror(errno));
		exit(1);
	}
	for (i = 0; i < LOADS; i++)
		pid[i] = load_start(&load[i], i % 2 ? FLOW_IPV6 : FLOW_IPV4, i);

	wrong_packets = 0;
	for (i = 0; i < UNLOADS && loaded && unloaded; i++) {
		forget(ONE_CORE, &before);
		patched &= three_learned(&before);
		/* The last user goes, its branch stays. */
		traffic_close(FLOW_PACKET);
		stats_read(ONE_CORE, &before);
		patched &= stats_calls_module(&before, MODULE);

		unloaded = module_unload(MODULE, 30);
		if (!unloaded)
			ktap_note("delete_module: %s", strerror(errno));
		rounds(three, 2, 100);
		stats_read(ONE_CORE, &after);
		stats_note(ONE_CORE, &after);
		forgotten &= !stats_calls_module(&after, MODULE) &&
			     after.branches < before.branches &&
			     after.unloads > before.unloads;

		loaded = module_load(path) && open_flows(&three[2], 1);
		if (!loaded)
			ktap_note("%s: %s", path, strerror(errno));
	}
	for (i = 0; i < LOADS; i++)
		load[i].stop = 1;
	for (i = 0; i < LOADS; i++) {
		waitpid(pid[i], NULL, 0);
		packets += load[i].packets;
		wrong += load[i].wrong;
	}
	ktap_note("load: %lu packets, %lu wrong", packets, wrong);
	ktap_result(patched && unloaded && loaded,
		    "a callee with a branch unloads under load");
	ktap_result(unloaded && forgotten, "its branch is gone with it");
	ktap_result(packets > 1000 && !wrong && !wrong_packets,
		    "no packet is lost in any unload");
	forget(ONE_CORE, &before);
	wrong_packets = 0;
	ktap_result(loaded && three_learned(&after),
		    "loaded again, it is learned again");
}

static void test_switch(void)
{
	struct stats before, after;

	stats_enable(ONE_CORE, false);
	stats_read(ONE_CORE, &before);
	wrong_packets = 0;
	rounds(three, 3, 1200);
	stats_read(ONE_CORE, &after);
	stats_note(ONE_CORE, &after);
	ktap_result(!strcmp(after.state, "off") && !after.branches &&
		    !wrong_packets && after.hits == before.hits &&
		    after.misses == before.misses,
		    "the switch of one call takes its branches away");
	stats_enable(ONE_CORE, true);
	ktap_result(three_learned(&after) && !wrong_packets,
		    "switched on, it learns anew");
}

static int no_dynamic_calls(void)
{
	struct utsname uts;

	if (!uname(&uts) && strcmp(uts.machine, "x86_64") &&
	    strcmp(uts.machine, "i686")) {
		printf("KTAP version 1\n1..1\n");
		wrong_packets = 0;
		rounds(three, 2, 1000);
		ktap_note("%s: calls are plain", uts.machine);
		ktap_result(!wrong_packets, "packets are right");
		return ktap_exit();
	}
	printf("KTAP version 1\n1..1\n");
	ktap_result(false, "the kernel has dynamic calls");
	return 1;
}

int main(int argc, char **argv)
{
	struct stats s;
	const char *path;

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	pin(0);

	if (unshare(CLONE_NEWNET) || !traffic_loopback_up() ||
	    !open_flows(three, 2)) {
		printf("Bail out! no network: %s\n", strerror(errno));
		return 1;
	}
	if (!stats_read(ONE_CORE, &s) || !stats_read(DELIVER, &s))
		return no_dynamic_calls();

	path = module_find(MODULE, argc > 1 ? argv[1] : NULL);
	if (!path && !module_loaded(MODULE)) {
		printf("Bail out! no %s.ko\n", MODULE);
		return 1;
	}
	if (path && !module_loaded(MODULE) && !module_load(path)) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		return 1;
	}

	ktap_plan(14);
	ktap_note("%ld CPUs", sysconf(_SC_NPROCESSORS_ONLN));
	ktap_result(open_flows(&three[2], 1), "the packet socket is a module");
	test_plain();
	test_learn();
	test_hits();
	test_pause();
	test_deliver();
	test_skips();
	if (path) {
		test_unload(path);
	} else {
		ktap_note("%s.ko not found: cannot be loaded again", MODULE);
		ktap_result(false, "a callee with a branch unloads under load");
	}
	test_switch();
	return ktap_exit();
}
