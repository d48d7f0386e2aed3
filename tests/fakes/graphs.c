/* SPDX-License-Identifier: MIT */
/* graphs.c: captured work and its replay. A graph is a chain: nodes run in the order of their capture. Each
 * launch has one correlation, which all its nodes bear; a node has a number, and its copy in the executable
 * graph another. */
#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphNode_st {
	uint64_t number;
	struct sim_node work;
	struct CUgraphNode_st *next;
};
struct CUgraph_st {
	uint32_t number;
	CUgraphNode first, *last;
	size_t count;
};
struct CUgraphExec_st {
	uint32_t number;
	uint32_t device;
	struct CUgraph_st copy;
};
enum { NODE_KERNEL = 0, NODE_COPY = 1, NODE_SET = 2, EXEC_BYTES = SIM_PAGE };

static uint32_t last_graph;
static uint64_t last_node;

uint32_t sim_graph_number(void *graph)
{
	return ((CUgraph)graph)->number;
}

uint32_t sim_exec_number(void *exec)
{
	return ((CUgraphExec)exec)->number;
}

uint64_t sim_node_number(void *node)
{
	return ((CUgraphNode)node)->number;
}

static void begin_graph(struct CUgraph_st *graph)
{
	graph->number = __atomic_add_fetch(&last_graph, 1, __ATOMIC_RELAXED);
	graph->first = NULL;
	graph->last = &graph->first;
}

static uint32_t node_kind(const struct sim_node *work)
{
	return work->work.kind == RVP_CUPTI_CONCURRENT_KERNEL ? NODE_KERNEL
	       : work->work.kind == RVP_CUPTI_MEMSET          ? NODE_SET
							      : NODE_COPY;
}

static CUgraphNode append(CUgraph graph, const struct sim_node *work)
{
	CUgraphNode node = calloc(1, sizeof *node);

	if (!node)
		abort();
	node->number = __atomic_add_fetch(&last_node, 1, __ATOMIC_RELAXED) | (uint64_t)graph->number << 32;
	node->work = *work;
	*graph->last = node;
	graph->last = &node->next;
	graph->count++;
	return node;
}

static void clear(CUgraph graph)
{
	while (graph->first) {
		CUgraphNode node = graph->first;

		graph->first = node->next;
		free(node);
	}
}

static void tell_node(uint32_t cbid, CUgraph graph, CUgraphNode node, CUgraph original_graph,
		      CUgraphNode original)
{
	struct sim_resource resource = {.context = sim_current(),
					.is_graph = true,
					.graph = graph,
					.node = node,
					.original_graph = original_graph,
					.original_node = original};

	resource.node_kind = node ? node_kind(&node->work) : 0;
	sim_tell_resource(cbid, &resource);
}

bool sim_capture(CUstream stream, const struct sim_activity *work, uint64_t duration_ns, CUresult *result)
{
	struct sim_node made = {
	    .work = *work, .duration_ns = duration_ns, .has_own_duration = duration_ns != 0};

	if (!stream->capture)
		return false;
	tell_node(RVP_CUPTI_GRAPHNODE_CREATED, stream->capture, append(stream->capture, &made), NULL, NULL);
	*result = CUDA_SUCCESS;
	return true;
}

CUresult sim_cuGraphCreate(CUgraph *handle, unsigned int flags)
{
	CUgraph graph = calloc(1, sizeof *graph);

	(void)flags;
	if (!graph)
		abort();
	begin_graph(graph);
	*handle = graph;
	tell_node(RVP_CUPTI_GRAPH_CREATED, graph, NULL, NULL, NULL);
	return sim_ready();
}

CUresult sim_cuStreamBeginCapture_v2(CUstream handle, unsigned int mode)
{
	CUstream stream = sim_stream(handle);

	(void)mode;
	if (!stream || stream == stream->context->legacy || stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return sim_cuGraphCreate(&stream->capture, 0);
}

CUresult sim_cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
	CUstream stream = sim_stream(handle);

	if (!stream || !stream->capture)
		return CUDA_ERROR_INVALID_VALUE;
	*graph = stream->capture;
	sim_lock();
	for (CUstream other = stream->context->streams; other; other = other->next)
		if (other->capture == *graph)
			other->capture = NULL;
	sim_unlock();
	return sim_ready();
}

