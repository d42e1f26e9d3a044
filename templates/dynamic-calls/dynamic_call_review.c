/*
 * Text that is freed without notice gets no branch: that of BPF programs, and
 * init text, of the kernel and of modules.  The callers' pointers decide what is
 * called, but a branch would be held for nothing, and jump to freed memory.
 */
static bool dynamic_call_may_patch(void *func)
{
	unsigned long addr = (unsigned long)func;
	struct module *mod;
	bool may;

	if (core_kernel_text(addr))
		return !init_section_contains(func, 1);

	preempt_disable();
	mod = __module_text_address(addr);
	may = mod && !within_module_init(addr, mod);
	preempt_enable();
	return may;
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

/*
 * Whether the statistics tell enough of the present load.  A window that took too
 * long may have ended with a new load, so the next one begins at once; but if
 * that one takes as long, there are just few calls, which are not worth two
 * patched keys each time.
 */
static bool dynamic_call_restart(struct dynamic_call *dc)
{
	bool old = time_after(jiffies, dc->since + DYNAMIC_CALL_WINDOW);
	bool thin = dynamic_call_sum_misses(dc) < DYNAMIC_CALL_SAMPLES;
	bool again = old && dc->old;

	dc->old = old;
	if (!old && !thin)
		return false;

	dc->restarts++;
	if (again) {
		dc->pause = min(2 * dc->pause, dynamic_call_pause_max);
		mod_delayed_work(dynamic_call_wq, &dc->work, dc->pause);
	} else {
		dynamic_call_start(dc);
	}
	return true;
}

static void dynamic_call_review(struct dynamic_call *dc)
{
	void *next[DYNAMIC_CALL_BRANCHES];

	dynamic_call_stop(dc);
	if (dynamic_call_restart(dc))
		return;

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
