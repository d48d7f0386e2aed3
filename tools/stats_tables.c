/* SPDX-License-Identifier: MIT */
/* stats_tables.c: see stats_tables.h. Rows without a time, or a figure, are passed over, as `stats latency` does. */
#include "tools/stats_tables.h"

#include "report/grow.h"
#include "report/kernel_list.h"
#include "report/op_memory.h"
#include "report/scope_tree.h"
#include "report/timer_views.h"
#include "tools/commands.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rvp_table_asked rvp_table_asked_first(void)
{
	return (struct rvp_table_asked){.heading = {.toolkit = "default", .arch = "x64"}};
}

void rvp_table_take_option(struct rvp_table_asked *asked, int option, const char *argument)
{
	asked->is_for_kernels = true;
	switch (option) {
	case RVP_TABLE_TRACE: asked->is_trace = true; break;
	case RVP_TABLE_QUERY: asked->query = argument; break;
	case RVP_TABLE_ARCH: asked->heading.arch = argument; break;
	case RVP_TABLE_TOOLKIT: asked->heading.toolkit = argument; break;
	case RVP_TABLE_DEVICE: asked->heading.device = argument; break;
	default: break;
	}
}

static struct rvp_status no_memory(const struct rvp_csv_rows *rows)
{
	return rvp_fail("read", rvp_csv_path(rows), ENOMEM);
}

static struct rvp_status fail_row(const struct rvp_csv_rows *rows, const char *what)
{
	return rvp_fail_with("read", rvp_csv_path(rows), "line %" PRIu64 ": %s", rows->line, what);
}

/* ---- kernels ---- */

enum { NAME, MS, DURATION_NS, START_US, ATTRIBUTES }; /* as RVP_STATS_KERNEL_COLUMNS */

/* "128x2x1", or a number. */
static bool product_of(const char *text, uint64_t *product)
{
	char *end;

	*product = 1;
	do {
		uint64_t factor;

		if (*text < '0' || *text > '9')
			return false;
		factor = strtoull(text, &end, 10);
		if (__builtin_mul_overflow(*product, factor, product))
			return false;
		text = end + 1;
	} while (*end == 'x');
	return !*end;
}

static struct rvp_status read_attributes(const struct rvp_csv_rows *rows, struct rvp_kernel_record *record)
{
	for (int i = 0; i < RVP_KERNEL_ATTRIBUTES; i++) {
		if (!*rows->fields[ATTRIBUTES + i])
			continue;
		if (!product_of(rows->fields[ATTRIBUTES + i], &record->attributes[i]))
			return fail_row(rows, "an attribute of a kernel is not a number");
		record->known |= 1u << i;
	}
	return RVP_OK;
}

/* `ms`, else `duration_ns`; *has_time is false where the row has neither. */
static struct rvp_status read_kernel(const struct rvp_csv_rows *rows, struct rvp_kernel_record *record, bool *has_time)
{
	struct rvp_status status = RVP_OK;
	unsigned column = *rows->fields[MS] ? MS : DURATION_NS;
	double start_us = 0;

	*record = (struct rvp_kernel_record){.name = rows->fields[NAME]};
	*has_time = *rows->fields[column] != '\0';
	if (!*has_time)
		return RVP_OK;
	status = rvp_csv_decimal(rows, column, &record->ms);
	if (!rvp_failed(status) && record->ms < 0)
		status = fail_row(rows, "a time is below 0");
	record->ms /= column == MS ? 1 : 1e6;
	record->has_start = *rows->fields[START_US] != '\0';
	if (!rvp_failed(status) && record->has_start)
		status = rvp_csv_decimal(rows, START_US, &start_us);
	record->start_ms = start_us / 1e3;
	return rvp_failed(status) ? status : read_attributes(rows, record);
}

typedef bool take_kernel(void *context, const struct rvp_kernel_record *record);

static struct rvp_status read_kernels(struct rvp_csv_rows *rows, take_kernel *take, void *context)
{
	struct rvp_kernel_record record;
	struct rvp_status status;
	bool has_row, has_time;
	double sum_ms = 0;

