// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of static calls, for whichever implementation is built: call
 * sites patched (inline), trampolines patched (out of line), or pointers.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/static_call.h>

static noinline int sck_double(int x)
{
	return 2 * x;
}

static noinline int sck_negate(int x)
{
	return -x;
}

static noinline int sck_square(int x)
{
	return x * x;
}

static int (*const sck_funcs[])(int x) = { sck_double, sck_negate, sck_square };

static int sck_noted;

static noinline void sck_note(int x)
{
	sck_noted = x;
}

DEFINE_STATIC_CALL(sck_call, sck_double);
DEFINE_STATIC_CALL_NULL(sck_maybe, sck_note);

/* The compiler may end this with a jump to the trampoline. */
static noinline int sck_tail(int x)
{
	return static_call(sck_call)(x);
}

static noinline int sck_body(int x)
{
	return static_call(sck_call)(x) + static_call(sck_call)(1);
}

static int sck_init(struct kunit *test)
{
	kunit_info(test, "static calls: %s\n",
		   IS_ENABLED(CONFIG_HAVE_STATIC_CALL_INLINE) ? "inline" :
		   IS_ENABLED(CONFIG_HAVE_STATIC_CALL) ? "out of line" :
		   "pointers");
	static_call_update(sck_call, sck_double);
	static_call_update(sck_maybe, (typeof(sck_note) *)NULL);
	return 0;
}

static void sck_initial_target(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, STATIC_CALL_KEY(sck_call).func,
			    (void *)sck_double);
	KUNIT_EXPECT_EQ(test, sck_tail(21), 42);
	KUNIT_EXPECT_EQ(test, sck_body(20), 42);
}

/* After an update key and text name the same function, at every call site. */
static void sck_update(struct kunit *test)
{
	int i, x;

	for (i = 0; i < 3 * ARRAY_SIZE(sck_funcs); i++) {
		int (*func)(int x) = sck_funcs[i % ARRAY_SIZE(sck_funcs)];

		static_call_update(sck_call, func);
		KUNIT_EXPECT_PTR_EQ(test, STATIC_CALL_KEY(sck_call).func,
				    (void *)func);
		for (x = -3; x <= 3; x++) {
			KUNIT_EXPECT_EQ(test, sck_tail(x), func(x));
			KUNIT_EXPECT_EQ(test, sck_body(x), func(x) + func(1));
		}
	}
}

/* An update to the present target changes nothing. */
static void sck_update_same(struct kunit *test)
{
	static_call_update(sck_call, sck_square);
	static_call_update(sck_call, sck_square);
	KUNIT_EXPECT_PTR_EQ(test, STATIC_CALL_KEY(sck_call).func,
			    (void *)sck_square);
	KUNIT_EXPECT_EQ(test, sck_tail(-7), 49);
}

static void sck_null(struct kunit *test)
{
	sck_noted = 0;
	static_call_cond(sck_maybe)(1);
	KUNIT_EXPECT_EQ(test, sck_noted, 0);

	static_call_update(sck_maybe, sck_note);
	static_call_cond(sck_maybe)(2);
	KUNIT_EXPECT_EQ(test, sck_noted, 2);

	static_call_update(sck_maybe, (typeof(sck_note) *)NULL);
	KUNIT_EXPECT_PTR_EQ(test, STATIC_CALL_KEY(sck_maybe).func,
			    (void *)NULL);
	static_call_cond(sck_maybe)(3);
	KUNIT_EXPECT_EQ(test, sck_noted, 2);
}

struct sck_caller {
	unsigned long calls;
	unsigned long wrong;
};

static int sck_caller(void *data)
{
	struct sck_caller *caller = data;
	int i, ret;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++) {
			ret = sck_tail(5);
			if (ret != 10 && ret != -5 && ret != 25)
				caller->wrong++;
		}
		caller->calls += i;
		usleep_range(20, 100);
	}
	return 0;
}

/* A call that races with updates reaches one of the targets. */
static void sck_update_under_load(struct kunit *test)
{
	struct sck_caller caller = {};
	struct task_struct *task;
	int i;

	task = kthread_run(sck_caller, &caller, "sck_caller");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (i = 0; i < 100; i++) {
		static_call_update(sck_call,
				   sck_funcs[i % ARRAY_SIZE(sck_funcs)]);
		usleep_range(50, 500);
	}
	kthread_stop(task);
	KUNIT_EXPECT_GT(test, caller.calls, 0UL);
	KUNIT_EXPECT_EQ(test, caller.wrong, 0UL);
}

static struct kunit_case sck_cases[] = {
	KUNIT_CASE(sck_initial_target),
	KUNIT_CASE(sck_update),
	KUNIT_CASE(sck_update_same),
	KUNIT_CASE(sck_null),
	KUNIT_CASE(sck_update_under_load),
	{}
};

static struct kunit_suite sck_suite = {
	.name = "static_call",
	.init = sck_init,
	.test_cases = sck_cases,
};

kunit_test_suite(sck_suite);
