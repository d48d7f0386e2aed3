/* SPDX-License-Identifier: MIT */
/* text_steps.c: the steps in a report: how many, who says so, how long they took. Nothing where there are
 * none: most programs have none. */
#include "report/text_report.h"

#include "report/latency_rows.h"
#include "report/text_numbers.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LABEL_COLUMNS = 14 };

const struct rvp_steps *rvp_view_steps(const struct rvp_view *view)
{
	return view->attribution ? rvp_attribution_steps(view->attribution) : view->steps;
}

/* "64 steps (function llama_decode)" */
static void print_source(const struct rvp_view *view, const struct rvp_steps *steps)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	fprintf(view->out, "  %-*s%s (%s", LABEL_COLUMNS, "steps", rvp_text_count(steps->count, text),
		steps->source);
	if (*steps->steps[0].name) {
		fputc(' ', view->out);
		rvp_print_safely(view->out, steps->steps[0].name, 60);
	}
	if (steps->confidence < 1)
		fprintf(view->out, ", confidence %.2f", steps->confidence);
	fputc(')', view->out);
}

/* "983 us", "1.58 ms", "12.345 s": a step has no even hour. */
static const char *step_text(uint64_t us, char *text)
{
	if (us >= 1000000)
		return rvp_text_duration(us * 1000, text);
	if (us >= 1000)
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%.2f ms", (double)us / 1e3);
	else
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%" PRIu64 " us", us);
	return text;
}

/* In the whole report: --latency has them in full. */
static void print_stalls(const struct rvp_view *view, const struct rvp_steps *steps)
{
	struct rvp_latency_rows *rows = view->attribution ? calloc(1, sizeof *rows) : NULL;

	if (!rows)
		return;
	rvp_latency_rows_make(rows, view->run, steps);
	if (rows->all_stall_count)
		fprintf(view->out, "  %-*s%zu took more than %d times the median of their phase: rvprof report --latency\n",
			LABEL_COLUMNS, "", rows->all_stall_count, RVP_STALL_FACTOR);
	rvp_latency_rows_free(rows);
	free(rows);
}

static void print_latency(const struct rvp_view *view, const struct rvp_steps *steps)
{
	struct rvp_latency latency = rvp_latency_of_steps(steps);
	char p50[RVP_NUMBER_TEXT_BYTES], p95[RVP_NUMBER_TEXT_BYTES], p99[RVP_NUMBER_TEXT_BYTES];

	if (latency.count)
		fprintf(view->out, ": p50 %s, p95 %s, p99 %s", step_text(latency.p50_us, p50),
			step_text(latency.p95_us, p95), step_text(latency.p99_us, p99));
}

/* "  1 prefill, 63 decode", where the steps have phases. */
static void print_phases(const struct rvp_view *view, const struct rvp_steps *steps)
{
	uint64_t counts[RVP_STEP_PHASE_COUNT] = {0};
	const char *between = "";

	for (size_t i = 0; i < steps->count; i++)
		counts[steps->steps[i].phase]++;
	if (counts[RVP_STEP_PHASE_NONE] == steps->count)
		return;
	fprintf(view->out, "  %-*s", LABEL_COLUMNS, "");
	for (int i = 0; i < RVP_STEP_PHASE_COUNT; i++) {
		if (!counts[i] || !*rvp_step_phase_texts[i])
			continue;
		fprintf(view->out, "%s%" PRIu64 " %s", between, counts[i], rvp_step_phase_texts[i]);
		between = ", ";
	}
	fputc('\n', view->out);
}

void rvp_text_steps(const struct rvp_view *view)
{
	const struct rvp_steps *steps = rvp_view_steps(view);

	if (!steps || !steps->count)
		return;
	print_source(view, steps);
	print_latency(view, steps);
	fputc('\n', view->out);
	print_phases(view, steps);
	print_stalls(view, steps);
	if (steps->turn_count)
		fprintf(view->out,
			"  %-*stoo few, it seems: allocations repeat %" PRIu64
			" times, a loop within what was told of\n",
			LABEL_COLUMNS, "", steps->turn_count);
	if (steps->followed_count)
		fprintf(view->out,
			"  %-*s%" PRIu64 " of them while writes were followed: slower than by themselves\n",
			LABEL_COLUMNS, "", steps->followed_count);
	if (steps->other_count)
		fprintf(view->out, "  %-*s%" PRIu64 " more in other threads or processes, not shown\n",
			LABEL_COLUMNS, "", steps->other_count);
}
