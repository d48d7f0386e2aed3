/* SPDX-License-Identifier: MIT */
/* run_tables.c: see run_tables.h. */
#include "report/run_tables.h"

#include "report/kernel_list.h"
#include "report/kernels.h"
#include "report/occupancy.h"
#include "report/op_memory.h"
#include "report/timeline.h"
#include "report/timer_views.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { FIRST_TIMES = 1000, TEXT_BYTES = 512 };
static const double bytes_of_mb = 1048576;

const char *const rvp_run_table_names[RVP_RUN_TABLES + 1] = {"kernels-count", "kernels-trace", "ops", "ops-count", "ops-trace",
							     "scopes", "memory-trace", "timers", NULL};

static struct rvp_status no_memory(void)
{
	return rvp_fail("print the table", NULL, ENOMEM);
}

static const char *copy(struct rvp_text text, char to[TEXT_BYTES])
{
	size_t length = text.length < TEXT_BYTES - 1 ? text.length : TEXT_BYTES - 1;

	if (length)
		memcpy(to, text.bytes, length);
	to[length] = '\0';
	return to;
}

static void open_json(struct rvp_json *json)
{
	rvp_json_open(json, NULL, '{');
}

static void close_json(struct rvp_json *json)
{
	rvp_json_close(json, '}');
	fputc('\n', json->out);
}

/* ---- kernels ---- */

struct kernels {
	struct rvp_kernel_sink sink; /* first: the sink is the kernels */
	const struct rvp_run *run;
	struct rvp_kernel_table table;
	struct rvp_kernel_list list;
	uint64_t first_ns; /* start of the first; RVP_NEVER: there was none */
	bool is_trace, no_memory;
};

static void take_attribute(struct rvp_kernel_record *record, enum rvp_kernel_attribute which, uint64_t value)
{
	record->known |= 1u << which;
	record->attributes[which] = value;
}

static void take_shape(const struct kernels *kernels, const struct rvp_activity *activity,
		       struct rvp_kernel_record *record)
{
	const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(&kernels->run->processes[activity->process]);
	const struct rvp_kernel_shape *shape = rvp_kernel_shape_at(defs, activity->number);
	struct rvp_occupancy occupancy;

	if (!shape)
		return;
	occupancy = rvp_occupancy_of(shape, rvp_device_at(defs, shape->device));
	take_attribute(record, RVP_KERNEL_REGISTERS, shape->registers);
	take_attribute(record, RVP_KERNEL_SHARED_BYTES, shape->static_bytes + shape->dynamic_bytes);
	take_attribute(record, RVP_KERNEL_GRID, (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2]);
	take_attribute(record, RVP_KERNEL_BLOCK, (uint64_t)shape->block[0] * shape->block[1] * shape->block[2]);
	if (occupancy.is_known)
		take_attribute(record, RVP_KERNEL_OCCUPANCY, occupancy.blocks);
}

static void see_kernel(struct rvp_kernel_sink *sink, const struct rvp_work *work, const struct rvp_kernel_names *names)
{
	struct kernels *kernels = (struct kernels *)sink;
	const struct rvp_activity *activity = work->activity;
	struct rvp_kernel_record record = {.ms = (double)activity->duration_ns / 1e6};

	if (activity->kind != RVP_KERNEL || activity->flaw)
		return;
	record.name = rvp_kernel_name_at(names, work->name)->text;
	if (!kernels->is_trace) {
		if (!rvp_kernel_table_add(&kernels->table, record.name, strlen(record.name), record.ms))
			kernels->no_memory = true;
		return;
	}
	record.has_start = activity->has_start;
	if (record.has_start && kernels->first_ns == RVP_NEVER)
		kernels->first_ns = activity->start_ns;
	record.start_ms = (double)(int64_t)(activity->start_ns - kernels->first_ns) / 1e6;
	take_shape(kernels, activity, &record);
	rvp_kernel_list_put(&kernels->list, &record);
}

/* Of the first device; how many more there are stands behind it. */
static const char *model_of(const struct rvp_run *run, char text[TEXT_BYTES])
{
	if (!run->device_count || !*run->devices[0].model)
		return NULL;
	if (run->device_count == 1)
		return run->devices[0].model;
	snprintf(text, TEXT_BYTES, "%.200s and %zu more", run->devices[0].model, run->device_count - 1);
	return text;
}

