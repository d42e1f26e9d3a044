// SPDX-License-Identifier: GPL-2.0-only
/* Does a cpumap lose packets or threads when its entries come and go? */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/if_link.h>

#include "kselftest.h"
#include "cpu.h"
#include "points.h"
#include "scene.h"
#include "traffic.h"
#include "xdp.h"

#define PENDING_ROUNDS	16
#define PENDING_TRIES	4	/* times that, until packets were queued */
#define PENDING_BURST	250	/* below veth's own ring of 256 */
#define POLL_BUDGET	64	/* what one poll takes at most */

/* Replaces the entry as fast as it can be; counts in shared memory. */
static pid_t start_replacing(unsigned int *count)
{
	unsigned int n = 0;
	pid_t child;

	child = fork();
	if (child)
		return child < 0 ? -errno : child;
	for (;;) {
		/* Queues of every size, so that some are full at times. */
		if (cpumap_set(t.map, t.cpu, 256 << n++ % 4, 0))
			_exit(1);
		__atomic_store_n(count, n, __ATOMIC_RELAXED);
		sleep_ms(5);
	}
}

static unsigned int replaced(const unsigned int *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

bool replaced_under_load(void)
{
	unsigned int *count;
	unsigned long until;
	bool ok = true;
	pid_t child;

	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(count == MAP_FAILED ? -errno : 0, "map a counter");
	redirect_all(XDP_FLAGS_DRV_MODE, 0);
	child = start_replacing(count);
	need(child, "start replacing");
	until = now_ms() + 3000;
	do {
		double ratio = packets_per_skb("native XDP, entry replaced");

		/* Queues that overflow cost aggregation, not bytes. */
		ok = is_aggregated_by(ratio, 2);
	} while (ok && (now_ms() < until || replaced(count) < 20));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	redirect_none();
	ksft_print_msg("%u replacements\n", replaced(count));
	munmap(count, sizeof(*count));
	return ok;
}

/*
 * Sends a burst while the entry's thread hardly runs, then calls @end, which
 * takes the entry away. Every datagram must arrive all the same. Adds up
 * those that were queued when @end was called.
 */
static int lost_by(struct burst *burst, void (*end)(unsigned int round),
		   unsigned int round, unsigned int *most_pending)
{
	int pending, lost;
	pid_t hog;

	hog = cpu_starve(t.cpu);
	need(hog, "start a busy process");
	need(burst_send(burst, PENDING_BURST), "send datagrams");
	pending = burst_collect(burst, 0);
	need(pending, "receive datagrams");
	end(round);
	sleep_ms(30); /* the grace period, and the teardown's start */
	cpu_relieve(hog);
	lost = burst_collect(burst, PATIENCE_MS);
	need(lost, "receive datagrams");
	if ((unsigned int)pending > *most_pending)
		*most_pending = pending;
	return lost;
}

/*
 * Whether there is another round: on a machine that is busy elsewhere the
 * thread may have emptied the queue each time before it was looked at.
 */
static bool goes_on(unsigned int round, unsigned int rounds,
		    unsigned int pending)
{
	return round < rounds ||
	       (pending <= POLL_BUDGET && round < rounds * PENDING_TRIES);
}

static bool is_lossless(unsigned int lost, unsigned int pending)
{
	ksft_print_msg("lost %u datagrams; up to %u were queued at the end\n",
		       lost, pending);
	/* Less than one poll's worth queued would prove nothing. */
	return !lost && pending > POLL_BUDGET;
}

static void delete_or_replace(unsigned int round)
{
	if (round % 2)
		need(cpumap_set(t.map, t.cpu, QSIZE, 0), "replace entry");
	else
		need(cpumap_delete(t.map, t.cpu), "delete entry");
}

bool teardown_pending(void)
{
	unsigned int round, lost = 0, pending = 0;
	struct burst burst;

	need(burst_open(&t.lab, &burst), "open UDP sockets");
	redirect_all(XDP_FLAGS_DRV_MODE, 0);
	for (round = 0; goes_on(round, PENDING_ROUNDS, pending); round++) {
		need(cpumap_set(t.map, t.cpu, QSIZE, 0), "set entry");
		lost += lost_by(&burst, delete_or_replace, round, &pending);
	}
	redirect_none();
	burst_close(&burst);
	return is_lossless(lost, pending);
}

static int doomed_map, doomed_prog;

static void free_map(unsigned int round)
{
	(void)round;
	need(lab_detach_xdp(&t.lab), "detach XDP");
	close(doomed_prog);
	close(doomed_map);
}

bool map_freed_pending(void)
{
	unsigned int round, lost = 0, pending = 0;
	struct burst burst;

	need(burst_open(&t.lab, &burst), "open UDP sockets");
	for (round = 0; goes_on(round, PENDING_ROUNDS / 4, pending); round++) {
		doomed_map = cpumap_create(t.cpus);
		need(doomed_map, "create a cpumap");
		doomed_prog = xdp_load_redirect(doomed_map, t.cpu);
		need(doomed_prog, "load a program");
		need(cpumap_set(doomed_map, t.cpu, QSIZE, 0), "set entry");
		need(lab_attach_xdp(&t.lab, doomed_prog, XDP_FLAGS_DRV_MODE),
		     "attach XDP");
		lost += lost_by(&burst, free_map, round, &pending);
	}
	burst_close(&burst);
	return is_lossless(lost, pending);
}

bool no_thread_left(void)
{
	bool ok = cpumap_threads_await(0, PATIENCE_MS);

	if (!ok)
		ksft_print_msg("%u threads without an entry\n",
			       cpumap_threads_read(t.cpu).count);
	return ok;
}

/* Sends for ever towards a namespace that is going away. */
static pid_t start_sending(struct lab *lab)
{
	struct burst burst;
	pid_t child;

	need(burst_open(lab, &burst), "open UDP sockets");
	close(burst.rx); /* holds the namespace */
	burst.rx = -1;
	child = fork();
	if (!child) {
		close(lab->rx_nl);
		close(lab->rx_ns);
		lab_enter(lab->tx_ns);
		while (!burst_send(&burst, 32))
			;
		_exit(0); /* the link is gone */
	}
	close(burst.tx);
	return child < 0 ? -errno : child;
}

bool netns_deleted(void)
{
	unsigned int round, gone = 0;
	struct lab lab = t.lab;
	pid_t child;

	for (round = 0; round < 5; round++) {
		unsigned long until = now_ms() + PATIENCE_MS;

		need(lab_open(&t.lab), "build a second network");
		redirect_all(XDP_FLAGS_DRV_MODE, 0);
		child = start_sending(&t.lab);
		need(child, "start sending");
		sleep_ms(50);
		lab_abandon_rx(&t.lab);
		while (lab_has_link(&t.lab) && now_ms() < until)
			sleep_ms(10);
		gone += !lab_has_link(&t.lab);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		lab_close(&t.lab);
	}
	t.lab = lab;
	ksft_print_msg("%u of %u namespaces deleted\n", gone, round);
	return gone == round && native_xdp();
}

bool cpu_offline(void)
{
	double away, fresh, back;

	redirect_all(XDP_FLAGS_DRV_MODE, 0);
	need(cpu_set_online(t.cpu, false), "take the CPU offline");
	away = packets_per_skb("native XDP, CPU went offline");
	need(cpumap_set(t.map, t.cpu, QSIZE, 0), "make entry of offline CPU");
	fresh = packets_per_skb("native XDP, entry made while offline");
	need(cpu_set_online(t.cpu, true), "take the CPU online");
	back = packets_per_skb("native XDP, CPU came back");
	redirect_none();
	return is_aggregated(away) && is_aggregated(fresh) &&
	       is_aggregated(back);
}
