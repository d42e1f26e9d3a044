/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network device whose packets come from this program: write() runs the
 * receive path up to the socket, on this CPU, before it returns. So nothing
 * but that path is between the two ends, and no packet waits or overtakes.
 */
#ifndef TAP_H
#define TAP_H

#include <stddef.h>
#include <stdint.h>

#define TAP_PORT	7777
/* For experiments: nobody else listens. */
#define TAP_ETHERTYPE	0x88b5

/*
 * Makes the device "tap0" with 10.88.0.1/24 in a network namespace of its
 * own, which this process enters. Returns its descriptor, or -1: errno tells.
 */
int tap_open(void);

/* The frame's payload is one byte, behind it. Both return its length. */
size_t tap_udp(unsigned char *frame);
size_t tap_plain(unsigned char *frame);

#endif
