/**
 * napi_threaded_poll - the life of a thread that polls one NAPI context
 * @data: NAPI context
 *
 * Function for kthread_create(). Polls whenever ____napi_schedule() has woken
 * the thread, and ends by kthread_stop(), with work pending or not.
 *
 * Return: 0
 */
int napi_threaded_poll(void *data)
