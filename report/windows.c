/* SPDX-License-Identifier: MIT */
/* windows.c: see windows.h. */
#include "report/windows.h"

#include "record/options.h"
#include "report/grow.h"
#include "report/run_source.h"
#include "report/text_numbers.h"
#include "report/trace_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_OF_A_PROCESS = 100000, ROWS_MAX = 1000, NAMED = 3, PART_BYTES = 160 };

static const char *const causes[] = {
    [RVP_WINDOW_SCHEDULE] = "schedule", [RVP_WINDOW_TIME] = "time", [RVP_WINDOW_PROGRAM] = "program",
    [RVP_WINDOW_CUDA] = "cuda",         [RVP_WINDOW_ORDER] = "ctl", [RVP_WINDOW_END] = "end",
};
_Static_assert(sizeof causes / sizeof *causes == RVP_WINDOW_CAUSE_COUNT, "each cause has a name");

/* ---- as they are read ---- */

static struct rvp_window_span *span_of(struct rvp_process *process, uint64_t number)
{
	struct rvp_window_span *span;

	for (size_t i = process->window_count; i-- > 0;)
		if (process->windows[i].number == number)
			return &process->windows[i];
	if (!rvp_grow((void **)&process->windows, &process->source->window_room, process->window_count + 1,
		      sizeof *process->windows))
		return NULL;
	span = &process->windows[process->window_count++];
	*span = (struct rvp_window_span){.number = number, .level = 1, .opened_by = RVP_WINDOW_TIME,
					 .closed_by = RVP_WINDOW_END};
	return span;
}

static uint32_t cause_of(uint64_t cause)
{
	return cause < RVP_WINDOW_CAUSE_COUNT ? (uint32_t)cause : RVP_WINDOW_END;
}

bool rvp_windows_take(struct rvp_process *process, const struct rvp_record_RECORD_WINDOW *record)
{
	struct rvp_window_span *span;

	if (process->window_count >= KEPT_OF_A_PROCESS)
		return true;
	span = span_of(process, record->number);
	if (!span)
		return false;
	if (record->is_open) {
		span->has_begin = true;
		span->begin_ns = record->stamp;
		span->opened_by = cause_of(record->cause);
		span->first_step = record->step;
		span->level = record->level;
	} else {
		span->has_end = true;
		span->end_ns = record->stamp;
		span->closed_by = cause_of(record->cause);
		span->last_step = record->step;
		span->is_finished = record->is_finished != 0;
	}
	span->counts[record->is_open ? 0 : 1] =
	    (struct rvp_window_counts){record->alloc_count, record->alloc_bytes, record->free_count};
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct rvp_window_span *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/* One that was open from the start has no record of its begin; a process that was killed none of the end. */
void rvp_windows_settle(const struct rvp_run *run, struct rvp_process *process)
{
	if (process->window_count)
		qsort(process->windows, process->window_count, sizeof *process->windows, by_number);
	for (size_t i = 0; i < process->window_count; i++) {
		struct rvp_window_span *span = &process->windows[i];

		span->begin_ns = span->has_begin ? rvp_process_ns(run, process, span->begin_ns) : RVP_NEVER;
		span->end_ns = span->has_end ? rvp_process_ns(run, process, span->end_ns) : RVP_NEVER;
	}
}

static uint64_t begin_of(const struct rvp_process *process, const struct rvp_window_span *span)
{
	return span->has_begin ? span->begin_ns : process->begin_ns;
}

static uint64_t end_of(const struct rvp_process *process, const struct rvp_window_span *span)
{
	return span->has_end ? span->end_ns : process->end_ns;
}

/* ---- what was asked for ---- */

static bool was_asked(const struct rvp_run *run, struct rvp_options *options)
{
	rvp_options_defaults(options);
	for (size_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];

		if (!process->environment)
			continue;
		rvp_options_read(options, process->environment, NULL, 0);
		if (rvp_options_have_windows(options))
			return true;
	}
	return false;
}

bool rvp_windows_matter(const struct rvp_run *run)
{
	struct rvp_options options;

	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].was_held || run->processes[i].window_count)
			return true;
	return was_asked(run, &options);
}

