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
