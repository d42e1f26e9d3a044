// SPDX-License-Identifier: GPL-2.0
/*
 * How many packets of one byte does the receive path take in a second?
 *
 *   receive [packets]
 *
 * Three loads, each with a handler of its own behind the call that the series
 * changes: UDP over IPv4 (ip_rcv), the same while a packet socket listens to
 * all (deliver_skb to packet_rcv, then ip_rcv), and a protocol that is only
 * known to a packet socket (packet_rcv). The packets come from a tap device,
 * a batch of them, and are then taken from the socket and looked at: none may
 * be lost, doubled or changed.
 *
 * Each load runs for a while before it is measured, so that the calls have
 * learned their targets. A run takes at least that many packets and at least
 * a second. Prints KTAP, and a line for each figure and run.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"
#include "module.h"
#include "tap.h"

#define BATCH		64
#define RUNS		3
#define RUN_NS		1000000000ull
#define WARM_UP_NS	(5 * RUN_NS / 2)
#define BUFFER		(4 << 20)

static int tap = -1;
static unsigned char next_byte;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int open_udp(void)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons(TAP_PORT),
	};
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return sock < 0 || bind(sock, (void *)&sa, sizeof(sa)) ? -1 : sock;
}

static int open_packet(int protocol)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex("tap0"),
	};
	/* Protocol 0: nothing is received before it is bound. */
	int sock = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return sock < 0 || bind(sock, (void *)&ll, sizeof(ll)) ? -1 : sock;
}

/* Takes what is there; returns how many of @count packets are as sent. */
static int take(int sock, unsigned char first, int count)
{
	static unsigned char data[BATCH + 1][4];
	static struct mmsghdr msgs[BATCH + 1];
	static struct iovec iov[BATCH + 1];
	int i, n, right = 0;

	for (i = 0; i <= BATCH; i++) {
		iov[i] = (struct iovec){ data[i], sizeof(data[i]) };
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i],
						   .msg_iovlen = 1 };
	}
	/* One more than was sent, to see if there is one. */
	n = recvmmsg(sock, msgs, count + 1, MSG_DONTWAIT, NULL);
	for (i = 0; i < n; i++)
		right += msgs[i].msg_len == 1 &&
			 data[i][0] == (unsigned char)(first + i);
	return n == count ? right : -1;
}

/* Sends and takes a batch; false when not all of it came as it was sent. */
static bool batch(unsigned char *frame, size_t len, int sock, int listener)
{
	unsigned char first = next_byte;
	char dropped[4];
	int i;

	for (i = 0; i < BATCH; i++) {
		frame[len - 1] = next_byte++;
		if (write(tap, frame, len) != (ssize_t)len)
			return false;
	}
	if (take(sock, first, BATCH) != BATCH)
		return false;
	/* The one that listens must have heard every packet, too. */
	for (i = 0; listener >= 0 && i < BATCH; i++)
		if (recv(listener, dropped, sizeof(dropped), MSG_DONTWAIT) < 0)
			return false;
	return true;
}

static bool run(const char *label, size_t (*make)(unsigned char *), int sock,
		int listener, unsigned long packets)
{
	unsigned char frame[128];
	size_t len = make(frame);
	uint64_t begun = now_ns(CLOCK_MONOTONIC), cpu, took;
	unsigned long sent;
	int i;

	while (now_ns(CLOCK_MONOTONIC) - begun < WARM_UP_NS)
		if (!batch(frame, len, sock, listener))
			return false;
	for (i = 0; i < RUNS; i++) {
		begun = now_ns(CLOCK_MONOTONIC);
		cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
		sent = 0;
		do {
			if (!batch(frame, len, sock, listener))
				return false;
			sent += BATCH;
			took = now_ns(CLOCK_MONOTONIC) - begun;
		} while (sent < packets || took < RUN_NS);
		cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		ktap_note("%s: %.0f packets/s", label, sent * 1e9 / took);
		if (make == tap_udp && listener < 0)
			ktap_note("CPU time of a UDP packet: %.1f ns",
				  (double)cpu / sent);
	}
	return true;
}

static bool all_loads(unsigned long packets, const char **failed)
{
	int udp, all, plain, size = BUFFER;

	*failed = "load af_packet";
	if (!module_loaded("af_packet") &&
	    !module_load(module_find("af_packet", NULL) ?: ""))
		return false;
	*failed = "make a tap device";
	tap = tap_open();
	if (tap < 0)
		return false;
	*failed = "open sockets";
	udp = open_udp();
	if (udp < 0 || setsockopt(udp, SOL_SOCKET, SO_RCVBUFFORCE, &size,
				  sizeof(size)))
		return false;
	*failed = "receive UDP as it was sent";
	errno = 0;
	if (!run("UDP", tap_udp, udp, -1, packets))
		return false;
	*failed = "open packet sockets";
	all = open_packet(ETH_P_ALL);
	if (all < 0)
		return false;
	*failed = "receive UDP as it was sent, with a listener";
	errno = 0;
	if (!run("UDP with a listener", tap_udp, udp, all, packets))
		return false;
	close(all);
	*failed = "open packet sockets";
	plain = open_packet(TAP_ETHERTYPE);
	if (plain < 0)
		return false;
	*failed = "receive another protocol as it was sent";
	errno = 0;
	return run("other protocol", tap_plain, plain, -1, packets);
}

int main(int argc, char **argv)
{
	unsigned long packets = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	const char *failed;
	cpu_set_t set;

	ktap_plan(1);
	/* What the kernel has to do besides, it may do elsewhere. */
	CPU_ZERO(&set);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (!all_loads(packets, &failed)) {
		ktap_note("could not %s (%s)", failed, strerror(errno));
		ktap_result(false, "every packet was received as it was sent");
	} else {
		ktap_result(true, "every packet was received as it was sent");
	}
	return ktap_exit();
}
