
	if (done < budget) {
		/* The queue was empty. napi_complete_done() would ask the
		 * device how long GRO may hold packets back: there is none.
		 */
		rcpu->idle = napi_complete(napi);
	} else {
		/* A packet that GRO holds has no reference to its device, so
		 * pass all of them on before BH is enabled. A full budget is
		 * more than one super-packet's worth: one flow loses little,
		 * interleaved ones share the budget.
		 */
		napi_gro_flush(napi, false);
	}

	return done;
