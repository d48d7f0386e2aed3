/* SPDX-License-Identifier: MIT */
/* write_trace.c: see write_trace.h. */
#include "report/write_trace.h"

#include "report/latency_rows.h"
#include "report/kernels_trace.h"
#include "report/trace_events.h"
#include "report/trace_slices.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t large_bytes = 1048576;

static void put_name(struct rvp_trace *trace, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	if (!rvp_trace_begin_event(trace, trace->run->begin_ns))
		return;
	rvp_trace_put(trace, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what,
		      pid, tid);
	rvp_trace_put_text(trace, name);
	rvp_trace_put(trace, "}}");
}

static void put_names(struct rvp_trace *trace)
{
	for (size_t i = 0; i < trace->run->process_count; i++) {
		const struct rvp_process *process = &trace->run->processes[i];
		char name[300];

		snprintf(name, sizeof name, process->rank[0] ? "%.200s rank %.40s" : "%.200s%.0s",
			 process->name[0] ? process->name : "process", process->rank);
		put_name(trace, "process_name", process->pid, process->pid, name);
		for (size_t k = 0; k < process->thread_count; k++)
			if (process->threads[k].name[0])
				put_name(trace, "thread_name", process->pid, process->threads[k].tid,
					 process->threads[k].name);
	}
}

static void put_counters(struct rvp_trace *trace, const struct rvp_process *process,
			 const struct rvp_row *row)
{
	double us = rvp_trace_us(trace, row->ns);

	if (!rvp_trace_begin_event(trace, row->ns))
		return;
	rvp_trace_put(
	    trace, "{\"ph\":\"C\",\"name\":\"live\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"bytes\":%" PRIu64 "}}",
	    process->pid, us, row->live_bytes);
	if (row->has_rss && rvp_trace_begin_event(trace, row->ns))
		rvp_trace_put(
		    trace,
		    "{\"ph\":\"C\",\"name\":\"rss\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"bytes\":%" PRIu64 "}}",
		    process->pid, us, row->rss_bytes);
}

static void see_counters(struct rvp_trace *trace, const struct rvp_event *event,
			 const struct rvp_state *state, uint32_t number)
{
	const struct rvp_tree_rss_process *resident = &state->resident.processes[number];
	uint64_t live_bytes = state->live_by_process[number].amount.bytes;
	uint64_t rss_bytes = resident->anon_bytes + resident->file_bytes + resident->shmem_bytes;
	struct rvp_row row, out[2];
	int count;

	if (event->kind != RVP_EVENT_END &&
	    rvp_rows_let_pass(&trace->rows[number], event->moment->ns, live_bytes, rss_bytes))
		return;
	row = (struct rvp_row){.ns = event->moment->ns,
			       .live_bytes = live_bytes,
			       .rss_bytes = rss_bytes,
			       .has_rss = resident->is_sampled};
	count = rvp_rows_take(&trace->rows[number], &row, out);
	for (int i = 0; i < count; i++)
		put_counters(trace, &trace->run->processes[number], &out[i]);
	if (event->kind == RVP_EVENT_END && trace->rows[number].last.ns != row.ns)
		put_counters(trace, &trace->run->processes[number], &row);
}

/* One counter with a series a category, in the tree's root: bytes of blocks, stacked by those who draw it. */
static void put_categories(struct rvp_trace *trace, const struct rvp_row *row)
{
	const struct rvp_run *run = trace->run;
	const char *comma = "";

	if (run->root == RVP_NO_PROCESS || !rvp_trace_begin_event(trace, row->ns))
		return;
	rvp_trace_put(trace, "{\"ph\":\"C\",\"name\":\"live by category\",\"pid\":%u,\"ts\":%.3f,\"args\":{",
		      run->processes[run->root].pid, rvp_trace_us(trace, row->ns));
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		trace->has_category[i] |= i == RVP_CATEGORY_UNKNOWN || row->category_bytes[i] > 0;
		if (rvp_category_is_resident(i) || !trace->has_category[i])
			continue;
		rvp_trace_put(trace, "%s\"%s\":%" PRIu64, comma, rvp_category_names[i],
			      row->category_bytes[i]);
		comma = ",";
	}
	rvp_trace_put(trace, "}}");
}

static void see_categories(struct rvp_trace *trace, const struct rvp_event *event,
			   const struct rvp_state *state)
{
	struct rvp_row row, out[2];
	int count;

	if (rvp_rows_let_pass(&trace->categories, event->moment->ns, state->tracked.amount.bytes, 0))
		return;
	row = rvp_row_of(state, event->moment->ns);
	row.rss_bytes = 0; /* what it does is in the counters beside it */
	count = rvp_rows_take(&trace->categories, &row, out);
	for (int i = 0; i < count; i++)
		put_categories(trace, &out[i]);
}

