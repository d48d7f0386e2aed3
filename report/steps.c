/* SPDX-License-Identifier: MIT */
/* steps.c: see steps.h. Whose steps are the run's:
 *
 *   1. the most explicit source that told of any: rvprof.h, rvprof.py, NVTX ranges with a step's name, an
 * adapter, a known function; without any, the period of the allocation sequence (steps_detect.c);
 *   2. of known functions those of the lowest rank (record/functions.def);
 *   3. where a process has NEXT marks, those, and not the begins and ends inside;
 *   4. the process with the most steps, the earlier one of equals;
 *   5. all its threads together where their steps take turns (a pool hands one loop from thread to thread);
 * where they overlap, the thread with the most steps. The others are counted.
 */
#include "report/steps.h"

#include "report/file_array.h"
#include "report/steps_detect.h"
#include "report/steps_said.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In order of belief. */
static const struct {
	uint32_t source;
	const char *name; /* as in summary.json */
	double confidence;
} sources[] = {
    {RVP_SOURCE_API, "api", 1},        {RVP_SOURCE_PYTHON, "python", 1},     {RVP_SOURCE_NVTX, "nvtx", 0.9},
    {RVP_SOURCE_ADAPTER, "python", 1}, {RVP_SOURCE_FUNCTION, "function", 1},
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* A prompt and a token are two steps of a program that makes one token; eight turns in each are no accident.
 */
enum { MOST_DOUBTED = 2, DOUBTED_TURNS = 8 };

static const struct {
	uint16_t rank;
	uint16_t percent;
} rank_confidence[] = {
#define RVP_FUNCTION(name, shape, rank, confidence) {rank, confidence},
#include "record/functions.def"
};

/* A function that we do not know was told of by a newer library: its steps are believed like the least. */
static double confidence_of_rank(uint16_t rank)
{
	uint16_t least = 100;

	for (size_t i = 0; i < sizeof rank_confidence / sizeof *rank_confidence; i++) {
		if (rank_confidence[i].rank == rank)
			return rank_confidence[i].percent / 100.0;
		if (rank_confidence[i].percent < least)
			least = rank_confidence[i].percent;
	}
	return least / 100.0;
}

static void drop(struct rvp_said *said, bool (*is_kept)(const struct rvp_said_step *, const void *),
		 const void *what)
{
	for (size_t i = 0; i < said->count; i++)
		if (!said->steps[i].is_void && !is_kept(&said->steps[i], what))
			said->steps[i].is_void = true;
}

static size_t count_valid(const struct rvp_said *said)
{
	size_t count = 0;

	for (size_t i = 0; i < said->count; i++)
		count += !said->steps[i].is_void;
	return count;
}

static bool is_of_source(const struct rvp_said_step *step, const void *source)
{
	return step->source == *(const uint32_t *)source;
}

static bool has_source(const struct rvp_said *said, uint32_t source)
{
	for (size_t i = 0; i < said->count; i++)
		if (!said->steps[i].is_void && said->steps[i].source == source)
			return true;
	return false;
}

/* In `sources`; SOURCES: nobody told of any step. */
static unsigned best_source(const struct rvp_said *said)
{
	unsigned i = 0;

	while (i < SOURCES && !has_source(said, sources[i].source))
		i++;
	return i;
}

/* What is best in each process: the lowest rank, or NEXT. */
struct best {
	uint16_t *rank;
	bool *has_next;
};

static bool is_best(const struct rvp_said_step *step, const void *what)
{
	const struct best *best = what;

	return step->rank == best->rank[step->step.process] &&
	       step->is_next == best->has_next[step->step.process];
}

static bool keep_best(struct rvp_said *said)
{
	size_t count = said->run->process_count;
	struct best best = {calloc(count + 1, sizeof *best.rank), calloc(count + 1, sizeof *best.has_next)};

	if (best.rank && best.has_next) {
		memset(best.rank, 0xff, count * sizeof *best.rank);
		for (size_t i = 0; i < said->count; i++) {
			const struct rvp_said_step *step = &said->steps[i];

			if (step->is_void)
				continue;
			if (step->rank < best.rank[step->step.process])
				best.rank[step->step.process] = step->rank;
			best.has_next[step->step.process] |= step->is_next;
		}
		drop(said, is_best, &best);
	}
	free(best.rank);
	free(best.has_next);
	return best.rank && best.has_next;
}

static uint32_t busiest_process(const struct rvp_said *said, size_t *counts)
{
	uint32_t busiest = 0;

	for (size_t i = 0; i < said->count; i++)
		counts[said->steps[i].step.process] += !said->steps[i].is_void;
	for (uint32_t i = 1; i < said->run->process_count; i++)
		if (counts[i] > counts[busiest])
			busiest = i;
	return busiest;
}

static bool is_of_process(const struct rvp_said_step *step, const void *process)
{
	return step->step.process == *(const uint32_t *)process;
}

static bool keep_busiest_process(struct rvp_said *said)
{
	size_t *counts = calloc(said->run->process_count + 1, sizeof *counts);
	uint32_t busiest;

	if (!counts)
		return false;
	busiest = busiest_process(said, counts);
	free(counts);
	drop(said, is_of_process, &busiest);
	return true;
}

/* They are in order of their begins, as the timeline was. */
static bool steps_overlap(const struct rvp_said *said)
{
	uint64_t end = 0;

	for (size_t i = 0; i < said->count; i++) {
		const struct rvp_said_step *step = &said->steps[i];

		if (step->is_void)
			continue;
		if (step->step.begin_ns < end)
			return true;
		end = step->step.end_ns;
	}
	return false;
}

static int compare_numbers(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* The number that is there most often; of equals the smaller. */
static uint32_t most_frequent(uint32_t *numbers, size_t count)
{
	size_t longest = 0, begin = 0;
	uint32_t found = 0;

	qsort(numbers, count, sizeof *numbers, compare_numbers);
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] != numbers[begin])
			begin = i;
		if (i - begin + 1 > longest) {
			longest = i - begin + 1;
			found = numbers[i];
		}
	}
	return found;
}

