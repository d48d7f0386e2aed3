/* SPDX-License-Identifier: MIT */
/* device_ledger.c: see device_ledger.h. */
#include "report/device_ledger.h"

#include <stdlib.h>
#include <string.h>

const char *const rvp_device_figure_names[] = {"none", "nvml", "cuMemGetInfo"};

static uint64_t used_of(const struct rvp_record_DEVICE_MEMORY *record)
{
	return record->total_bytes > record->free_bytes ? record->total_bytes - record->free_bytes : 0;
}

static uint64_t less(uint64_t bytes, uint64_t by)
{
	return bytes > by ? bytes - by : 0;
}

/* ---- the context ---- */

/* With cuMemGetInfo alone: what of the device is neither known nor another process's. */
static uint64_t without_owner(const struct rvp_device_ledger *ledger,
			      const struct rvp_record_DEVICE_MEMORY *record, const struct rvp_state *state)
{
	uint64_t bytes = less(less(used_of(record), record->others_bytes), state->tracked.amount.bytes);

	for (size_t i = 0; i < ledger->run->process_count; i++)
		if (ledger->processes[i].is_alive && ledger->processes[i].is_sampled)
			bytes = less(bytes, ledger->processes[i].context_bytes +
						ledger->processes[i].last.tracer_bytes);
	return bytes;
}

static void note_rest(struct rvp_device_process *process, uint64_t known)
{
	process->rest_bytes = process->last.has_process
				  ? (int64_t)(process->last.process_bytes - known - process->context_bytes)
				  : 0;
}

/* By the first sample of a process with a context, and by the first one behind a change of its contexts. */
static void derive_context(struct rvp_device_ledger *ledger, uint32_t number, const struct rvp_state *state)
{
	struct rvp_device_process *process = &ledger->processes[number];
	const struct rvp_record_DEVICE_MEMORY *record = &process->last;
	uint64_t known = state->live_by_process[number].amount.bytes + record->tracer_bytes;
	size_t contexts = rvp_device_contexts(state->devices, number, ledger->device, 0);
	bool is_same = process->has_context_bytes && (!contexts || contexts == process->contexts);

	if (!is_same && (process->has_context || record->total_bytes)) {
		process->context_bytes = 0;
		if (record->has_process)
			process->context_bytes = less(record->process_bytes, known + (uint64_t)process->rest_bytes);
		else if (record->total_bytes)
			process->context_bytes = without_owner(ledger, record, state);
		process->has_context_bytes = record->has_process || record->total_bytes;
		process->contexts = contexts;
	}
	note_rest(process, known);
}

static void take_context(struct rvp_device_ledger *ledger, uint32_t process, const struct rvp_state *state,
			 const struct rvp_record_DEVICE_CONTEXT *record)
{
	struct rvp_device_process *of = &ledger->processes[process];

	if (rvp_device_number(&ledger->run->processes[process], record->device) != ledger->device)
		return;
	of->has_context =
	    !record->is_end || rvp_device_contexts(state->devices, process, ledger->device, record->context) > 0;
	if (!of->has_context) {
		of->has_context_bytes = false;
		of->context_bytes = 0;
		of->rest_bytes = 0;
	}
}

/* ---- entries ---- */

static void find_figure(const struct rvp_device_ledger *ledger, const struct rvp_record_DEVICE_MEMORY *now,
			struct rvp_device_entry *entry)
{
	bool is_nvml = true;
	uint64_t bytes = 0;

	for (size_t i = 0; i < ledger->run->process_count; i++) {
		const struct rvp_device_process *process = &ledger->processes[i];

		if (!process->is_alive || !(process->is_sampled || process->has_context))
			continue;
		is_nvml &= process->is_sampled && process->last.has_process;
		bytes += process->last.process_bytes;
	}
	if (is_nvml) {
		entry->figure = RVP_FIGURE_NVML;
		entry->driver_bytes = bytes;
	} else if (now->total_bytes) {
		entry->figure = RVP_FIGURE_MEMINFO;
		entry->driver_bytes = used_of(now);
		entry->others_bytes = now->others_bytes;
	}
}

static struct rvp_device_entry entry_of(const struct rvp_device_ledger *ledger, uint64_t ns,
					const struct rvp_record_DEVICE_MEMORY *now,
					const struct rvp_state *state)
{
	struct rvp_device_entry entry = {.is_set = true,
					 .ns = ns,
					 .total_bytes = now->total_bytes,
					 .free_bytes = now->free_bytes,
					 .live_bytes = state->tracked.amount.bytes};

	find_figure(ledger, now, &entry);
	for (int i = 0; i < RVP_PURPOSES_MAX; i++)
		entry.by_purpose[i] = state->by_purpose[i].amount.bytes;
	for (size_t i = 0; i < ledger->run->process_count; i++) {
		const struct rvp_device_process *process = &ledger->processes[i];

		if (!process->is_alive || !process->is_sampled)
			continue;
		entry.has_context |= process->has_context_bytes;
		entry.context_bytes += process->context_bytes;
		entry.tracer_bytes += process->last.tracer_bytes;
	}
	return entry;
}

