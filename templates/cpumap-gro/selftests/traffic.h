/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traffic from the sender's namespace to the receiver's, every byte of it
 * checked on arrival. Functions return 0 or a negative errno: whether traffic
 * arrived is in the result, since it is what the tests judge.
 */
#ifndef CPUMAP_GRO_TRAFFIC_H
#define CPUMAP_GRO_TRAFFIC_H

#include <stdbool.h>
#include <linux/types.h>

struct lab;

struct stream {
	__u64 bytes;		/* arrived, in order */
	bool complete;		/* all that was sent, then end of file */
	bool intact;		/* and as it was sent */
};

/*
 * One TCP stream of @bytes, sent by a process of its own. Gives up when nothing
 * has arrived for 10 s.
 */
int stream_run(struct lab *lab, __u64 bytes, struct stream *out);

#define BURST_MAX	1024	/* datagrams */

/* Two UDP sockets, the receiver's with room for all that a test sends. */
struct burst {
	int tx;
	int rx;
	__u32 next;		/* each datagram carries its number */
	__u32 first;		/* of the last burst */
	unsigned int count;
	unsigned int missing;	/* of these, not yet seen */
	bool seen[BURST_MAX];
};

int burst_open(struct lab *lab, struct burst *burst);

/* Sends @count datagrams in one go, without waiting for anything. */
int burst_send(struct burst *burst, unsigned int count);

/*
 * Receives until all of the last burst has arrived, or nothing has for
 * @patience_ms (0: takes what is there). Returns how many datagrams are
 * missing, or a negative errno.
 */
int burst_collect(struct burst *burst, unsigned int patience_ms);
void burst_close(struct burst *burst);

#endif /* CPUMAP_GRO_TRAFFIC_H */
