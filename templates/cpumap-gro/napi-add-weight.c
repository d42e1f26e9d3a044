	if (WARN_ON(napi_init_for_gro(dev, napi, poll, weight)))
		return;

{{ weight_check }}
