/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all test points share: the network, a cpumap and the program that
 * redirects to it, and how aggregation is measured and judged.
 */
#ifndef CPUMAP_GRO_SCENE_H
#define CPUMAP_GRO_SCENE_H

#include <stdbool.h>
#include <linux/types.h>

#include "lab.h"

#define QSIZE		2048
#define PATIENCE_MS	10000

struct scene {
	struct lab lab;
	bool baseline;		/* a kernel whose cpumap knows no GRO */
	unsigned int cpus;	/* possible */
	unsigned int cpu;	/* the entry under test, and its CPU */
	int map, map2;
	int redirect;		/* device program: all to entry @cpu of @map */
	int klog;
};

extern struct scene t;

void scene_set_up(void);

/* Bails out of the whole test when @err, a negative errno, says so. */
void need(int err, const char *what);

/* Entry with cpumap program @prog (0: none), and the way there in @mode. */
void redirect_all(__u32 mode, int prog);
void redirect_none(void);

/*
 * Wire packets per skb of one stream, or of the last of some if those before
 * it were inconclusive; a negative value if it broke.
 */
double packets_per_skb(const char *what);

/* How many packets per skb are one, how many are many; what is asked for. */
bool is_one(double ratio);
bool is_many(double ratio);
bool is_aggregated(double ratio);

/* As after @factor times less aggregation: queues may have overflown. */
bool is_aggregated_by(double ratio, double factor);

#endif /* CPUMAP_GRO_SCENE_H */
