/**
 * i40e_run_xdp_prog - run an XDP program and carry out its verdict
 * @rx_ring: Rx ring that received the buffer
 * @xdp: the buffer
 * @xdp_prog: program to run, never NULL
 * @zc: whether the buffer is of an AF_XDP pool; a constant
 *
 * The verdicts are tested one by one: of a switch with a label for each, gcc
 * makes an indirect jump where it may use jump tables.
 *
{%- if has.xdp_exit %}
 * Return: one of I40E_XDP_{PASS, CONSUMED, TX, REDIR}, with @zc also EXIT
{%- else %}
 * Return: one of I40E_XDP_{PASS, CONSUMED, TX, REDIR}
{%- endif %}
 **/
static __always_inline int i40e_run_xdp_prog(struct i40e_ring *rx_ring,
					     struct xdp_buff *xdp,
					     struct bpf_prog *xdp_prog,
					     const bool zc)
{
	int result = I40E_XDP_CONSUMED;
	struct i40e_ring *xdp_ring;
	u32 act;
	int err;

	act = bpf_prog_run_xdp(xdp_prog, xdp);

	/* What AF_XDP is for, but one of several elsewhere */
	if (zc ? likely(act == XDP_REDIRECT) : act == XDP_REDIRECT) {
		err = xdp_do_redirect(rx_ring->netdev, xdp, xdp_prog);
		if (!err)
			return I40E_XDP_REDIR;
{%- if has.xdp_exit %}
		/* A ring without a pool has none to ask */
		if (zc && err == -ENOBUFS &&
		    xsk_uses_need_wakeup(rx_ring->xsk_pool))
			result = I40E_XDP_EXIT;
{%- endif %}
	} else if (act == XDP_PASS) {
		return I40E_XDP_PASS;
	} else if (act == XDP_TX) {
		xdp_ring = rx_ring->vsi->xdp_rings[rx_ring->queue_index];
		result = i40e_xmit_xdp_tx_ring(xdp, xdp_ring);
		if (result != I40E_XDP_CONSUMED)
			return result;
	} else if (act == XDP_DROP) {
		return I40E_XDP_CONSUMED;
	} else if (act != XDP_ABORTED) {
{{ warn }}
	}

	trace_xdp_exception(rx_ring->netdev, xdp_prog, act);
	return result;
}
