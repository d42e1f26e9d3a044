#define static_call_update(key, func)					\
({									\
	BUILD_BUG_ON(!__same_type(func, STATIC_CALL_TRAMP(key)));	\
	__static_call_update(&key, func);				\
})
