/* SPDX-License-Identifier: MIT */
/* export_be.c: see export_be.h. A lane is what nests by itself: the scopes of one speaker and category on one thread, or what
 * does not overlap of a stream. Each lane has a tid of its own.
 *
 * Invariant
 *   (BE1) In a lane each end is that of the last begin that has none, and times do not go back.
 */
#include "report/export_be.h"

#include "report/analysis.h"
#include "report/blas.h"
#include "report/grow.h"
#include "report/kernels.h"
#include "report/kernels_trace.h"
#include "report/name_table.h"
#include "report/observer.h"
#include "report/scope_stacks.h"
#include "report/text_json.h"
#include "report/trace_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1100, OVERLAPS_MAX = 4096 };

struct lane {
	uint32_t tid;    /* of the tids */
	uint64_t end_ns; /* of what stands last in it, where all have ends */
};

struct be {
	struct rvp_observer observer;       /* first: the observer is the export */
	struct rvp_scope_listener listener; /* offsetof */
	struct rvp_kernel_sink sink;        /* offsetof */
	struct rvp_scope_stacks stacks;
	struct rvp_run *run;
	FILE *out;
	int level;
	bool has_events, no_memory;
	struct rvp_name_table keys, tids; /* of lanes, by number; of tids that are taken, with their process */
	struct lane *lanes;
	size_t room;
};

/* ---- an event ---- */

struct event {
	const char *name, *category, *args;
	uint32_t process, lane;
};

static void put_key(FILE *out, const char *key, const char *text)
{
	fprintf(out, "        \"%s\": ", key);
	rvp_json_text(out, text);
	fputs(",\n", out);
}

/* Its text in the table begins with the number of its process. */
static const char *tid_of(const struct be *be, uint32_t lane)
{
	const char *text = be->tids.names[be->lanes[lane].tid];

	return strchr(text, ' ') + 1;
}

static void put(struct be *be, const struct event *event, char ph, uint64_t ns)
{
	FILE *out = be->out;

	fputs(be->has_events ? ",\n    {\n" : "    {\n", out);
	be->has_events = true;
	put_key(out, "name", event->name);
	put_key(out, "cat", event->category);
	fprintf(out, "        \"ph\": \"%c\",\n        \"ts\": %" PRIu64 ",\n        \"args\": { \"args_string\": ", ph,
		ns / 1000);
	rvp_json_text(out, event->args);
	fprintf(out, "},\n        \"pid\": %" PRIu32 ",\n        \"tid\": ", be->run->processes[event->process].pid);
	rvp_json_text(out, tid_of(be, event->lane));
	fputs("\n    }\n", out);
}

/* ---- lanes ---- */

/* The category, if nobody in the process has that tid; else with the thread, and a number if need be. */
static uint32_t new_tid(struct be *be, uint32_t process, const char *category, const char *where)
{
	for (int attempt = 0; attempt < OVERLAPS_MAX; attempt++) {
		char text[TEXT_BYTES + 200];
		size_t before = be->tids.count;
		uint32_t number;

		if (attempt == 0)
			snprintf(text, sizeof text, "%" PRIu32 " %s", process, category);
		else if (attempt == 1)
			snprintf(text, sizeof text, "%" PRIu32 " %s (%s)", process, category, where);
		else
			snprintf(text, sizeof text, "%" PRIu32 " %s (%s, %d)", process, category, where, attempt);
		number = rvp_name_number(&be->tids, text, strlen(text));
		if (number == UINT32_MAX || number == before)
			return number;
	}
	return UINT32_MAX;
}

/* The lane of this key and number of an overlap; UINT32_MAX without memory. */
static uint32_t lane_at(struct be *be, uint32_t process, const char *category, const char *where, const char *speaker,
			unsigned overlap)
{
	char key[TEXT_BYTES + 300];
	size_t before = be->keys.count;
	uint32_t number;

	snprintf(key, sizeof key, "%" PRIu32 " %s %s %u %s", process, where, speaker, overlap, category);
	number = rvp_name_number(&be->keys, key, strlen(key));
	if (number == UINT32_MAX || !rvp_grow((void **)&be->lanes, &be->room, be->keys.count, sizeof *be->lanes)) {
		be->no_memory = true;
		return UINT32_MAX;
	}
	if (number == before)
		be->lanes[number] = (struct lane){.tid = new_tid(be, process, category, where)};
	be->no_memory |= be->lanes[number].tid == UINT32_MAX;
	return be->no_memory ? UINT32_MAX : number;
}

