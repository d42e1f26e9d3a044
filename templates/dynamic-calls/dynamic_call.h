/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_DYNAMIC_CALL_H
#define _LINUX_DYNAMIC_CALL_H

/*
 * Dynamic calls: indirect calls that learn their targets.
 *
 * Where retpolines are in use, a call through a function pointer costs some
 * tens of cycles more than a direct one.  A dynamic call counts which functions
 * it is asked to call, and patches the most frequent ones in as direct
 * calls (static calls), each behind a comparison of the pointer.  The targets
 * are found at run time and follow the load.
 *
 * See Documentation/core-api/dynamic-call.rst.
 */

#include <linux/cache.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include <linux/stringify.h>
#include <linux/workqueue.h>

/* Carries the type of the functions; declared, but never defined. */
#define DYNAMIC_CALL_PROTO(name)	__PASTE(__dynamic_call_proto__, name)

/* In modules the calls stay plain: their call sites and keys could go away. */
#if defined(CONFIG_DYNAMIC_CALL) && !defined(MODULE)

/* Functions that a dynamic call can call directly. */
#define DYNAMIC_CALL_BRANCHES	{{ vars.branches }}

/* Distinct functions that one CPU can count in one learning window. */
#define DYNAMIC_CALL_CANDIDATES	16

/* Calls of one CPU through the slow path that make the targets reviewed. */
#define DYNAMIC_CALL_SAMPLES	1024

struct dynamic_call_candidate {
	void *func;
	unsigned long hits;
};

/**
 * struct dynamic_call_stats - what one CPU saw in the present learning window
 * @hits: calls that each direct branch took
 * @misses: calls that took the slow path
 * @candidate: functions seen in the slow path; filled in order
 */
struct dynamic_call_stats {
	unsigned long hits[DYNAMIC_CALL_BRANCHES];
	unsigned long misses;
	struct dynamic_call_candidate candidate[DYNAMIC_CALL_CANDIDATES];
};

enum dynamic_call_state {
	DYNAMIC_CALL_OFF,	/* all calls are plain */
	DYNAMIC_CALL_LEARNING,	/* statistics are collected */
	DYNAMIC_CALL_PAUSED,	/* targets were reviewed; no statistics */
};

/**
 * struct dynamic_call - a dynamic call
 * @target: what callers compare with: the function that the static call of the
 *	same index reaches, or where that branch is unused, the address of
 *	this object, since no function lives there
 * @fast: on while a branch is in use
 * @learn: on while statistics are collected
 * @label: its name, as given to DEFINE_DYNAMIC_CALL()
 * @stats: per-CPU statistics
 * @branch: key and trampoline of each static call
 * @state: see &enum dynamic_call_state
 * @enabled: the switch of this call
 * @old: the last window took too long
 * @kick: leads from any context to @work
 * @work: reviews the targets, or ends the pause
 * @pause: length of the present or next pause, in jiffies
 * @since: start of the learning window, in jiffies
 * @hits: calls by direct branches in all windows that have ended
 * @misses: calls by the slow path in all windows that have ended
 * @updates: reviews that changed the targets
 * @skips: reviews that left the targets as they were
 * @restarts: windows too old or too thin to be reviewed
 * @unloads: times that a module took targets with it
 * @list: all dynamic calls
 *
 * Callers read what stands before @label, from as few cache lines as can be.  All
 * else, and every change, belongs to the holder of dynamic_call_mutex.
 */
struct dynamic_call {
	void *target[DYNAMIC_CALL_BRANCHES];
	struct static_key_false fast;
	struct static_key_false learn;
	const char *label;
	struct dynamic_call_stats __percpu *stats;
	struct {
		struct static_call_key *key;
		void *tramp;
	} branch[DYNAMIC_CALL_BRANCHES];
	enum dynamic_call_state state;
	bool enabled;
	bool old;
	struct irq_work kick;
	struct delayed_work work;
	unsigned long pause;
	unsigned long since;
	u64 hits;
	u64 misses;
	unsigned int updates;
	unsigned int skips;
	unsigned int restarts;
	unsigned int unloads;
	struct list_head list;
} ____cacheline_aligned;

#define DYNAMIC_CALL(name)		__PASTE(__dynamic_call__, name)
#define DYNAMIC_CALL_STATS(name)	__PASTE(__dynamic_call_stats__, name)
#define DYNAMIC_CALL_BRANCH(name, i)	__dynamic_call_##i##__##name

int dynamic_call_register(struct dynamic_call *dc);
void dynamic_call_learn(struct dynamic_call *dc, void *func);

/**
 * DEFINE_DYNAMIC_CALL - define a dynamic call
 * @name: its name, which debugfs shows
 * @ret_t: type of what the functions return
 * @...: types of their arguments, or void
 *
 * At file scope of built-in code, for callers in the same file.  Until
 * late_initcall() time the calls are plain.
 */
