/* SPDX-License-Identifier: MIT */
/* write_trace.c: see write_trace.h. */
#include "report/write_trace.h"

#include "report/text_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 8, TAIL_BYTES = 8192, EVENT_BYTES = 4096 };
static const uint64_t large_bytes = 1048576;

static double us_since_start(const struct rvp_trace *trace, uint64_t ns)
{
	return ns > trace->run->begin_ns ? (double)(ns - trace->run->begin_ns) / 1e3 : 0;
}

__attribute__((format(printf, 2, 3))) static void put(struct rvp_trace *trace, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vfprintf(trace->out, format, arguments);
	va_end(arguments);
	trace->bytes += length > 0 ? (uint64_t)length : 0;
}

/* A text of at most 512 bytes, so that an event is bounded. */
static void put_text(struct rvp_trace *trace, const char *text)
{
	char part[512];
	size_t length = strnlen(text, sizeof part - 1);

	memcpy(part, text, length);
	part[length] = 0;
	rvp_json_text(trace->out, part);
	trace->bytes += 6 * length + 2;
}

/* Whether one more event fits; what does not is counted. */
static bool begin_event(struct rvp_trace *trace, uint64_t ns)
{
	if (trace->cut_events || trace->bytes + EVENT_BYTES * 8 + TAIL_BYTES > trace->max_bytes) {
		if (!trace->cut_events++)
			trace->cut_ns = ns;
		return false;
	}
	put(trace, trace->has_events ? ",\n" : "\n");
	trace->has_events = true;
	return true;
}

static void put_name(struct rvp_trace *trace, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	if (!begin_event(trace, trace->run->begin_ns))
		return;
	put(trace, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what, pid, tid);
	put_text(trace, name);
	put(trace, "}}");
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
	double us = us_since_start(trace, row->ns);

	if (!begin_event(trace, row->ns))
		return;
	put(trace, "{\"ph\":\"C\",\"name\":\"live\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"bytes\":%" PRIu64 "}}",
	    process->pid, us, row->live_bytes);
	if (row->has_rss && begin_event(trace, row->ns))
		put(trace,
		    "{\"ph\":\"C\",\"name\":\"rss\",\"pid\":%u,\"ts\":%.3f,\"args\":{\"bytes\":%" PRIu64 "}}",
		    process->pid, us, row->rss_bytes);
}

static void see_counters(struct rvp_trace *trace, const struct rvp_event *event,
			 const struct rvp_state *state, uint32_t number)
{
	const struct rvp_tree_rss_process *resident = &state->resident.processes[number];
	struct rvp_row row = {
	    .ns = event->moment->ns,
	    .live_bytes = state->live_by_process[number].amount.bytes,
	    .rss_bytes = resident->anon_bytes + resident->file_bytes + resident->shmem_bytes,
	    .has_rss = resident->is_sampled,
	};
	struct rvp_row out[2];
	int count = rvp_rows_take(&trace->rows[number], &row, out);

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

	if (run->root == RVP_NO_PROCESS || !begin_event(trace, row->ns))
		return;
	put(trace, "{\"ph\":\"C\",\"name\":\"live by category\",\"pid\":%u,\"ts\":%.3f,\"args\":{",
	    run->processes[run->root].pid, us_since_start(trace, row->ns));
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		trace->has_category[i] |= i == RVP_CATEGORY_UNKNOWN || row->category_bytes[i] > 0;
		if (rvp_category_is_resident(i) || !trace->has_category[i])
			continue;
		put(trace, "%s\"%s\":%" PRIu64, comma, rvp_category_names[i], row->category_bytes[i]);
		comma = ",";
	}
	put(trace, "}}");
}