/* Begin and end at once, in the first lane in which nothing is then. */
static void put_both(struct be *be, struct event *event, const char *where, uint64_t begin_ns, uint64_t end_ns)
{
	for (unsigned overlap = 0; overlap < OVERLAPS_MAX; overlap++) {
		uint32_t lane = lane_at(be, event->process, event->category, where, "", overlap);

		if (lane == UINT32_MAX)
			return;
		if (be->lanes[lane].end_ns > begin_ns)
			continue;
		be->lanes[lane].end_ns = end_ns;
		event->lane = lane;
		put(be, event, 'B', begin_ns);
		put(be, event, 'E', end_ns);
		return;
	}
}

/* ---- scopes and operators ---- */

struct texts {
	char name[TEXT_BYTES], category[TEXT_BYTES], args[TEXT_BYTES];
};

static void copy(struct rvp_text text, char to[TEXT_BYTES], const char *otherwise)
{
	size_t length = text.length < TEXT_BYTES - 1 ? text.length : TEXT_BYTES - 1;

	snprintf(to, TEXT_BYTES, "%s", otherwise);
	if (!length)
		return;
	memcpy(to, text.bytes, length);
	to[length] = '\0';
}

static const char *kind_of(const struct rvp_scope *scope)
{
	return scope->is_row ? "python_function" : scope->is_operator ? "operator" : "scope";
}

static struct event event_of(const struct be *be, const struct rvp_scope *scope, uint32_t process, struct texts *texts)
{
	bool is_nvtx = !scope->is_row && scope->source == RVP_SOURCE_NVTX; /* whose args are its domain */

	copy(is_nvtx ? scope->args : scope->category, texts->category, kind_of(scope));
	copy(is_nvtx ? (struct rvp_text){0} : scope->args, texts->args, "");
	copy(scope->name, texts->name, texts->category);
	if (scope->is_row)
		rvp_trace_python_name(&be->run->processes[process], scope->code, texts->name);
	return (struct event){texts->name, texts->category, texts->args, process, 0};
}

static void begin_scope(struct be *be, struct rvp_scope *scope, const struct rvp_moment *moment)
{
	struct texts texts;
	struct event event = event_of(be, scope, moment->process, &texts);
	char where[40], speaker[16];
	uint32_t lane;

	snprintf(where, sizeof where, "thread %" PRIu32, scope->tid);
	snprintf(speaker, sizeof speaker, "%u %" PRIu32, scope->source, moment->stream);
	lane = lane_at(be, moment->process, event.category, where, speaker, 0);
	if (lane == UINT32_MAX)
		return;
	scope->reason = lane + 1;
	event.lane = lane;
	put(be, &event, 'B', scope->begin_ns);
}

static bool is_wanted(const struct be *be, const struct rvp_scope *scope)
{
	return !scope->is_hidden && (be->level > 1 || scope->is_operator);
}

/* New ones lie innermost; a Python function may be met with those outside of it. */
static void begin_scopes(struct be *be, const struct rvp_moment *moment)
{
	size_t count;
	struct rvp_scope *scopes = rvp_scopes_of(&be->stacks, moment, &count);
	size_t from = count;

	while (from && !scopes[from - 1].reason)
		from--;
	for (; from < count; from++)
		if (is_wanted(be, &scopes[from]))
			begin_scope(be, &scopes[from], moment);
}

static void ended(struct rvp_scope_listener *listener, const struct rvp_scope *scope, const struct rvp_scope_end *end)
{
	struct be *be = (struct be *)((char *)listener - offsetof(struct be, listener));
	struct texts texts;
	struct event event;

	if (!scope->reason)
		return;
	event = event_of(be, scope, end->process, &texts);
	event.lane = scope->reason - 1;
	put(be, &event, 'E', end->ns > scope->begin_ns ? end->ns : scope->begin_ns);
}

