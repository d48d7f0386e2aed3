/* SPDX-License-Identifier: MIT */
/* scan.c: the first pass over all records of a log: collects what records define (call paths, code, modules,
 * threads, command), the anchors of the clock, forks, and the first and last stamp. Memory: definitions.
 *
 * Rules
 *   - Numbers are checked against what the log's size allows before a table grows to them.
 *   - A later definition of the same number wins.
 */
#include "record/event_skip.h"
#include "report/grow.h"
#include "report/kernels_defs.h"
#include "report/power.h"
#include "report/run_source.h"
#include "report/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 65536, WINDOWS_MAX = 256 };

struct scan {
	struct rvp_run *run;
	struct rvp_process *process;
	struct rvp_process_source *source;
	struct rvp_arena *arena;
	uint32_t tid;
	uint32_t chunk; /* its number */
	bool no_memory;
};

/* The item `number` of a table, or NULL: not a number that this log can hold, or no memory. */
static void *item_at(struct scan *scan, void **items, size_t *room, size_t *count, uint64_t number,
		     size_t item_bytes)
{
	if (number == 0 || number > scan->source->number_limit)
		return NULL;
	if (!rvp_grow(items, room, number + 1, item_bytes)) {
		scan->no_memory = true;
		return NULL;
	}
	if (*count < number + 1)
		*count = number + 1;
	return (char *)*items + number * item_bytes;
}

#define ITEM_AT(scan, array, count, array_room, number)                              \
	item_at(scan, (void **)&(scan)->process->array, &(scan)->source->array_room, \
		&(scan)->process->count, number, sizeof *(scan)->process->array)
#define ITEM_AFTER(scan, array, count, array_room)                                                       \
	(rvp_grow((void **)&(scan)->process->array, &(scan)->source->array_room, (scan)->process->count + 1, \
	      sizeof *(scan)->process->array)                                                            \
	     ? &(scan)->process->array[(scan)->process->count++]                                         \
	     : ((scan)->no_memory = true, NULL))

