/* SPDX-License-Identifier: MIT */
/* latency_rows.c: see latency_rows.h. */
#include "report/latency_rows.h"

#include "report/kernels.h"
#include "report/timeline.h"
#include "report/weight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const rvp_step_phase_texts[RVP_STEP_PHASE_COUNT] = {
    "",
    [RVP_STEP_PHASE_LOAD] = "load",	  [RVP_STEP_PHASE_WARMUP] = "warm-up",
    [RVP_STEP_PHASE_PREFILL] = "prefill", [RVP_STEP_PHASE_DECODE] = "decode",
    [RVP_STEP_PHASE_FORWARD] = "forward", [RVP_STEP_PHASE_BACKWARD] = "backward",
    [RVP_STEP_PHASE_UPDATE] = "update",
};

/* ---- rows ---- */

static uint64_t us_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (to_ns - from_ns + 500) / 1000 : 0;
}

/* Where the row of steps stands: the prompt that began at prompt_ns, the last token's moment. */
struct sequence {
	bool in_prompt, has_token;
	uint64_t prompt_ns, token_ns;
};

static void end_prompt(struct rvp_latency_rows *rows, const struct rvp_run *run, const struct rvp_step *step,
		       struct sequence *sequence)
{
	if (!sequence->in_prompt)
		return;
	sequence->in_prompt = false;
	rvp_times_add(&rows->first_token, us_between(sequence->prompt_ns, sequence->token_ns));
	if (rows->has_token)
		return;
	rows->has_token = true;
	rows->until_token_us = us_between(run->processes[step->process].begin_ns, sequence->token_ns);
}

static void take_tokens(struct rvp_latency_rows *rows, const struct rvp_run *run, const struct rvp_step *step,
			struct sequence *sequence)
{
	if (step->phase == RVP_STEP_PHASE_PREFILL) {
		if (!sequence->in_prompt)
			sequence->prompt_ns = step->begin_ns;
		sequence->in_prompt = sequence->has_token = true;
		sequence->token_ns = step->end_ns;
		return;
	}
	end_prompt(rows, run, step, sequence);
	if (step->phase == RVP_STEP_PHASE_DECODE && sequence->has_token)
		rvp_times_add(&rows->inter_token, us_between(sequence->token_ns, step->end_ns));
	sequence->has_token = step->phase == RVP_STEP_PHASE_DECODE;
	sequence->token_ns = step->end_ns;
}

static void add_stall(struct rvp_latency_rows *rows, const struct rvp_stall *stall)
{
	struct rvp_stall *least = &rows->stalls[0];

	rows->all_stall_count++;
	if (rows->stall_count < RVP_STALLS_MAX) {
		rows->stalls[rows->stall_count++] = *stall;
		return;
	}
	for (size_t i = 1; i < rows->stall_count; i++)
		if (rows->stalls[i].us < least->us)
			least = &rows->stalls[i];
	if (stall->us <= least->us)
		return;
	memmove(least, least + 1, (size_t)(&rows->stalls[RVP_STALLS_MAX] - (least + 1)) * sizeof *least);
	rows->stalls[RVP_STALLS_MAX - 1] = *stall;
}

static bool is_stall(const struct rvp_latency_rows *rows, const struct rvp_step *step, uint64_t us)
{
	return us / RVP_STALL_FACTOR > rows->median_us[step->phase] ||
	       (us / RVP_STALL_FACTOR == rows->median_us[step->phase] && us % RVP_STALL_FACTOR);
}

static void find_stalls(struct rvp_latency_rows *rows, const struct rvp_steps *steps)
{
	for (int i = 0; i < RVP_STEP_PHASE_COUNT; i++)
		rows->median_us[i] = rvp_times_latency(&rows->phases[i]).p50_us;
	for (size_t i = 0; i < steps->count; i++) {
		const struct rvp_step *step = &steps->steps[i];
		uint64_t us = rvp_step_us(step);

		if (is_stall(rows, step, us))
			add_stall(rows, &(struct rvp_stall){
					    .step = i, .us = us, .median_us = rows->median_us[step->phase]});
	}
}

