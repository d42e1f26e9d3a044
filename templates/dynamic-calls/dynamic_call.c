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
 *  4. If no branch changes, the review is a skip: no text is patched, and the
 *     next pause is twice as long.
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

/*
 * A function in text that is neither core nor module text may be freed without
 * notice (BPF programs): it would be harmless, since the callers' pointers decide
 * what is called, but it would hold a branch.
 */
static bool dynamic_call_may_patch(void *func)
{
	return core_kernel_text((unsigned long)func) ||
	       is_module_text_address((unsigned long)func);
}

/* Sum up the candidates of all CPUs; the rare ones may be lost. */
static void dynamic_call_merge(struct dynamic_call *dc)
{
	struct dynamic_call_candidate *seen, *slot, *merged = dynamic_call_merged;
	int cpu, i, j;

	memset(merged, 0, sizeof(dynamic_call_merged));
	for_each_possible_cpu(cpu) {
		for (i = 0; i < DYNAMIC_CALL_CANDIDATES; i++) {
			seen = &per_cpu_ptr(dc->stats, cpu)->candidate[i];
			if (!seen->func)
				break;
			slot = merged;
			for (j = 0; j < ARRAY_SIZE(dynamic_call_merged); j++) {
				if (merged[j].func == seen->func) {
					slot = &merged[j];
					break;
				}
				if (merged[j].hits < slot->hits)
					slot = &merged[j];
			}
			if (slot->func == seen->func)
				slot->hits += seen->hits;
			else if (slot->hits < seen->hits)
				*slot = *seen;
		}
	}
}

/* Take the most frequent candidate out of the merged ones. */
static bool dynamic_call_take(struct dynamic_call_candidate *best)
{
	struct dynamic_call_candidate *merged = dynamic_call_merged;
	int i, top;

	for (;;) {
		top = 0;
		for (i = 1; i < ARRAY_SIZE(dynamic_call_merged); i++)
			if (merged[i].hits > merged[top].hits)
				top = i;
		if (!merged[top].hits)
			return false;
		*best = merged[top];
		merged[top].hits = 0;
		if (dynamic_call_may_patch(best->func))
			return true;
	}
}

/*
 * Choose what the branches shall call.  A newcomer takes the weakest branch if it
 * beats it by a quarter and by DYNAMIC_CALL_SAMPLES / 16 calls: two targets
 * of about the same rate must not displace each other for ever, and a function
 * that is called now and then is not worth a comparison in every call.
 */
static bool dynamic_call_choose(struct dynamic_call *dc, void **next)
{
	unsigned long hits[DYNAMIC_CALL_BRANCHES];
	struct dynamic_call_candidate best;
	bool changed = false;
	int i, weakest;

	for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++) {
		next[i] = dc->target[i];
		hits[i] = dynamic_call_sum_hits(dc, i);
	}

	dynamic_call_merge(dc);
	while (dynamic_call_take(&best)) {
		weakest = 0;
		for (i = 1; i < DYNAMIC_CALL_BRANCHES; i++)
			if (hits[i] < hits[weakest])
				weakest = i;
		if (best.hits <= hits[weakest] + hits[weakest] / 4 +
				 DYNAMIC_CALL_SAMPLES / 16)
			break;
		next[weakest] = best.func;
		hits[weakest] = best.hits;
		changed = true;
	}
	return changed;
}

/* Make the branches call what @next says; see the comment on top. */
static void dynamic_call_patch(struct dynamic_call *dc, void **next)
{
	bool used = false;
	int i;

	static_branch_disable(&dc->fast);
	synchronize_rcu();

	for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++) {
		if (next[i] != dc->target[i]) {
			__static_call_update(dc->branch[i].key,
					     dc->branch[i].tramp,
					     next[i] == dc ? NULL : next[i]);
			WRITE_ONCE(dc->target[i], next[i]);
		}
		if (dynamic_call_used(dc, i))
			used = true;
	}

	kick_all_cpus_sync();
	if (used)
		static_branch_enable(&dc->fast);
}

