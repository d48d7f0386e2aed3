/* SPDX-License-Identifier: MIT */
/* scope_tree.c: see scope_tree.h. A child is looked for from the one behind the last that was used: scopes come round in
 * the same order. */
#include "report/scope_tree.h"

#include "report/grow.h"
#include "report/kernel_table.h"
#include "report/text_style.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NAME_COLUMNS = 40, RULE_COLUMNS = 80, NODES_MAX = 1 << 24 };

static uint32_t find(const struct rvp_scope_tree *tree, uint32_t parent, uint32_t name)
{
	uint32_t used = tree->nodes[parent].last_used, start = used ? tree->nodes[used].next : 0;

	for (uint32_t at = start; at; at = tree->nodes[at].next)
		if (tree->nodes[at].name == name)
			return at;
	for (uint32_t at = tree->nodes[parent].first_child; at != start; at = tree->nodes[at].next)
		if (tree->nodes[at].name == name)
			return at;
	return 0;
}

static uint32_t make(struct rvp_scope_tree *tree, uint32_t parent, uint32_t name)
{
	uint32_t number = (uint32_t)tree->count;
	struct rvp_scope_node *of;

	if (tree->count == NODES_MAX ||
	    !rvp_grow((void **)&tree->nodes, &tree->room, tree->count + 1, sizeof *tree->nodes))
		return UINT32_MAX;
	of = &tree->nodes[parent];
	tree->nodes[number] = (struct rvp_scope_node){.name = name, .parent = parent, .depth = of->depth + 1};
	if (of->last_child)
		tree->nodes[of->last_child].next = number;
	else
		of->first_child = number;
	of->last_child = number;
	tree->count++;
	return number;
}

uint32_t rvp_scope_tree_child(struct rvp_scope_tree *tree, uint32_t parent, uint32_t name)
{
	uint32_t child;

	if (!tree->count) {
		if (!rvp_grow((void **)&tree->nodes, &tree->room, 1, sizeof *tree->nodes))
			return UINT32_MAX;
		tree->count = 1;
	}
	if (tree->nodes[parent].depth == RVP_TREE_DEPTH_MAX)
		return parent;
	child = find(tree, parent, name);
	if (!child)
		child = make(tree, parent, name);
	if (child != UINT32_MAX)
		tree->nodes[parent].last_used = child;
	return child;
}

void rvp_scope_tree_add(struct rvp_scope_tree *tree, uint32_t node, uint64_t ns)
{
	tree->nodes[node].ns += ns;
	tree->nodes[node].count++;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* ---- text ---- */

struct unit {
	double factor;
	const char *name;
};

static struct unit unit_of(double s)
{
	if (s < 1e-6)
		return (struct unit){1e9, "ns"};
	if (s < 1e-3)
		return (struct unit){1e6, "us"};
	if (s < 1)
		return (struct unit){1e3, "ms"};
	if (s < 60)
		return (struct unit){1, " s"};
	if (s < 3600)
		return (struct unit){1.0 / 60, " m"};
	return (struct unit){1.0 / 3600, "h"};
}

static int put_time(FILE *out, double s, struct unit unit)
{
	return fprintf(out, "%7.3f %s", s * unit.factor, unit.name);
}

static void put_line(const struct rvp_scope_tree *tree, const struct rvp_name_table *names, uint32_t number,
		     FILE *out)
{
	const struct rvp_scope_node *node = &tree->nodes[number], *parent = &tree->nodes[node->parent];
	double total = seconds(node->ns), whole = node->parent ? seconds(parent->ns) : 0;
	double mean = total / (double)(node->count ? node->count : 1);
	int columns;

	fprintf(out, "%*s", (int)node->depth * 4, "");
	columns = node->count ? put_time(out, total, unit_of(whole >= 1e-6 ? whole : total)) : fprintf(out, "%7s   ", "-");
	columns += node->count && whole >= 1e-6 ? fprintf(out, " %5.2f%%  ", total * 100 / whole) : fprintf(out, " ");
	columns += (int)rvp_print_safely(out, names->names[node->name], 0);
	fprintf(out, "%*s", columns < NAME_COLUMNS ? NAME_COLUMNS - columns : 0, "");
	if (!node->count) {
		fputs(" [not measured]\n", out);
		return;
	}
	fprintf(out, " [%" PRIu64 " x ", node->count);
	put_time(out, mean, unit_of(mean));
	fputs("]\n", out);
}

/* Below 0 where a child went on behind its parent's end. */
static double unaccounted(const struct rvp_scope_tree *tree, const struct rvp_scope_node *node)
{
	double rest = seconds(node->ns);

	for (uint32_t at = node->first_child; at; at = tree->nodes[at].next)
		rest -= seconds(tree->nodes[at].ns);
	return rest;
}

static void put_unaccounted(const struct rvp_scope_tree *tree, uint32_t number, FILE *out)
{
	const struct rvp_scope_node *node = &tree->nodes[number];
	double total = seconds(node->ns), rest = unaccounted(tree, node);

	if (!number || !node->first_child || total < 1e-6 || rest <= total * 0.005)
		return;
	fprintf(out, "%*s", (int)(node->depth + 1) * 4, "");
	put_time(out, rest, unit_of(total));
	fprintf(out, " %5.2f%%  [unaccounted]\n", rest * 100 / total);
}

void rvp_scope_tree_print(const struct rvp_scope_tree *tree, const struct rvp_name_table *names, const char *thread, FILE *out)
{
	uint32_t at = tree->count ? tree->nodes[0].first_child : 0;

	rvp_rule_print(out, '>', RULE_COLUMNS);
	fprintf(out, "[Profiler thread ");
	rvp_print_safely(out, thread, 0);
	fputs("]\n", out);
	while (at) {
		put_line(tree, names, at, out);
		if (tree->nodes[at].first_child) {
			at = tree->nodes[at].first_child;
			continue;
		}
		while (at && !tree->nodes[at].next) {
			at = tree->nodes[at].parent;
			put_unaccounted(tree, at, out);
		}
		at = at ? tree->nodes[at].next : 0;
	}
	rvp_rule_print(out, '>', RULE_COLUMNS);
}

/* ---- JSON ---- */

/* Flat, outer before inner: a tree of a thousand levels would be more than readers take. */
void rvp_scope_tree_json(const struct rvp_scope_tree *tree, const struct rvp_name_table *names, const char *thread,
			 struct rvp_json *json)
{
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "thread", thread);
	rvp_json_open(json, "rows", '[');
	for (uint32_t at = 1; at < tree->count; at++) {
		const struct rvp_scope_node *node = &tree->nodes[at], *parent = &tree->nodes[node->parent];

		rvp_json_open(json, NULL, '{');
		rvp_json_number(json, "number", at);
		rvp_json_number(json, "parent", node->parent);
		rvp_json_string(json, "name", names->names[node->name]);
		if (node->count)
			rvp_json_double(json, "total_s", seconds(node->ns));
		if (node->count && node->parent && parent->ns >= 1000)
			rvp_json_double(json, "percent", seconds(node->ns) * 100 / seconds(parent->ns));
		rvp_json_number(json, "count", node->count);
		if (node->count)
			rvp_json_double(json, "mean_s", seconds(node->ns) / (double)node->count);
		if (node->count && node->first_child)
			rvp_json_double(json, "unaccounted_s", unaccounted(tree, node));
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
	rvp_json_close(json, '}');
}

void rvp_scope_tree_free(struct rvp_scope_tree *tree)
{
	free(tree->nodes);
	*tree = (struct rvp_scope_tree){0};
}
