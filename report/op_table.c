/* SPDX-License-Identifier: MIT */
/* op_table.c: see op_table.h. */
#include "report/op_table.h"

#include "report/grow.h"
#include "report/text_numbers.h"
#include "report/text_style.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_TIMES = 10 };

/* ---- groups ---- */

static uint32_t number_of(struct rvp_op_table *table, struct rvp_text text)
{
	uint32_t number = rvp_name_number(&table->names, text.bytes, text.length);

	table->no_memory |= number == UINT32_MAX;
	return number;
}

/* By name and args, as their numbers say. */
static struct rvp_op_group *group_of(struct rvp_op_table *table, const struct rvp_scope *scope)
{
	uint32_t name = number_of(table, scope->name), args = number_of(table, scope->args), key;
	char text[32];

	if (table->no_memory)
		return NULL;
	snprintf(text, sizeof text, "%" PRIu32 " %" PRIu32, name, args);
	key = rvp_name_number(&table->keys, text, strlen(text));
	if (key == UINT32_MAX || !rvp_grow((void **)&table->groups, &table->room, table->keys.count, sizeof *table->groups))
		return NULL;
	if (!table->groups[key].count && !table->groups[key].open_count)
		table->groups[key] =
		    (struct rvp_op_group){.name = name, .args = args, .category = number_of(table, scope->category)};
	return &table->groups[key];
}

static bool add_time(struct rvp_op_table *table, struct rvp_op_group *group, const struct rvp_op_run *run)
{
	if (!group->count || run->ns < group->min_ns)
		group->min_ns = run->ns;
	if (run->ns > group->max_ns)
		group->max_ns = run->ns;
	group->count++;
	group->total_ns += run->ns;
	group->self_ns += run->self_ns;
	table->total_ns += run->ns;
	table->run_count++;
	if (group->first_count == table->first_count)
		return true;
	if (!rvp_grow((void **)&group->first_ns, &group->first_room, group->first_count + 1, sizeof *group->first_ns))
		return false;
	group->first_ns[group->first_count++] = run->ns;
	return true;
}

static void see(struct rvp_op_sink *sink, const struct rvp_op_run *run)
{
	struct rvp_op_table *table = (struct rvp_op_table *)sink;
	struct rvp_op_group *group = run->scope->is_operator ? group_of(table, run->scope) : NULL;

	if (!run->scope->is_operator)
		return;
	if (!group) {
		table->no_memory = true;
		return;
	}
	if (run->workspace_bytes > group->workspace_bytes)
		group->workspace_bytes = run->workspace_bytes;
	group->is_estimate |= run->is_estimate;
	if (run->is_open)
		group->open_count++;
	else if (!add_time(table, group, run))
		table->no_memory = true;
}

void rvp_op_table_open(struct rvp_op_table *table, size_t first_count)
{
	*table = (struct rvp_op_table){.sink.see = see, .first_count = first_count};
}

