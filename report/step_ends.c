/* SPDX-License-Identifier: MIT */
/* step_ends.c: see step_ends.h. */
#include "report/step_ends.h"

#include "record/schema.h"

#include <stdlib.h>

static bool open_ends(struct rvp_step_ends *ends, size_t room)
{
	*ends = (struct rvp_step_ends){.moments_ns = calloc(room + 1, sizeof *ends->moments_ns),
				       .steps = calloc(room + 1, sizeof *ends->steps)};
	return ends->moments_ns && ends->steps;
}

void rvp_step_ends_free(struct rvp_step_ends *ends)
{
	free(ends->moments_ns);
	free(ends->steps);
	*ends = (struct rvp_step_ends){0};
}

/* What nobody ended lasts to the end of its process, and then nothing is left. The last of detected steps has
 * the program's tidying up in it, too. */
static bool lasts_to_end(const struct rvp_run *run, const struct rvp_step *step)
{
	return step->is_open ||
	       (step->process < run->process_count && step->end_ns >= run->processes[step->process].end_ns);
}

static void add(struct rvp_step_ends *ends, const struct rvp_run *run, const struct rvp_steps *steps,
		uint32_t number)
{
	const struct rvp_step *step = &steps->steps[number];

	ends->moments_ns[ends->count] =
	    lasts_to_end(run, step) && step->end_ns > step->begin_ns ? step->end_ns - 1 : step->end_ns;
	ends->steps[ends->count++] = number;
}

static bool has_phase(const struct rvp_steps *steps, uint32_t phase)
{
	for (size_t i = 0; i < steps->count; i++)
		if (steps->steps[i].phase == phase)
			return true;
	return false;
}

/* In the first step libraries set themselves up. */
static bool is_steady(const struct rvp_run *run, const struct rvp_steps *steps, size_t number,
		      bool has_decode)
{
	const struct rvp_step *step = &steps->steps[number];

	if (lasts_to_end(run, step) || (number + 1 == steps->count && steps->confidence < 1))
		return false;
	if (has_decode)
		return step->phase == RVP_STEP_PHASE_DECODE;
	return number && step->phase != RVP_STEP_PHASE_WARMUP && step->phase != RVP_STEP_PHASE_PREFILL;
}

bool rvp_step_ends_spread(struct rvp_step_ends *ends, const struct rvp_run *run,
			  const struct rvp_steps *steps, size_t most)
{
	bool has_decode = has_phase(steps, RVP_STEP_PHASE_DECODE);
	size_t all = 0, seen = 0, taken = 0, wanted;

	for (size_t i = 0; i < steps->count; i++)
		all += is_steady(run, steps, i, has_decode);
	wanted = all < most ? all : most;
	if (!open_ends(ends, wanted)) {
		rvp_step_ends_free(ends);
		return false;
	}
	for (size_t i = 0; i < steps->count && taken < wanted; i++) {
		if (!is_steady(run, steps, i, has_decode))
			continue;
		if (wanted < 2 || seen == taken * (all - 1) / (wanted - 1)) {
			add(ends, run, steps, (uint32_t)i);
			taken++;
		}
		seen++;
	}
	return true;
}

bool rvp_step_ends_two(struct rvp_step_ends *ends, const struct rvp_run *run, const struct rvp_steps *steps,
		       uint64_t a, uint64_t b)
{
	uint64_t first = a < b ? a : b, second = a < b ? b : a;

	if (!open_ends(ends, 2)) {
		rvp_step_ends_free(ends);
		return false;
	}
	if (second >= steps->count)
		return true;
	add(ends, run, steps, (uint32_t)first);
	add(ends, run, steps, (uint32_t)second);
	return true;
}

struct rvp_line rvp_line_through(const double *x, const double *y, size_t count)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;

	for (size_t i = 0; i < count; i++) {
		mean_x += x[i] / (double)count;
		mean_y += y[i] / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		xx += (x[i] - mean_x) * (x[i] - mean_x);
		xy += (x[i] - mean_x) * (y[i] - mean_y);
		yy += (y[i] - mean_y) * (y[i] - mean_y);
	}
	if (xx <= 0)
		return (struct rvp_line){0};
	return (struct rvp_line){.slope = xy / xx, .fit = yy > 0 ? xy * xy / (xx * yy) : 1};
}
