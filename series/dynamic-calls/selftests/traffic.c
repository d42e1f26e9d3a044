// SPDX-License-Identifier: GPL-2.0
/* Packets over the loopback device; see traffic.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "traffic.h"

/* Protocols that nobody else listens to; 0x88b5 is for experiments. */
#define PROTOCOL(flow) (0x88b5 + (flow))

#define RING_FRAMES 8
#define RING_FRAME 2048

const char *const flow_symbol[FLOWS] = {
	[FLOW_IPV4] = "ip_rcv",
	[FLOW_IPV6] = "ipv6_rcv",
	[FLOW_PACKET] = "packet_rcv",
	[FLOW_SPKT] = "packet_rcv_spkt",
	[FLOW_FANOUT] = "packet_rcv_fanout",
	[FLOW_RING] = "tpacket_rcv",
};

static struct {
	int in, out;
	uint32_t next;		/* number of the next packet */
	unsigned int frame;	/* ring only */
	unsigned char *ring;
} flows[FLOWS] = {
	[0 ... FLOWS - 1] = { .in = -1, .out = -1 },
};

static int tap = -1;

bool traffic_loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd, ret;

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return false;
	ret = ioctl(fd, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags |= IFF_UP;
	if (!ret)
		ret = ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return !ret;
}

static void loopback_address(struct sockaddr_ll *ll, int protocol)
{
	memset(ll, 0, sizeof(*ll));
	ll->sll_family = AF_PACKET;
	ll->sll_ifindex = if_nametoindex("lo");
	ll->sll_protocol = htons(protocol);
	ll->sll_halen = ETH_ALEN;
}

static const char *open_udp(enum flow flow, int family)
{
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct sockaddr *addr = family == AF_INET ? (void *)&v4 : (void *)&v6;
	socklen_t len = family == AF_INET ? sizeof(v4) : sizeof(v6);

	flows[flow].in = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	flows[flow].out = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (flows[flow].in < 0 || flows[flow].out < 0)
		return "socket of UDP";
	if (bind(flows[flow].in, addr, len))
		return "bind of UDP";
	if (getsockname(flows[flow].in, addr, &len) ||
	    connect(flows[flow].out, addr, len))
		return "connect of UDP";
	return NULL;
}

static const char *open_ring(enum flow flow)
{
	struct tpacket_req req = {
		.tp_block_size = RING_FRAMES * RING_FRAME, .tp_block_nr = 1,
		.tp_frame_size = RING_FRAME, .tp_frame_nr = RING_FRAMES,
	};
	void *ring;

	if (setsockopt(flows[flow].in, SOL_PACKET, PACKET_RX_RING, &req,
		       sizeof(req)))
		return "PACKET_RX_RING";
	ring = mmap(NULL, RING_FRAMES * RING_FRAME, PROT_READ | PROT_WRITE,
		    MAP_SHARED, flows[flow].in, 0);
	if (ring == MAP_FAILED)
		return "mmap of the ring";
	flows[flow].ring = ring;
	flows[flow].frame = 0;
	return NULL;
}

static const char *open_packet(enum flow flow)
{
	int type = flow == FLOW_SPKT ? SOCK_PACKET : SOCK_DGRAM;
	struct sockaddr spkt = { .sa_family = AF_PACKET, .sa_data = "lo" };
	const char *failed = NULL;
	struct sockaddr_ll ll;
	int ret, fanout = flow;
	int protocol = 0;

	/* Protocol 0: nothing is received before it is bound. */
	if (flow == FLOW_SPKT)
		protocol = htons(PROTOCOL(flow));
	flows[flow].in = socket(AF_PACKET, type | SOCK_CLOEXEC, protocol);
	flows[flow].out = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (flows[flow].in < 0 || flows[flow].out < 0)
		return "socket of AF_PACKET";
	if (flow == FLOW_RING)
		failed = open_ring(flow);
	if (failed)
		return failed;

	loopback_address(&ll, PROTOCOL(flow));
	if (flow == FLOW_SPKT)
		ret = bind(flows[flow].in, &spkt, sizeof(spkt));
	else
		ret = bind(flows[flow].in, (void *)&ll, sizeof(ll));
	if (ret)
		return "bind of AF_PACKET";
	if (flow == FLOW_FANOUT &&
	    setsockopt(flows[flow].in, SOL_PACKET, PACKET_FANOUT, &fanout,
		       sizeof(fanout)))
		return "PACKET_FANOUT";
	return NULL;
}