static void see_categories(struct rvp_trace *trace, const struct rvp_event *event,
			   const struct rvp_state *state)
{
	struct rvp_row row = rvp_row_of(state, event->moment->ns), out[2];
	int count;

	row.rss_bytes = 0; /* what it does is in the counters beside it */
	count = rvp_rows_take(&trace->categories, &row, out);
	for (int i = 0; i < count; i++)
		put_categories(trace, &out[i]);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_frame(struct rvp_trace *trace, const struct rvp_process *process, const struct rvp_node *node,
		      uint64_t ns)
{
	uint64_t pc = node->pc - !node->exact;
	const struct rvp_module *module = rvp_module_at(process, pc, ns);
	char text[300];

	if (module)
		snprintf(text, sizeof text, "%.240s+0x%" PRIx64, base_name(module->path), pc - module->bias);
	else
		snprintf(text, sizeof text, "0x%" PRIx64, pc);
	put_text(trace, text);
}

static void put_stack(struct rvp_trace *trace, const struct rvp_process *process, const struct rvp_site *site,
		      uint64_t ns)
{
	const struct rvp_node *node = rvp_node_at(process, site->stack);

	put(trace, ",\"stack\":[");
	for (int i = 0; node && i < FRAMES_MAX; i++, node = rvp_node_at(process, node->parent)) {
		put(trace, i ? "," : "");
		put_frame(trace, process, node, ns);
	}
	put(trace, "]");
}

static void put_python_stack(struct rvp_trace *trace, const struct rvp_process *process,
			     const struct rvp_site *site)
{
	const struct rvp_python_node *node = rvp_python_node_at(process, site->python);

	if (!node)
		return;
	put(trace, ",\"python\":[");
	for (int i = 0; node && i < FRAMES_MAX; i++, node = rvp_python_node_at(process, node->parent)) {
		const struct rvp_code *code = rvp_code_at(process, node->code);
		char text[400];

		snprintf(text, sizeof text, "%.180s (%.180s:%u)", code ? code->name : "?",
			 code ? code->file : "?", code ? code->first_line : 0);
		put(trace, i ? "," : "");
		put_text(trace, text);
	}
	put(trace, "]");
}

static void put_block(struct rvp_trace *trace, const struct rvp_event *event, const struct rvp_site *site)
{
	const struct rvp_moment *moment = event->moment;
	const struct rvp_process *process = &trace->run->processes[moment->process];

	if (!begin_event(trace, moment->ns))
		return;
	put(trace,
	    "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"alloc\",\"name\":\"alloc %.1f "
	    "MiB\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f",
	    (double)event->block.bytes / (double)large_bytes, process->pid, moment->tid,
	    us_since_start(trace, moment->ns));
	put(trace, ",\"args\":{\"bytes\":%" PRIu64 ",\"address\":\"0x%" PRIx64 "\",\"site\":%u",
	    event->block.bytes, event->block.address, event->block.split);
	put_stack(trace, process, site, moment->ns);
	put_python_stack(trace, process, site);
	put(trace, "}}");
}

static void put_mark(struct rvp_trace *trace, const struct rvp_moment *moment)
{
	const struct rvp_record_MARK *mark = &moment->record->MARK;
	char label[256];

	if (moment->process == RVP_NO_PROCESS || !begin_event(trace, moment->ns))
		return;
	snprintf(label, sizeof label, "%.*s", mark->label.length < 255 ? (int)mark->label.length : 255,
		 mark->label.length ? mark->label.bytes : "");
	put(trace, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"mark\",\"name\":");
	put_text(trace, label[0] ? label : "mark");
	put(trace, ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f}", trace->run->processes[moment->process].pid,
	    moment->tid, us_since_start(trace, moment->ns));
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_trace *trace = (struct rvp_trace *)observer;
	const struct rvp_moment *moment = event->moment;

	if (event->kind == RVP_EVENT_BORN && event->block.bytes >= large_bytes &&
	    event->block.split != RVP_NOT_COUNTED)
		put_block(trace, event, &state->sites[event->block.split]);
	if (event->kind == RVP_EVENT_RECORD && moment->record->kind == RVP_MARK)
		put_mark(trace, moment);
	if (state->is_attributed && event->kind <= RVP_EVENT_RESTORED)
		see_categories(trace, event, state);
	if (moment->process != RVP_NO_PROCESS) {
		see_counters(trace, event, state, moment->process);
		return;
	}
	if (moment->record->kind == RVP_WATCH && state->resident.last_watched != RVP_NO_PROCESS)
		see_counters(trace, event, state, state->resident.last_watched);
}