CUresult sim_cuStreamIsCapturing(CUstream handle, unsigned int *status)
{
	CUstream stream = sim_stream(handle);

	*status = stream && stream->capture ? 1 : 0;
	return sim_ready();
}

CUresult sim_cuGraphAddKernelNode_v2(CUgraphNode *handle, CUgraph graph, const CUgraphNode *dependencies,
				     size_t count, const CUDA_KERNEL_NODE_PARAMS *shape)
{
	struct sim_node made = {.work = {.kind = RVP_CUPTI_CONCURRENT_KERNEL}};
	const char *name;

	(void)dependencies, (void)count;
	sim_cuFuncGetName(&name, shape->func);
	made.work.kernel.name = name;
	memcpy(made.work.kernel.grid, &shape->gridDimX, sizeof made.work.kernel.grid);
	memcpy(made.work.kernel.block, &shape->blockDimX, sizeof made.work.kernel.block);
	made.work.kernel.dynamic_shared = shape->sharedMemBytes;
	*handle = append(graph, &made);
	tell_node(RVP_CUPTI_GRAPHNODE_CREATED, graph, *handle, NULL, NULL);
	return sim_ready();
}

CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *handle, CUgraph graph, unsigned long long flags)
{
	CUgraphExec exec = calloc(1, sizeof *exec);
	CUresult result;

	(void)flags;
	if (!exec)
		abort();
	sim_current_device(&exec->device);
	result = sim_memory_charge(exec->device, EXEC_BYTES);
	if (result != CUDA_SUCCESS) {
		free(exec);
		return result;
	}
	begin_graph(&exec->copy);
	exec->number = exec->copy.number;
	for (CUgraphNode node = graph->first; node; node = node->next)
		tell_node(RVP_CUPTI_GRAPHNODE_CLONED, &exec->copy, append(&exec->copy, &node->work), graph,
			  node);
	*handle = exec;
	sim_tell_resource(RVP_CUPTI_GRAPHEXEC_CREATED, &(struct sim_resource){.context = sim_current(),
									      .is_graph = true,
									      .graph = &exec->copy,
									      .original_graph = graph,
									      .exec = exec});
	return sim_ready();
}

CUresult sim_cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
	CUstream stream = sim_stream(handle);
	const struct sim_observer *who = sim_observer();
	bool as_whole = who && who->wants_graph_runs();
	struct sim_activity run = {.kind = RVP_CUPTI_GRAPH_TRACE, .graph = exec->number, .start = 0};

	if (sim_ready() != CUDA_SUCCESS)
		return sim_ready();
	if (!stream)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_count_launch();
	for (CUgraphNode node = exec->copy.first; node; node = node->next) {
		struct sim_activity work = node->work.work;

		work.graph = exec->number;
		work.node = node->number;
		sim_submit(stream, &work,
			   node->work.has_own_duration ? node->work.duration_ns
						       : sim_kernel_duration(work.kernel.name));
		if (run.start == 0) {
			run.start = work.start;
			run.context = work.context, run.device = work.device, run.stream = work.stream;
			run.correlation = work.correlation;
		}
		run.end = work.end;
		if (!as_whole)
			sim_tell(&work);
	}
	if (as_whole && run.start != 0)
		sim_tell(&run);
	return sim_ready();
}

CUresult sim_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	(void)exec, (void)stream;
	return sim_ready();
}

CUresult sim_cuGraphExecDestroy(CUgraphExec exec)
{
	sim_tell_resource(RVP_CUPTI_GRAPHEXEC_DESTROY,
			  &(struct sim_resource){.context = sim_current(), .is_graph = true, .exec = exec});
	sim_memory_discharge(exec->device, EXEC_BYTES);
	clear(&exec->copy);
	free(exec);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphDestroy(CUgraph graph)
{
	tell_node(RVP_CUPTI_GRAPH_DESTROY, graph, NULL, NULL, NULL);
	clear(graph);
	free(graph);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	size_t i = 0;

	if (!nodes) {
		*count = graph->count;
		return CUDA_SUCCESS;
	}
	for (CUgraphNode node = graph->first; node && i < *count; node = node->next)
		nodes[i++] = node;
	*count = i;
	return CUDA_SUCCESS;
}
