// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of dynamic calls; included by dynamic_call.c.
 *
 * Pauses are so long that they end only when a test says so.
 */
#include <kunit/test.h>
#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#define KDC_FUNCS	(DYNAMIC_CALL_BRANCHES + 2)
#define KDC_MAX_FUNCS	10

static_assert(KDC_FUNCS <= KDC_MAX_FUNCS);

DEFINE_DYNAMIC_CALL(kunit_int, int, int);
DEFINE_DYNAMIC_CALL(kunit_void, void, int *, int);
DEFINE_DYNAMIC_CALL(kunit_noarg, long, void);
DEFINE_DYNAMIC_CALL(kunit_many, u64, u8, u16, u32, u64, const char *, int, int,
		    int);
DEFINE_DYNAMIC_CALL(kunit_slow, int, int);

typedef int kdc_func(int);

#define KDC_FUNC(n)						\
	static noinline int kdc_func##n(int x)			\
	{							\
		return x + 1000 * (n);				\
	}

KDC_FUNC(0);
KDC_FUNC(1);
KDC_FUNC(2);
KDC_FUNC(3);
KDC_FUNC(4);
KDC_FUNC(5);
KDC_FUNC(6);
KDC_FUNC(7);
KDC_FUNC(8);
KDC_FUNC(9);

static kdc_func *const kdc_funcs[KDC_MAX_FUNCS] = {
	kdc_func0, kdc_func1, kdc_func2, kdc_func3, kdc_func4,
	kdc_func5, kdc_func6, kdc_func7, kdc_func8, kdc_func9,
};

static struct dynamic_call *const kdc = &DYNAMIC_CALL(kunit_int);

static void kdc_add(int *sum, int x)
{
	*sum += x;
}

static long kdc_noarg(void)
{
	return -4711;
}

static u64 kdc_many(u8 a, u16 b, u32 c, u64 d, const char *e, int f, int g,
		    int h)
{
	return (u64)a + b + c + d + strlen(e) + f + g + h;
}

static int kdc_call(int n, int x)
{
	int ret;

	rcu_read_lock();
	ret = dynamic_call(kunit_int, kdc_funcs[n], x);
	rcu_read_unlock();
	return ret;
}

/* Call function @n @count times; tells how often it was another one. */
static int kdc_repeat(int n, int count)
{
	int i, wrong = 0;

	for (i = 0; i < count; i++)
		if (kdc_call(n, i) != i + 1000 * n)
			wrong++;
	return wrong;
}

/* Which branch calls function @n directly? */
static int kdc_branch(int n)
{
	int i;

	for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++)
		if (kdc->target[i] == kdc_funcs[n])
			return i;
	return -1;
}

static void kdc_set_enabled(struct dynamic_call *dc, bool enabled)
{
	dynamic_call_enabled_set(dc, enabled);
}

/* The review, when it is due: the state is "paused" then, and stays so. */
static void kdc_review(struct kunit *test, struct dynamic_call *dc)
{
	irq_work_sync(&dc->kick);
	flush_work(&dc->work.work);
	cancel_delayed_work_sync(&dc->work);
	KUNIT_ASSERT_EQ(test, (int)dc->state, (int)DYNAMIC_CALL_PAUSED);
}

/* End the pause. */
static void kdc_resume(struct kunit *test, struct dynamic_call *dc)
{
	KUNIT_ASSERT_EQ(test, (int)dc->state, (int)DYNAMIC_CALL_PAUSED);
	mod_delayed_work(dynamic_call_wq, &dc->work, 0);
	flush_delayed_work(&dc->work);
	KUNIT_ASSERT_EQ(test, (int)dc->state, (int)DYNAMIC_CALL_LEARNING);
}

/* All calls between these two are counted on one CPU before the review. */
static void kdc_window_begin(void)
{
	mutex_lock(&dynamic_call_mutex);
	migrate_disable();
}