bool rvp_trace_open(struct rvp_trace *trace, const struct rvp_run *run, FILE *out, uint64_t max_bytes)
{
	*trace = (struct rvp_trace){.observer.see = see, .run = run, .out = out, .max_bytes = max_bytes};
	trace->rows = calloc(run->process_count + 1, sizeof *trace->rows);
	if (!trace->rows)
		return false;
	put(trace, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
	put_names(trace);
	return true;
}

/* ---- steps ---- */

static const char *const phase_names[RVP_STEP_PHASE_COUNT] = {
    "", "load", "warm-up", "prefill", "decode", "forward", "backward", "update",
};

/* Two slices of a thread that touch must not overlap once their ends are added up as doubles. */
static uint64_t shortened(uint64_t ns, bool touches)
{
	return touches && ns > 1 ? ns - 1 : ns;
}

static void put_slice(struct rvp_trace *trace, uint32_t process, uint32_t tid, uint64_t begin_ns, uint64_t ns,
		      const char *category, const char *name)
{
	put(trace, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", category);
	put_text(trace, *name ? name : category);
	put(trace, ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f", trace->run->processes[process].pid, tid,
	    us_since_start(trace, begin_ns), (double)ns / 1e3);
}

static void put_step(struct rvp_trace *trace, const struct rvp_steps *steps, size_t number)
{
	const struct rvp_step *step = &steps->steps[number];
	bool touches = number + 1 < steps->count && steps->steps[number + 1].begin_ns == step->end_ns;

	if (!begin_event(trace, step->begin_ns))
		return;
	put_slice(trace, step->process, step->tid, step->begin_ns,
		  shortened(step->end_ns - step->begin_ns, touches), "step", step->name);
	put(trace, ",\"args\":{\"step\":%zu", number);
	if (step->phase)
		put(trace, ",\"phase\":\"%s\"", phase_names[step->phase]);
	if (step->tokens)
		put(trace, ",\"tokens\":%" PRIu64, step->tokens);
	if (step->seq_len)
		put(trace, ",\"seq_len\":%" PRIu64, step->seq_len);
	if (step->is_open)
		put(trace, ",\"open\":true");
	put(trace, "}}");
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
	if (!begin_event(trace, span->begin_ns))
		return;
	put_slice(trace, span->process, tid, span->begin_ns, shortened(span->end_ns - span->begin_ns, true),
		  "phase", phase_names[span->phase]);
	put(trace, "}");
}

void rvp_trace_put_steps(struct rvp_trace *trace, const struct rvp_steps *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		put_step(trace, steps, i);
	for (size_t i = 0; i < steps->span_count; i++)
		put_phase(trace, steps, &steps->spans[i]);
}

static void put_cut(struct rvp_trace *trace)
{
	put(trace,
	    "%s{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"rvprof\",\"name\":\"trace is cut here: %" PRIu64
	    " events did not fit\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f}",
	    trace->has_events ? ",\n" : "\n", trace->cut_events,
	    trace->run->process_count ? trace->run->processes[0].pid : 0,
	    trace->run->process_count ? trace->run->processes[0].pid : 0,
	    us_since_start(trace, trace->cut_ns));
}

void rvp_trace_close(struct rvp_trace *trace)
{
	if (trace->cut_events)
		put_cut(trace);
	put(trace, "\n],\"metadata\":{\"producer\":\"rvprof\",\"run_id\":");
	put_text(trace, trace->run->id);
	put(trace, ",\"command\":");
	put_text(trace, trace->run->name);
	put(trace,
	    ",\"start_unix_us\":%" PRIu64 ",\"start_unix_ns\":\"%" PRIu64 "\",\"cut_events\":%" PRIu64 "}}\n",
	    trace->run->begin_ns / 1000, trace->run->begin_ns, trace->cut_events);
	free(trace->rows);
	trace->rows = NULL;
}