static struct rvp_status read_kernels(struct kernels *kernels, struct rvp_run *run)
{
	struct rvp_kernel_sink *sinks[] = {&kernels->sink, NULL};
	struct rvp_kernels read;
	struct rvp_status status;

	if (!rvp_run_has_devices(run))
		return rvp_fail_with("print the kernels", NULL, "nothing was recorded of a device in this run");
	status = rvp_kernels_read(&read, run, &(struct rvp_kernel_question){.sinks = sinks});
	if (rvp_failed(status))
		return status;
	rvp_kernels_free(&read);
	return kernels->no_memory ? no_memory() : RVP_OK;
}

static struct rvp_status list_kernels(struct rvp_run *run, bool is_json, FILE *out)
{
	char text[TEXT_BYTES];
	const struct rvp_kernel_heading heading = {.toolkit = "cupti", .arch = "cuda", .device = model_of(run, text)};
	struct kernels kernels = {.sink.see = see_kernel, .run = run, .first_ns = RVP_NEVER, .is_trace = true};
	struct rvp_json json = {.out = out};
	struct rvp_status status;

	rvp_kernel_list_open(&kernels.list, &heading, out, is_json ? &json : NULL);
	if (is_json && rvp_run_has_devices(run))
		open_json(&json);
	status = read_kernels(&kernels, run);
	if (rvp_failed(status))
		return status;
	rvp_kernel_list_close(&kernels.list);
	if (is_json)
		close_json(&json);
	return RVP_OK;
}

/* ---- operators, as kernels ---- */

struct ops {
	struct rvp_op_sink sink; /* first: the sink is the operators */
	const struct rvp_run *run;
	struct rvp_kernel_table table;
	struct rvp_kernel_list list;
	struct rvp_op_memory memory;
	struct rvp_json *json;
	FILE *out;
	bool no_memory;
};

static void count_op(struct rvp_op_sink *sink, const struct rvp_op_run *run)
{
	struct ops *ops = (struct ops *)sink;
	struct rvp_text name = run->scope->name;

	if (run->scope->is_operator && !run->is_open &&
	    !rvp_kernel_table_add(&ops->table, name.bytes, name.length, (double)run->ns / 1e6))
		ops->no_memory = true;
}

static void list_op(struct rvp_op_sink *sink, const struct rvp_op_run *run)
{
	struct ops *ops = (struct ops *)sink;
	char name[TEXT_BYTES];

	if (run->scope->is_operator && !run->is_open)
		rvp_kernel_list_put(&ops->list,
				    &(struct rvp_kernel_record){
					.name = copy(run->scope->name, name),
					.ms = (double)run->ns / 1e6,
					.start_ms = (double)(int64_t)(run->scope->begin_ns - ops->run->begin_ns) / 1e6,
					.has_start = true});
}

static const struct rvp_kernel_heading of_ops = {.toolkit = "operators of rvprof.h", .arch = "x64"};

static struct rvp_status print_op_trace(struct rvp_run *run, bool is_json, FILE *out)
{
	struct ops ops = {.sink.see = list_op, .run = run};
	struct rvp_op_sink *sinks[] = {&ops.sink, NULL};
	struct rvp_json json = {.out = out};
	struct rvp_status status;

	rvp_kernel_list_open(&ops.list, &of_ops, out, is_json ? &json : NULL);
	if (is_json)
		open_json(&json);
	status = rvp_op_runs_read(run, sinks, NULL);
	if (rvp_failed(status))
		return status;
	rvp_kernel_list_close(&ops.list);
	if (is_json)
		close_json(&json);
	return RVP_OK;
}

/* ---- counts ---- */

static struct rvp_status count_ops(struct rvp_run *run, struct rvp_kernel_table *table)
{
	struct ops ops = {.sink.see = count_op, .run = run};
	struct rvp_op_sink *sinks[] = {&ops.sink, NULL};
	struct rvp_status status = rvp_op_runs_read(run, sinks, NULL);

	*table = ops.table;
	return !rvp_failed(status) && ops.no_memory ? no_memory() : status;
}

struct rvp_status rvp_run_table_groups(struct rvp_run *run, enum rvp_run_table which, struct rvp_kernel_table *table)
{
	struct kernels kernels = {.sink.see = see_kernel, .run = run};
	struct rvp_status status;

