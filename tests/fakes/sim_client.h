/* SPDX-License-Identifier: MIT */
/* sim_client.h: what the tests of the simulation share: its libraries with a scenario, a CUPTI client of its
 * own, and launches. Each test is a process of its own. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/runtime.h"

#include <check.h>

enum { SEEN_MOST = 4096, SEEN_BUFFER_BYTES = 64 << 10 };

/* What the client saw. */
struct seen {
	struct rvp_cupti_kernel kernels[SEEN_MOST];
	struct rvp_cupti_memory memories[SEEN_MOST];
	struct rvp_cupti_graph_run graph_runs[SEEN_MOST];
	struct {
		uint32_t domain, cbid, site, correlation;
		uint64_t bytes, address;
	} calls[SEEN_MOST];
	struct {
		uint64_t node, original;
		uint32_t cbid;
	} nodes[SEEN_MOST];
	unsigned int kernel_count, memory_count, graph_run_count, call_count, node_count;
	unsigned int walk_end, stride, buffers;
	bool gives_null, calls_back; /* what the client does wrong */
};
extern struct seen seen;
extern void *sim_cuda, *sim_cupti, *sim_cudart, *sim_subscriber;

void *sim_symbol(void *library, const char *name);
#define CUPTI(name, ...)   ((uint32_t(*)(__VA_ARGS__))sim_symbol(sim_cupti, #name))
#define RUNTIME_CALL(name) ((__typeof__(&name))sim_symbol(sim_cudart, #name))
#define DRIVER_CALL(name)  ((__typeof__(&name))sim_symbol(sim_cuda, #name))

/* The libraries, with a scenario; the driver is initialized. */
void sim_open(const char *scenario, const char *cupti_version);
void sim_callback(void *user, uint32_t domain, uint32_t cbid, const void *data);
void sim_follow(const uint32_t *kinds, size_t count);
#define FOLLOW(...)                                 \
	sim_follow((const uint32_t[]){__VA_ARGS__}, \
		   sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
void sim_listen(uint32_t domain, uint32_t cbid);
void sim_flush(uint32_t flag);
uint64_t sim_stamp(void);
void sim_launch(const char *kernel, CUstream stream);

#endif
