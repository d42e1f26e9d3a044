// SPDX-License-Identifier: GPL-2.0
/* A network device whose packets come from this program; see tap.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

#define OUR_ADDR	0x0a580001 /* 10.88.0.1 */
#define PEER_ADDR	0x0a580002

static unsigned char our_mac[ETH_ALEN];
static const unsigned char peer_mac[ETH_ALEN] = { 0x02, 0, 0, 0, 0, 0x02 };

static int set_address(int sock, struct ifreq *ifr, unsigned long what,
		       uint32_t addr)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(addr),
	};

	memcpy(&ifr->ifr_addr, &sa, sizeof(sa));
	return ioctl(sock, what, ifr);
}

static int set_up(void)
{
	struct ifreq ifr = { .ifr_name = "tap0" };
	int sock, ret;

	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -1;
	ret = ioctl(sock, SIOCGIFHWADDR, &ifr);
	memcpy(our_mac, ifr.ifr_hwaddr.sa_data, sizeof(our_mac));
	if (!ret)
		ret = set_address(sock, &ifr, SIOCSIFADDR, OUR_ADDR);
	if (!ret)
		ret = set_address(sock, &ifr, SIOCSIFNETMASK, 0xffffff00);
	if (!ret)
		ret = ioctl(sock, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags |= IFF_UP;
	if (!ret)
		ret = ioctl(sock, SIOCSIFFLAGS, &ifr);
	close(sock);
	return ret;
}

int tap_open(void)
{
	struct ifreq ifr = {
		.ifr_name = "tap0", .ifr_flags = IFF_TAP | IFF_NO_PI,
	};
	int tap;

	if (unshare(CLONE_NEWNET))
		return -1;
	tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (tap < 0)
		return -1;
	if (ioctl(tap, TUNSETIFF, &ifr) || set_up()) {
		close(tap);
		return -1;
	}
	return tap;
}

static size_t put_ethernet(unsigned char *frame, uint16_t protocol)
{
	struct ethhdr eth;

	memcpy(eth.h_dest, our_mac, ETH_ALEN);
	memcpy(eth.h_source, peer_mac, ETH_ALEN);
	eth.h_proto = htons(protocol);
	memcpy(frame, &eth, sizeof(eth));
	return sizeof(eth);
}

static uint16_t checksum(const void *data, size_t len)
{
	const unsigned char *byte = data;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i += 2)
		sum += byte[i] << 8 | byte[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return htons(~sum);
}

size_t tap_udp(unsigned char *frame)
{
	size_t len = put_ethernet(frame, ETH_P_IP);
	struct udphdr udp = {
		.source = htons(TAP_PORT), .dest = htons(TAP_PORT),
		.len = htons(sizeof(udp) + 1), /* no checksum */
	};
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.tot_len = htons(sizeof(ip) + sizeof(udp) + 1),
		.saddr = htonl(PEER_ADDR), .daddr = htonl(OUR_ADDR),
	};

	ip.check = checksum(&ip, sizeof(ip));
	memcpy(frame + len, &ip, sizeof(ip));
	len += sizeof(ip);
	memcpy(frame + len, &udp, sizeof(udp));
	return len + sizeof(udp) + 1;
}

size_t tap_plain(unsigned char *frame)
{
	return put_ethernet(frame, TAP_ETHERTYPE) + 1;
}
