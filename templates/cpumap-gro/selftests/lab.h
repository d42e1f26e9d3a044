/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The test network: two network namespaces joined by a veth pair.
 *
 *   tx namespace: tx0 10.77.0.1/24  <---->  rx0 10.77.0.2/24 :rx namespace
 *
 * The sender hands out one full packet per segment, checksummed by software
 * (an XDP frame carries neither GSO nor checksum state); the receiver has GRO
 * on. All functions return 0 or a negative errno unless said otherwise.
 */
#ifndef CPUMAP_GRO_LAB_H
#define CPUMAP_GRO_LAB_H

#include <stdbool.h>
#include <linux/types.h>

#define LAB_TX_ADDR 0x0a4d0001 /* 10.77.0.1 */
#define LAB_RX_ADDR 0x0a4d0002 /* 10.77.0.2 */

struct lab {
	int tx_ns;	/* namespace descriptors; -1 when closed */
	int rx_ns;
	int tx_nl;	/* rtnetlink sockets of the two namespaces */
	int rx_nl;
	int tx_ifindex;
	int rx_ifindex;
	__u32 xdp_mode;	/* of the program attached; 0: none is */
};

/* Receiver's counters, whose differences give wire packets per skb. */
struct ip_counters {
	__u64 wire;	/* IpExt InNoECTPkts: counts every segment of an skb */
	__u64 skbs;	/* Ip InReceives: counts the skb once */
};

int lab_open(struct lab *lab);

/*
 * Drops every reference this process holds to the receiver's namespace and its
 * link, so that the kernel destroys both while the sender still transmits.
 */
void lab_abandon_rx(struct lab *lab);
void lab_close(struct lab *lab);

/* Moves the calling thread into a namespace. */
int lab_enter(int ns);

/* True while the sender's end of the pair exists. */
bool lab_has_link(struct lab *lab);

/* @mode is XDP_FLAGS_DRV_MODE or XDP_FLAGS_SKB_MODE; any other is detached. */
int lab_attach_xdp(struct lab *lab, int prog_fd, __u32 mode);
int lab_detach_xdp(struct lab *lab);

int lab_set_rx_gro(struct lab *lab, bool on);
int lab_read_counters(struct lab *lab, struct ip_counters *counters);

#endif /* CPUMAP_GRO_LAB_H */
