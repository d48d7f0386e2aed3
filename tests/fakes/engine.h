/* SPDX-License-Identifier: MIT */
/* engine.h: the simulated GPU. One engine a process, in libcuda.so.1; libcupti, libcudart and libnvidia-ml
 * find it by cuGetExportTable(SIM_ENGINE_ID), also where cudart is linked into the program.
 *
 *   calls      each function of the driver and the runtime opens a call and closes it. The outermost call of
 * a thread gets a new correlation, what it calls shares it. The observer (libcupti) is told at both ends.
 *   timeline   work on a stream begins at max(now + latency, the stream's last end, what it waits for) and
 * lasts as long as the scenario says; host functions that wait really wait. Order on the default stream as
 * CUDA has it. activity   what happened on the device, told when it is submitted: its times are known then,
 * the observer must not give a record out as complete before `end` has come. memory     address ranges are
 * real, reserved and not readable; nothing is stored in them. Used bytes are counted in pages of 2 MiB, as
 * drivers do, so that small blocks leave slack.
 *
 * Rule: the observer is never called with the engine's lock held. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "tests/fakes/scenario.h"
#include "tests/fakes/types.h"

#include <stdbool.h>

#define SIM_ENGINE_ID "rvprof simulated"

/* cupti/abi_callbacks.h: domains */
enum { SIM_DRIVER = 1, SIM_RUNTIME = 2 };

struct sim_call {
	uint32_t domain, cbid, correlation, result, context;
	const char *name;
	const void *parameters;
	const char *kernel; /* symbol of a launch; NULL */
	void *context_handle;
	uint64_t begin_ns, end_ns, word;
	bool is_told; /* the observer heard of the begin */
	struct sim_call *outer;
};

/* As cupti/abi.h's kinds: kernels, copies, sets, memory, pools, syncs, graphs; calls are made by the
 * observer. */
struct sim_activity {
	uint32_t kind, correlation, device, context, stream, graph;
	uint64_t node, start, end, queued, submitted;
	union {
		struct {
			const char *name;
			uint32_t grid[3], block[3], dynamic_shared, static_shared, registers;
			bool is_cooperative;
		} kernel;
		struct {
			uint64_t bytes;
			uint8_t kind, from, to;
			bool is_async;
			uint32_t from_device, to_device;
		} copy;
		struct {
			uint64_t bytes;
			uint32_t value, memory_kind;
			bool is_async;
		} set;
		struct {
			uint64_t address, bytes, pool, pool_keep, pool_bytes, pool_used;
			uint32_t operation, kind;
			bool is_async;
		} memory;
		struct {
			uint64_t address, bytes, used, keep, trim_to;
			uint32_t operation;
		} pool;
		struct {
			uint32_t type, event, result;
		} sync;
	};
};

struct sim_resource {
	void *context, *stream;
	bool is_graph;
	void *graph, *original_graph, *node, *original_node, *exec;
	uint32_t node_kind;
};

struct sim_observer {
	bool (*begin)(struct sim_call *call); /* true: tell the end too */
	void (*end)(struct sim_call *call);
	void (*resource)(uint32_t cbid, const struct sim_resource *resource);
	void (*synchronized)(uint32_t cbid, void *context, void *stream);
	void (*activity)(const struct sim_activity *activity);
	bool (*wants_graph_runs)(void); /* then graphs have no nodes' records */
};

/* What the other libraries may ask of it. */
struct sim_engine {
	const struct sim_scenario *(*scenario)(void);
	void (*observe)(const struct sim_observer *observer);
	bool (*is_initialized)(void);
	void (*begin)(struct sim_call *call);
	void (*end)(struct sim_call *call, uint32_t result);
	uint64_t (*now)(void);           /* of the engine: activities bear this */
	uint64_t (*shown)(uint64_t now); /* as the simulated clock shows it, with its offset and its steps */
	uint32_t (*context_number)(void *context);
	uint32_t (*context_device)(void *context);
	uint32_t (*stream_number)(void *context, void *stream, bool is_per_thread);
	uint32_t (*graph_number)(void *graph);
	uint32_t (*exec_number)(void *exec);
	uint64_t (*node_number)(void *node);
	uint64_t (*device_used)(uint32_t device); /* by this process */
	uint32_t (*default_stream)(void *context);
	uint32_t (*charge)(uint32_t device, uint64_t bytes); /* memory that a tracer takes for itself */
};
extern const struct sim_engine sim_engine;