static void kdc_window_end(void)
{
	migrate_enable();
	mutex_unlock(&dynamic_call_mutex);
}

/*
 * A window in which function n is called weight[n] * DYNAMIC_CALL_SAMPLES
 * times, and its review.
 */
static void kdc_window(struct kunit *test, const int *weight)
{
	int n, wrong = 0;

	kdc_window_begin();
	for (n = 0; n < KDC_FUNCS; n++)
		wrong += kdc_repeat(n, weight[n] * DYNAMIC_CALL_SAMPLES);
	kdc_window_end();
	KUNIT_EXPECT_EQ(test, wrong, 0);
	kdc_review(test, kdc);
}

#define KDC_PAUSE_MIN	(1000UL * HZ)
#define KDC_PAUSE_MAX	(64 * KDC_PAUSE_MIN)

static unsigned long kdc_saved_min, kdc_saved_max;
static bool kdc_saved_enabled;

/* A kernel that was booted with all of them switched off is tested as well. */
static bool kdc_switch_all(bool enabled)
{
	bool was;

	mutex_lock(&dynamic_call_mutex);
	was = dynamic_call_enabled;
	dynamic_call_enabled = enabled;
	mutex_unlock(&dynamic_call_mutex);
	return was;
}

static int kdc_init(struct kunit *test)
{
	kdc_saved_enabled = kdc_switch_all(true);
	kdc_saved_min = dynamic_call_pause_min;
	kdc_saved_max = dynamic_call_pause_max;
	dynamic_call_pause_min = KDC_PAUSE_MIN;
	dynamic_call_pause_max = KDC_PAUSE_MAX;
	kdc_set_enabled(kdc, false);
	kdc->hits = 0;
	kdc->misses = 0;
	kdc->updates = 0;
	kdc->skips = 0;
	kdc->restarts = 0;
	kdc_set_enabled(kdc, true);
	return 0;
}

static void kdc_exit(struct kunit *test)
{
	dynamic_call_pause_min = kdc_saved_min;
	dynamic_call_pause_max = kdc_saved_max;
	kdc_set_enabled(kdc, false);
	kdc_switch_all(kdc_saved_enabled);
	kdc_set_enabled(kdc, true);
}

static void kdc_any_prototype(struct kunit *test)
{
	struct dynamic_call *const calls[] = {
		&DYNAMIC_CALL(kunit_void), &DYNAMIC_CALL(kunit_noarg),
		&DYNAMIC_CALL(kunit_many), &DYNAMIC_CALL(kunit_slow),
	};
	kdc_func *func[2] = { kdc_func3, kdc_func4 };
	int i, round, ret, wrong = 0, sum = 0, n = 0, slow = 0;
	u64 many;
	long none;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		kdc_set_enabled(calls[i], false);
		kdc_set_enabled(calls[i], true);
	}

	/* The first round goes through the slow path, the second does not. */
	for (round = 0; round < 2; round++) {
		kdc_window_begin();
		rcu_read_lock();
		for (i = 0; i < DYNAMIC_CALL_SAMPLES; i++) {
			dynamic_call(kunit_void, kdc_add, &sum, 2);
			none = dynamic_call(kunit_noarg, kdc_noarg);
			many = dynamic_call(kunit_many, kdc_many, 255, 65535,
					    ~0U, 1ULL << 40, "12345", -6, 7, 8);
			ret = dynamic_call_slow(kunit_slow, kdc_func5,
						kdc_func5(7) + 0 * slow++, 7);
			if (none != -4711 || ret != 5007 ||
			    many != 255 + 65535 + 0xffffffffULL +
				    (1ULL << 40) + 5 - 6 + 7 + 8)
				wrong++;
		}
		rcu_read_unlock();
		kdc_window_end();
		KUNIT_EXPECT_EQ(test, wrong, 0);
		KUNIT_EXPECT_EQ(test, sum,
				(round + 1) * 2 * DYNAMIC_CALL_SAMPLES);
		KUNIT_EXPECT_EQ(test, slow, DYNAMIC_CALL_SAMPLES);
		for (i = 0; !round && i < ARRAY_SIZE(calls); i++)
			kdc_review(test, calls[i]);
	}
	KUNIT_EXPECT_PTR_EQ(test, DYNAMIC_CALL(kunit_void).target[0],
			    (void *)kdc_add);
	KUNIT_EXPECT_PTR_EQ(test, DYNAMIC_CALL(kunit_noarg).target[0],
			    (void *)kdc_noarg);
	KUNIT_EXPECT_PTR_EQ(test, DYNAMIC_CALL(kunit_many).target[0],
			    (void *)kdc_many);

	/* Pointer and arguments are evaluated once. */
	rcu_read_lock();
	ret = dynamic_call(kunit_int, func[n++], 7 + 0 * n++);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, n, 2);
	KUNIT_EXPECT_EQ(test, ret, 3007);
}

