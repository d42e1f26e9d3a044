// SPDX-License-Identifier: GPL-2.0
/* What i40e does with the verdict of an XDP program.
 *
 * The helper is compiled once more here, with all that it calls replaced.
 */

#include <kunit/test.h>
#include <linux/bpf_trace.h>
#include <linux/filter.h>
#include <linux/module.h>
#include <net/xdp_sock_drv.h>
#include "i40e.h"

/* What the functions called give, and what was seen of them */
static struct {
	u32 act;
	int redirect;
	int xmit;
	bool need_wakeup;

	unsigned int redirects;
	unsigned int xmits;
	unsigned int warnings;
	unsigned int traces;
	unsigned int questions;
	u32 traced;
	struct i40e_ring *xmit_ring;
} fake;

static u32 fake_run(const struct bpf_prog *prog, struct xdp_buff *xdp)
{
	return fake.act;
}

static int fake_redirect(struct net_device *dev, struct xdp_buff *xdp,
			 struct bpf_prog *prog)
{
	fake.redirects++;
	return fake.redirect;
}

static int fake_xmit(struct xdp_buff *xdp, struct i40e_ring *xdp_ring)
{
	fake.xmits++;
	fake.xmit_ring = xdp_ring;
	return fake.xmit;
}

static void fake_trace(const struct net_device *dev,
		       const struct bpf_prog *prog, u32 act)
{
	fake.traces++;
	fake.traced = act;
}

static __maybe_unused bool fake_need_wakeup(struct xsk_buff_pool *pool)
{
	fake.questions++;
	return fake.need_wakeup;
}

#define bpf_prog_run_xdp fake_run
#define xdp_do_redirect fake_redirect
#define i40e_xmit_xdp_tx_ring fake_xmit
#define trace_xdp_exception fake_trace
#define xsk_uses_need_wakeup fake_need_wakeup
#define bpf_warn_invalid_xdp_action(...) (fake.warnings++)
#include "i40e_txrx_common.h"

struct expected {
	int result;
	unsigned int redirects;
	unsigned int xmits;
	unsigned int warnings;
	unsigned int traces;
};

static struct expected expect(bool zc)
{
	struct expected e = { .result = I40E_XDP_CONSUMED };

	switch (fake.act) {
	case XDP_PASS:
		e.result = I40E_XDP_PASS;
		break;
	case XDP_DROP:
		break;
	case XDP_TX:
		e.xmits = 1;
		e.result = fake.xmit;
		e.traces = fake.xmit == I40E_XDP_CONSUMED;
		break;
	case XDP_REDIRECT:
		e.redirects = 1;
		e.traces = fake.redirect != 0;
		if (!fake.redirect)
			e.result = I40E_XDP_REDIR;
{%- if has.xdp_exit %}
		else if (zc && fake.need_wakeup && fake.redirect == -ENOBUFS)
			e.result = I40E_XDP_EXIT;
{%- endif %}
		break;
	case XDP_ABORTED:
		e.traces = 1;
		break;
	default:
		e.warnings = 1;
		e.traces = 1;
		break;
	}
	return e;
}

static void check(struct kunit *test, bool zc)
{
	struct i40e_ring *rx_ring, *xdp_ring, **xdp_rings;
	struct expected e = expect(zc);
	struct i40e_vsi *vsi;
	int result;

	rx_ring = kunit_kzalloc(test, sizeof(*rx_ring), GFP_KERNEL);
	xdp_ring = kunit_kzalloc(test, sizeof(*xdp_ring), GFP_KERNEL);
	xdp_rings = kunit_kzalloc(test, 2 * sizeof(*xdp_rings), GFP_KERNEL);
	vsi = kunit_kzalloc(test, sizeof(*vsi), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, rx_ring && xdp_ring && xdp_rings && vsi);

	rx_ring->vsi = vsi;
	rx_ring->queue_index = 1;
	vsi->xdp_rings = xdp_rings;
	xdp_rings[1] = xdp_ring;

	if (zc)
		result = i40e_run_xdp_prog(rx_ring, NULL, NULL, true);
	else
		result = i40e_run_xdp_prog(rx_ring, NULL, NULL, false);

	KUNIT_EXPECT_EQ(test, result, e.result);
	KUNIT_EXPECT_EQ(test, fake.redirects, e.redirects);
	KUNIT_EXPECT_EQ(test, fake.xmits, e.xmits);
	KUNIT_EXPECT_EQ(test, fake.warnings, e.warnings);
	KUNIT_EXPECT_EQ(test, fake.traces, e.traces);
	if (e.traces)
		KUNIT_EXPECT_EQ(test, fake.traced, fake.act);
	if (e.xmits)
		KUNIT_EXPECT_PTR_EQ(test, fake.xmit_ring, xdp_ring);
	if (!zc)
		KUNIT_EXPECT_EQ(test, fake.questions, 0U);
}

static void check_path(struct kunit *test, bool zc)
{
	static const u32 acts[] = {
		XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT,
		XDP_REDIRECT + 1, 0xffffffff,
	};
	static const int redirects[] = { 0, -ENOBUFS, -EINVAL };
	static const int xmits[] = { I40E_XDP_TX, I40E_XDP_CONSUMED };
	int a, r, x, w;

	for (a = 0; a < ARRAY_SIZE(acts); a++)
		for (r = 0; r < ARRAY_SIZE(redirects); r++)
			for (x = 0; x < ARRAY_SIZE(xmits); x++)
				for (w = 0; w < 2; w++) {
					memset(&fake, 0, sizeof(fake));
					fake.act = acts[a];
					fake.redirect = redirects[r];
					fake.xmit = xmits[x];
					fake.need_wakeup = w;
					check(test, zc);
				}
}

static void i40e_xdp_regular_test(struct kunit *test)
{
	check_path(test, false);
}

static void i40e_xdp_zero_copy_test(struct kunit *test)
{
	check_path(test, true);
}

static struct kunit_case i40e_xdp_cases[] = {
	KUNIT_CASE(i40e_xdp_regular_test),
	KUNIT_CASE(i40e_xdp_zero_copy_test),
	{ }
};

static struct kunit_suite i40e_xdp_suite = {
	.name = "i40e_xdp",
	.test_cases = i40e_xdp_cases,
};

kunit_test_suite(i40e_xdp_suite);

MODULE_DESCRIPTION("KUnit test of XDP verdicts in i40e");
MODULE_LICENSE("GPL");
