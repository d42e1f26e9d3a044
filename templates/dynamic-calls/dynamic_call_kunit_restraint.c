/* More targets than branches, all alike: nothing to gain, so nothing is done. */
static void kdc_skips(struct kunit *test)
{
	static const int other[KDC_FUNCS] = { [KDC_FUNCS - 1] = 8 };
	int weight[KDC_FUNCS] = {};
	void *target[DYNAMIC_CALL_BRANCHES];
	unsigned long pause = KDC_PAUSE_MIN;
	int n, skip;

	for (n = 0; n <= DYNAMIC_CALL_BRANCHES; n++)
		weight[n] = 1;
	kdc_window(test, weight);
	KUNIT_EXPECT_EQ(test, kdc->updates, 1U);
	KUNIT_EXPECT_EQ(test, kdc->pause, pause);
	memcpy(target, kdc->target, sizeof(target));

	for (skip = 1; skip <= 8; skip++) {
		kdc_resume(test, kdc);
		kdc_window(test, weight);
		pause = min(2 * pause, KDC_PAUSE_MAX);
		KUNIT_EXPECT_EQ(test, kdc->pause, pause);
	}
	KUNIT_EXPECT_EQ(test, kdc->skips, 8U);
	KUNIT_EXPECT_EQ(test, kdc->updates, 1U);
	KUNIT_EXPECT_EQ(test, memcmp(target, kdc->target, sizeof(target)), 0);

	/* A change of the load is followed at once, and often looked for. */
	kdc_resume(test, kdc);
	kdc_window(test, other);
	KUNIT_EXPECT_EQ(test, kdc->updates, 2U);
	KUNIT_EXPECT_EQ(test, kdc->pause, KDC_PAUSE_MIN);
	KUNIT_EXPECT_GE(test, kdc_branch(KDC_FUNCS - 1), 0);
}

/* A newcomer that is hardly better than the weakest branch stays out. */
static void kdc_margin(struct kunit *test)
{
	int weight[KDC_FUNCS] = {};
	int n;

	for (n = 0; n < DYNAMIC_CALL_BRANCHES; n++)
		weight[n] = 8;
	kdc_window(test, weight);
	KUNIT_EXPECT_EQ(test, kdc->updates, 1U);

	kdc_resume(test, kdc);
	weight[KDC_FUNCS - 1] = 9;
	kdc_window(test, weight);
	KUNIT_EXPECT_EQ(test, kdc->updates, 1U);
	KUNIT_EXPECT_EQ(test, kdc->skips, 1U);
	KUNIT_EXPECT_EQ(test, kdc_branch(KDC_FUNCS - 1), -1);

	kdc_resume(test, kdc);
	weight[KDC_FUNCS - 1] = 16;
	kdc_window(test, weight);
	KUNIT_EXPECT_EQ(test, kdc->updates, 2U);
	KUNIT_EXPECT_GE(test, kdc_branch(KDC_FUNCS - 1), 0);
}

/* From review to the end of the pause nothing is counted. */
static void kdc_pause_is_silent(struct kunit *test)
{
	static const int weight[KDC_FUNCS] = { 1 };
	unsigned long hits, misses;

	kdc_window(test, weight);
	hits = dynamic_call_sum_hits(kdc, 0);
	misses = dynamic_call_sum_misses(kdc);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&kdc->learn));
	KUNIT_EXPECT_EQ(test, kdc_repeat(0, 4000) + kdc_repeat(1, 4000), 0);
	KUNIT_EXPECT_EQ(test, dynamic_call_sum_hits(kdc, 0), hits);
	KUNIT_EXPECT_EQ(test, dynamic_call_sum_misses(kdc), misses);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&kdc->work));
}