void rvp_latency_rows_make(struct rvp_latency_rows *rows, const struct rvp_run *run, const struct rvp_steps *steps)
{
	struct sequence sequence = {.in_prompt = false};

	memset(rows, 0, sizeof *rows);
	for (size_t i = 0; i < steps->count; i++) {
		const struct rvp_step *step = &steps->steps[i];

		rvp_times_add(&rows->all, rvp_step_us(step));
		rvp_times_add(&rows->phases[step->phase], rvp_step_us(step));
		take_tokens(rows, run, step, &sequence);
	}
	if (steps->count)
		end_prompt(rows, run, &steps->steps[steps->count - 1], &sequence);
	rows->no_memory = rows->all.no_memory || rows->first_token.no_memory || rows->inter_token.no_memory;
	for (int i = 0; i < RVP_STEP_PHASE_COUNT; i++)
		rows->no_memory |= rows->phases[i].no_memory;
	if (!rows->no_memory)
		find_stalls(rows, steps);
}

void rvp_latency_rows_free(struct rvp_latency_rows *rows)
{
	rvp_times_free(&rows->all);
	rvp_times_free(&rows->first_token);
	rvp_times_free(&rows->inter_token);
	for (int i = 0; i < RVP_STEP_PHASE_COUNT; i++)
		rvp_times_free(&rows->phases[i]);
}

/* ---- what happened ---- */

struct explaining {
	struct rvp_latency_rows *rows;
	const struct rvp_run *run;
	const struct rvp_steps *steps;
	size_t step, stall; /* the first that has not ended */
	uint64_t look_stamp;
};

/* Where events of this moment belong: a stall, or the others of its phase; NULL: to no step. */
static struct rvp_step_doings *doings_at(struct explaining *at, uint32_t process, uint64_t ns)
{
	const struct rvp_step *step;

	while (at->step < at->steps->count && at->steps->steps[at->step].end_ns <= ns)
		at->step++;
	while (at->stall < at->rows->stall_count && at->rows->stalls[at->stall].step < at->step)
		at->stall++;
	if (at->step == at->steps->count)
		return NULL;
	step = &at->steps->steps[at->step];
	if (ns < step->begin_ns || process != step->process)
		return NULL;
	if (at->stall < at->rows->stall_count && at->rows->stalls[at->stall].step == at->step)
		return &at->rows->stalls[at->stall].doings;
	return &at->rows->usual[step->phase];
}

static void take_briefs(struct explaining *at, const struct rvp_moment *moment, const struct rvp_brief *briefs,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rvp_step_doings *doings = doings_at(at, moment->process, briefs[i].ns);

		if (doings && briefs[i].event.is_alloc) {
			doings->alloc_count++;
			doings->alloc_bytes += (double)briefs[i].event.bytes;
		}
		if (doings && !briefs[i].event.is_alloc)
			doings->free_count++;
	}
}

static void add_sample(struct rvp_step_doings *doings, uint64_t bytes, uint64_t sample_bytes)
{
	struct rvp_block block = {.bytes = bytes, .flags = RVP_BLOCK_SAMPLED};
	struct rvp_weight weight = rvp_weight_of(&block, sample_bytes);

	doings->alloc_count += (double)weight.amount.count;
	doings->alloc_bytes += (double)weight.amount.bytes;
}

static void take_record(struct explaining *at, const struct rvp_moment *moment)
{
	const struct rvp_record *record = moment->record;
	struct rvp_step_doings *doings = doings_at(at, moment->process, moment->ns);

	if (!doings)
		return;
	switch (record->kind) {
	case RVP_ALLOC:
		doings->alloc_count++;
		doings->alloc_bytes += (double)record->ALLOC.bytes;
		return;
	case RVP_SAMPLE:
		add_sample(doings, record->SAMPLE.bytes, at->run->processes[moment->process].sample_bytes);
		return;
	case RVP_FREE: doings->free_count++; return;
	case RVP_MAP:
		doings->map_count++;
		doings->map_bytes += record->MAP.bytes;
		return;
	case RVP_UNMAP: doings->unmap_count++; return;
	case RVP_FILL:
		doings->read_count++;
		doings->read_bytes += record->FILL.bytes;
		return;
	case RVP_THREAD: doings->thread_count++; return;
	case RVP_DEVICE_ALLOC:
		doings->device_alloc_count++;
		doings->device_alloc_bytes += record->DEVICE_ALLOC.bytes;
		return;
	case RVP_LAUNCH: doings->launch_count += record->LAUNCH.stands_for ? record->LAUNCH.stands_for : 1; return;
	case RVP_RESIDENT:
		doings->look_count += record->RESIDENT.stamp != at->look_stamp;
		at->look_stamp = record->RESIDENT.stamp;
		return;
	default: return;
	}
}