static int compare(const void *left, const void *right, void *context)
{
	const struct rvp_op_group *groups = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (groups[a].total_ns != groups[b].total_ns)
		return groups[a].total_ns > groups[b].total_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static uint32_t *order_of(const struct rvp_op_table *table)
{
	uint32_t *order = calloc(table->keys.count + 1, sizeof *order);

	for (uint32_t i = 0; order && i < table->keys.count; i++)
		order[i] = i;
	if (order && table->keys.count)
		qsort_r(order, table->keys.count, sizeof *order, compare, table->groups);
	return order;
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

/* ---- text ---- */

static const char *text_at(const struct rvp_op_table *table, uint32_t number)
{
	return table->names.names[number];
}

static void put_name(const struct rvp_op_table *table, const struct rvp_op_group *group, FILE *out)
{
	rvp_print_safely(out, text_at(table, group->name), 0);
	if (*text_at(table, group->args)) {
		fputc('(', out);
		rvp_print_safely(out, text_at(table, group->args), 0);
		fputc(')', out);
	}
	if (*text_at(table, group->category)) {
		fputs("  [", out);
		rvp_print_safely(out, text_at(table, group->category), 0);
		fputc(']', out);
	}
	fputc('\n', out);
}

static void put_times(const struct rvp_op_group *group, FILE *out)
{
	size_t shown = group->first_count < SHOWN_TIMES ? group->first_count : SHOWN_TIMES;

	if (!group->count)
		return;
	fputs("         latency (us):", out);
	for (size_t i = 0; i < shown; i++)
		fprintf(out, " %.3f", us(group->first_ns[i]));
	if (shown < group->count)
		fprintf(out, " ... %" PRIu64 " more", group->count - shown);
	fputc('\n', out);
}

static void put_group(const struct rvp_op_table *table, const struct rvp_op_group *group, FILE *out)
{
	char bytes[RVP_NUMBER_TEXT_BYTES];

	fprintf(out, "%8" PRIu64, group->count);
	if (group->count)
		fprintf(out, " %14.3f %12.3f %12.3f %12.3f %14.3f", us(group->total_ns),
			us(group->total_ns) / (double)group->count, us(group->min_ns), us(group->max_ns), us(group->self_ns));
	else
		fprintf(out, " %14s %12s %12s %12s %14s", "-", "-", "-", "-", "-");
	fprintf(out, " %11s%s  ", rvp_text_bytes(group->workspace_bytes, bytes), group->is_estimate ? "~" : " ");
	put_name(table, group, out);
	put_times(group, out);
	if (group->open_count)
		fprintf(out, "         %" PRIu64 " that nobody ended: in no time\n", group->open_count);
}

bool rvp_op_table_print(const struct rvp_op_table *table, FILE *out)
{
	uint32_t *order = order_of(table);

	if (!order)
		return false;
	fprintf(out, "%8s %14s %12s %12s %12s %14s %11s   %s\n", "Count", "Total (us)", "Mean (us)", "Min (us)", "Max (us)",
		"Self (us)", "Workspace", "Operator");
	for (size_t i = 0; i < table->keys.count; i++)
		put_group(table, &table->groups[order[i]], out);
	fprintf(out, "%" PRIu64 " executions of %zu operators\n", table->run_count, table->keys.count);
	free(order);
	return true;
}

/* ---- JSON ---- */

static void write_times(const struct rvp_op_group *group, struct rvp_json *json)
{
	rvp_json_open(json, "latency_us", '[');
	for (size_t i = 0; i < group->first_count; i++)
		rvp_json_decimal(json, NULL, us(group->first_ns[i]), 3);
	rvp_json_close(json, ']');
	rvp_json_number(json, "latency_cut", group->count - group->first_count);
	if (!group->count)
		return;
	rvp_json_decimal(json, "total_us", us(group->total_ns), 3);
	rvp_json_decimal(json, "mean_us", us(group->total_ns) / (double)group->count, 3);
	rvp_json_decimal(json, "min_us", us(group->min_ns), 3);
	rvp_json_decimal(json, "max_us", us(group->max_ns), 3);
	rvp_json_decimal(json, "self_us", us(group->self_ns), 3);
}

static void write_group(const struct rvp_op_table *table, const struct rvp_op_group *group, struct rvp_json *json)
{
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "name", text_at(table, group->name));
	rvp_json_string(json, "args", text_at(table, group->args));
	rvp_json_string(json, "category", text_at(table, group->category));
	rvp_json_number(json, "count", group->count);
	rvp_json_number(json, "open_count", group->open_count);
	write_times(group, json);
	rvp_json_number(json, "workspace_bytes", group->workspace_bytes);
	rvp_json_bool(json, "workspace_is_estimate", group->is_estimate);
	rvp_json_close(json, '}');
}

bool rvp_op_table_json(const struct rvp_op_table *table, FILE *out)
{
	struct rvp_json json = {.out = out};
	uint32_t *order = order_of(table);

	if (!order)
		return false;
	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.op/1");
	rvp_json_open(&json, "rows", '[');
	for (size_t i = 0; i < table->keys.count; i++)
		write_group(table, &table->groups[order[i]], &json);
	rvp_json_close(&json, ']');
	rvp_json_number(&json, "executions", table->run_count);
	rvp_json_decimal(&json, "total_us", us(table->total_ns), 3);
	rvp_json_close(&json, '}');
	fputc('\n', out);
	free(order);
	return true;
}

void rvp_op_table_free(struct rvp_op_table *table)
{
	for (size_t i = 0; i < table->keys.count && i < table->room; i++)
		free(table->groups[i].first_ns);
	free(table->groups);
	rvp_name_table_free(&table->names);
	rvp_name_table_free(&table->keys);
}
