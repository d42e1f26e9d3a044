/* SPDX-License-Identifier: GPL-2.0-only */
/* The test points: each true when it held, with what it saw on stdout. */
#ifndef CPUMAP_GRO_POINTS_H
#define CPUMAP_GRO_POINTS_H

#include <stdbool.h>

/* aggregation.c: what reaches the receiver's stack */
bool no_xdp(void);
bool generic_xdp(void);
bool native_xdp(void);
bool gro_off(void);
bool own_thread(void);
bool program_pass(void);
bool program_pass_generic(void);
bool program_redirect(void);
bool program_drop(void);

/* lifecycle.c: entries that come and go */
bool replaced_under_load(void);
bool teardown_pending(void);
bool map_freed_pending(void);
bool no_thread_left(void);
bool netns_deleted(void);
bool cpu_offline(void);

#endif /* CPUMAP_GRO_POINTS_H */
