/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets over the loopback device, one flow for each function that the
 * receive path hands packets to. Each packet carries a number and is
 * received and compared before the next one is sent.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <stdbool.h>

enum flow {
	FLOW_IPV4,		/* ip_rcv */
	FLOW_IPV6,		/* ipv6_rcv */
	FLOW_PACKET,		/* packet_rcv, by a protocol of its own */
	FLOW_SPKT,		/* packet_rcv_spkt */
	FLOW_FANOUT,		/* packet_rcv_fanout */
	FLOW_RING,		/* tpacket_rcv */
	FLOWS
};

extern const char *const flow_symbol[FLOWS];

/* Flows from here on need the packet socket module. */
#define FIRST_PACKET_FLOW FLOW_PACKET

bool traffic_loopback_up(void);

/* Returns NULL, or what could not be done; errno says why. */
const char *traffic_open(enum flow flow);
void traffic_close(enum flow flow);

/* A packet socket that sees all packets, so that deliver_skb() is used. */
bool traffic_tap_open(void);
void traffic_tap_close(void);
unsigned long traffic_tap_drain(void);

/*
 * Sends and receives @count packets, or fewer when @enough did not come back
 * as they were sent; returns how many did not.
 */
unsigned long traffic_run(enum flow flow, unsigned long count,
			  unsigned long enough);

#endif