/* Each window starts from nothing, or yesterday's load decides. */
static void kdc_windows_start_empty(struct kunit *test)
{
	static const int weight[KDC_FUNCS] = { [1] = 3 };
	struct dynamic_call_stats *stats;
	int cpu, i, full = 0;

	kdc_window(test, weight);
	KUNIT_EXPECT_GE(test, kdc->misses, 3ULL * DYNAMIC_CALL_SAMPLES);
	kdc_resume(test, kdc);
	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(kdc->stats, cpu);
		for (i = 0; i < DYNAMIC_CALL_CANDIDATES; i++)
			if (stats->candidate[i].func || stats->candidate[i].hits)
				full++;
	}
	KUNIT_EXPECT_EQ(test, full, 0);
	KUNIT_EXPECT_EQ(test, dynamic_call_sum_misses(kdc), 0UL);
	KUNIT_EXPECT_EQ(test, dynamic_call_sum_hits(kdc, 0), 0UL);
}

static void kdc_old_window(struct kunit *test)
{
	int wrong;

	kdc_window_begin();
	kdc->since = jiffies - DYNAMIC_CALL_WINDOW - HZ;
	wrong = kdc_repeat(2, DYNAMIC_CALL_SAMPLES);
	kdc_window_end();
	KUNIT_EXPECT_EQ(test, wrong, 0);
	irq_work_sync(&kdc->kick);
	flush_work(&kdc->work.work);
	KUNIT_EXPECT_EQ(test, kdc->updates, 0U);
	KUNIT_EXPECT_EQ(test, kdc_branch(2), -1);
}

/* What was counted long ago does not decide. */
static void kdc_old_windows_restart(struct kunit *test)
{
	static const int weight[KDC_FUNCS] = { 1 };

	kdc_old_window(test);
	KUNIT_EXPECT_EQ(test, (int)kdc->state, (int)DYNAMIC_CALL_LEARNING);
	KUNIT_EXPECT_EQ(test, kdc->restarts, 1U);
	KUNIT_EXPECT_EQ(test, dynamic_call_sum_misses(kdc), 0UL);

	/* Few calls, again and again: looked at ever more rarely. */
	kdc_old_window(test);
	KUNIT_EXPECT_EQ(test, (int)kdc->state, (int)DYNAMIC_CALL_PAUSED);
	KUNIT_EXPECT_EQ(test, kdc->restarts, 2U);
	KUNIT_EXPECT_EQ(test, kdc->pause, 2 * KDC_PAUSE_MIN);
	cancel_delayed_work_sync(&kdc->work);
	kdc_resume(test, kdc);
	kdc_old_window(test);
	KUNIT_EXPECT_EQ(test, (int)kdc->state, (int)DYNAMIC_CALL_PAUSED);
	KUNIT_EXPECT_EQ(test, kdc->pause, 4 * KDC_PAUSE_MIN);
	cancel_delayed_work_sync(&kdc->work);

	/* Many calls: reviewed, and the next old window is one by chance. */
	kdc_resume(test, kdc);
	kdc_window(test, weight);
	KUNIT_EXPECT_EQ(test, kdc->updates, 1U);
	kdc_resume(test, kdc);
	kdc->updates = 0;
	kdc_old_window(test);
	KUNIT_EXPECT_EQ(test, (int)kdc->state, (int)DYNAMIC_CALL_LEARNING);
}

static void kdc_switch_off(struct kunit *test)
{
	int weight[KDC_FUNCS];
	int n;

	for (n = 0; n < KDC_FUNCS; n++)
		weight[n] = 1;
	kdc_window(test, weight);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&kdc->fast));

	kdc_set_enabled(kdc, false);
	KUNIT_EXPECT_EQ(test, (int)kdc->state, (int)DYNAMIC_CALL_OFF);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&kdc->fast));
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&kdc->learn));
	for (n = 0; n < KDC_FUNCS; n++) {
		KUNIT_EXPECT_EQ(test, kdc_branch(n), -1);
		KUNIT_EXPECT_EQ(test, kdc_repeat(n, 2 * DYNAMIC_CALL_SAMPLES), 0);
	}
	irq_work_sync(&kdc->kick);
	flush_work(&kdc->work.work);
	KUNIT_EXPECT_EQ(test, (int)kdc->state, (int)DYNAMIC_CALL_OFF);

	kdc_set_enabled(kdc, true);
	kdc_window(test, weight);
	KUNIT_EXPECT_EQ(test, kdc->updates, 2U);
}

