/**
 * napi_init_for_gro - initialize a NAPI context that belongs to no device
 * @dev: network device, or NULL
 * @napi: NAPI context, zeroed
 * @poll: polling function
 * @weight: how many packets one call of @poll may handle
 *
 * Sets up what polling and GRO need, and nothing that a device has to know
 * of: the context is in no list or hash of NAPI contexts, hence beyond the
 * reach of busy polling and netpoll, and has no thread. Unlike one added by
 * netif_napi_add() it can be scheduled at once, without napi_enable().
 *
 * Where @dev is NULL, @poll must end with napi_complete(): napi_complete_done()
 * looks up the device's timeout when it is told of work done. Such a context
 * can be neither enabled again after napi_disable() nor busy-polled. It is
 * released by napi_disable() and __netif_napi_del().
 *
 * Return: 0, or -EBUSY if @napi is initialized already.
 */
int napi_init_for_gro(struct net_device *dev, struct napi_struct *napi,
		      int (*poll)(struct napi_struct *, int), int weight)
{
	if (test_and_set_bit(NAPI_STATE_LISTED, &napi->state))
		return -EBUSY;

{{ setup }}
{{ owner }}
	/* __netif_napi_del() takes it out of a list in any case */
	INIT_LIST_HEAD(&napi->dev_list);

	return 0;
}