#define DEFINE_DYNAMIC_CALL(name, ret_t, ...)				\
	ret_t DYNAMIC_CALL_PROTO(name)(__VA_ARGS__);			\
{% for i in range(end=vars.branches) -%}
{{ "	" }}DEFINE_STATIC_CALL_NULL(DYNAMIC_CALL_BRANCH(name, {{ i }}),		\
				DYNAMIC_CALL_PROTO(name));		\
{% endfor -%}
{{ "	" }}static DEFINE_PER_CPU(struct dynamic_call_stats,		\
			      DYNAMIC_CALL_STATS(name));		\
	static struct dynamic_call DYNAMIC_CALL(name) = {		\
		.target = {						\
			[0 ... DYNAMIC_CALL_BRANCHES - 1] =		\
				&DYNAMIC_CALL(name),			\
		},							\
		.fast = STATIC_KEY_FALSE_INIT,				\
		.learn = STATIC_KEY_FALSE_INIT,				\
		.label = #name,						\
		.stats = &DYNAMIC_CALL_STATS(name),			\
		.branch = {						\
{% for i in range(end=vars.branches) -%}
{{ "			" }}DYNAMIC_CALL_BRANCH_INIT(name, {{ i }}),		\
{% endfor -%}
{{ "		" }}},							\
		.enabled = true,					\
	};								\
	static int __init __dynamic_call_init__##name(void)		\
	{								\
		return dynamic_call_register(&DYNAMIC_CALL(name));	\
	}								\
	late_initcall(__dynamic_call_init__##name)

#define DYNAMIC_CALL_BRANCH_INIT(name, i)				\
	{								\
		&STATIC_CALL_KEY(DYNAMIC_CALL_BRANCH(name, i)),		\
		STATIC_CALL_TRAMP_ADDR(DYNAMIC_CALL_BRANCH(name, i)),	\
	}

static __always_inline int
dynamic_call_hit(struct dynamic_call *dc,
		 struct dynamic_call_stats __percpu *stats, int i)
{
	if (static_branch_likely(&dc->learn))
		this_cpu_inc(stats->hits[i]);
	return i;
}

/*
 * Which branch calls @func, if any?  The callers' switch on the result is
 * resolved by the compiler: what remains is a comparison a branch.
 */
static __always_inline int
dynamic_call_find(struct dynamic_call *dc,
		  struct dynamic_call_stats __percpu *stats, void *func)
{
	if (static_branch_likely(&dc->fast)) {
{%- for i in range(end=vars.branches) %}
		if (func == READ_ONCE(dc->target[{{ i }}]))
			return dynamic_call_hit(dc, stats, {{ i }});
{%- endfor %}
	}
	if (static_branch_likely(&dc->learn))
		dynamic_call_learn(dc, func);
	return -1;
}

/**
 * dynamic_call_slow - call a function by pointer, with a slow path of one's own
 * @name: a dynamic call of this file
 * @func: pointer to the function; evaluated once
 * @slow: expression that calls @func where no direct branch does
 * @...: arguments; evaluated once if a direct branch is taken, else not at all
 *
 * Context: an RCU read-side critical section, or code that does not sleep and
 * has preemption, bottom halves or interrupts off.  Neither in NMI nor in
 * noinstr functions.
 * Return: what the function returns.
 */
#define dynamic_call_slow(name, func, slow, ...)			\
({									\
	typeof(DYNAMIC_CALL_PROTO(name)) *__dc_func = (func);		\
	int __dc_i;							\
									\
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(),			\
			 "dynamic call outside of an RCU reader");	\
	__dc_i = dynamic_call_find(&DYNAMIC_CALL(name),			\
				   &DYNAMIC_CALL_STATS(name), __dc_func); \
{% for i in range(end=vars.branches) -%}
{{ "	" }}__dc_i == {{ i }} ?							\
		static_call(DYNAMIC_CALL_BRANCH(name, {{ i }}))(__VA_ARGS__) : \
{% endfor -%}
{{ "	" }}(slow);								\
})

#else /* !CONFIG_DYNAMIC_CALL || MODULE */

#define DEFINE_DYNAMIC_CALL(name, ret_t, ...)				\
	ret_t DYNAMIC_CALL_PROTO(name)(__VA_ARGS__)

#define dynamic_call_slow(name, func, slow, ...)			\
({									\
	typeof(DYNAMIC_CALL_PROTO(name)) *__dc_func __maybe_unused = (func); \
									\
	(slow);								\
})

#endif /* CONFIG_DYNAMIC_CALL && !MODULE */

/**
 * dynamic_call - call a function by pointer
 * @name: a dynamic call of this file
 * @func: pointer to the function; evaluated once
 * @...: arguments; evaluated once
 *
 * Context: see dynamic_call_slow().
 * Return: what the function returns.
 */
#define dynamic_call(name, func, ...)					\
	dynamic_call_slow(name, func, __dc_func(__VA_ARGS__), ##__VA_ARGS__)

#endif /* _LINUX_DYNAMIC_CALL_H */