static void dynamic_call_review(struct dynamic_call *dc)
{
	void *next[DYNAMIC_CALL_BRANCHES];

	dynamic_call_stop(dc);

	if (time_after(jiffies, dc->since + DYNAMIC_CALL_WINDOW) ||
	    dynamic_call_sum_misses(dc) < DYNAMIC_CALL_SAMPLES) {
		dc->restarts++;
		dynamic_call_start(dc);
		return;
	}

	if (dynamic_call_choose(dc, next)) {
		dynamic_call_patch(dc, next);
		dc->updates++;
		dc->pause = dynamic_call_pause_min;
	} else {
		dc->skips++;
		dc->pause = min(2 * dc->pause, dynamic_call_pause_max);
	}
	mod_delayed_work(dynamic_call_wq, &dc->work, dc->pause);
}

static void dynamic_call_work(struct work_struct *work)
{
	struct dynamic_call *dc = container_of(to_delayed_work(work),
					       struct dynamic_call, work);

	mutex_lock(&dynamic_call_mutex);
	switch (dc->state) {
	case DYNAMIC_CALL_LEARNING:
		dynamic_call_review(dc);
		break;
	case DYNAMIC_CALL_PAUSED:
		dynamic_call_start(dc);
		break;
	case DYNAMIC_CALL_OFF:
		break;
	}
	mutex_unlock(&dynamic_call_mutex);
}

/* Follow the switches. */
static void dynamic_call_switch(struct dynamic_call *dc)
{
	bool on = dynamic_call_enabled && dc->enabled;
	void *next[DYNAMIC_CALL_BRANCHES];
	int i;

	lockdep_assert_held(&dynamic_call_mutex);
	if (on && dc->state == DYNAMIC_CALL_OFF) {
		dc->pause = dynamic_call_pause_min;
		dynamic_call_start(dc);
	}
	if (on || dc->state == DYNAMIC_CALL_OFF)
		return;

	if (dc->state == DYNAMIC_CALL_LEARNING)
		dynamic_call_stop(dc);
	cancel_delayed_work(&dc->work);
	for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++)
		next[i] = dc;
	dynamic_call_patch(dc, next);
	dc->state = DYNAMIC_CALL_OFF;
}

#ifdef CONFIG_MODULES
static bool dynamic_call_saw(struct dynamic_call *dc, struct module *mod)
{
	struct dynamic_call_stats *stats;
	void *func;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(dc->stats, cpu);
		for (i = 0; i < DYNAMIC_CALL_CANDIDATES; i++) {
			func = READ_ONCE(stats->candidate[i].func);
			if (func && within_module((unsigned long)func, mod))
				return true;
		}
	}
	return false;
}

/*
 * The functions of @mod are not called any more, but branches and statistics
 * may still have their addresses.  A branch is never taken for a
 * pointer that no caller has; it would be taken, and rightly, for another
 * function that came to live at the same address.  All the same no text may
 * keep a jump to memory that is freed.
 */
static void dynamic_call_forget(struct dynamic_call *dc, struct module *mod)
{
	bool learning = dc->state == DYNAMIC_CALL_LEARNING;
	void *next[DYNAMIC_CALL_BRANCHES];
	bool patched = false;
	int i;

	for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++) {
		next[i] = dc->target[i];
		if (dynamic_call_used(dc, i) &&
		    within_module((unsigned long)next[i], mod)) {
			next[i] = dc;
			patched = true;
		}
	}
	if (!patched && !(learning && dynamic_call_saw(dc, mod)))
		return;

	/* What was counted so far belongs to the old targets. */
	if (learning)
		dynamic_call_stop(dc);
	if (patched) {
		dynamic_call_patch(dc, next);
		dc->unloads++;
	}
	if (learning)
		dynamic_call_start(dc);
}

static int dynamic_call_module(struct notifier_block *nb, unsigned long event,
			       void *data)
{
	struct dynamic_call *dc;

	if (event != MODULE_STATE_GOING)
		return NOTIFY_DONE;

	mutex_lock(&dynamic_call_mutex);
	list_for_each_entry(dc, &dynamic_calls, list)
		dynamic_call_forget(dc, data);
	mutex_unlock(&dynamic_call_mutex);
	return NOTIFY_OK;
}

static struct notifier_block dynamic_call_module_nb = {
	.notifier_call = dynamic_call_module,
};
#endif /* CONFIG_MODULES */

