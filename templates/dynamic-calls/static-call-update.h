static inline void __static_call_update(struct static_call_key *key, void *func)
{
	cpus_read_lock();
	WRITE_ONCE(key->func, func);
	arch_static_call_transform(NULL, key->tramp, func);
	cpus_read_unlock();
}
