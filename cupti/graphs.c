/* SPDX-License-Identifier: MIT */
/* graphs.c: see graphs.h. A graph is made (or captured) node by node, and copied when it is made ready to launch: kernels
 * bear the copy's numbers, so both are told, and the copy names its original. */
#include "cupti/graphs.h"

#include "cupti/follower.h"
#include "cupti/library.h"

#include <stdatomic.h>

enum { LAST_WORKING_KIND = 2 }; /* cuda.h, CUgraphNodeType: 0 kernel, 1 memcpy, 2 memset */

static _Atomic uint64_t copies, ready;

uint32_t rvp_graphs_function(unsigned i)
{
	static const uint16_t functions[] = {RVP_CUPTI_GRAPHNODE_CREATED, RVP_CUPTI_GRAPHNODE_CLONED,
					     RVP_CUPTI_GRAPHEXEC_CREATED};

	return i < sizeof functions / sizeof functions[0] ? functions[i] : 0;
}

static uint64_t node_number(void *node)
{
	uint64_t number = 0;

	if (!node || !rvp_cupti.GetGraphNodeId || rvp_cupti.GetGraphNodeId(node, &number) != RVP_CUPTI_SUCCESS)
		return 0;
	return number;
}

static uint64_t graph_number(void *graph)
{
	uint32_t number = 0;

	if (!graph || !rvp_cupti.GetGraphId || rvp_cupti.GetGraphId(graph, &number) != RVP_CUPTI_SUCCESS)
		return 0;
	return number;
}

static void tell_node(const struct rvp_cupti_graph_data *data, bool is_copy)
{
	struct rvp_device_path path = {0, 0};
	uint64_t graph, node, original;

	rvp_recorder->begin_own();
	graph = graph_number(data->graph);
	node = node_number(data->node);
	original = is_copy ? node_number(data->original_node) : 0;
	rvp_recorder->end_own();
	if (!is_copy)
		path = rvp_recorder->path();
	if (node)
		RVP_TELL(GRAPH_NODE, .graph = graph, .node = node, .original = original, .kind = data->node_kind,
			 .stack = path.stack, .python = path.python);
}

bool rvp_graphs_take(uint32_t cbid, const struct rvp_cupti_resource_data *data)
{
	const struct rvp_cupti_graph_data *graph = data->descriptor;

	if (cbid == RVP_CUPTI_GRAPHEXEC_CREATED)
		atomic_fetch_add_explicit(&ready, 1, memory_order_relaxed);
	else if (cbid != RVP_CUPTI_GRAPHNODE_CREATED && cbid != RVP_CUPTI_GRAPHNODE_CLONED)
		return false;
	else if (graph) {
		tell_node(graph, cbid == RVP_CUPTI_GRAPHNODE_CLONED);
		if (cbid == RVP_CUPTI_GRAPHNODE_CLONED && graph->node_kind <= LAST_WORKING_KIND)
			atomic_fetch_add_explicit(&copies, 1, memory_order_relaxed);
	}
	return true;
}

uint64_t rvp_graphs_mean_nodes(void)
{
	uint64_t graphs = atomic_load_explicit(&ready, memory_order_relaxed);

	return graphs ? atomic_load_explicit(&copies, memory_order_relaxed) / graphs : 0;
}
