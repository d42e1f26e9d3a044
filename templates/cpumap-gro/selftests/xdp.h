/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * XDP programs and cpumaps by the bpf() system call, without libbpf: a handful
 * of instructions needs no compiler, loader or BTF on the target.
 */
#ifndef CPUMAP_GRO_XDP_H
#define CPUMAP_GRO_XDP_H

#include <linux/types.h>

/* Each returns a descriptor, or a negative errno. */
int cpumap_create(__u32 max_entries);

/* Program of a device: redirects every packet to entry @cpu of @map_fd. */
int xdp_load_redirect(int map_fd, __u32 cpu);

/*
 * Programs of a cpumap entry: one gives every frame the same @verdict, the other
 * redirects every frame to entry @cpu of another map.
 */
int cpumap_load_verdict(__u32 verdict);
int cpumap_load_redirect(int map_fd, __u32 cpu);

/*
 * Makes or replaces the entry; @prog_fd 0 stands for no program. Returns 0 or a
 * negative errno.
 */
int cpumap_set(int map_fd, __u32 cpu, __u32 qsize, int prog_fd);
int cpumap_delete(int map_fd, __u32 cpu);

#endif /* CPUMAP_GRO_XDP_H */
