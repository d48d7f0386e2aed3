/* SPDX-License-Identifier: MIT */
/* sim_client.c: a CUPTI client that keeps what it sees (sim_client.h). */
#include "tests/fakes/sim_client.h"

#include "cupti/abi_driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct seen seen;
void *sim_cuda, *sim_cupti, *sim_cudart, *sim_subscriber;

void *sim_symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	ck_assert_msg(found != NULL, "no %s", name);
	return found;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = NULL;
	*bytes = *most = 0;
	if (seen.gives_null)
		return;
	*buffer = mmap(NULL, SEEN_BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*bytes = SEEN_BUFFER_BYTES;
}

static void keep(const void *record)
{
	uint32_t kind = *(const uint32_t *)record, version = 0;

	CUPTI(cuptiGetVersion, uint32_t *)(&version);
	if (kind == RVP_CUPTI_CONCURRENT_KERNEL && seen.kernel_count < SEEN_MOST)
		memcpy(&seen.kernels[seen.kernel_count++], record,
		       version < RVP_CUPTI_13_0 ? offsetof(struct rvp_cupti_kernel, is_device_launched)
						: sizeof *seen.kernels);
	if (kind == RVP_CUPTI_MEMORY2 && seen.memory_count < SEEN_MOST)
		memcpy(&seen.memories[seen.memory_count++], record, sizeof *seen.memories);
	if (kind == RVP_CUPTI_GRAPH_TRACE && seen.graph_run_count < SEEN_MOST)
		memcpy(&seen.graph_runs[seen.graph_run_count++], record, sizeof *seen.graph_runs);
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	void *record = NULL, *before = NULL;

	(void)context, (void)stream;
	seen.buffers++;
	while ((seen.walk_end = CUPTI(cuptiActivityGetNextRecord, uint8_t *, size_t,
				      void **)(buffer, valid, &record)) == 0) {
		keep(record);
		if (before)
			seen.stride = (unsigned int)((uint8_t *)record - (uint8_t *)before);
		before = record;
	}
	if (seen.calls_back)
		CUPTI(cuptiActivityFlushAll, uint32_t)(0);
	munmap(buffer, bytes);
}

void sim_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct rvp_cupti_api_data *api = data;
	const struct rvp_cupti_resource_data *resource = data;

	(void)user;
	if (domain == RVP_CUPTI_DOMAIN_RESOURCE) {
		const struct rvp_cupti_graph_data *graph = resource->descriptor;

		if (cbid == RVP_CUPTI_GRAPHNODE_CREATED || cbid == RVP_CUPTI_GRAPHNODE_CLONED) {
			seen.nodes[seen.node_count].cbid = cbid;
			CUPTI(cuptiGetGraphNodeId, void *, uint64_t *)
			(graph->node, &seen.nodes[seen.node_count].node);
			if (graph->original_node)
				CUPTI(cuptiGetGraphNodeId, void *, uint64_t *)
			(graph->original_node, &seen.nodes[seen.node_count].original);
			seen.node_count++;
		}
		return;
	}
	seen.calls[seen.call_count].domain = domain, seen.calls[seen.call_count].cbid = cbid;
	seen.calls[seen.call_count].site = api->site,
	seen.calls[seen.call_count].correlation = api->correlation;
	if (domain == RVP_CUPTI_DOMAIN_DRIVER && cbid == RVP_CUPTI_cuMemAlloc_v2) {
		const struct rvp_cu_alloc *arguments = api->parameters;

		seen.calls[seen.call_count].bytes = arguments->bytes;
		if (api->site == RVP_CUPTI_EXIT)
			seen.calls[seen.call_count].address = *arguments->address;
	}
	seen.call_count++;
}

/* The libraries, with a scenario; the driver is initialized. */
void sim_open(const char *scenario, const char *version)
{
	char name[32] = "libcupti.so.";

	setenv("SIMCUDA", scenario, 1);
	unsetenv("CUDA_INJECTION64_PATH");
	sim_cuda = dlopen("libcuda.so.1", RTLD_NOW);
	sim_cudart = dlopen("libcudart.so.13", RTLD_NOW);
	sim_cupti = dlopen(strcat(name, version), RTLD_NOW);
	ck_assert_msg(sim_cuda && sim_cudart && sim_cupti, "%s", dlerror());
	ck_assert_uint_eq(DRIVER_CALL(cuInit)(0), CUDA_SUCCESS);
}

void sim_follow(const uint32_t *kinds, size_t count)
{
	ck_assert_uint_eq(
	    CUPTI(cuptiSubscribe, void **, rvp_cupti_callback, void *)(&sim_subscriber, sim_callback, NULL),
	    0);
	ck_assert_uint_eq(
	    CUPTI(cuptiActivityRegisterCallbacks, rvp_cupti_request, rvp_cupti_complete)(request, complete),
	    0);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(CUPTI(cuptiActivityEnable, uint32_t)(kinds[i]), 0);
}

void sim_listen(uint32_t domain, uint32_t cbid)
{
	ck_assert_uint_eq(
	    CUPTI(cuptiEnableCallback, uint32_t, void *, uint32_t, uint32_t)(1, sim_subscriber, domain, cbid),
	    0);
}

void sim_flush(uint32_t flag)
{
	ck_assert_uint_eq(CUPTI(cuptiActivityFlushAll, uint32_t)(flag), 0);
}

uint64_t sim_stamp(void)
{
	uint64_t now = 0;

	CUPTI(cuptiGetTimestamp, uint64_t *)(&now);
	return now;
}

void sim_launch(const char *name, CUstream stream)
{
	static char hosts[16];
	static const char *known[16];
	unsigned int i = 0;

	while (known[i] && strcmp(known[i], name) != 0)
		i++;
	if (!known[i]) {
		known[i] = name;
		RUNTIME_CALL(__cudaRegisterFunction)
		(NULL, &hosts[i], NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
	}
	ck_assert_uint_eq(
	    RUNTIME_CALL(cudaLaunchKernel)(&hosts[i], (dim3){3, 2, 1}, (dim3){64, 1, 1}, NULL, 512, stream),
	    0);
}
