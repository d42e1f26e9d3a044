/* After the xchg nobody finds the old entry any more. Programs that found it
 * may still run, and leave packets in the percpu bulkq: call_rcu() waits for
 * them, and its callback, __cpu_map_entry_free(), flushes those packets to the
 * queue. A flush that is pending elsewhere checks for NULL in __cpu_map_flush().
 *
 * NAPI takes the packets from the queue, so it is stopped after that callback,
 * by a work item, since callers of map_delete_elem() have preemption disabled.
 * Its last poll finds the queue empty. A refcnt lets the last of the two free
 * the entry.
 */
