/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the receive functions of i40e need to compile in userspace, and a log of
 * what they do. A question without effect (does the pool use need_wakeup?) is
 * not logged; asking it of no pool is a fault, since it would be a NULL
 * dereference in the kernel.
 */
#ifndef I40E_STUBS_H
#define I40E_STUBS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef uint32_t u32;
typedef uint16_t u16;

#define BIT(n)			(1UL << (n))
#define I40E_XDP_PASS		0
#define I40E_XDP_CONSUMED	BIT(0)
#define I40E_XDP_TX		BIT(1)
#define I40E_XDP_REDIR		BIT(2)
#define I40E_XDP_EXIT		BIT(3)

enum { XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT };

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define fallthrough		__attribute__((__fallthrough__))
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))

struct net_device { int unused; };
struct xsk_buff_pool { int unused; };
struct bpf_prog { int unused; };
struct xdp_buff { void *data_hard_start; };
struct i40e_ring;
struct i40e_vsi { struct i40e_ring **xdp_rings; };
struct i40e_ring {
	struct net_device *netdev;
	struct i40e_vsi *vsi;
	struct bpf_prog *xdp_prog;
	struct xsk_buff_pool *xsk_pool;
	u16 queue_index;
};

/* What the functions called shall give. */
struct fate {
	u32 act;
	int redirect;
	int xmit;
	bool need_wakeup;
};

/* What has happened: as text, so that a difference can be read. */
struct log {
	char text[1024];
	size_t length;
	unsigned int faults;
	int depth;		/* of RCU read-side sections */
};

extern struct fate fate;
extern struct log events;

#define note(...) do {							\
	int n_ = snprintf(events.text + events.length,			\
			  sizeof(events.text) - events.length,		\
			  __VA_ARGS__);					\
	if (n_ < 0 || (size_t)n_ >= sizeof(events.text) - events.length)\
		events.faults++;					\
	else								\
		events.length += n_;					\
} while (0)

static inline void rcu_read_lock(void)
{
	events.depth++;
	note(" lock");
}

static inline void rcu_read_unlock(void)
{
	events.depth--;
	note(" unlock");
}

static inline void prefetchw(const void *p)
{
	note(" prefetchw(%p)", p);
}

static inline u32 bpf_prog_run_xdp(const struct bpf_prog *prog,
				   struct xdp_buff *xdp)
{
	if (!prog)
		events.faults++;
	note(" run(%p, %p)", (void *)prog, (void *)xdp);
	return fate.act;
}

static inline int xdp_do_redirect(struct net_device *dev, struct xdp_buff *xdp,
				  const struct bpf_prog *prog)
{
	note(" redirect(%p, %p, %p)", (void *)dev, (void *)xdp, (void *)prog);
	return fate.redirect;
}

static inline int i40e_xmit_xdp_tx_ring(struct xdp_buff *xdp,
					struct i40e_ring *xdp_ring)
{
	note(" xmit(%p, %p)", (void *)xdp, (void *)xdp_ring);
	return fate.xmit;
}

static inline void trace_xdp_exception(const struct net_device *dev,
				       const struct bpf_prog *prog, u32 act)
{
	note(" trace(%p, %p, %u)", (void *)dev, (void *)prog, act);
}

static inline bool xsk_uses_need_wakeup(struct xsk_buff_pool *pool)
{
	if (!pool)
		events.faults++;
	return fate.need_wakeup;
}

/* Takes the verdict alone, or device and program before it: by its base. */
#define bpf_warn_invalid_xdp_action(...)				\
	note_warning(sizeof((uintptr_t[]){ LIST(__VA_ARGS__) }) /	\
		     sizeof(uintptr_t), (uintptr_t[]){ LIST(__VA_ARGS__) })
#define LIST(...) LIST_OF(__VA_ARGS__, THREE, , ONE)(__VA_ARGS__)
#define LIST_OF(a, b, c, which, ...) which
#define ONE(a) (uintptr_t)(a)
#define THREE(a, b, c) (uintptr_t)(a), (uintptr_t)(b), (uintptr_t)(c)

static inline void note_warning(size_t count, const uintptr_t *args)
{
	size_t i;

	note(" warn(");
	for (i = 0; i < count; i++)
		note("%s%#lx", i ? ", " : "", (unsigned long)args[i]);
	note(")");
}

#endif /* I40E_STUBS_H */
