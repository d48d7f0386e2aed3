/* SPDX-License-Identifier: MIT */
/* cupti_records.c: records in the layout of the running version, and the walk over them
 * (cuptiActivityGetNextRecord, re-entrant, needs no driver). What a newer version has behind the fields that
 * are known is filled with 0xA5: who reads it sees that. The times are those of the simulated clock; flaws of
 * the scenario are made here. */
#include "tests/fakes/cupti.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

bool sim_cupti_latency, sim_cupti_system_threads;

static uint64_t shown(uint64_t ns)
{
	return sim_cupti_engine()->shown(ns);
}

/* The scenario's flaws begin after so many kernels. */
static void spoil(struct rvp_cupti_kernel *kernel)
{
	static uint64_t kernels;
	const struct sim_scenario *scenario = sim_cupti_engine()->scenario();
	uint64_t number = __atomic_fetch_add(&kernels, 1, __ATOMIC_RELAXED), start = kernel->start;

	if (number >= scenario->zero_after) {
		kernel->start = kernel->end = kernel->queued = kernel->submitted = 0;
	} else if (number >= scenario->backward_after) {
		kernel->start = kernel->end + 1;
		kernel->end = start;
	}
	if (number == scenario->unknown_after)
		kernel->kind = 63;
}

static void kernel_record(const struct sim_activity *a, struct rvp_cupti_kernel *r)
{
	r->registers = (uint16_t)a->kernel.registers;
	r->start = shown(a->start);
	r->end = r->completed = shown(a->end);
	r->device = a->device, r->context = a->context, r->stream = a->stream;
	r->grid_x = (int32_t)a->kernel.grid[0], r->grid_y = (int32_t)a->kernel.grid[1],
	r->grid_z = (int32_t)a->kernel.grid[2];
	r->block_x = (int32_t)a->kernel.block[0], r->block_y = (int32_t)a->kernel.block[1],
	r->block_z = (int32_t)a->kernel.block[2];
	r->static_shared = (int32_t)a->kernel.static_shared;
	r->dynamic_shared = (int32_t)a->kernel.dynamic_shared;
	r->correlation = a->correlation;
	r->grid_id = a->correlation;
	r->name = a->kernel.name;
	r->queued = sim_cupti_latency ? shown(a->queued) : 0;
	r->submitted = sim_cupti_latency ? shown(a->submitted) : 0;
	r->launch_type = a->kernel.is_cooperative;
	r->graph_node = a->node;
	r->graph = a->graph;
	r->channel = 1;
	r->cluster_x = r->cluster_y = r->cluster_z = 1;
	spoil(r);
}

static void copy_record(const struct sim_activity *a, struct rvp_cupti_copy *r)
{
	r->copy_kind = a->copy.kind, r->source_kind = a->copy.from, r->target_kind = a->copy.to;
	r->flags = a->copy.is_async;
	r->bytes = a->copy.bytes;
	r->start = shown(a->start), r->end = shown(a->end);
	r->device = a->device, r->context = a->context, r->stream = a->stream;
	r->correlation = a->correlation;
	r->graph_node = a->node, r->graph = a->graph;
	r->copy_count = 1;
}

static void peer_record(const struct sim_activity *a, struct rvp_cupti_copy_peer *r)
{
	r->copy_kind = a->copy.kind, r->source_kind = a->copy.from, r->target_kind = a->copy.to;
	r->flags = a->copy.is_async;
	r->bytes = a->copy.bytes;
	r->start = shown(a->start), r->end = shown(a->end);
	r->device = a->device, r->context = a->context, r->stream = a->stream;
	r->source_device = a->copy.from_device, r->target_device = a->copy.to_device;
	r->source_context = r->target_context = a->context;
	r->correlation = a->correlation;
	r->graph_node = a->node, r->graph = a->graph;
}

static void set_record(const struct sim_activity *a, struct rvp_cupti_set *r)
{
	r->value = a->set.value;
	r->bytes = a->set.bytes;
	r->start = shown(a->start), r->end = shown(a->end);
	r->device = a->device, r->context = a->context, r->stream = a->stream;
	r->correlation = a->correlation;
	r->flags = a->set.is_async;
	r->memory_kind = (uint16_t)a->set.memory_kind;
	r->graph_node = a->node, r->graph = a->graph;
}