	*table = (struct rvp_kernel_table){0};
	if (which == RVP_TABLE_OPS_COUNT)
		return count_ops(run, table);
	if (which != RVP_TABLE_KERNELS_COUNT)
		return rvp_fail_with("look for a name", NULL, "--query goes with --table kernels-count or ops-count");
	status = read_kernels(&kernels, run);
	*table = kernels.table;
	return status;
}

static struct rvp_status print_counts(struct rvp_run *run, enum rvp_run_table which, bool is_json, FILE *out)
{
	char text[TEXT_BYTES];
	const struct rvp_kernel_heading of_kernels = {.toolkit = "cupti", .arch = "cuda", .device = model_of(run, text)};
	const struct rvp_kernel_heading *heading = which == RVP_TABLE_OPS_COUNT ? &of_ops : &of_kernels;
	struct rvp_kernel_table table;
	struct rvp_status status = rvp_run_table_groups(run, which, &table);
	bool done = true;

	if (!rvp_failed(status))
		done = is_json ? rvp_kernel_table_count_json(&table, heading, out) : rvp_kernel_table_count(&table, heading, out);
	rvp_kernel_table_free(&table);
	return done ? status : no_memory();
}

/* ---- memory ---- */

static void trace_op(struct rvp_op_sink *sink, const struct rvp_op_run *run)
{
	struct ops *ops = (struct ops *)sink;
	char tag[TEXT_BYTES];

	if (run->scope->is_operator && !run->is_open)
		rvp_op_memory_put(&ops->memory,
				  &(struct rvp_op_trace){.tag = copy(run->scope->name, tag),
							 .used_mb = (float)((double)run->live_bytes / bytes_of_mb)},
				  ops->out, ops->json);
}

static struct rvp_status print_memory(struct rvp_run *run, bool is_json, FILE *out)
{
	struct rvp_json json = {.out = out};
	struct ops ops = {.sink.see = trace_op,
			  .run = run,
			  .memory = RVP_OP_MEMORY_START,
			  .json = is_json ? &json : NULL,
			  .out = out};
	struct rvp_op_sink *sinks[] = {&ops.sink, NULL};
	struct rvp_status status;

	if (is_json) {
		open_json(&json);
		rvp_json_string(&json, "schema", "rvprof.op_memory/1");
	}
	status = rvp_op_runs_read(run, sinks, NULL);
	if (rvp_failed(status))
		return status;
	rvp_op_memory_close(&ops.memory, out, ops.json);
	if (is_json)
		close_json(&json);
	return RVP_OK;
}

/* ---- scopes ---- */

static void print_trees(const struct rvp_run *run, const struct rvp_op_trees *trees, bool is_json, FILE *out)
{
	struct rvp_json json = {.out = out};

	if (is_json) {
		open_json(&json);
		rvp_json_string(&json, "schema", "rvprof.scopes/1");
		rvp_json_open(&json, "threads", '[');
	}
	for (size_t i = 0; i < trees->count; i++) {
		const struct rvp_op_thread *thread = &trees->threads[i];
		char name[64];

		snprintf(name, sizeof name, run->process_count > 1 ? "%" PRIu32 " of process %" PRIu32 : "%" PRIu32,
			 thread->tid, run->processes[thread->process].pid);
		if (is_json)
			rvp_scope_tree_json(&thread->tree, &trees->names, name, &json);
		else
			rvp_scope_tree_print(&thread->tree, &trees->names, name, out);
	}
	if (!is_json)
		return;
	rvp_json_close(&json, ']');
	close_json(&json);
}

static struct rvp_status print_scopes(struct rvp_run *run, bool is_json, FILE *out)
{
	struct rvp_op_trees trees = {0};
	struct rvp_status status = rvp_op_runs_read(run, NULL, &trees);

	if (!rvp_failed(status))
		print_trees(run, &trees, is_json, out);
	rvp_op_trees_free(&trees);
	return status;
}

/* ---- timers ---- */

/* In microseconds, if all could be told in time; else all in ticks, those of events in nanoseconds. */
struct timers {
	struct rvp_timer_views us, ticks;
	bool lacks_ns, no_memory;
};