static uint32_t narrow(uint64_t value)
{
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void take_process(struct scan *scan, const struct rvp_record_PROCESS *record)
{
	struct rvp_process *process = scan->process;

	scan->source->process_stamp = record->stamp;
	scan->source->has_process_record = true;
	process->pid = narrow(record->pid);
	process->parent_pid = narrow(record->parent_pid);
	process->start_ticks = record->start_ticks;
	process->pidns_inode = record->pidns_inode;
	process->exec_number = narrow(record->exec_number);
	process->page_bytes = record->page_bytes;
	process->mode = record->mode == RVP_MODE_FULL ? RVP_MODE_FULL : RVP_MODE_SAMPLED;
	process->sample_bytes = record->sample_bytes;
	process->threshold_bytes = record->threshold_bytes;
	process->clock = record->clock == RVP_CLOCK_MONOTONIC ? RVP_CLOCK_MONOTONIC : RVP_CLOCK_TSC;
	process->is_fork = record->is_fork != 0;
	process->rank = rvp_arena_copy(scan->arena, record->rank);
	process->boot_id = rvp_arena_copy(scan->arena, record->boot_id);
	process->exe = rvp_arena_copy(scan->arena, record->exe);
}

static void take_argument(struct scan *scan, const struct rvp_record_ARGUMENT *record)
{
	struct rvp_process *process = scan->process;

	if (record->number >= ARGUMENTS_MAX)
		return;
	if (!rvp_grow((void **)&process->arguments, &scan->source->argument_room, record->number + 2,
		  sizeof *process->arguments)) {
		scan->no_memory = true;
		return;
	}
	if (process->argument_count <= record->number)
		process->argument_count = record->number + 1;
	process->arguments[record->number] = (char *)rvp_arena_copy(scan->arena, record->text);
}

static void take_environment(struct scan *scan, const struct rvp_record_ENVIRONMENT *record)
{
	struct rvp_process *process = scan->process;

	if (process->environment_count >= ARGUMENTS_MAX)
		return;
	if (!rvp_grow((void **)&process->environment, &scan->source->environment_room,
		  process->environment_count + 2, sizeof *process->environment))
		scan->no_memory = true;
	else
		process->environment[process->environment_count++] =
		    (char *)rvp_arena_copy(scan->arena, record->text);
}

static void take_machine(struct scan *scan, const struct rvp_record_MACHINE *record)
{
	scan->process->cpu_count = record->cpu_count;
	scan->process->memory_bytes = record->memory_bytes;
	scan->process->host = rvp_arena_copy(scan->arena, record->host);
	scan->process->kernel = rvp_arena_copy(scan->arena, record->kernel);
	scan->process->cpu = rvp_arena_copy(scan->arena, record->cpu);
}

/* Logs have it in any order of threads. */
static void take_event_cost(struct rvp_process *process, const struct rvp_record_EVENT_COST *record)
{
	if (record->stamp < process->cost_stamp)
		return;
	process->cost_stamp = record->stamp;
	process->cost_timed_count = record->timed_count;
	process->cost_timed_ticks = record->timed_ticks;
	process->cpu_ns = record->cpu_ns;
}

static void take_module_load(struct scan *scan, const struct rvp_record_MODULE_LOAD *record)
{
	struct rvp_module *module = ITEM_AFTER(scan, modules, module_count, module_room);

	if (!module)
		return;
	*module = (struct rvp_module){
	    .number = record->module,
	    .load_ns = record->stamp,
	    .unload_ns = RVP_NEVER,
	    .bias = record->bias,
	    .start = record->start,
	    .end = record->end,
	    .device = record->device,
	    .inode = record->inode,
	    .file_bytes = record->file_bytes,
	    .modified_ns = record->modified_ns,
	    .build_id = (const unsigned char *)record->build_id.bytes,
	    .build_id_bytes = record->build_id.length,
	    .path = rvp_arena_copy(scan->arena, record->path),
	};
}

static void take_module_unload(struct scan *scan, const struct rvp_record_MODULE_UNLOAD *record)
{
	struct rvp_process *process = scan->process;

	for (size_t i = process->module_count; i-- > 0;)
		if (process->modules[i].number == record->module) {
			process->modules[i].unload_ns = record->stamp;
			return;
		}
}

/* A row each time; settle.c makes one of all rows of a tid. */
static void take_thread(struct scan *scan, uint64_t tid, uint64_t stamp, struct rvp_text name)
{
	struct rvp_thread *thread = ITEM_AFTER(scan, threads, thread_count, thread_room);

	if (thread)
		*thread = (struct rvp_thread){
		    .tid = narrow(tid), .first_ns = stamp, .name = rvp_arena_copy(scan->arena, name)};
}

/* The end stands behind its begin: one thread at a time has to do with windows, but not always the same. */
static struct rvp_write_span *window_of(struct scan *scan, uint64_t number)
{
	struct rvp_process *process = scan->process;
	struct rvp_write_span *span;

	for (size_t i = 0; number && i < process->write_window_count; i++)
		if (process->write_windows[i].number == number)
			return &process->write_windows[i];
	if (process->write_window_count >= WINDOWS_MAX)
		return NULL;
	span = ITEM_AFTER(scan, write_windows, write_window_count, write_window_room);
	if (span)
		*span = (struct rvp_write_span){.number = number, .end_ns = RVP_NEVER, .reason = ""};
	return span;
}

static void take_write_window(struct scan *scan, const struct rvp_record_WRITE_WINDOW *record)
{
	bool is_refusal = record->kind == RVP_WRITE_WINDOW_UNAVAILABLE;
	struct rvp_write_span *span = window_of(scan, is_refusal ? 0 : record->number);

	if (!span)
		return;
	if (record->kind == RVP_WRITE_WINDOW_BEGIN) {
		span->begin_ns = record->stamp;
		span->beat = narrow(record->beat);
		return;
	}
	span->end_ns = record->stamp;
	span->has_end = true;
	span->scans = record->scans;
	span->block_count = record->block_count;
	span->block_bytes = record->block_bytes;
	span->left_out = record->left_out;
	span->cost_ns = record->cost_ns;
	span->reason = rvp_arena_copy(scan->arena, record->reason);
}

static void take_node(struct scan *scan, const struct rvp_record_NODE *record)
{
	struct rvp_node *node = ITEM_AT(scan, nodes, node_count, node_room, record->node);

	if (node)
		*node = (struct rvp_node){
		    .pc = record->pc, .parent = narrow(record->parent), .exact = record->exact != 0};
}

static void take_code(struct scan *scan, const struct rvp_record_CODE *record)
{
	struct rvp_code *code = ITEM_AT(scan, codes, code_count, code_room, record->code);

	if (code)
		*code = (struct rvp_code){
		    .name = rvp_arena_copy(scan->arena, record->name),
		    .file = rvp_arena_copy(scan->arena, record->file),
		    .lines = (const unsigned char *)record->lines.bytes,
		    .lines_bytes = record->lines.length,
		    .first_line = narrow(record->first_line),
		    .version = narrow(record->version),
		};
}

static void take_python_node(struct scan *scan, const struct rvp_record_PYTHON_NODE *record)
{
	struct rvp_python_node *node =
	    ITEM_AT(scan, python_nodes, python_node_count, python_node_room, record->node);

	if (node)
		*node = (struct rvp_python_node){
		    .parent = narrow(record->parent),
		    .code = narrow(record->code),
		    .instruction = narrow(record->instruction),
		    .is_entry = record->is_entry != 0,
		};
}

static void take_file(struct scan *scan, const struct rvp_record_FILE *record)
{
	struct rvp_known_file *file = ITEM_AFTER(scan, files, file_count, file_room);

	if (file)
		*file = (struct rvp_known_file){record->device, record->inode, record->bytes,
						rvp_arena_copy(scan->arena, record->path)};
}

static void take_fork(struct scan *scan, const struct rvp_record_FORK *record)
{
	struct rvp_process_source *source = scan->source;

	if (record->how == RVP_BIRTH_VFORK || record->how == RVP_BIRTH_SPAWN)
		return;
	if (!rvp_grow((void **)&source->forks, &source->fork_room, source->fork_count + 1, sizeof *source->forks))
		scan->no_memory = true;
	else
		source->forks[source->fork_count++] =
		    (struct rvp_fork){.stamp = record->stamp, .child_pid = narrow(record->child_pid)};
}

static void take_anchor(struct scan *scan, uint64_t clock, const struct rvp_record_ANCHOR *record)
{
	if (!rvp_clock_add(&scan->run->source->clock, clock, record))
		scan->no_memory = true;
}

static void take_mark(struct scan *scan, const struct rvp_record_MARK *record)
{
	if (record->kind == RVP_MARK_METRIC && !rvp_metrics_take(&scan->run->metrics, scan->arena, record))
		scan->no_memory = true;
}

/* An event that is also in a record is no longer deferred. */
static void settle_deferred(struct scan *scan, const struct rvp_record *record)
{
	struct rvp_log *log = &scan->source->log;

	for (size_t i = 0; i < log->deferred_count; i++)
		if (log->deferred_tid[i] == scan->tid && log->deferred[i].stamp == record->ALLOC.stamp &&
		    log->deferred[i].address == record->ALLOC.address &&
		    log->deferred[i].kind == record->kind) {
			log->deferred_count--;
			log->deferred[i] = log->deferred[log->deferred_count];
			log->deferred_tid[i] = log->deferred_tid[log->deferred_count];
			return;
		}
}

static void take_definition(struct scan *scan, const struct rvp_record *record)
{
	switch (record->kind) {
	case RVP_PROCESS: take_process(scan, &record->PROCESS); break;
	case RVP_ARGUMENT: take_argument(scan, &record->ARGUMENT); break;
	case RVP_ENVIRONMENT: take_environment(scan, &record->ENVIRONMENT); break;
	case RVP_MACHINE: take_machine(scan, &record->MACHINE); break;
	case RVP_MODULE_LOAD: take_module_load(scan, &record->MODULE_LOAD); break;
	case RVP_MODULE_UNLOAD: take_module_unload(scan, &record->MODULE_UNLOAD); break;
	case RVP_THREAD:
		take_thread(scan, record->THREAD.tid, record->THREAD.stamp, (struct rvp_text){0});
		break;
	case RVP_THREAD_NAME:
		take_thread(scan, record->THREAD_NAME.tid, record->THREAD_NAME.stamp,
			    record->THREAD_NAME.name);
		break;
	case RVP_WRITE_WINDOW: take_write_window(scan, &record->WRITE_WINDOW); break;
	case RVP_RECORD_WINDOW: scan->no_memory |= !rvp_windows_take(scan->process, &record->RECORD_WINDOW); break;
	case RVP_EVENT_COST: take_event_cost(scan->process, &record->EVENT_COST); break;
	case RVP_NODE: take_node(scan, &record->NODE); break;
	case RVP_CODE: take_code(scan, &record->CODE); break;
	case RVP_PYTHON_NODE: take_python_node(scan, &record->PYTHON_NODE); break;
	case RVP_FILE: take_file(scan, &record->FILE); break;
	case RVP_FORK: take_fork(scan, &record->FORK); break;
	case RVP_ANCHOR: take_anchor(scan, scan->process->clock, &record->ANCHOR); break;
	case RVP_MARK: take_mark(scan, &record->MARK); break;
	case RVP_ALLOC:
	case RVP_FREE:
		if (scan->source->log.deferred_count)
			settle_deferred(scan, record);
		break;
	default:
		scan->no_memory |= !rvp_devices_note(scan->process, scan->arena, record);
		if (record->kind >= RVP_DEVICE && !rvp_kernel_defs_take(&scan->source->kernel_defs, scan->chunk, record,
								scan->source->number_limit))
			scan->no_memory = true;
		break;
	}
}

static void see_stamp(struct rvp_process_source *source, uint64_t stamp)
{
	if (!source->has_stamps || stamp < source->first_stamp)
		source->first_stamp = stamp;
	if (!source->has_stamps || stamp > source->last_stamp)
		source->last_stamp = stamp;
	source->has_stamps = true;
}

/* Allocs and frees say nothing here but when they were. */
static void skip_briefs(struct scan *scan, struct rvp_decoder *decoder)
{
	struct rvp_skipped skipped;

	if (scan->source->log.deferred_count)
		return;
	skipped = rvp_skip_events(decoder);
	if (!skipped.count)
		return;
	scan->process->decoded_records += skipped.count;
	see_stamp(scan->source, skipped.first_stamp);
	see_stamp(scan->source, skipped.last_stamp);
}

/* Who goes through the events may leave out what nothing in the log has to do with. */
static void note_what_comes(struct rvp_process_source *source, uint8_t kind)
{
	source->has_scopes |= kind == RVP_SCOPE;
	source->asked_count += kind == RVP_TAG || kind == RVP_FILL || kind == RVP_WRITTEN;
}

static void scan_chunk(struct scan *scan, const struct rvp_chunk *chunk)
{
	struct rvp_decoder decoder = rvp_decoder_over(chunk->payload, chunk->payload_bytes);
	struct rvp_record record;

	scan->tid = chunk->tid;
	scan->chunk = (uint32_t)(chunk - scan->source->log.chunks);
	for (;;) {
		skip_briefs(scan, &decoder);
		if (!rvp_decode_next(&decoder, &record))
			break;
		scan->process->decoded_records++;
		take_definition(scan, &record);
		note_what_comes(scan->source, (uint8_t)record.kind);
		if (rvp_schemas[record.kind].fields[0].kind == 'T')
			see_stamp(scan->source, record.ALLOC.stamp);
	}
	if (decoder.broken)
		scan->process->loss[RVP_LOSS_BAD_RECORD]++;
	rvp_chunk_let_go(&scan->source->log, chunk);
}

/* The kind of clock must be known before the first anchor, whatever slot it is in. */
static void find_process_record(struct scan *scan)
{
	const struct rvp_log *log = &scan->source->log;

	for (size_t i = 0; i < log->chunk_count && !scan->source->has_process_record; i++) {
		struct rvp_decoder decoder =
		    rvp_decoder_over(log->chunks[i].payload, log->chunks[i].payload_bytes);
		struct rvp_record record;

		if (log->chunks[i].sequence == 1 && rvp_decode_next(&decoder, &record) &&
		    record.kind == RVP_PROCESS)
			take_process(scan, &record.PROCESS);
	}
}

static uint64_t number_limit(const struct rvp_log *log)
{
	uint64_t payload = 0,
		 told = log->node_count > log->python_node_count ? log->node_count : log->python_node_count;

	for (size_t i = 0; i < log->chunk_count; i++)
		payload += log->chunks[i].payload_bytes;
	if (told > 1u << 26)
		told = 1u << 26;
	uint64_t limit = payload / 4 + 1024;

	limit = limit > told + 1024 ? limit : told + 1024;
	return limit < UINT32_MAX - 1 ? limit : UINT32_MAX - 1;
}

struct rvp_status rvp_scan_process(struct rvp_run *run, struct rvp_process *process)
{
	struct scan scan = {
	    .run = run, .process = process, .source = process->source, .arena = &run->source->arena};
	struct rvp_log *log = &process->source->log;

	process->source->number_limit = number_limit(log);
	find_process_record(&scan);
	for (size_t i = 0; i < log->chunk_count && !scan.no_memory; i++)
		scan_chunk(&scan, &log->chunks[i]);
	return scan.no_memory ? rvp_fail("read", process->folder, ENOMEM) : RVP_OK;
}

/* The root, seen alive from outside: it did not end before. */
static void take_sight(struct rvp_run_source *source, const struct rvp_record_WATCH *record)
{
	if (!source->tree || record->pid != atomic_load(&source->tree->root_pid) ||
	    record->start_ticks != atomic_load(&source->tree->root_start_ticks))
		return;
	source->has_root_sight = true;
	source->root_seen_stamp = record->stamp;
}

static void take_watch(struct scan *scan, const struct rvp_record *record)
{
	struct rvp_run *run = scan->run;

	if (record->kind == RVP_WATCH)
		take_sight(run->source, &record->WATCH);
	if (record->kind == RVP_POWER_SOURCE)
		scan->no_memory |= !rvp_power_take_source(&run->power, scan->arena, &record->POWER_SOURCE);
	if (record->kind == RVP_PROCESS)
		run->source->watch_clock = record->PROCESS.clock;
	if (record->kind == RVP_ANCHOR)
		take_anchor(scan, run->source->watch_clock, &record->ANCHOR);
	if (record->kind == RVP_LOSS && record->LOSS.reason < RVP_LOSS_COUNT)
		run->loss[record->LOSS.reason] += record->LOSS.count;
	if (record->kind != RVP_WATCH_CHILD)
		return;
	run->has_child_end = true;
	run->child_how = record->WATCH_CHILD.how;
	run->child_status = record->WATCH_CHILD.status;
	run->child_started_ns = record->WATCH_CHILD.started_realtime_ns;
	run->watch_cost_ns = record->WATCH_CHILD.watch_cost_ns;
	run->source->child_end_stamp = record->WATCH_CHILD.stamp;
}

struct rvp_status rvp_scan_watch(struct rvp_run *run)
{
	struct scan scan = {.run = run, .arena = &run->source->arena};
	const struct rvp_log *log = &run->source->watch;

	for (size_t i = 0; i < log->chunk_count && !scan.no_memory; i++) {
		struct rvp_decoder decoder =
		    rvp_decoder_over(log->chunks[i].payload, log->chunks[i].payload_bytes);
		struct rvp_record record;

		while (rvp_decode_next(&decoder, &record)) {
			run->source->watch_decoded++;
			take_watch(&scan, &record);
		}
		if (decoder.broken)
			run->loss[RVP_LOSS_BAD_RECORD]++;
	}
	return scan.no_memory ? rvp_fail("read", RVP_WATCH_FILE, ENOMEM) : RVP_OK;
}
