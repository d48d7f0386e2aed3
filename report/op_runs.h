/* SPDX-License-Identifier: MIT */
/* op_runs.h: the operators and scopes of a run (rvprof_op_begin, rvprof_scope_begin, rvprof.py, adapters, NVTX's push and
 * pop), each with its time and the memory that it asked for, given to sinks as they end.
 *
 *     rvp_op_runs_read(run, sinks, &trees);
 *
 *   - Self time is the time less that of the operators right inside (whose nearest operator outwards this is, on its
 * thread). Of an operator that nobody ended the time is up to the end of its thread's records; is_open says so.
 *   - Workspace: of the host's blocks and mappings that the thread asked for while it was open, those inside it included,
 * the most that was live at once, whoever freed them. What it frees of older blocks makes it no smaller.
 *   - Live bytes are those of its process's blocks right after its end.
 *   - In sampled mode both are estimates; is_estimate says so of the workspace.
 *
 * Memory: what is open, the live blocks that were born in an operator, and where trees are asked for, a node a path.
 */
#ifndef RVP_REPORT_OP_RUNS_H
#define RVP_REPORT_OP_RUNS_H

#include "report/scope_stacks.h"
#include "report/scope_tree.h"

struct rvp_op_run {
	const struct rvp_scope *scope; /* until the call is over */
	uint32_t process;
	uint64_t ns, self_ns, end_ns;
	uint64_t workspace_bytes, live_bytes;
	bool is_estimate, is_open;
};

struct rvp_op_sink {
	void (*see)(struct rvp_op_sink *sink, const struct rvp_op_run *run);
};

/* Time by scope, a tree a thread, in order of their first scope. */
struct rvp_op_thread {
	uint32_t process, tid;
	struct rvp_scope_tree tree;
};

struct rvp_op_trees {
	struct rvp_name_table names;
	struct rvp_op_thread *threads;
	size_t count, room;
};

/* `sinks`: NULL ends them. `trees` NULL: none. Fails without memory only. */
struct rvp_status rvp_op_runs_read(struct rvp_run *run, struct rvp_op_sink *const *sinks, struct rvp_op_trees *trees);
void rvp_op_trees_free(struct rvp_op_trees *trees);

#endif