static void put_block(struct rvp_trace *trace, const struct rvp_event *event, const struct rvp_site *site)
{
	const struct rvp_moment *moment = event->moment;
	const struct rvp_process *process = &trace->run->processes[moment->process];

	if (!rvp_trace_begin_event(trace, moment->ns))
		return;
	rvp_trace_put(trace,
		      "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"alloc\",\"name\":\"alloc %.1f "
		      "MiB\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f",
		      (double)event->block.bytes / (double)large_bytes, process->pid, moment->tid,
		      rvp_trace_us(trace, moment->ns));
	rvp_trace_put(trace, ",\"args\":{\"bytes\":%" PRIu64 ",\"address\":\"0x%" PRIx64 "\",\"site\":%u",
		      event->block.bytes, event->block.address, event->block.split);
	rvp_trace_put_paths(trace, process, site->stack, site->python, moment->ns);
	rvp_trace_put(trace, "}}");
}

static void put_mark(struct rvp_trace *trace, const struct rvp_moment *moment)
{
	const struct rvp_record_MARK *mark = &moment->record->MARK;
	char label[256];

	if (moment->process == RVP_NO_PROCESS || !rvp_trace_begin_event(trace, moment->ns))
		return;
	snprintf(label, sizeof label, "%.*s", mark->label.length < 255 ? (int)mark->label.length : 255,
		 mark->label.length ? mark->label.bytes : "");
	rvp_trace_put(trace, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"mark\",\"name\":");
	rvp_trace_put_text(trace, label[0] ? label : "mark");
	rvp_trace_put(trace, ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f}",
		      trace->run->processes[moment->process].pid, moment->tid,
		      rvp_trace_us(trace, moment->ns));
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_trace *trace = (struct rvp_trace *)observer;
	const struct rvp_moment *moment = event->moment;

	if (trace->only != RVP_NO_PROCESS && moment->process != trace->only)
		return;
	if (event->kind == RVP_EVENT_BORN && event->block.bytes >= large_bytes &&
	    event->block.split != RVP_NOT_COUNTED)
		put_block(trace, event, &state->sites[event->block.split]);
	if (event->kind == RVP_EVENT_RECORD && moment->record->kind == RVP_MARK)
		put_mark(trace, moment);
	rvp_trace_slices_see(trace->slices, event);
	if (state->is_attributed && event->kind <= RVP_EVENT_RESTORED)
		see_categories(trace, event, state);
	if (moment->process != RVP_NO_PROCESS) {
		see_counters(trace, event, state, moment->process);
		return;
	}
	if (moment->record->kind == RVP_WATCH && state->resident.last_watched != RVP_NO_PROCESS)
		see_counters(trace, event, state, state->resident.last_watched);
}

static void free_all(struct rvp_trace *trace)
{
	free(trace->rows);
	rvp_trace_slices_close(trace->slices);
	trace->rows = NULL;
	trace->slices = NULL;
}

static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	struct rvp_trace *trace = (struct rvp_trace *)observer;

	(void)state;
	trace->cut_slices = rvp_trace_slices_finish(trace->slices);
}