static void put_blas(struct be *be, const struct rvp_moment *moment)
{
	const struct rvp_record_BLAS_CALL *call = &moment->record->BLAS_CALL;
	const struct rvp_blas *function = rvp_blas_at(call->function);
	uint64_t ns = rvp_trace_ticks_ns(be->run, moment->process, call->ticks);
	char where[40], args[120];
	struct event event = {function ? function->name : "BLAS", "blas", args, moment->process, 0};

	snprintf(where, sizeof where, "thread %" PRIu32, moment->tid);
	snprintf(args, sizeof args, "m=%" PRIu64 ";n=%" PRIu64 ";k=%" PRIu64, call->m, call->n, call->k);
	put_both(be, &event, where, moment->ns > ns ? moment->ns - ns : 0, moment->ns);
}

/* Of CUDA events on level 1, as RAF's probes; those inside of threads and kernels on level 2. */
static void put_timer(struct be *be, const struct rvp_moment *moment)
{
	const struct rvp_record_TIMER *timer = &moment->record->TIMER;
	struct texts texts;
	struct event event = {texts.name, texts.category, texts.args, moment->process, 0};
	char where[40];

	if (!timer->begin_ns || !timer->ns || (timer->source != RVP_TIMER_EVENTS && be->level < 2))
		return;
	copy(timer->category, texts.category, "timer");
	copy(timer->name, texts.name, "timer");
	copy(timer->args, texts.args, "");
	snprintf(where, sizeof where, "slot %" PRIu64, timer->slot);
	put_both(be, &event, where, timer->begin_ns, timer->begin_ns + timer->ns);
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct be *be = (struct be *)observer;
	const struct rvp_moment *moment = event->moment;

	(void)state;
	if (!rvp_scope_stacks_see(&be->stacks, event))
		be->no_memory = true;
	if (event->kind != RVP_EVENT_RECORD || moment->process == RVP_NO_PROCESS)
		return;
	if (moment->record->kind == RVP_SCOPE || moment->record->kind == RVP_PYTHON_CALL)
		begin_scopes(be, moment);
	if (moment->record->kind == RVP_BLAS_CALL && be->level > 1)
		put_blas(be, moment);
	if (moment->record->kind == RVP_TIMER)
		put_timer(be, moment);
}

static bool minds(struct rvp_observer *observer, uint32_t process)
{
	(void)observer;
	(void)process;
	return false;
}

static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	(void)state;
	rvp_scope_stacks_empty(&((struct be *)observer)->stacks);
}

/* ---- devices ---- */

static void kernel_args(const struct be *be, const struct rvp_activity *activity, char args[TEXT_BYTES])
{
	const struct rvp_kernel_shape *shape =
	    rvp_kernel_shape_at(rvp_kernel_defs_of(&be->run->processes[activity->process]), activity->number);

	if (shape)
		snprintf(args, TEXT_BYTES, "grid=%ux%ux%u;block=%ux%ux%u;stream=%" PRIu32, shape->grid[0], shape->grid[1],
			 shape->grid[2], shape->block[0], shape->block[1], shape->block[2], activity->stream);
	else
		snprintf(args, TEXT_BYTES, "stream=%" PRIu32, activity->stream);
}

static void put_work(struct be *be, const struct rvp_work *work, const struct rvp_kernel_names *names)
{
	const struct rvp_activity *activity = work->activity;
	char name[TEXT_BYTES], args[TEXT_BYTES], where[60];
	struct event event = {name, "gpu_memcpy", args, activity->process, 0};

	if (activity->kind == RVP_KERNEL) {
		event.name = rvp_kernel_name_at(names, work->name)->text;
		event.category = "kernel";
		kernel_args(be, activity, args);
	} else {
		event.category = activity->kind == RVP_DEVICE_SET ? "gpu_memset" : "gpu_memcpy";
		event.name = rvp_copy_name(activity, name, sizeof name);
		snprintf(args, sizeof args, "bytes=%" PRIu64 ";stream=%" PRIu32, activity->bytes, activity->stream);
	}
	snprintf(where, sizeof where, "cuda:%" PRIu32 " stream %" PRIu32,
		 rvp_device_called(be->run, &be->run->processes[activity->process], activity->device), activity->stream);
	put_both(be, &event, where, activity->start_ns, activity->end_ns);
}