static void kdc_learns(struct kunit *test)
{
	static const int weight[KDC_FUNCS] = { [1] = 1 };
	int wrong;

	KUNIT_EXPECT_FALSE(test, static_key_enabled(&kdc->fast));
	kdc_window(test, weight);
	KUNIT_EXPECT_EQ(test, kdc->updates, 1U);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&kdc->fast));
	KUNIT_EXPECT_EQ(test, kdc_branch(1), 0);
	KUNIT_EXPECT_EQ(test, kdc_branch(0), -1);

	kdc_resume(test, kdc);
	wrong = kdc_repeat(1, 500) + kdc_repeat(0, 20);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, dynamic_call_sum_hits(kdc, 0), 500UL);
	KUNIT_EXPECT_EQ(test, dynamic_call_sum_misses(kdc), 20UL);
}

/* Where branch @i is used: what it really calls, for the argument 5. */
static int kdc_text(int i)
{
	switch (i) {
{%- for i in range(end=vars.branches) %}
	case {{ i }}:
		return static_call(DYNAMIC_CALL_BRANCH(kunit_int, {{ i }}))(5);
{%- endfor %}
	}
	return -1;
}

static void kdc_check_text(struct kunit *test)
{
	int i;

	for (i = 0; i < DYNAMIC_CALL_BRANCHES; i++)
		if (dynamic_call_used(kdc, i))
			KUNIT_EXPECT_EQ(test, kdc_text(i),
					((kdc_func *)kdc->target[i])(5));
}

/* Data and text of each branch agree, also after each changed its target. */
static void kdc_text_follows_data(struct kunit *test)
{
	static const int first[KDC_FUNCS] = { 4, 3 };
	int last[KDC_FUNCS] = {};
	int n;

	kdc_window(test, first);
	KUNIT_EXPECT_GE(test, kdc_branch(0), 0);
	kdc_check_text(test);

	kdc_resume(test, kdc);
	for (n = 2; n < KDC_FUNCS; n++)
		last[n] = 2;
	kdc_window(test, last);
	for (n = 2; n < KDC_FUNCS; n++)
		KUNIT_EXPECT_GE(test, kdc_branch(n), 0);
	kdc_check_text(test);
}

static void kdc_most_frequent(struct kunit *test)
{
	int weight[KDC_FUNCS];
	int n;

	for (n = 0; n < KDC_FUNCS; n++)
		weight[n] = 1 + n;
	kdc_window(test, weight);
	for (n = 0; n < KDC_FUNCS; n++) {
		if (n < KDC_FUNCS - DYNAMIC_CALL_BRANCHES)
			KUNIT_EXPECT_EQ(test, kdc_branch(n), -1);
		else
			KUNIT_EXPECT_GE(test, kdc_branch(n), 0);
	}
}

{# What is left alone, the switch, updates under load, the list of cases. -#}
{% include "dynamic_call_kunit_restraint.c" %}