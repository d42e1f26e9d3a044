/* Runs in the thread of the entry's NAPI, with BH disabled */
static int cpu_map_napi_poll(struct napi_struct *napi, int budget)
{
	struct bpf_cpu_map_entry *rcpu;
	int done = 0;

	rcpu = container_of(napi, struct bpf_cpu_map_entry, napi);

	while (done < budget) {