static bool is_higher(const struct rvp_device_entry *entry, const struct rvp_device_entry *peak)
{
	if (!peak->is_set || (entry->figure && !peak->figure))
		return true;
	if (!entry->figure != !peak->figure)
		return false;
	return entry->figure ? entry->driver_bytes > peak->driver_bytes
			     : entry->live_bytes > peak->live_bytes;
}

static void take_mark(struct rvp_device_ledger *ledger, const struct rvp_device_entry *entry)
{
	struct rvp_device_entry *mark = &ledger->marks[ledger->mark_count++ % RVP_DEVICE_MARKS_MAX];
	size_t length = ledger->mark.label.length;

	*mark = *entry;
	if (length > sizeof mark->label - 1)
		length = sizeof mark->label - 1;
	if (length)
		memcpy(mark->label, ledger->mark.label.bytes, length);
}

/* What a pool holds is told right behind: the sample is looked at when something else comes. */
static void hold_sample(struct rvp_device_ledger *ledger, const struct rvp_event *event)
{
	const struct rvp_record_DEVICE_MEMORY *record = &event->moment->record->DEVICE_MEMORY;
	uint32_t number = event->moment->process;

	if (rvp_device_number(&ledger->run->processes[number], record->device) != ledger->device)
		return;
	ledger->processes[number].is_sampled = ledger->processes[number].is_alive = true;
	ledger->processes[number].last = *record;
	ledger->held_ns = event->moment->ns;
	ledger->held_process = number;
	ledger->held_stream = event->moment->stream;
	ledger->has_held = true;
}

static void take_held(struct rvp_device_ledger *ledger, const struct rvp_state *state)
{
	const struct rvp_record_DEVICE_MEMORY *record = &ledger->processes[ledger->held_process].last;
	struct rvp_device_entry entry;

	if (!ledger->has_held)
		return;
	ledger->has_held = false;
	derive_context(ledger, ledger->held_process, state);
	entry = entry_of(ledger, ledger->held_ns, record, state);
	/* Going through all tensors takes its time: only where it is kept. */
	if (record->occasion == RVP_DEVICE_OCCASION_MARK || is_higher(&entry, &ledger->peak))
		entry.segments = rvp_device_segments(state->devices, ledger->device);
	if (record->occasion == RVP_DEVICE_OCCASION_MARK)
		take_mark(ledger, &entry);
	if (is_higher(&entry, &ledger->peak))
		ledger->peak = entry;
	ledger->end = entry;
}

/* A process is about to take its own with it. */
static void note_segments(struct rvp_device_ledger *ledger, const struct rvp_state *state)
{
	struct rvp_device_segments segments = rvp_device_segments(state->devices, ledger->device);

	if (segments.count)
		ledger->segments_at_end = ledger->end.segments = segments;
}

static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	take_held((struct rvp_device_ledger *)observer, state);
	note_segments((struct rvp_device_ledger *)observer, state);
}

static void see_record(struct rvp_device_ledger *ledger, const struct rvp_event *event, const struct rvp_state *state)
{
	const struct rvp_record *record = event->moment->record;

	if (record->kind == RVP_DEVICE_CONTEXT)
		take_context(ledger, event->moment->process, state, &record->DEVICE_CONTEXT);
	else if (record->kind == RVP_DEVICE_MEMORY)
		hold_sample(ledger, event);
	else if (record->kind == RVP_MARK && record->MARK.kind == RVP_MARK_LABEL)
		ledger->mark = record->MARK;
}

static bool is_word_of_pool(const struct rvp_event *event)
{
	return event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_DEVICE_POOL;
}

/* A record is shown before what it does to blocks: until then the state is that of the sample. */
static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_device_ledger *ledger = (struct rvp_device_ledger *)observer;
	uint32_t process = event->moment->process;

	if ((event->kind == RVP_EVENT_RECORD || event->kind == RVP_EVENT_END) && !is_word_of_pool(event))
		take_held(ledger, state);
	if (process == RVP_NO_PROCESS)
		return;
	if (event->kind == RVP_EVENT_END) {
		ledger->processes[process].is_alive = false;
		note_segments(ledger, state);
	}
	if (event->kind == RVP_EVENT_BEGIN)
		ledger->processes[process].is_alive = true;
	if (event->kind == RVP_EVENT_RECORD)
		see_record(ledger, event, state);
}

int64_t rvp_device_unexplained(const struct rvp_device_entry *entry)
{
	return (int64_t)(entry->driver_bytes - entry->live_bytes - entry->context_bytes -
			 entry->tracer_bytes - entry->others_bytes);
}

bool rvp_device_ledger_open(struct rvp_device_ledger *ledger, const struct rvp_run *run, uint32_t device)
{
	*ledger = (struct rvp_device_ledger){
	    .observer = {.see = see, .finish = finish}, .run = run, .device = device};
	ledger->processes = calloc(run->process_count + 1, sizeof *ledger->processes);
	return ledger->processes != NULL;
}

void rvp_device_ledger_close(struct rvp_device_ledger *ledger)
{
	free(ledger->processes);
	memset(ledger, 0, sizeof *ledger);
}
