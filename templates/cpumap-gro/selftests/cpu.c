// SPDX-License-Identifier: GPL-2.0-only
/* Looks at kernel threads through /proc, and at CPUs through /sys. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"

unsigned long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000UL + ts.tv_nsec / 1000000;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Adds the process @pid if it is a cpumap thread; returns whether it is. */
static bool add_thread(const char *pid, unsigned int cpu,
		       struct cpumap_threads *threads)
{
	char path[64], line[256], cpus[32];
	bool is_thread = false;
	unsigned long n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	snprintf(cpus, sizeof(cpus), "%u", cpu);
	while (fgets(line, sizeof(line), file)) {
		char *value = strchr(line, '\t');

		line[strcspn(line, "\n")] = 0;
		if (!value)
			continue;
		value++;
		if (!strncmp(line, "Name:", 5)) {
			is_thread = !strncmp(value, "cpumap/", 7);
			if (!is_thread)
				break;
			threads->count++;
		} else if (!strncmp(line, "Cpus_allowed_list:", 18)) {
			threads->bound += !strcmp(value, cpus);
		} else if (sscanf(line, "voluntary_ctxt_switches: %lu",
				  &n) == 1) {
			threads->switches += n;
		}
	}
	fclose(file);
	return is_thread;
}

static struct cpumap_threads scan(unsigned int cpu, bool idle)
{
	const struct sched_param param = {};
	struct cpumap_threads threads = {};
	struct dirent *entry;
	DIR *proc;

	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && add_thread(entry->d_name, cpu, &threads) && idle)
			sched_setscheduler(pid, SCHED_IDLE, &param);
	}
	if (proc)
		closedir(proc);
	return threads;
}

struct cpumap_threads cpumap_threads_read(unsigned int cpu)
{
	return scan(cpu, false);
}

bool cpumap_threads_await(unsigned int count, unsigned int ms)
{
	unsigned long until = now_ms() + ms;

	do {
		if (scan(0, false).count == count)
			return true;
		sleep_ms(20);
	} while (now_ms() < until);
	return false;
}

pid_t cpu_starve(unsigned int cpu)
{
	cpu_set_t set;
	pid_t hog;

	hog = fork();
	if (hog < 0)
		return -errno;
	if (!hog) {
		close_range(3, ~0U, 0); /* keeps no map or namespace alive */
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		for (;;)
			asm volatile("");
	}
	scan(cpu, true);
	return hog;
}

void cpu_relieve(pid_t hog)
{
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
}

int cpu_set_online(unsigned int cpu, bool online)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online",
		 cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, online ? "1" : "0", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}