	if (rows->place[MS] >= rows->field_count && rows->place[DURATION_NS] >= rows->field_count)
		return fail_row(rows, "the header has no column ms, and no duration_ns");
	while (!rvp_failed(status = rvp_csv_rows_next(rows, &has_row)) && has_row) {
		status = read_kernel(rows, &record, &has_time);
		if (rvp_failed(status))
			return status;
		sum_ms += has_time ? record.ms : 0;
		if (!isfinite(sum_ms))
			return fail_row(rows, "the sum of the times is beyond what a double holds");
		if (has_time && !take(context, &record))
			return no_memory(rows);
	}
	return status;
}

static bool count_kernel(void *context, const struct rvp_kernel_record *record)
{
	return rvp_kernel_table_add(context, record->name, strlen(record->name), record->ms);
}

/* A list whose starts count from the first one. */
struct kernel_list {
	struct rvp_kernel_list list;
	double first_ms;
};

static bool list_kernel(void *context, const struct rvp_kernel_record *record)
{
	struct kernel_list *list = context;
	struct rvp_kernel_record since = *record;

	if (!list->list.count)
		list->first_ms = record->start_ms;
	since.start_ms -= list->first_ms;
	rvp_kernel_list_put(&list->list, &since);
	return true;
}

static void warn_of_counts(const struct rvp_kernel_table *table, const struct rvp_kernel_query *query)
{
	if (query->left_out == UINT32_MAX)
		return;
	rvp_complain("%s ran %" PRIu64 " times and %s %" PRIu64 " times: what did not run as often as the first is left out",
		     table->names.names[query->first], table->groups[query->first].count,
		     table->names.names[query->left_out], table->groups[query->left_out].count);
}

static void print_query(const struct rvp_kernel_query *query, const struct rvp_table_asked *asked)
{
	struct rvp_json json = {.out = asked->out};
	char min[RVP_JSON_DOUBLE_BYTES], max[RVP_JSON_DOUBLE_BYTES], avg[RVP_JSON_DOUBLE_BYTES];

	if (!asked->is_json) {
		fprintf(asked->out, "counter          %" PRIu64 "\nmin_ms           %s\nmax_ms           %s\navg_ms           %s\n",
		       query->counter, rvp_json_double_text(query->min_ms, min), rvp_json_double_text(query->max_ms, max),
		       rvp_json_double_text(query->avg_ms, avg));
		return;
	}
	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.kernel_query/1");
	rvp_json_number(&json, "counter", query->counter);
	rvp_json_double(&json, "min_ms", query->min_ms);
	rvp_json_double(&json, "max_ms", query->max_ms);
	rvp_json_double(&json, "avg_ms", query->avg_ms);
	rvp_json_close(&json, '}');
	fputc('\n', asked->out);
}

struct rvp_status rvp_print_kernel_query(const struct rvp_kernel_table *table, const struct rvp_table_asked *asked)
{
	struct rvp_kernel_query query;
	char why[128];

	switch (rvp_kernel_table_query(table, asked->query, &query, why, sizeof why)) {
	case RVP_QUERY_NO_MEMORY: return rvp_fail("look for the kernels", NULL, ENOMEM);
	case RVP_QUERY_NO_PATTERN:
		return rvp_fail_with("look for the kernels", NULL, "'%.80s' is no regular expression: %s", asked->query,
				     why);
	case RVP_QUERY_DONE: break;
	}
	warn_of_counts(table, &query);
	print_query(&query, asked);
	return RVP_OK;
}

static struct rvp_status count_kernels(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked)
{
	struct rvp_kernel_table table = {0};
	struct rvp_status status = read_kernels(rows, count_kernel, &table);
	bool done = true;

	if (!rvp_failed(status) && asked->query)
		status = rvp_print_kernel_query(&table, asked);
	else if (!rvp_failed(status))
		done = asked->is_json ? rvp_kernel_table_count_json(&table, &asked->heading, asked->out)
				      : rvp_kernel_table_count(&table, &asked->heading, asked->out);
	rvp_kernel_table_free(&table);
	return done ? status : no_memory(rows);
}