static void memory_record(const struct sim_activity *a, struct rvp_cupti_memory *r)
{
	r->operation = a->memory.operation, r->memory_kind = a->memory.kind, r->correlation = a->correlation;
	r->address = a->memory.address, r->bytes = a->memory.bytes, r->time = shown(a->start);
	r->process = (uint32_t)getpid();
	r->device = a->device, r->context = a->context, r->stream = a->stream;
	r->is_async = a->memory.is_async;
	r->pool_type = a->memory.pool ? RVP_CUPTI_POOL_LOCAL : 0;
	r->pool = a->memory.pool, r->pool_keep = a->memory.pool_keep, r->pool_bytes = a->memory.pool_bytes;
	r->pool_used = a->memory.pool_used;
}

static void pool_record(const struct sim_activity *a, struct rvp_cupti_pool *r)
{
	r->operation = a->pool.operation, r->pool_type = RVP_CUPTI_POOL_LOCAL,
	r->correlation = a->correlation;
	r->process = (uint32_t)getpid(), r->device = a->device;
	r->trim_to = a->pool.trim_to;
	r->address = a->pool.address, r->bytes = a->pool.bytes, r->keep = a->pool.keep;
	r->time = shown(a->start);
	r->used = a->pool.used;
}

static void sync_record(const struct sim_activity *a, struct rvp_cupti_sync *r)
{
	r->type = a->sync.type;
	r->start = shown(a->start), r->end = shown(a->end);
	r->correlation = a->correlation, r->context = a->context, r->stream = a->stream,
	r->event = a->sync.event;
	r->result = a->sync.result;
}

static void graph_record(const struct sim_activity *a, struct rvp_cupti_graph_run *r)
{
	r->correlation = a->correlation;
	r->start = shown(a->start), r->end = shown(a->end);
	r->device = a->device, r->graph = a->graph, r->context = a->context, r->stream = a->stream;
	r->end_device = a->device, r->end_context = a->context;
}

uint32_t sim_cupti_record(const struct sim_activity *a, void *record, uint32_t thread)
{
	uint32_t bytes = rvp_cupti_record_bytes(a->kind, sim_cupti_version());
	uint32_t known = rvp_cupti_record_bytes(a->kind, RVP_CUPTI_HEADERS);

	(void)thread;
	memset(record, 0, SIM_RECORD_BYTES);
	*(uint32_t *)record = a->kind;
	switch (a->kind) {
	case RVP_CUPTI_CONCURRENT_KERNEL: kernel_record(a, record); break;
	case RVP_CUPTI_MEMCPY: copy_record(a, record); break;
	case RVP_CUPTI_MEMCPY_PEER: peer_record(a, record); break;
	case RVP_CUPTI_MEMSET: set_record(a, record); break;
	case RVP_CUPTI_MEMORY2: memory_record(a, record); break;
	case RVP_CUPTI_MEMORY_POOL: pool_record(a, record); break;
	case RVP_CUPTI_SYNCHRONIZATION: sync_record(a, record); break;
	case RVP_CUPTI_GRAPH_TRACE: graph_record(a, record); break;
	default: return 0;
	}
	if (bytes > known)
		memset((char *)record + known, 0xA5, bytes - known);
	return bytes;
}

uint32_t sim_cupti_call_record(const struct sim_call *call, void *record, uint32_t thread)
{
	struct rvp_cupti_call *r = record;

	memset(record, 0, SIM_RECORD_BYTES);
	r->kind = call->domain == SIM_DRIVER ? RVP_CUPTI_DRIVER : RVP_CUPTI_RUNTIME;
	r->cbid = call->cbid;
	r->start = shown(call->begin_ns), r->end = shown(call->end_ns);
	r->process = (uint32_t)getpid(), r->thread = thread;
	r->correlation = call->correlation, r->result = call->result;
	return sizeof *r;
}

/* *record NULL: the first one. A tail that is too short for its record is the end. */
SHOWN uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
SHOWN uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = buffer;
	uint32_t bytes, kind;

	if (!buffer || !record)
		return RVP_CUPTI_INVALID_PARAMETER;
	if (*record) {
		memcpy(&kind, *record, sizeof kind);
		next = (uint8_t *)*record + rvp_cupti_record_bytes(kind, sim_cupti_version());
	}
	if (next + sizeof kind > buffer + valid)
		return RVP_CUPTI_MAX_LIMIT_REACHED;
	memcpy(&kind, next, sizeof kind);
	bytes = rvp_cupti_record_bytes(kind, sim_cupti_version());
	if (bytes == 0)
		return RVP_CUPTI_INVALID_KIND;
	if (next + bytes > buffer + valid)
		return RVP_CUPTI_MAX_LIMIT_REACHED;
	*record = next;
	return RVP_CUPTI_SUCCESS;
}
