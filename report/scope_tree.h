/* SPDX-License-Identifier: MIT */
/* scope_tree.h: time by scope, as a tree: a child's total, its share of its parent, how often, its mean, and what of the
 * parent no child accounts for. The layout is that of Quadrants' and Taichi's scoped profiler:
 *
 *     rule of 80 '>'
 *     [Profiler thread ID]
 *         TOTAL UNIT SHARE%  NAME, padded to 40, " [N x MEAN]"
 *
 *   - No share where the parent's total is below a microsecond; so never of the outermost, whose parent, the thread, has none.
 *   - Children have their parent's unit where they have a share, else one of their own; means have their own.
 *   - "[unaccounted]" where more than 0.5 % of the parent's total is in no child.
 *
 *   - A scope that nobody ended, or a path of which only inner ones are known, has no time: "-", "[not measured]".
 *
 * Node 0 is the thread. Children stand in order of appearance. A node deeper than RVP_TREE_DEPTH_MAX is its parent.
 */
#ifndef RVP_REPORT_SCOPE_TREE_H
#define RVP_REPORT_SCOPE_TREE_H

#include "report/json_writer.h"
#include "report/name_table.h"

enum { RVP_TREE_DEPTH_MAX = 1024 };

struct rvp_scope_node {
	uint64_t ns, count;
	uint32_t name; /* of the names */
	uint32_t parent, first_child, last_child, last_used, next; /* 0: none */
	uint32_t depth;
};

struct rvp_scope_tree {
	struct rvp_scope_node *nodes; /* nodes[0] is the thread; NULL before the first */
	size_t count, room;
};

/* The child of that name, which is made where it is not there; UINT32_MAX without memory. `parent` 0: the thread. */
uint32_t rvp_scope_tree_child(struct rvp_scope_tree *tree, uint32_t parent, uint32_t name);
void rvp_scope_tree_add(struct rvp_scope_tree *tree, uint32_t node, uint64_t ns);

void rvp_scope_tree_print(const struct rvp_scope_tree *tree, const struct rvp_name_table *names, const char *thread, FILE *out);
/* An item of an array that is open. */
void rvp_scope_tree_json(const struct rvp_scope_tree *tree, const struct rvp_name_table *names, const char *thread,
			 struct rvp_json *json);
void rvp_scope_tree_free(struct rvp_scope_tree *tree);

#endif