static void take_kernels(struct rvp_latency_rows *rows, const struct rvp_steps *steps, const struct rvp_kernels *kernels)
{
	size_t stall = 0;

	for (size_t i = 0; i < steps->count && i < kernels->step_count; i++) {
		struct rvp_step_doings *doings = &rows->usual[steps->steps[i].phase];

		while (stall < rows->stall_count && rows->stalls[stall].step < i)
			stall++;
		if (stall < rows->stall_count && rows->stalls[stall].step == i)
			doings = &rows->stalls[stall].doings;
		doings->kernel_count += kernels->steps[i].kernels.count;
		doings->kernel_us += kernels->steps[i].kernels.ns / 1000;
	}
}

/* Stalls beyond those that are kept are among the usual ones: they can't be told apart any more. */
static void count_usual(struct rvp_latency_rows *rows, const struct rvp_steps *steps)
{
	for (int i = 0; i < RVP_STEP_PHASE_COUNT; i++)
		rows->usual_count[i] = rows->phases[i].count;
	for (size_t i = 0; i < rows->stall_count; i++)
		rows->usual_count[steps->steps[rows->stalls[i].step].phase]--;
}

struct rvp_status rvp_stalls_explain(struct rvp_latency_rows *rows, const struct rvp_run *run,
				     const struct rvp_steps *steps, const struct rvp_kernels *kernels)
{
	struct explaining at = {.rows = rows, .run = run, .steps = steps, .look_stamp = UINT64_MAX};
	struct rvp_timeline *timeline = rvp_timeline_open(run, RVP_NO_PROCESS);
	const struct rvp_brief *briefs;
	struct rvp_moment moment;
	size_t count;

	if (!timeline)
		return rvp_fail("look into the stalls of", run->folder, ENOMEM);
	while ((count = rvp_timeline_take(timeline, &moment, &briefs))) {
		if (briefs)
			take_briefs(&at, &moment, briefs, count);
		else if (moment.kind == RVP_MOMENT_RECORD && moment.process != RVP_NO_PROCESS)
			take_record(&at, &moment);
	}
	rvp_timeline_close(timeline);
	count_usual(rows, steps);
	if (kernels && kernels->steps) {
		rows->has_kernels = true;
		take_kernels(rows, steps, kernels);
	}
	return RVP_OK;
}

/* ---- summary.json ---- */

static void write_steps(struct rvp_json *json, const struct rvp_steps *steps)
{
	rvp_json_open(json, "steps", '{');
	rvp_json_number(json, "count", steps->count);
	rvp_json_string(json, "source", steps->source);
	if (steps->count)
		rvp_json_decimal(json, "confidence", steps->confidence, 2);
	if (steps->turn_count)
		rvp_json_number(json, "turns_seen", steps->turn_count);
	if (steps->followed_count)
		rvp_json_number(json, "in_write_window", steps->followed_count);
	rvp_json_close(json, '}');
}

static void write_times(struct rvp_json *json, const char *key, struct rvp_times *times)
{
	struct rvp_latency latency = rvp_times_latency(times);

	if (!latency.count)
		return;
	rvp_json_open(json, key, '{');
	rvp_latency_write_keys(json, &latency);
	rvp_json_close(json, '}');
}

static void write_latency(struct rvp_json *json, struct rvp_latency_rows *rows)
{
	struct rvp_latency latency = rvp_times_latency(&rows->all);

	rvp_json_open(json, "latency", '{');
	rvp_latency_write_keys(json, &latency);
	rvp_json_number(json, "stall_count", rows->all_stall_count);
	if (rows->has_token)
		rvp_json_number(json, "until_first_token_us", rows->until_token_us);
	write_times(json, "first_token", &rows->first_token);
	write_times(json, "inter_token", &rows->inter_token);
	rvp_json_close(json, '}');
}

void rvp_latency_write_json(struct rvp_json *json, const struct rvp_run *run, const struct rvp_steps *steps)
{
	struct rvp_latency_rows *rows = steps->count ? calloc(1, sizeof *rows) : NULL;

	write_steps(json, steps);
	if (!rows)
		return;
	rvp_latency_rows_make(rows, run, steps);
	if (!rows->no_memory)
		write_latency(json, rows);
	rvp_latency_rows_free(rows);
	free(rows);
}