const char *traffic_open(enum flow flow)
{
	struct timeval wait = { .tv_sec = 2 };
	const char *failed;

	if (flow == FLOW_IPV4)
		failed = open_udp(flow, AF_INET);
	else if (flow == FLOW_IPV6)
		failed = open_udp(flow, AF_INET6);
	else
		failed = open_packet(flow);
	if (!failed && setsockopt(flows[flow].in, SOL_SOCKET, SO_RCVTIMEO,
				  &wait, sizeof(wait)))
		failed = "SO_RCVTIMEO";
	return failed;
}

void traffic_close(enum flow flow)
{
	if (flows[flow].ring)
		munmap(flows[flow].ring, RING_FRAMES * RING_FRAME);
	flows[flow].ring = NULL;
	if (flows[flow].in >= 0)
		close(flows[flow].in);
	if (flows[flow].out >= 0)
		close(flows[flow].out);
	flows[flow].in = -1;
	flows[flow].out = -1;
}

bool traffic_tap_open(void)
{
	struct sockaddr_ll ll;

	loopback_address(&ll, ETH_P_ALL);
	tap = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return tap >= 0 && !bind(tap, (void *)&ll, sizeof(ll));
}

unsigned long traffic_tap_drain(void)
{
	unsigned long packets = 0;
	char buf[64];

	while (recv(tap, buf, sizeof(buf), 0) >= 0)
		packets++;
	return packets;
}

void traffic_tap_close(void)
{
	if (tap >= 0)
		close(tap);
	tap = -1;
}

static bool send_one(enum flow flow, uint32_t number)
{
	struct sockaddr_ll ll;

	if (flow < FIRST_PACKET_FLOW)
		return send(flows[flow].out, &number, sizeof(number), 0) ==
		       sizeof(number);
	loopback_address(&ll, PROTOCOL(flow));
	return sendto(flows[flow].out, &number, sizeof(number), 0, (void *)&ll,
		      sizeof(ll)) == sizeof(number);
}

static bool receive_ring(enum flow flow, uint32_t *number)
{
	struct pollfd ready = { .fd = flows[flow].in, .events = POLLIN };
	volatile struct tpacket_hdr *frame;

	frame = (void *)(flows[flow].ring + flows[flow].frame * RING_FRAME);
	if (!(frame->tp_status & TP_STATUS_USER))
		poll(&ready, 1, 2000);
	if (!(frame->tp_status & TP_STATUS_USER))
		return false;
	memcpy(number, (char *)frame + frame->tp_net, sizeof(*number));
	__sync_synchronize();
	frame->tp_status = TP_STATUS_KERNEL;
	flows[flow].frame = (flows[flow].frame + 1) % RING_FRAMES;
	return true;
}

static bool receive_one(enum flow flow, uint32_t *number)
{
	unsigned char buf[128];
	ssize_t len, at = 0;

	if (flow == FLOW_RING)
		return receive_ring(flow, number);
	len = recv(flows[flow].in, buf, sizeof(buf), 0);
	/* This old kind of socket gives the link-layer header too. */
	if (flow == FLOW_SPKT)
		at = ETH_HLEN;
	if (len < at + (ssize_t)sizeof(*number))
		return false;
	memcpy(number, buf + at, sizeof(*number));
	return true;
}

unsigned long traffic_run(enum flow flow, unsigned long count,
			  unsigned long enough)
{
	unsigned long wrong = 0;
	uint32_t number;

	while (count-- && wrong < enough) {
		uint32_t sent = flows[flow].next++;

		if (!send_one(flow, sent) || !receive_one(flow, &number) ||
		    number != sent)
			wrong++;
	}
	return wrong;
}
