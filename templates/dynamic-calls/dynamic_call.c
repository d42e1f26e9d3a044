// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamic calls: indirect calls that learn their targets.
 *
 * Callers count in per-CPU statistics which functions they call.  When one CPU
 * has gone through the slow path often enough, a work item reviews the targets:
 *
 *  1. Statistics are switched off, and a grace period later nobody writes them.
 *  2. Hits and candidates are summed over all possible CPUs.
 *  3. Unused branches go to the most frequent candidates, used ones only to a
 *     candidate that is clearly better.
 *  4. If no branch changes, the review is a skip: none is patched, only the key
 *     of the statistics was, and the next pause is twice as long.
 *  5. Else the branches are switched off, and a grace period later, when nobody
 *     is between the comparison and the call, those that change are patched.
 *     Then the branches are switched on again.
 *  6. When the pause is over, the statistics are zeroed and switched on.
 *
 * So no statistics are collected from the start of a review to the end of the
 * pause after it, and a load with more targets than branches, which always has
 * misses, costs a review per dynamic_call_pause_max.
 *
 * The target of a branch is known twice: as data that the callers compare with,
 * and as the text of the static call.  There is no way to change both at once.
 * A caller that found its function in the old data could run into the new text
 * and call another function.  Hence step 5: callers are RCU readers (or run with
 * preemption off, which is the same to synchronize_rcu()), so that after
 * @fast was switched off and a grace period has passed, none of them
 * looks at either until @fast is switched on again.  Those that still see
 * @fast on after static_branch_disable() has returned are older than the grace
 * period.
 *
 * Switching on needs the reverse: who sees @fast on must see the new data, and
 * run the new text.  kick_all_cpus_sync() is a full barrier and an interrupt on
 * each CPU, thus after it no CPU holds a prefetched old instruction or has an
 * older value of the data, whatever the architecture's patching does by itself.
 */
#define pr_fmt(fmt) "dynamic_call: " fmt

#include <linux/debugfs.h>
#include <linux/dynamic_call.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/sections.h>

/* Bounds of the pause after a review; the unit tests stretch them. */
static unsigned long dynamic_call_pause_min = HZ;
static unsigned long dynamic_call_pause_max = 64 * HZ;

/*
 * DYNAMIC_CALL_SAMPLES in a longer time are too few to be worth a branch, and
 * the hits beside them tell of a past load.
 */
#define DYNAMIC_CALL_WINDOW	(10 * HZ)

/* Protects all that callers do not touch; serializes all patching. */
static DEFINE_MUTEX(dynamic_call_mutex);
static LIST_HEAD(dynamic_calls);
static struct workqueue_struct *dynamic_call_wq;
static struct dentry *dynamic_call_dir;
static bool dynamic_call_enabled = true;

/* Candidates of all CPUs, merged: scratch space of a review. */
static struct dynamic_call_candidate
	dynamic_call_merged[2 * DYNAMIC_CALL_CANDIDATES];

/**
 * dynamic_call_learn - count a call that took the slow path
 * @dc: the dynamic call
 * @func: the function that is called
 *
 * From any context but NMI.  Slots are claimed once in a window and
 * keep their function, so an interrupt between the steps does no harm; with
 * preemption off all steps are on one CPU.
 */
void dynamic_call_learn(struct dynamic_call *dc, void *func)
{
	struct dynamic_call_stats __percpu *stats = dc->stats;
	void *seen;
	int i;

	preempt_disable();
	for (i = 0; i < DYNAMIC_CALL_CANDIDATES; i++) {
		seen = this_cpu_read(stats->candidate[i].func);
		if (!seen) {
			seen = this_cpu_cmpxchg(stats->candidate[i].func,
						NULL, func);
			if (!seen)
				seen = func;
		}
		if (seen == func) {
			this_cpu_inc(stats->candidate[i].hits);
			break;
		}
	}
	/*
	 * Not queue_work(): a packet may arrive by netpoll while a printk()
	 * below the workqueue's or the scheduler's locks is written out.
	 */
	if (this_cpu_inc_return(stats->misses) == DYNAMIC_CALL_SAMPLES)
		irq_work_queue(&dc->kick);
	preempt_enable();
}

static void dynamic_call_kick(struct irq_work *kick)
{
	struct dynamic_call *dc = container_of(kick, struct dynamic_call, kick);

	/* No effect in a pause: then the work is queued already. */
	queue_delayed_work(dynamic_call_wq, &dc->work, 0);
}

static bool dynamic_call_used(struct dynamic_call *dc, int i)
{
	return dc->target[i] != dc;
}

/* Zero the statistics and switch them on. */
static void dynamic_call_start(struct dynamic_call *dc)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(dc->stats, cpu), 0, sizeof(*dc->stats));
	dc->since = jiffies;
	dc->state = DYNAMIC_CALL_LEARNING;
	static_branch_enable(&dc->learn);
}

/* Switch statistics off, wait for those who still write, and keep the sums. */
static void dynamic_call_stop(struct dynamic_call *dc)
{
	struct dynamic_call_stats *stats;
	int cpu, i;

	static_branch_disable(&dc->learn);
	synchronize_rcu();
	/* The last of them may have kicked: do not let it cut the pause short. */
	irq_work_sync(&dc->kick);
	cancel_delayed_work(&dc->work);
	dc->state = DYNAMIC_CALL_PAUSED;

	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(dc->stats, cpu);
		dc->misses += stats->misses;
		for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++)
			dc->hits += stats->hits[i];
	}
}

static unsigned long dynamic_call_sum_hits(struct dynamic_call *dc, int i)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* The other CPU may count on; any value that was is fine. */
		sum += data_race(per_cpu_ptr(dc->stats, cpu)->hits[i]);
	return sum;
}

static unsigned long dynamic_call_sum_misses(struct dynamic_call *dc)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* As above. */
		sum += data_race(per_cpu_ptr(dc->stats, cpu)->misses);
	return sum;
}

{# How targets are reviewed, and how branches change. -#}
{% include "dynamic_call_review.c" %}
{# When a module goes. -#}
{% include "dynamic_call_unload.c" %}
{# Switches, statistics in debugfs, registration. -#}
{% include "dynamic_call_switch.c" %}