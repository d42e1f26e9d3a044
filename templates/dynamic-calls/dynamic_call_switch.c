/* Follow the switches. */
static void dynamic_call_switch(struct dynamic_call *dc)
{
	bool on = dynamic_call_enabled && dc->enabled;
	void *next[DYNAMIC_CALL_BRANCHES];
	int i;

	lockdep_assert_held(&dynamic_call_mutex);
	if (on && dc->state == DYNAMIC_CALL_OFF) {
		dc->pause = dynamic_call_pause_min;
		dc->old = false;
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