/* Data, and text that may vanish without notice, get no branch. */
static void kdc_text_only(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, dynamic_call_may_patch(kdc_func1));
	KUNIT_EXPECT_FALSE(test, dynamic_call_may_patch(_sinittext));
	KUNIT_EXPECT_FALSE(test, dynamic_call_may_patch(kdc));
	KUNIT_EXPECT_FALSE(test, dynamic_call_may_patch(NULL));
}

struct kdc_caller {
	struct task_struct *task;
	unsigned long calls;
	unsigned long wrong;
};

static int kdc_caller(void *data)
{
	struct kdc_caller *caller = data;
	int n, x;

	while (!kthread_should_stop()) {
		for (x = 0; x < 4096; x++) {
			n = x % KDC_FUNCS;
			if (kdc_call(n, x) != x + 1000 * n)
				caller->wrong++;
		}
		caller->calls += x;
		usleep_range(20, 100);
	}
	return 0;
}

/* No caller may reach another function while the branches change below it. */
static void kdc_update_under_load(struct kunit *test)
{
	struct kdc_caller *caller;
	unsigned long wrong = 0;
	void *next[DYNAMIC_CALL_BRANCHES];
	int cpu, i, n, round;

	if (num_online_cpus() == 1)
		kunit_info(test, "one CPU: no call can overlap an update\n");
	caller = kunit_kzalloc(test, nr_cpu_ids * sizeof(*caller), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, !!caller);
	for_each_online_cpu(cpu) {
		caller[cpu].task = kthread_create_on_node(kdc_caller,
							  &caller[cpu],
							  cpu_to_node(cpu),
							  "kdc/%d", cpu);
		if (IS_ERR(caller[cpu].task)) {
			caller[cpu].task = NULL;
			continue;
		}
		kthread_bind(caller[cpu].task, cpu);
		wake_up_process(caller[cpu].task);
	}

	for (round = 0; round < 50; round++) {
		mutex_lock(&dynamic_call_mutex);
		for (i = 0, n = round; i < DYNAMIC_CALL_BRANCHES; i++, n++)
			next[i] = kdc_funcs[n % KDC_FUNCS];
		dynamic_call_patch(kdc, next);
		mutex_unlock(&dynamic_call_mutex);
		if (round % 20 == 10)
			kdc_set_enabled(kdc, false);
		if (round % 20 == 15)
			kdc_set_enabled(kdc, true);
		usleep_range(100, 1000);
	}

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!caller[cpu].task)
			continue;
		kthread_stop(caller[cpu].task);
		KUNIT_EXPECT_GT(test, caller[cpu].calls, 0UL);
		wrong += caller[cpu].wrong;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0UL);
}

static struct kunit_case kdc_cases[] = {
	KUNIT_CASE(kdc_any_prototype),
	KUNIT_CASE(kdc_learns),
	KUNIT_CASE(kdc_text_follows_data),
	KUNIT_CASE(kdc_most_frequent),
	KUNIT_CASE(kdc_skips),
	KUNIT_CASE(kdc_margin),
	KUNIT_CASE(kdc_pause_is_silent),
	KUNIT_CASE(kdc_windows_start_empty),
	KUNIT_CASE(kdc_old_windows_restart),
	KUNIT_CASE(kdc_switch_off),
	KUNIT_CASE(kdc_text_only),
	KUNIT_CASE(kdc_update_under_load),
	{}
};

static struct kunit_suite kdc_suite = {
	.name = "dynamic_call",
	.init = kdc_init,
	.exit = kdc_exit,
	.test_cases = kdc_cases,
};

kunit_test_suite(kdc_suite);
