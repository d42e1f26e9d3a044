		n = __ptr_ring_consume_batched(rcpu->queue, frames,
					       min(CPUMAP_BATCH, budget - done));
		if (!n)
			break;

		done += n;
		sched = rcpu->idle;
		rcpu->idle = false;

