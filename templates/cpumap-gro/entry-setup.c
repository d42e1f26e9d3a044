	/* Setup NAPI */
	if (napi_init_for_gro(NULL, &rcpu->napi, cpu_map_napi_poll,
			      NAPI_POLL_WEIGHT))
		goto free_prog;

	thread = kthread_create_on_node(napi_threaded_poll, &rcpu->napi, numa,
					"cpumap/%d/map:%d", cpu, map->id);
	if (IS_ERR(thread))
		goto del_napi;
{%- if has.entry_refcnt %}

	get_cpu_map_entry(rcpu); /* 1-refcnt for being in cmap->cpu_map[] */
	get_cpu_map_entry(rcpu); /* 1-refcnt for the NAPI */
{%- endif %}

	/* Make sure the thread runs on a single CPU */
	kthread_bind(thread, cpu);

	/* All this before the entry can be found: without a thread NAPI is
	 * polled in softirq, on the CPU that redirects.
	 */
	rcpu->idle = true;
	rcpu->napi.thread = thread;
	set_bit(NAPI_STATE_THREADED, &rcpu->napi.state);
	wake_up_process(thread);

	return rcpu;

del_napi:
	__netif_napi_del(&rcpu->napi);