static void put_call(struct be *be, const struct rvp_activity *activity)
{
	char name[128], where[40];
	struct event event = {name, "cuda_runtime", "", activity->process, 0};

	rvp_device_function_name(
	    rvp_device_name_at(rvp_kernel_defs_of(&be->run->processes[activity->process]), activity->number), name,
	    sizeof name);
	if (name[0] == 'c' && name[1] == 'u' && name[2] != 'd')
		event.category = "cuda_driver";
	snprintf(where, sizeof where, "thread %" PRIu32, activity->tid);
	put_both(be, &event, where, activity->start_ns, activity->end_ns);
}

static void see_work(struct rvp_kernel_sink *sink, const struct rvp_work *work, const struct rvp_kernel_names *names)
{
	struct be *be = (struct be *)((char *)sink - offsetof(struct be, sink));
	const struct rvp_activity *activity = work->activity;

	if (!activity->has_start || activity->flaw)
		return;
	if (activity->kind == RVP_KERNEL || activity->kind == RVP_DEVICE_COPY || activity->kind == RVP_DEVICE_SET)
		put_work(be, work, names);
	else if (activity->kind == RVP_DEVICE_CALL && be->level > 1 && !work->is_inner)
		put_call(be, activity);
}

static struct rvp_status put_devices(struct be *be)
{
	struct rvp_kernel_sink *sinks[] = {&be->sink, NULL};
	struct rvp_kernels kernels;
	struct rvp_status status = RVP_OK;

	be->sink.see = see_work;
	if (!rvp_run_has_devices(be->run))
		return status;
	status = rvp_kernels_read(&kernels, be->run, &(struct rvp_kernel_question){.sinks = sinks});
	if (!rvp_failed(status))
		rvp_kernels_free(&kernels);
	return status;
}

/* ---- steps ---- */

static void put_step(struct be *be, const struct rvp_step *step, size_t number)
{
	char name[300], where[40];
	struct event event = {name, "step", "", step->process, 0};

	if (step->process >= be->run->process_count)
		return;
	if (*step->name)
		snprintf(name, sizeof name, "%.280s", step->name);
	else
		snprintf(name, sizeof name, "step %zu", number);
	snprintf(where, sizeof where, "thread %" PRIu32, step->tid);
	put_both(be, &event, where, step->begin_ns, step->end_ns);
}

static struct rvp_status put_steps(struct be *be)
{
	struct rvp_steps steps;
	struct rvp_status status = rvp_steps_find(be->run, &steps);

	if (rvp_failed(status))
		return status;
	for (size_t i = 0; i < steps.count; i++)
		put_step(be, &steps.steps[i], i);
	rvp_steps_free(&steps);
	return RVP_OK;
}

/* ---- all of it ---- */

static struct rvp_status put_all(struct be *be)
{
	struct rvp_observer *observers[] = {&be->observer, NULL};
	struct rvp_analysis answer;
	struct rvp_status status = rvp_analyse(be->run, &(struct rvp_question){.observers = observers}, &answer);

	if (rvp_failed(status))
		return status;
	rvp_analysis_free(&answer);
	if (be->level > 1)
		status = put_steps(be);
	return rvp_failed(status) ? status : put_devices(be);
}

struct rvp_status rvp_export_be(struct rvp_run *run, int level, FILE *out)
{
	struct be be = {.observer = {.see = see, .finish = finish, .minds = minds},
			.listener.ended = ended,
			.run = run,
			.out = out,
			.level = level};
	struct rvp_status status = rvp_fail("export", run->folder, ENOMEM);

	if (rvp_scope_stacks_open(&be.stacks, run, NULL)) {
		be.stacks.listener = &be.listener;
		be.stacks.has_rows = level > 1;
		fputs("{\n    \"traceEvents\": [\n", out);
		status = put_all(&be);
		fputs("\n\n    ],\n    \"displayTimeUnit\": \"ms\"\n}\n", out);
	}
	if (!rvp_failed(status) && be.no_memory)
		status = rvp_fail("export", run->folder, ENOMEM);
	rvp_scope_stacks_free(&be.stacks);
	rvp_name_table_free(&be.keys);
	rvp_name_table_free(&be.tids);
	free(be.lanes);
	return status;
}