static int dynamic_call_param_set(const char *val, const struct kernel_param *kp)
{
	struct dynamic_call *dc;
	int ret;

	mutex_lock(&dynamic_call_mutex);
	ret = param_set_bool(val, kp);
	if (!ret)
		list_for_each_entry(dc, &dynamic_calls, list)
			dynamic_call_switch(dc);
	mutex_unlock(&dynamic_call_mutex);
	return ret;
}

static const struct kernel_param_ops dynamic_call_param_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = dynamic_call_param_set,
	.get = param_get_bool,
};

module_param_cb(enabled, &dynamic_call_param_ops, &dynamic_call_enabled, 0644);

static int dynamic_call_enabled_get(void *data, u64 *val)
{
	struct dynamic_call *dc = data;

	*val = READ_ONCE(dc->enabled);
	return 0;
}

static int dynamic_call_enabled_set(void *data, u64 val)
{
	struct dynamic_call *dc = data;

	if (val > 1)
		return -EINVAL;

	mutex_lock(&dynamic_call_mutex);
	WRITE_ONCE(dc->enabled, val);
	dynamic_call_switch(dc);
	mutex_unlock(&dynamic_call_mutex);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(dynamic_call_enabled_fops, dynamic_call_enabled_get,
			 dynamic_call_enabled_set, "%llu\n");

static int dynamic_call_stats_show(struct seq_file *m, void *unused)
{
	static const char * const states[] = {
		[DYNAMIC_CALL_OFF] = "off",
		[DYNAMIC_CALL_LEARNING] = "learning",
		[DYNAMIC_CALL_PAUSED] = "paused",
	};
	unsigned long hits[DYNAMIC_CALL_BRANCHES] = {};
	struct dynamic_call *dc = m->private;
	u64 all_hits, all_misses;
	int i;

	mutex_lock(&dynamic_call_mutex);
	all_hits = dc->hits;
	all_misses = dc->misses;
	if (dc->state == DYNAMIC_CALL_LEARNING) {
		all_misses += dynamic_call_sum_misses(dc);
		for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++) {
			hits[i] = dynamic_call_sum_hits(dc, i);
			all_hits += hits[i];
		}
	}
	seq_printf(m, "state %s\n", states[dc->state]);
	seq_printf(m, "hits %llu\n", all_hits);
	seq_printf(m, "misses %llu\n", all_misses);
	seq_printf(m, "updates %u\n", dc->updates);
	seq_printf(m, "skips %u\n", dc->skips);
	seq_printf(m, "restarts %u\n", dc->restarts);
	seq_printf(m, "unloads %u\n", dc->unloads);
	seq_printf(m, "pause_ms %u\n", jiffies_to_msecs(dc->pause));
	for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++)
		if (dynamic_call_used(dc, i))
			seq_printf(m, "branch%d %lu %ps\n", i, hits[i],
				   dc->target[i]);
	mutex_unlock(&dynamic_call_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(dynamic_call_stats);

/**
 * dynamic_call_register - let a dynamic call learn
 * @dc: the dynamic call; stays for ever
 *
 * By DEFINE_DYNAMIC_CALL(), once.
 * Return: 0, or -ENOMEM: then the calls stay plain.
 */
int __init dynamic_call_register(struct dynamic_call *dc)
{
	struct dentry *dir;

	if (!dynamic_call_wq)
		return -ENOMEM;

	init_irq_work(&dc->kick, dynamic_call_kick);
	INIT_DELAYED_WORK(&dc->work, dynamic_call_work);

	mutex_lock(&dynamic_call_mutex);
	list_add_tail(&dc->list, &dynamic_calls);
	dynamic_call_switch(dc);
	mutex_unlock(&dynamic_call_mutex);

	dir = debugfs_create_dir(dc->label, dynamic_call_dir);
	debugfs_create_file("stats", 0444, dir, dc, &dynamic_call_stats_fops);
	debugfs_create_file_unsafe("enabled", 0644, dir, dc,
				   &dynamic_call_enabled_fops);
	return 0;
}

static int __init dynamic_call_init(void)
{
	dynamic_call_wq = alloc_ordered_workqueue("dynamic_call", 0);
	if (!dynamic_call_wq)
		return -ENOMEM;

	dynamic_call_dir = debugfs_create_dir("dynamic_call", NULL);
#ifdef CONFIG_MODULES
	register_module_notifier(&dynamic_call_module_nb);
#endif
	return 0;
}
subsys_initcall(dynamic_call_init);
