/* Handles what is left in the queue, then ends the thread. No more packets are
 * queued: the entry has left the map, and a grace period has passed.
 */
static void cpu_map_napi_stop(struct bpf_cpu_map_entry *rcpu)
{
	struct napi_struct *napi = &rcpu->napi;

	/* A poll with its budget used up is the last one once napi_disable()
	 * waits, and the thread leaves on kthread_stop() with polls pending.
	 * Hence empty the queue first. NAPI_STATE_SCHED is cleared by a poll
	 * that found it empty; if one is under way now, NAPI_STATE_MISSED has
	 * another follow it.
	 */
	napi_schedule(napi);
	while (test_bit(NAPI_STATE_SCHED, &napi->state))
		usleep_range(20, 200);

	napi_disable(napi);
	/* No grace period after this: the NAPI is in no list for readers */
	__netif_napi_del(napi);
}
