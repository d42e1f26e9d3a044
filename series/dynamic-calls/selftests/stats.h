/* SPDX-License-Identifier: GPL-2.0 */
/* What a dynamic call says of itself in debugfs. */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>

#define MAX_BRANCHES 8

struct stats {
	char state[16];
	unsigned long long hits, misses;
	unsigned int updates, skips, restarts, unloads, pause_ms;
	int branches;			/* in use */
	char target[MAX_BRANCHES][80];	/* symbol and, for modules, [name] */
};

/* False when there is no such dynamic call, or its stats cannot be read. */
bool stats_read(const char *call, struct stats *s);

/* Is the function @symbol called directly? */
bool stats_calls(const struct stats *s, const char *symbol);

/* Does any branch lead into the module? */
bool stats_calls_module(const struct stats *s, const char *module);

void stats_note(const char *call, const struct stats *s);

/* The switch of one call; NULL: of all. */
bool stats_enable(const char *call, bool on);

#endif