/* As --schedule or --steps has it. */
static void schedule_text(const struct rvp_options *options, char text[PART_BYTES])
{
	const struct rvp_schedule *schedule = &options->schedule;
	int length;

	if (!options->has_schedule) {
		length = snprintf(text, PART_BYTES, "%" PRIu64 ":", schedule->skip_first);
		if (schedule->skip_first + schedule->active < RVP_SCHEDULE_MOST)
			snprintf(text + length, PART_BYTES - (size_t)length, "%" PRIu64,
				 schedule->skip_first + schedule->active);
		return;
	}
	length = snprintf(text, PART_BYTES, "wait=%" PRIu64 ",warmup=%" PRIu64 ",active=%" PRIu64, schedule->wait,
			  schedule->warmup, schedule->active);
	if (schedule->repeat)
		length += snprintf(text + length, PART_BYTES - (size_t)length, ",repeat=%" PRIu64, schedule->repeat);
	if (schedule->skip_first)
		length += snprintf(text + length, PART_BYTES - (size_t)length, ",skip_first=%" PRIu64,
				   schedule->skip_first);
	if (schedule->skip_first_wait)
		snprintf(text + length, PART_BYTES - (size_t)length, ",skip_first_wait=1");
}

/* ---- the sums ---- */

struct sums {
	uint64_t windows, finished, steps_seen;
	uint32_t main; /* process that the sentence tells of: with most windows, then with most steps */
};

static struct sums sums_of(const struct rvp_run *run)
{
	struct sums sums = {.main = RVP_NO_PROCESS};

	for (size_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];
		const struct rvp_process *most = sums.main == RVP_NO_PROCESS ? NULL : &run->processes[sums.main];

		sums.windows += process->window_count;
		for (size_t j = 0; j < process->window_count; j++)
			sums.finished += process->windows[j].is_finished;
		if (process->steps_seen > sums.steps_seen)
			sums.steps_seen = process->steps_seen;
		if (!most || process->window_count > most->window_count ||
		    (process->window_count == most->window_count && process->steps_seen > most->steps_seen))
			sums.main = (uint32_t)i;
	}
	return sums;
}

/* ---- the sentence ---- */

static const char *steps_text(const struct rvp_window_span *span, char text[PART_BYTES])
{
	if (!span->first_step)
		*text = 0;
	else if (span->last_step > span->first_step)
		snprintf(text, PART_BYTES, "steps %" PRIu64 " to %" PRIu64, span->first_step - 1, span->last_step - 1);
	else
		snprintf(text, PART_BYTES, "step %" PRIu64, span->first_step - 1);
	return text;
}

static void say_recorded(const struct rvp_run *run, const struct sums *sums, const struct rvp_options *options,
			 char text[RVP_WINDOWS_TEXT_BYTES])
{
	const struct rvp_process *process = &run->processes[sums->main];
	char part[PART_BYTES];
	size_t length = (size_t)snprintf(text, RVP_WINDOWS_TEXT_BYTES, "recorded in %" PRIu64 " window%s", sums->windows,
					 sums->windows == 1 ? "" : "s");

	if (options->schedule.active)
		length += (size_t)snprintf(text + length, RVP_WINDOWS_TEXT_BYTES - length, " (%" PRIu64 " finished)",
					   sums->finished);
	for (size_t i = 0; i < process->window_count && i < NAMED; i++)
		if (*steps_text(&process->windows[i], part))
			length += (size_t)snprintf(text + length, RVP_WINDOWS_TEXT_BYTES - length, "%s%s",
						   i ? ", " : ": ", part);
	if (process->window_count > NAMED)
		length += (size_t)snprintf(text + length, RVP_WINDOWS_TEXT_BYTES - length, ", ...");
	if (options->schedule.active)
		length += (size_t)snprintf(text + length, RVP_WINDOWS_TEXT_BYTES - length, "; %" PRIu64 " steps seen",
					   sums->steps_seen);
	snprintf(text + length, RVP_WINDOWS_TEXT_BYTES - length,
		 "; blocks born outside of them are counted and not recorded");
}

/* The first step that the schedule records, whatever it is. */
static uint64_t first_recorded(const struct rvp_schedule *schedule)
{
	return schedule->skip_first + (schedule->skip_first_wait ? 0 : schedule->wait) + schedule->warmup;
}

