// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the series change what i40e does with the verdict of an XDP program?
 *
 * The receive functions of the base and of the rendered tree are taken from
 * those trees when this is built (the .inc files) and compiled against stubs.
 * Both run on every verdict with every outcome, and must do the same: result,
 * and each call that is seen outside, with its arguments, in order.
 */
#include <errno.h>
#include <string.h>

#include "kselftest.h"
#include "stubs.h"

#define i40e_run_xdp base_run_xdp
#define i40e_run_xdp_zc base_run_xdp_zc
#include "base_run_xdp.inc"
#include "base_run_xdp_zc.inc"
#undef i40e_run_xdp
#undef i40e_run_xdp_zc

#include "series_run_xdp_prog.inc"
#include "series_run_xdp.inc"
#include "series_run_xdp_zc.inc"

struct log events;
struct fate fate;

/* Some bases hand the program in, others let the function read it. */
typedef int (*reads_prog)(struct i40e_ring *ring, struct xdp_buff *xdp);
typedef int (*given_prog)(struct i40e_ring *ring, struct xdp_buff *xdp,
			  struct bpf_prog *prog);

static int run(void *function, bool given, struct i40e_ring *ring,
	       struct xdp_buff *xdp)
{
	if (given)
		return ((given_prog)function)(ring, xdp, ring->xdp_prog);
	return ((reads_prog)function)(ring, xdp);
}

#define IS_GIVEN(f) __builtin_types_compatible_p(typeof(f),		\
	int(struct i40e_ring *, struct xdp_buff *, struct bpf_prog *))

static const struct path {
	const char *name;
	void *base, *series;
	bool base_given, series_given;
	bool zc;
} paths[] = {
	{ "i40e_run_xdp", base_run_xdp, i40e_run_xdp,
	  IS_GIVEN(base_run_xdp), IS_GIVEN(i40e_run_xdp), false },
	{ "i40e_run_xdp_zc", base_run_xdp_zc, i40e_run_xdp_zc,
	  IS_GIVEN(base_run_xdp_zc), IS_GIVEN(i40e_run_xdp_zc), true },
};

static const struct {
	const char *name;
	u32 act;
} verdicts[] = {
	{ "XDP_ABORTED", XDP_ABORTED },
	{ "XDP_DROP", XDP_DROP },
	{ "XDP_PASS", XDP_PASS },
	{ "XDP_TX", XDP_TX },
	{ "XDP_REDIRECT", XDP_REDIRECT },
	{ "the first verdict unknown", XDP_REDIRECT + 1 },
	{ "a verdict of all ones", 0xffffffff },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* What the two functions did with the fate set up now; false if it differs. */
static bool same(const struct path *path, bool with_prog)
{
	static struct i40e_ring xdp_rings[2], *rings[2] = {
		&xdp_rings[0], &xdp_rings[1]
	};
	static struct i40e_vsi vsi = { .xdp_rings = rings };
	static struct xsk_buff_pool pool;
	static struct net_device dev;
	static struct bpf_prog prog;
	struct i40e_ring ring = {
		.netdev = &dev,
		.vsi = &vsi,
		.queue_index = 1,
		.xdp_prog = with_prog ? &prog : NULL,
		.xsk_pool = path->zc ? &pool : NULL,
	};
	struct xdp_buff xdp = { .data_hard_start = &xdp };
	struct log base, series;
	int was, is;

	memset(&events, 0, sizeof(events));
	was = run(path->base, path->base_given, &ring, &xdp);
	base = events;

	memset(&events, 0, sizeof(events));
	is = run(path->series, path->series_given, &ring, &xdp);
	series = events;

	if (was == is && !base.faults && !series.faults && !base.depth &&
	    !series.depth && base.length == series.length &&
	    !memcmp(base.text, series.text, base.length))
		return true;
	ksft_print_msg("redirect gives %d, transmit %d, need_wakeup %d\n",
		       fate.redirect, fate.xmit, fate.need_wakeup);
	ksft_print_msg("  base   %2d:%s%s\n", was, base.text,
		       base.faults || base.depth ? " (faulty)" : "");
	ksft_print_msg("  series %2d:%s%s\n", is, series.text,
		       series.faults || series.depth ? " (faulty)" : "");
	return false;
}

/* Every outcome of what the function may call. */
static bool same_whatever_happens(const struct path *path, bool with_prog)
{
	static const int redirects[] = { 0, -ENOBUFS, -EINVAL, -EAGAIN, 1 };
	static const int xmits[] = {
		I40E_XDP_TX, I40E_XDP_CONSUMED, I40E_XDP_PASS
	};
	bool ok = true;
	unsigned int r, x, w;

	for (r = 0; r < COUNT(redirects); r++)
		for (x = 0; x < COUNT(xmits); x++)
			for (w = 0; w < 2; w++) {
				fate.redirect = redirects[r];
				fate.xmit = xmits[x];
				fate.need_wakeup = w;
				ok = same(path, with_prog) && ok;
			}
	return ok;
}

int main(void)
{
	unsigned int p, v;

	ksft_print_header();
	ksft_set_plan(COUNT(paths) * COUNT(verdicts) + 1);
	for (p = 0; p < COUNT(paths); p++)
		for (v = 0; v < COUNT(verdicts); v++) {
			fate.act = verdicts[v].act;
			ksft_test_result(same_whatever_happens(&paths[p], true),
					 "%s: %s\n", paths[p].name,
					 verdicts[v].name);
		}
	/* Only the regular path may find that there is no program. */
	ksft_test_result(same_whatever_happens(&paths[0], false),
			 "%s: no program\n", paths[0].name);
	ksft_finished();
}