static void take_timer(struct timers *timers, const struct rvp_run *run, const struct rvp_moment *moment)
{
	const struct rvp_record_TIMER *timer = &moment->record->TIMER;
	bool has_ticks = timer->source != RVP_TIMER_EVENTS;
	char name[TEXT_BYTES], of[TEXT_BYTES + 40];

	snprintf(of, sizeof of, run->process_count > 1 ? "%s (process %" PRIu32 ")" : "%s%.0" PRIu32, copy(timer->name, name),
		 run->process_count > 1 ? run->processes[moment->process].pid : 0);
	timers->lacks_ns |= !timer->ns && (timer->ticks || !has_ticks);
	if (!rvp_timer_views_add(&timers->us, of, strlen(of), timer->step, timer->slot, (double)timer->ns / 1e3) ||
	    !rvp_timer_views_add(&timers->ticks, of, strlen(of), timer->step, timer->slot,
				 (double)(has_ticks ? timer->ticks : timer->ns)))
		timers->no_memory |= timer->slot < RVP_TIMER_SLOTS_MAX;
}

static struct rvp_status read_timers(struct rvp_run *run, struct timers *timers)
{
	struct rvp_timeline *timeline = rvp_timeline_open(run, RVP_NO_PROCESS);
	struct rvp_moment moment;

	while (timeline && rvp_timeline_next(timeline, &moment))
		if (moment.kind == RVP_MOMENT_RECORD && moment.record->kind == RVP_TIMER && moment.process != RVP_NO_PROCESS)
			take_timer(timers, run, &moment);
	if (!timeline || timers->no_memory || !rvp_timer_views_end(&timers->us) || !rvp_timer_views_end(&timers->ticks)) {
		rvp_timeline_close(timeline);
		return no_memory();
	}
	rvp_timeline_close(timeline);
	return RVP_OK;
}

static struct rvp_status print_timers(struct rvp_run *run, bool is_json, FILE *out)
{
	struct timers timers = {.us.has_decimals = true};
	struct rvp_json json = {.out = out};
	struct rvp_status status = read_timers(run, &timers);
	const struct rvp_timer_views *views = timers.lacks_ns ? &timers.ticks : &timers.us;

	if (!rvp_failed(status) && is_json) {
		open_json(&json);
		rvp_json_string(&json, "schema", "rvprof.timers/1");
		rvp_json_string(&json, "unit", timers.lacks_ns ? "ticks" : "us");
		rvp_timer_views_json(views, &json);
		close_json(&json);
	} else if (!rvp_failed(status)) {
		fprintf(out, "Timers, in %s\n", timers.lacks_ns ? "ticks" : "microseconds");
		rvp_timer_views_print(views, out);
	}
	rvp_timer_views_free(&timers.us);
	rvp_timer_views_free(&timers.ticks);
	return status;
}

struct rvp_status rvp_run_ops_print(struct rvp_run *run, size_t first_count, bool is_json, FILE *out)
{
	struct rvp_op_table table;
	struct rvp_op_sink *sinks[] = {&table.sink, NULL};
	struct rvp_status status;
	bool done;

	rvp_op_table_open(&table, first_count);
	status = rvp_op_runs_read(run, sinks, NULL);
	done = !table.no_memory;
	if (!rvp_failed(status) && done)
		done = is_json ? rvp_op_table_json(&table, out) : rvp_op_table_print(&table, out);
	rvp_op_table_free(&table);
	return rvp_failed(status) || done ? status : no_memory();
}

struct rvp_status rvp_run_table_print(struct rvp_run *run, enum rvp_run_table table, bool is_json, FILE *out)
{
	switch (table) {
	case RVP_TABLE_KERNELS_COUNT:
	case RVP_TABLE_OPS_COUNT: return print_counts(run, table, is_json, out);
	case RVP_TABLE_KERNELS_TRACE: return list_kernels(run, is_json, out);
	case RVP_TABLE_OPS: return rvp_run_ops_print(run, FIRST_TIMES, is_json, out);
	case RVP_TABLE_OPS_TRACE: return print_op_trace(run, is_json, out);
	case RVP_TABLE_SCOPES: return print_scopes(run, is_json, out);
	case RVP_TABLE_MEMORY_TRACE: return print_memory(run, is_json, out);
	case RVP_TABLE_TIMERS: return print_timers(run, is_json, out);
	case RVP_RUN_TABLES: break;
	}
	return RVP_OK;
}
