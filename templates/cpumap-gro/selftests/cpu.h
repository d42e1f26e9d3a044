/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs, the cpumap threads bound to them, and ways to make their life hard. */
#ifndef CPUMAP_GRO_CPU_H
#define CPUMAP_GRO_CPU_H

#include <stdbool.h>
#include <sys/types.h>

/* What is seen of the kernel threads of cpumap entries, all maps together. */
struct cpumap_threads {
	unsigned int count;
	unsigned int bound;		/* of these, bound to the CPU asked for */
	unsigned long switches;		/* times they gave up the CPU, summed */
};

/* @cpu is the CPU that they should be bound to. */
struct cpumap_threads cpumap_threads_read(unsigned int cpu);

/* Waits until there are @count of them, at most @ms. True if so. */
bool cpumap_threads_await(unsigned int count, unsigned int ms);

/*
 * Starves the cpumap threads of @cpu: they get the idle policy, beside a busy
 * process. Returns that process, or a negative errno; cpu_relieve() ends it.
 */
pid_t cpu_starve(unsigned int cpu);
void cpu_relieve(pid_t hog);

/* 0 or a negative errno; -ENOENT where the CPU cannot be taken offline. */
int cpu_set_online(unsigned int cpu, bool online);

/* Milliseconds on a clock that only goes forward. */
unsigned long now_ms(void);
void sleep_ms(unsigned int ms);

#endif /* CPUMAP_GRO_CPU_H */