bool rvp_trace_open(struct rvp_trace *trace, const struct rvp_run *run, FILE *out, uint64_t max_bytes)
{
	*trace =
	    (struct rvp_trace){.observer = {see, finish}, .run = run, .out = out, .max_bytes = max_bytes, .only = RVP_NO_PROCESS};
	trace->rows = calloc(run->process_count + 1, sizeof *trace->rows);
	trace->slices = rvp_trace_slices_open(trace);
	if (!trace->rows || !trace->slices) {
		free_all(trace);
		return false;
	}
	rvp_trace_put(trace, "{");
	rvp_kernel_trace_head(trace, RVP_NO_PROCESS);
	rvp_trace_put(trace, "\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
	put_names(trace);
	return true;
}

/* ---- steps ---- */

/* Slices of a thread that touch, or end together, must not overlap once their times are added up as doubles:
 * a step is a nanosecond shorter where another one follows, a phase two. */
static uint64_t shortened(uint64_t ns, uint64_t by_ns)
{
	return ns > by_ns ? ns - by_ns : 0;
}

/* The slice, as those of scopes must nest with it. */
static void put_fence(struct rvp_trace *trace, enum rvp_trace_fence kind, uint32_t process, uint32_t tid,
		      uint64_t begin_ns, uint64_t ns, const char *name)
{
	rvp_trace_put_slice(trace, process, tid, begin_ns, ns, kind == RVP_TRACE_STEP ? "step" : "phase",
			    name);
	rvp_trace_slices_beside(trace->slices, kind, process, tid, begin_ns, begin_ns + ns);
}

static void put_step(struct rvp_trace *trace, const struct rvp_steps *steps, size_t number)
{
	const struct rvp_step *step = &steps->steps[number];
	bool touches = number + 1 < steps->count && steps->steps[number + 1].begin_ns == step->end_ns;

	if (!rvp_trace_begin_event(trace, step->begin_ns))
		return;
	put_fence(trace, RVP_TRACE_STEP, step->process, step->tid, step->begin_ns,
		  shortened(step->end_ns - step->begin_ns, touches ? 1 : 0), step->name);
	rvp_trace_put(trace, ",\"args\":{\"step\":%zu", number);
	if (step->phase)
		rvp_trace_put(trace, ",\"phase\":\"%s\"", rvp_step_phase_texts[step->phase]);
	if (step->tokens)
		rvp_trace_put(trace, ",\"tokens\":%" PRIu64, step->tokens);
	if (step->seq_len)
		rvp_trace_put(trace, ",\"seq_len\":%" PRIu64, step->seq_len);
	if (step->is_open)
		rvp_trace_put(trace, ",\"open\":true");
	rvp_trace_put(trace, "}}");
}

/* The load, and phases that are parts of a step; a step of one phase says it itself. */
static void put_phase(struct rvp_trace *trace, const struct rvp_steps *steps,
		      const struct rvp_phase_span *span)
{
	int64_t number = rvp_step_at(steps, span->begin_ns);
	const struct rvp_step *step = number >= 0 ? &steps->steps[number] : NULL;
	uint32_t tid = step ? step->tid : trace->run->processes[span->process].pid;

	if (step && span->begin_ns == step->begin_ns && span->end_ns == step->end_ns)
		return;
	if (!rvp_trace_begin_event(trace, span->begin_ns))
		return;
	put_fence(trace, RVP_TRACE_PHASE, span->process, tid, span->begin_ns,
		  shortened(span->end_ns - span->begin_ns, 2), rvp_step_phase_texts[span->phase]);
	rvp_trace_put(trace, "}");
}

void rvp_trace_put_steps(struct rvp_trace *trace, const struct rvp_steps *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		if (trace->only == RVP_NO_PROCESS || steps->steps[i].process == trace->only)
			put_step(trace, steps, i);
	for (size_t i = 0; i < steps->span_count; i++)
		if (trace->only == RVP_NO_PROCESS || steps->spans[i].process == trace->only)
			put_phase(trace, steps, &steps->spans[i]);
}

static void put_cut(struct rvp_trace *trace, const char *what, uint64_t count, uint64_t ns)
{
	uint32_t pid = trace->run->process_count ? trace->run->processes[0].pid : 0;

	rvp_trace_put(trace,
		      "%s{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"rvprof\",\"name\":\"trace is cut here: %" PRIu64
		      " %s did not fit\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f}",
		      trace->has_events ? ",\n" : "\n", count, what, pid, pid, rvp_trace_us(trace, ns));
	trace->has_events = true;
}

/* What the logs themselves say is not in them, by reason, as summary.json's lost.reasons. */
static void put_losses(struct rvp_trace *trace)
{
	const char *comma = "";

	rvp_trace_put(trace, ",\"lost\":{");
	for (int reason = 0; reason < RVP_LOSS_COUNT; reason++) {
		uint64_t count = trace->run->loss[reason];

		for (size_t i = 0; i < trace->run->process_count; i++)
			count += trace->run->processes[i].loss[reason];
		if (!count)
			continue;
		rvp_trace_put(trace, "%s\"%s\":%" PRIu64, comma, rvp_loss_names[reason], count);
		comma = ",";
	}
	rvp_trace_put(trace, "}");
}

void rvp_trace_close(struct rvp_trace *trace)
{
	if (trace->cut_events)
		put_cut(trace, "events", trace->cut_events, trace->cut_ns);
	if (trace->cut_slices)
		put_cut(trace, "scopes, operators and ranges", trace->cut_slices, trace->run->begin_ns);
	if (trace->devices && trace->devices->cut_count)
		put_cut(trace, "pieces of device work", trace->devices->cut_count, trace->run->begin_ns);
	rvp_trace_put(trace, "\n],\"metadata\":{\"producer\":\"rvprof\",\"run_id\":");
	rvp_trace_put_text(trace, trace->run->id);
	rvp_trace_put(trace, ",\"command\":");
	rvp_trace_put_text(trace, trace->run->name);
	rvp_trace_put(trace,
		      ",\"start_unix_us\":%" PRIu64 ",\"start_unix_ns\":\"%" PRIu64
		      "\",\"cut_events\":%" PRIu64 ",\"cut_slices\":%" PRIu64,
		      trace->run->begin_ns / 1000, trace->run->begin_ns, trace->cut_events,
		      trace->cut_slices);
	if (*trace->run->origin.fingerprint)
		rvp_trace_put(trace, ",\"fingerprint\":\"%s\"", trace->run->origin.fingerprint);
	if (trace->devices)
		rvp_trace_put(trace,
			      ",\"cut_device_work\":%" PRIu64 ",\"untimed_device_work\":%" PRIu64
			      ",\"device_clock\":\"%s\",\"device_clock_error_ns\":%" PRIu64
			      ",\"device_clock_steps\":%zu",
			      trace->devices->cut_count, trace->devices->untimed_count,
			      trace->devices->clock->is_tied ? "tied" : "relative", trace->devices->clock->error_ns,
			      trace->devices->clock->steps);
	put_losses(trace);
	rvp_trace_put(trace, "}}\n");
	free_all(trace);
}