static const char how_steps_are_marked[] =
    " (steps are marked by rvprof_step, rvprof.step, NVTX ranges named step, or known functions as llama_decode)";

/* Of processes that recorded nothing at all nobody knows the options, only what held them back. */
static void say_never_by_holds(const struct rvp_run *run, const struct sums *sums, char text[RVP_WINDOWS_TEXT_BYTES])
{
	uint32_t holds = 0;
	char ran[RVP_NUMBER_TEXT_BYTES];

	for (size_t i = 0; i < run->process_count; i++)
		holds |= run->processes[i].was_held;
	if (holds & RVP_HELD_BY_SCHEDULE)
		snprintf(text, RVP_WINDOWS_TEXT_BYTES,
			 "no block was recorded: no step of --schedule or --steps began, and %" PRIu64 " step%s seen%s",
			 sums->steps_seen, sums->steps_seen == 1 ? " was" : "s were",
			 sums->steps_seen ? "" : how_steps_are_marked);
	else if (holds & RVP_HELD_BY_PROGRAM)
		snprintf(text, RVP_WINDOWS_TEXT_BYTES,
			 "no block was recorded: nothing that --capture waits for was called "
			 "(rvprof_start, `rvprof ctl start`, cudaProfilerStart)");
	else
		snprintf(text, RVP_WINDOWS_TEXT_BYTES,
			 "no block was recorded: the run took %s, and --delay was not over at its last look at the clock",
			 rvp_text_duration(run->end_ns - run->begin_ns, ran));
}

static void say_never(const struct rvp_run *run, const struct sums *sums, const struct rvp_options *options,
		      char text[RVP_WINDOWS_TEXT_BYTES])
{
	char part[PART_BYTES], ran[RVP_NUMBER_TEXT_BYTES], delay[RVP_NUMBER_TEXT_BYTES];

	if (options->schedule.active) {
		schedule_text(options, part);
		snprintf(text, RVP_WINDOWS_TEXT_BYTES,
			 "no block was recorded: --%s %s begins with step %" PRIu64 ", and %" PRIu64 " step%s seen%s",
			 options->has_schedule ? "schedule" : "steps", part, first_recorded(&options->schedule),
			 sums->steps_seen, sums->steps_seen == 1 ? " was" : "s were",
			 sums->steps_seen ? "" : how_steps_are_marked);
	} else if (options->capture) {
		snprintf(text, RVP_WINDOWS_TEXT_BYTES, "no block was recorded: --capture %s, and %s",
			 options->capture == RVP_CAPTURE_CUDA ? "cuda" : "program",
			 options->capture == RVP_CAPTURE_CUDA
			     ? "cudaProfilerStart was not called"
			     : "neither rvprof_start nor `rvprof ctl start` was called");
	} else {
		snprintf(text, RVP_WINDOWS_TEXT_BYTES, "no block was recorded: --delay %s, and the run took %s",
			 rvp_text_duration(options->delay_ns, delay),
			 rvp_text_duration(run->end_ns - run->begin_ns, ran));
	}
}

void rvp_windows_text(const struct rvp_run *run, char text[RVP_WINDOWS_TEXT_BYTES])
{
	struct sums sums = sums_of(run);
	struct rvp_options options;
	bool is_known;

	is_known = was_asked(run, &options);
	if (sums.windows)
		say_recorded(run, &sums, &options, text);
	else if (!is_known)
		say_never_by_holds(run, &sums, text);
	else
		say_never(run, &sums, &options, text);
}

/* ---- summary.json ---- */

static void write_settings(struct rvp_json *json, const struct rvp_options *options)
{
	char text[PART_BYTES];

	if (options->schedule.active) {
		schedule_text(options, text);
		rvp_json_string(json, options->has_schedule ? "schedule" : "steps", text);
	}
	if (options->delay_ns)
		rvp_json_figure(json, "delay_s", (double)options->delay_ns / 1e9);
	if (options->duration_ns)
		rvp_json_figure(json, "duration_s", (double)options->duration_ns / 1e9);
	if (options->capture)
		rvp_json_string(json, "capture", options->capture == RVP_CAPTURE_CUDA ? "cuda" : "program");
}