static struct rvp_status list_kernels(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked)
{
	struct rvp_json json = {.out = asked->out};
	struct kernel_list list;
	struct rvp_status status;

	rvp_kernel_list_open(&list.list, &asked->heading, asked->out, asked->is_json ? &json : NULL);
	if (asked->is_json)
		rvp_json_open(&json, NULL, '{');
	status = read_kernels(rows, list_kernel, &list);
	if (rvp_failed(status))
		return status;
	rvp_kernel_list_close(&list.list);
	if (asked->is_json) {
		rvp_json_close(&json, '}');
		fputc('\n', asked->out);
	}
	return RVP_OK;
}

struct rvp_status rvp_stats_kernels(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked)
{
	return asked->is_trace && !asked->query ? list_kernels(rows, asked) : count_kernels(rows, asked);
}

/* ---- memory trace ---- */

static struct rvp_status read_trace(const struct rvp_csv_rows *rows, struct rvp_op_trace *trace)
{
	double used = 0, allocated = 0;
	struct rvp_status status = rvp_csv_decimal(rows, 1, &used);

	*trace = (struct rvp_op_trace){.tag = rows->fields[0], .has_allocated = *rows->fields[2] != '\0'};
	if (!rvp_failed(status) && trace->has_allocated)
		status = rvp_csv_decimal(rows, 2, &allocated);
	if (!rvp_failed(status) && (fabs(used) > (double)FLT_MAX || fabs(allocated) > (double)FLT_MAX))
		status = fail_row(rows, "a number is beyond what a float holds");
	if (rvp_failed(status))
		return status;
	trace->used_mb = (float)used;
	trace->allocated_mb = (float)allocated;
	return status;
}

struct rvp_status rvp_stats_memory_trace(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked)
{
	struct rvp_op_memory memory = RVP_OP_MEMORY_START;
	struct rvp_json text = {.out = asked->out}, *json = asked->is_json ? &text : NULL;
	struct rvp_op_trace trace;
	struct rvp_status status;
	bool has_row;

	if (json) {
		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "schema", "rvprof.op_memory/1");
	}
	while (!rvp_failed(status = rvp_csv_rows_next(rows, &has_row)) && has_row) {
		status = read_trace(rows, &trace);
		if (rvp_failed(status))
			break;
		rvp_op_memory_put(&memory, &trace, asked->out, json);
	}
	if (rvp_failed(status))
		return status;
	rvp_op_memory_close(&memory, asked->out, json);
	if (json) {
		rvp_json_close(json, '}');
		fputc('\n', asked->out);
	}
	return RVP_OK;
}

/* ---- timers ---- */

static struct rvp_status read_timer(const struct rvp_csv_rows *rows, struct rvp_timer_views *views, uint64_t *step,
				    bool *is_first)
{
	const char *name = *rows->fields[3] ? rows->fields[3] : "timer";
	uint64_t at = 0, slot = 0;
	double value = 0;
	struct rvp_status status = rvp_csv_whole(rows, 0, &at);

	if (!rvp_failed(status))
		status = rvp_csv_whole(rows, 1, &slot);
	if (!rvp_failed(status))
		status = rvp_csv_decimal(rows, 2, &value);
	if (rvp_failed(status))
		return status;
	if (slot >= RVP_TIMER_SLOTS_MAX)
		return fail_row(rows, "a slot is beyond 16777215");
	if (!*is_first && at < *step)
		return fail_row(rows, "a step comes again, or too late: rows are in order of steps");
	*is_first = false;
	*step = at;
	return rvp_timer_views_add(views, name, strlen(name), at, slot, value) ? RVP_OK : no_memory(rows);
}

static struct rvp_status read_timers(struct rvp_csv_rows *rows, struct rvp_timer_views *views)
{
	struct rvp_status status;
	bool has_row, is_first = true;
	uint64_t step = 0;

	while (!rvp_failed(status = rvp_csv_rows_next(rows, &has_row)) && has_row)
		if (*rows->fields[2] && rvp_failed(status = read_timer(rows, views, &step, &is_first)))
			return status;
	if (!rvp_failed(status) && !rvp_timer_views_end(views))
		status = no_memory(rows);
	return status;
}