static bool is_of_thread(const struct rvp_said_step *step, const void *tid)
{
	return step->step.tid == *(const uint32_t *)tid;
}

static bool keep_busiest_thread(struct rvp_said *said)
{
	uint32_t *tids, busiest;
	size_t count = 0;

	if (!steps_overlap(said))
		return true;
	tids = calloc(said->count, sizeof *tids);
	if (!tids)
		return false;
	for (size_t i = 0; i < said->count; i++)
		if (!said->steps[i].is_void)
			tids[count++] = said->steps[i].step.tid;
	busiest = most_frequent(tids, count);
	free(tids);
	drop(said, is_of_thread, &busiest);
	return true;
}

static struct rvp_phase_span *new_span(struct rvp_steps *steps, uint64_t begin_ns, uint64_t end_ns,
				       uint32_t process, uint32_t phase)
{
	struct rvp_phase_span *span = &steps->spans[steps->span_count];

	if (phase == RVP_STEP_PHASE_NONE || begin_ns >= end_ns)
		return NULL;
	*span = (struct rvp_phase_span){
	    .begin_ns = begin_ns, .end_ns = end_ns, .process = process, .phase = phase};
	steps->span_count++;
	return span;
}

static int compare_phases(const void *left, const void *right)
{
	const struct rvp_said_phase *a = left, *b = right;

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

/* The spans of a step: its own phase to the first change, then each change to the next. */
static void add_spans(struct rvp_steps *steps, const struct rvp_step *step,
		      const struct rvp_said_phase *changes, size_t count)
{
	uint64_t ns = step->begin_ns;
	uint32_t phase = step->phase;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = changes[i].ns < step->end_ns ? changes[i].ns : step->end_ns;

		new_span(steps, ns, at, step->process, phase);
		ns = at > ns ? at : ns;
		phase = changes[i].phase;
	}
	new_span(steps, ns, step->end_ns, step->process, phase);
}

static void add_load_span(const struct rvp_run *run, struct rvp_steps *steps)
{
	const struct rvp_step *first = &steps->steps[0];

	new_span(steps, run->processes[first->process].begin_ns, first->begin_ns, first->process,
		 RVP_STEP_PHASE_LOAD);
}

static bool make_room(struct rvp_steps *steps, size_t count, size_t changes)
{
	steps->steps = rvp_file_array(NULL, (count + 1) * sizeof *steps->steps);
	steps->spans = rvp_file_array(NULL, (count + changes + 2) * sizeof *steps->spans);
	return steps->steps && steps->spans;
}

static bool take_said(const struct rvp_run *run, struct rvp_said *said, struct rvp_steps *steps)
{
	size_t change = 0;

	if (!make_room(steps, count_valid(said), said->phase_count))
		return false;
	if (said->phase_count)
		qsort(said->phases, said->phase_count, sizeof *said->phases, compare_phases);
	for (size_t i = 0; i < said->count; i++) {
		size_t begin;

		while (change < said->phase_count && said->phases[change].step < i)
			change++;
		if (said->steps[i].is_void)
			continue;
		steps->steps[steps->count++] = said->steps[i].step;
		if (steps->count == 1)
			add_load_span(run, steps);
		for (begin = change; change < said->phase_count && said->phases[change].step == i;)
			change++;
		add_spans(steps, &said->steps[i].step, said->phases ? said->phases + begin : NULL,
			  change - begin);
	}
	return true;
}