static void write_row(struct rvp_json *json, const struct rvp_process *process, const struct rvp_window_span *span)
{
	const struct rvp_window_counts *begin = &span->counts[0], *end = &span->counts[1];
	uint64_t begin_ns = begin_of(process, span), end_ns = end_of(process, span);

	rvp_json_open(json, NULL, '{');
	rvp_json_number(json, "pid", process->pid);
	rvp_json_number(json, "number", span->number);
	rvp_json_string(json, "opened_by", span->has_begin ? causes[span->opened_by] : "begin");
	rvp_json_string(json, "closed_by", causes[span->closed_by]);
	rvp_json_bool(json, "finished", span->is_finished);
	if (span->first_step)
		rvp_json_number(json, "first_step", span->first_step - 1);
	if (span->last_step && span->has_end)
		rvp_json_number(json, "last_step", span->last_step - 1);
	rvp_json_number(json, "begin_unix_us", begin_ns / 1000);
	rvp_json_number(json, "end_unix_us", end_ns / 1000);
	rvp_json_decimal(json, "duration_s", end_ns > begin_ns ? (double)(end_ns - begin_ns) / 1e9 : 0, 6);
	rvp_json_number(json, "level", span->level);
	if (span->has_end) {
		rvp_json_number(json, "alloc_count", end->alloc_count - begin->alloc_count);
		rvp_json_number(json, "alloc_bytes", end->alloc_bytes - begin->alloc_bytes);
		rvp_json_number(json, "free_count", end->free_count - begin->free_count);
	}
	rvp_json_close(json, '}');
}

void rvp_windows_write_json(struct rvp_json *json, const struct rvp_run *run)
{
	char text[RVP_WINDOWS_TEXT_BYTES];
	struct sums sums = sums_of(run);
	struct rvp_options options;
	uint64_t rows = 0;

	if (!rvp_windows_matter(run))
		return;
	was_asked(run, &options);
	rvp_json_open(json, "windows", '{');
	write_settings(json, &options);
	rvp_json_number(json, "count", sums.windows);
	rvp_json_number(json, "finished", sums.finished);
	if (options.schedule.active)
		rvp_json_number(json, "steps_seen", sums.steps_seen);
	rvp_windows_text(run, text);
	rvp_json_string(json, "text", text);
	rvp_json_open(json, "rows", '[');
	for (size_t i = 0; i < run->process_count; i++)
		for (size_t j = 0; j < run->processes[i].window_count && rows < ROWS_MAX; j++, rows++)
			write_row(json, &run->processes[i], &run->processes[i].windows[j]);
	rvp_json_close(json, ']');
	if (sums.windows > rows)
		rvp_json_number(json, "rows_left_out", sums.windows - rows);
	rvp_json_close(json, '}');
}

/* ---- trace.json ---- */

static void put_half(struct rvp_trace *trace, const struct rvp_process *process, const struct rvp_window_span *span,
		     char half)
{
	char steps[PART_BYTES];

	steps_text(span, steps);
	rvp_trace_put(trace,
		      "{\"ph\":\"%c\",\"cat\":\"window\",\"id\":\"%u.%" PRIu64 "\",\"name\":\"window %" PRIu64
		      "%s%s%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f}",
		      half, process->pid, span->number, span->number, *steps ? " (" : "", steps, *steps ? ")" : "",
		      process->pid, process->pid,
		      rvp_trace_us(trace, half == 'b' ? begin_of(process, span) : end_of(process, span)));
}

void rvp_windows_trace(struct rvp_trace *trace)
{
	const struct rvp_run *run = trace->run;

	for (size_t i = 0; i < run->process_count; i++)
		for (size_t j = 0; j < run->processes[i].window_count; j++) {
			const struct rvp_process *process = &run->processes[i];
			const struct rvp_window_span *span = &process->windows[j];

			if (end_of(process, span) < begin_of(process, span) ||
			    !rvp_trace_begin_event(trace, begin_of(process, span)))
				continue;
			put_half(trace, process, span, 'b');
			rvp_trace_put(trace, ",\n");
			put_half(trace, process, span, 'e');
		}
}