/* For the driver's files. */
struct sim_stream_time {
	uint64_t free_ns; /* when its last work ends */
};
struct CUctx_st {
	uint32_t number, device;
	bool is_primary, is_alive;
	CUstream streams; /* list */
	CUstream legacy, per_thread;
};
struct CUstream_st {
	uint32_t number, flags;
	int priority;
	uint64_t free_ns;
	CUcontext context;
	CUgraph capture;
	CUstream next;
};

enum { SIM_PAGE = 2 << 20 };

void sim_lock(void);
void sim_unlock(void);
uint64_t sim_now(void);
void sim_wait_until(uint64_t ns);
uint64_t sim_random(uint64_t least, uint64_t most);
CUresult sim_ready(void); /* cuInit was called and the device is not lost */
CUcontext sim_current(void);
bool sim_current_device(uint32_t *device);
void sim_begin(struct sim_call *call);
void sim_end(struct sim_call *call, uint32_t result);
void sim_name_kernel(const char *kernel); /* of the open call */
uint32_t sim_correlation(void);
const struct sim_observer *sim_observer(void);
void sim_tell(const struct sim_activity *activity);
void sim_tell_resource(uint32_t cbid, const struct sim_resource *resource);
void sim_tell_stream(uint32_t cbid, CUstream stream);
void sim_count_launch(void);
extern bool sim_is_initialized;
extern __thread bool sim_is_per_thread; /* of the running call: NULL is the thread's own stream */

/* timeline.c */
CUstream sim_stream(CUstream handle);
CUstream sim_stream_make(CUcontext context, uint32_t flags, int priority);
/* Gives the work its place in time, and its context, stream, device and correlation. */
void sim_submit(CUstream stream, struct sim_activity *activity, uint64_t duration_ns);
uint64_t sim_stream_end(CUstream stream); /* with what it implies for the default stream */
void sim_wait_stream(CUstream stream);
void sim_wait_context(CUcontext context);

/* memory.c */
enum sim_memory {
	SIM_PLAIN = 1,
	SIM_ORDERED,
	SIM_MANAGED,
	SIM_PINNED,
	SIM_REGISTERED,
	SIM_ARRAY,
	SIM_IMPORTED
};
struct sim_block {
	uint64_t address, bytes, held;
	enum sim_memory kind;
	uint32_t device;
	CUmemoryPool pool;
	struct sim_block *next;
};
struct sim_range {
	uint64_t from, bytes;
	struct sim_range *next;
};
/* Free ranges, sorted. */
struct sim_space {
	struct sim_range *first;
};
uint64_t sim_space_take(struct sim_space *space, uint64_t bytes, uint64_t alignment); /* 0: none */
bool sim_space_take_at(struct sim_space *space, uint64_t from, uint64_t bytes);
void sim_space_give(struct sim_space *space, uint64_t from, uint64_t bytes);
CUresult sim_memory_take(uint32_t device, uint64_t bytes, uint64_t *address, uint64_t *held);
void sim_memory_give(uint32_t device, uint64_t address, uint64_t held);
/* Bytes without an address: physical memory, managed pages, contexts. */
CUresult sim_memory_charge(uint32_t device, uint64_t bytes);
void sim_memory_discharge(uint32_t device, uint64_t bytes);
uint64_t sim_memory_used(uint32_t device);
bool sim_memory_refuses(uint64_t bytes); /* a fault of the scenario's */
/* Whether the current context's device may be asked for so much, and which that is; the room is another question. */
CUresult sim_may_allocate(uint64_t bytes, uint32_t *device);
struct sim_space *sim_reservations(uint32_t device);
struct sim_block *sim_block_add(uint64_t address, uint64_t bytes, uint64_t held, enum sim_memory kind,
				uint32_t device);
struct sim_block *sim_block_at(uint64_t address);
struct sim_block *sim_block_holding(uint64_t address);
struct sim_block *sim_block_remove(uint64_t address);
uint8_t sim_memory_kind(uint64_t address); /* CUpti_ActivityMemoryKind */
void sim_memory_tell(const struct sim_block *block, uint32_t operation, bool is_async, CUstream stream);
void *sim_host_pages(uint64_t bytes);

/* pools.c */
void sim_pools_settle(uint32_t device); /* at synchronisation: what lies above the threshold goes back */
void sim_pool_figures(CUmemoryPool pool, uint64_t *reserved, uint64_t *used, uint64_t *keep);

/* graphs.c */
struct sim_node {
	struct sim_activity work;
	uint64_t duration_ns;
	bool has_own_duration;
};
bool sim_capture(CUstream stream, const struct sim_activity *work, uint64_t duration_ns, CUresult *result);
uint64_t sim_kernel_duration(const char *name);
uint32_t sim_graph_number(void *graph);
uint32_t sim_exec_number(void *exec);
uint64_t sim_node_number(void *node);

#endif