static double confidence_of(const struct rvp_said *said, unsigned source)
{
	for (size_t i = 0; i < said->count && sources[source].source == RVP_SOURCE_FUNCTION; i++)
		if (!said->steps[i].is_void)
			return confidence_of_rank(said->steps[i].rank);
	return sources[source].confidence;
}

static bool choose(const struct rvp_run *run, struct rvp_said *said, unsigned source, struct rvp_steps *steps)
{
	size_t all;

	drop(said, is_of_source, &sources[source].source);
	if (!keep_best(said))
		return false;
	all = count_valid(said);
	if (!keep_busiest_process(said) || !keep_busiest_thread(said) || !take_said(run, said, steps))
		return false;
	steps->other_count = all - steps->count;
	steps->source = sources[source].name;
	steps->confidence = confidence_of(said, source);
	return true;
}

static bool listen(const struct rvp_run *run, struct rvp_said *said, struct rvp_step_census *census)
{
	struct rvp_timeline *timeline = rvp_timeline_open(run, RVP_NO_PROCESS);
	const struct rvp_brief *briefs;
	struct rvp_moment moment;
	size_t count;

	if (!timeline)
		return false;
	while ((count = rvp_timeline_take(timeline, &moment, &briefs))) {
		if (briefs) {
			rvp_step_census_take_run(census, &moment, briefs, count);
			continue;
		}
		rvp_said_take(said, &moment);
		rvp_step_census_take(census, &moment);
	}
	rvp_timeline_close(timeline);
	rvp_said_close(said);
	return !said->has_failed;
}

/* The detected steps' spans: what came before the first is the load. */
static bool detect(const struct rvp_run *run, const struct rvp_step_census *census, struct rvp_steps *steps)
{
	if (!rvp_steps_detect(run, census, steps))
		return false;
	if (!steps->count)
		return true;
	rvp_file_array_free(steps->spans);
	steps->spans = rvp_file_array(NULL, (steps->count + 2) * sizeof *steps->spans);
	if (!steps->spans)
		return false;
	add_load_span(run, steps);
	for (size_t i = 0; i < steps->count; i++)
		add_spans(steps, &steps->steps[i], NULL, 0);
	return true;
}

/* A model's forward that is called once may hold the whole loop of the program. Whether it does is not
 * guessed: the step stays, is believed less, and what was seen is said. */
static bool doubt(const struct rvp_run *run, const struct rvp_step_census *census, uint32_t source,
		  struct rvp_steps *steps)
{
	struct rvp_steps turns = {.source = "none", .why_none = ""};
	bool is_good;

	if (steps->count > MOST_DOUBTED || (source != RVP_SOURCE_ADAPTER && source != RVP_SOURCE_FUNCTION))
		return true;
	is_good = rvp_steps_detect(run, census, &turns);
	if (turns.count >= steps->count * DOUBTED_TURNS) {
		steps->turn_count = turns.count;
		steps->confidence *= 0.5;
	}
	rvp_file_array_free(turns.steps);
	return is_good;
}

static bool find(const struct rvp_run *run, struct rvp_said *said, struct rvp_step_census *census,
		 struct rvp_steps *steps)
{
	unsigned source;

	if (!steps->texts || !census || !rvp_said_open(said, run, steps->texts) || !listen(run, said, census))
		return false;
	source = best_source(said);
	if (source == SOURCES)
		return detect(run, census, steps);
	return choose(run, said, source, steps) && doubt(run, census, sources[source].source, steps);
}

struct rvp_status rvp_steps_find(const struct rvp_run *run, struct rvp_steps *steps)
{
	struct rvp_step_census *census = rvp_step_census_open();
	struct rvp_said said = {0};
	bool is_good;

	*steps = (struct rvp_steps){.source = "none", .why_none = ""};
	steps->texts = calloc(1, sizeof(struct rvp_arena));
	is_good = find(run, &said, census, steps);
	rvp_said_free(&said);
	free(census);
	if (is_good)
		return RVP_OK;
	rvp_steps_free(steps);
	return rvp_fail("find the steps of", run->folder, ENOMEM);
}

void rvp_steps_free(struct rvp_steps *steps)
{
	rvp_file_array_free(steps->steps);
	rvp_file_array_free(steps->spans);
	if (steps->texts)
		rvp_arena_free(steps->texts);
	free(steps->texts);
	*steps = (struct rvp_steps){.source = "none", .why_none = ""};
}

int64_t rvp_step_at(const struct rvp_steps *steps, uint64_t ns)
{
	size_t low = 0, high = steps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (steps->steps[middle].begin_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low - 1;
}

uint32_t rvp_phase_at(const struct rvp_steps *steps, uint64_t ns)
{
	size_t low = 0, high = steps->span_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (steps->spans[middle].begin_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && ns < steps->spans[low - 1].end_ns ? steps->spans[low - 1].phase : RVP_STEP_PHASE_NONE;
}