struct rvp_status rvp_stats_timers(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked)
{
	struct rvp_timer_views views = {0};
	struct rvp_json json = {.out = asked->out};
	struct rvp_status status = read_timers(rows, &views);

	if (!rvp_failed(status) && asked->is_json) {
		rvp_json_open(&json, NULL, '{');
		rvp_json_string(&json, "schema", "rvprof.timers/1");
		rvp_timer_views_json(&views, &json);
		rvp_json_close(&json, '}');
		fputc('\n', asked->out);
	} else if (!rvp_failed(status)) {
		rvp_timer_views_print(&views, asked->out);
	}
	rvp_timer_views_free(&views);
	return status;
}

/* ---- scopes ---- */

struct trees {
	struct rvp_name_table names, threads;
	struct rvp_scope_tree *trees; /* by thread */
	size_t room;
};

/* The node at the end of a path "outer;inner"; UINT32_MAX without memory. */
static uint32_t node_at(struct trees *trees, struct rvp_scope_tree *tree, const char *path)
{
	uint32_t node = 0;

	for (const char *end; node != UINT32_MAX; path = end + 1) {
		uint32_t name;

		end = strchrnul(path, ';');
		name = rvp_name_number(&trees->names, path, (size_t)(end - path));
		node = name == UINT32_MAX ? name : rvp_scope_tree_child(tree, node, name);
		if (!*end)
			break;
	}
	return node;
}

static struct rvp_status read_scope(const struct rvp_csv_rows *rows, struct trees *trees)
{
	const char *thread = *rows->fields[2] ? rows->fields[2] : "1";
	uint32_t number, node;
	double seconds = 0;
	struct rvp_status status = rvp_csv_decimal(rows, 1, &seconds);

	if (rvp_failed(status))
		return status;
	if (seconds < 0 || seconds > 1e9)
		return fail_row(rows, "seconds are from 0 to 1e9");
	if (!*rows->fields[0])
		return fail_row(rows, "a path is empty");
	number = rvp_name_number(&trees->threads, thread, strlen(thread));
	if (number == UINT32_MAX ||
	    !rvp_grow((void **)&trees->trees, &trees->room, trees->threads.count, sizeof *trees->trees))
		return no_memory(rows);
	node = node_at(trees, &trees->trees[number], rows->fields[0]);
	if (node == UINT32_MAX)
		return no_memory(rows);
	rvp_scope_tree_add(&trees->trees[number], node, (uint64_t)llround(seconds * 1e9));
	return RVP_OK;
}

static void print_trees(const struct trees *trees, const struct rvp_table_asked *asked)
{
	struct rvp_json json = {.out = asked->out};

	if (asked->is_json) {
		rvp_json_open(&json, NULL, '{');
		rvp_json_string(&json, "schema", "rvprof.scopes/1");
		rvp_json_open(&json, "threads", '[');
	}
	for (size_t i = 0; i < trees->threads.count; i++)
		if (asked->is_json)
			rvp_scope_tree_json(&trees->trees[i], &trees->names, trees->threads.names[i], &json);
		else
			rvp_scope_tree_print(&trees->trees[i], &trees->names, trees->threads.names[i], asked->out);
	if (!asked->is_json)
		return;
	rvp_json_close(&json, ']');
	rvp_json_close(&json, '}');
	fputc('\n', asked->out);
}

struct rvp_status rvp_stats_scopes(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked)
{
	struct trees trees = {0};
	struct rvp_status status;
	bool has_row;

	while (!rvp_failed(status = rvp_csv_rows_next(rows, &has_row)) && has_row)
		if (*rows->fields[1] && rvp_failed(status = read_scope(rows, &trees)))
			break;
	if (!rvp_failed(status))
		print_trees(&trees, asked);
	for (size_t i = 0; i < trees.threads.count && i < trees.room; i++)
		rvp_scope_tree_free(&trees.trees[i]);
	free(trees.trees);
	rvp_name_table_free(&trees.names);
	rvp_name_table_free(&trees.threads);
	return status;
}
