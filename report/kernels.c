/* SPDX-License-Identifier: MIT */
/* kernels.c: see kernels.h. */
#include "report/kernels.h"

#include "report/file_array.h"
#include "report/kernels_sums.h"
#include "report/run_source.h"

#include <errno.h>
#include <stdlib.h>

/* ---- clocks ---- */

static void add_clock(struct rvp_kernels *kernels, const struct rvp_kernel_defs *defs)
{
	const struct rvp_device_clock *clock = &defs->clock;
	int64_t step = clock->largest_step_ns, most = kernels->clock.largest_step_ns;

	kernels->clock.brackets += clock->count;
	kernels->clock.steps += clock->step_count;
	if (llabs(step) > llabs(most))
		kernels->clock.largest_step_ns = step;
	if (clock->error_ns > kernels->clock.error_ns)
		kernels->clock.error_ns = clock->error_ns;
	if (defs->activity_count)
		kernels->clock.is_tied &= clock->is_tied;
	for (int kind = RVP_DEVICE; kind < RVP_KIND_COUNT; kind++)
		kernels->records[kind] += defs->counts[kind];
}

static void add_clocks(struct rvp_kernels *kernels, const struct rvp_run *run)
{
	kernels->clock.is_tied = true;
	for (size_t i = 0; i < run->process_count; i++) {
		const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(&run->processes[i]);

		if (defs)
			add_clock(kernels, defs);
	}
}

/* Work that lies outside of all brackets, by the chunks that it is in: where clocks are tied at both ends
 * there is none. */
static bool is_beyond(const struct rvp_run *run, const struct rvp_activity *activity)
{
	const struct rvp_device_clock *clock = &rvp_kernel_defs_of(&run->processes[activity->process])->clock;

	return clock->is_tied && activity->has_device && activity->has_start &&
	       (activity->start_ns < clock->brackets[0].unix_ns ||
		activity->start_ns > clock->brackets[clock->count - 1].unix_ns);
}

/* ---- the pass ---- */

struct reading {
	struct rvp_kernels *kernels;
	const struct rvp_run *run;
	struct rvp_kernel_stream *stream;
	struct rvp_kernel_join *join;
	const struct rvp_kernel_question *question;
	uint64_t numbers[RVP_KIND_COUNT];
};

static void take(struct reading *reading, const struct rvp_activity *activity)
{
	struct rvp_kernels *kernels = reading->kernels;
	struct rvp_work work;

	if (!rvp_kernel_join(reading->join, activity, &work)) {
		kernels->no_memory = true;
		return;
	}
	if (activity->has_device)
		rvp_kernels_name(kernels, reading->run, &work);
	work.number = reading->numbers[activity->kind]++;
	if (activity->has_device && reading->question->has_only_step &&
	    (work.step < 0 || (uint64_t)work.step != reading->question->only_step))
		return;
	kernels->clock.beyond += is_beyond(reading->run, activity);
	rvp_kernels_add(kernels, reading->run, &work);
	for (struct rvp_kernel_sink *const *sink = reading->question->sinks; sink && *sink; sink++)
		(*sink)->see(*sink, &work, kernels->names);
}

static bool open_all(struct reading *reading)
{
	const struct rvp_steps *steps = reading->question->steps;
	struct rvp_kernels *kernels = reading->kernels;

	reading->stream = rvp_kernel_stream_open(reading->run);
	kernels->ranges = rvp_kernel_ranges_open(reading->run, !reading->question->without_ranges);
	reading->join = kernels->ranges ? rvp_kernel_join_open(reading->run, steps, kernels->ranges) : NULL;
	kernels->names = rvp_kernel_names_open(reading->run, reading->question->rule_files);
	kernels->waits = calloc(reading->run->process_count + 1, sizeof *kernels->waits);
	if (steps && steps->count) {
		kernels->steps = rvp_file_array(NULL, steps->count * sizeof *kernels->steps);
		kernels->step_count = kernels->steps ? steps->count : 0;
	}
	return reading->stream && reading->join && kernels->names && kernels->waits &&
	       (!steps || !steps->count || kernels->steps);
}

/* A range has a larger number than the one around it. */
static void add_inner_ranges(struct rvp_kernels *kernels)
{
	for (size_t i = 0; i < kernels->range_count; i++)
		kernels->by_range[i].with_inner_ns = kernels->by_range[i].kernels.ns;
	for (size_t i = kernels->range_count; i-- > RVP_RANGE_FIRST;) {
		uint32_t outer = rvp_kernel_range_parent(kernels->ranges, (uint32_t)i);

		if (outer >= RVP_RANGE_FIRST)
			kernels->by_range[outer].with_inner_ns += kernels->by_range[i].with_inner_ns;
	}
}

struct rvp_status rvp_kernels_read(struct rvp_kernels *kernels, const struct rvp_run *run,
				   const struct rvp_kernel_question *question)
{
	struct reading reading = {.kernels = kernels, .run = run, .question = question};
	struct rvp_activity activity;

	*kernels = (struct rvp_kernels){.has_device = rvp_run_has_devices(run)};
	if (!kernels->has_device)
		return RVP_OK;
	kernels->no_memory = !open_all(&reading);
	if (!kernels->no_memory)
		add_clocks(kernels, run);
	while (!kernels->no_memory && rvp_kernel_stream_next(reading.stream, &activity))
		take(&reading, &activity);
	kernels->no_memory |= reading.stream && rvp_kernel_stream_failed(reading.stream);
	rvp_kernel_stream_close(reading.stream);
	rvp_kernel_join_close(reading.join);
	if (!kernels->no_memory) {
		add_inner_ranges(kernels);
		return RVP_OK;
	}
	rvp_kernels_free(kernels);
	return rvp_fail("read the device's work", run->folder, ENOMEM);
}

void rvp_kernels_free(struct rvp_kernels *kernels)
{
	for (size_t i = 0; i < kernels->name_count; i++)
		rvp_distribution_free(&kernels->by_name[i]);
	for (size_t i = 0; i < kernels->device_count; i++)
		rvp_distribution_free(&kernels->devices[i].gaps);
	rvp_distribution_free(&kernels->latency);
	rvp_distribution_free(&kernels->queued);
	rvp_distribution_free(&kernels->submitted);
	rvp_kernel_names_close(kernels->names);
	free(kernels->by_name);
	free(kernels->streams);
	free(kernels->devices);
	rvp_file_array_free(kernels->steps);
	free(kernels->sites);
	rvp_key_places_free(&kernels->stream_keys);
	rvp_key_places_free(&kernels->device_keys);
	rvp_key_places_free(&kernels->site_keys);
	free(kernels->by_range);
	rvp_kernel_ranges_close(kernels->ranges);
	free(kernels->waits);
	*kernels = (struct rvp_kernels){0};
}

/* ---- figures ---- */

bool rvp_kernels_were_timed(const struct rvp_kernels *kernels)
{
	return kernels->kernels.count > 0;
}

bool rvp_kernels_step_is_measured(const struct rvp_kernels *kernels, const struct rvp_run *run,
				  const struct rvp_step *step)
{
	const struct rvp_process *process = &run->processes[step->process];
	const struct rvp_kernel_defs *defs = kernels->has_device ? rvp_kernel_defs_of(process) : NULL;
	bool is_told = false, is_on = false, is_always_on = true;
	uint64_t last_ns = 0;

	for (size_t i = 0; defs && i < defs->told_count; i++) {
		const struct rvp_record_DEVICE_TRACER *tracer = &defs->told[i].tracer;
		uint64_t ns;
		bool has_kernels;

		if (defs->told[i].kind != RVP_DEVICE_TRACER)
			continue;
		ns = rvp_process_ns(run, process, tracer->stamp);
		has_kernels = tracer->kinds >> RVP_DEVICE_BIT_KERNEL & 1;
		is_told = true;
		if (ns <= step->begin_ns && ns >= last_ns) {
			is_on = has_kernels;
			last_ns = ns;
		}
		if (ns > step->begin_ns && ns < step->end_ns)
			is_always_on &= has_kernels;
	}
	return defs && kernels->steps && (is_told ? is_on && is_always_on : kernels->kernels.count > 0);
}

uint64_t rvp_kernel_device_idle_ns(const struct rvp_kernel_device *device)
{
	uint64_t sum = 0;

	for (int i = 0; i < RVP_IDLE_COUNT; i++)
		sum += device->idle_ns[i];
	return sum;
}

uint64_t rvp_kernel_overlap_ns(const struct rvp_kernel_device *device)
{
	uint64_t both = device->kernels.ns + device->copies.ns;

	return both > device->all.ns ? both - device->all.ns : 0;
}

uint64_t rvp_kernel_exposed_comm_ns(const struct rvp_kernel_device *device)
{
	return device->all.ns - device->without_comm.ns;
}

struct ranked {
	uint64_t key;
	uint32_t number;
};

static int compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

uint32_t *rvp_kernels_ranked(const void *items, size_t count, size_t item_bytes,
			     uint64_t (*key)(const void *item))
{
	struct ranked *ranked = malloc((count + 1) * sizeof *ranked);
	uint32_t *numbers = malloc((count + 1) * sizeof *numbers);

	for (size_t i = 0; ranked && i < count; i++)
		ranked[i] = (struct ranked){key((const char *)items + i * item_bytes), (uint32_t)i};
	if (ranked)
		qsort(ranked, count, sizeof *ranked, compare);
	for (size_t i = 0; ranked && numbers && i < count; i++)
		numbers[i] = ranked[i].number;
	if (!ranked) {
		free(numbers);
		numbers = NULL;
	}
	free(ranked);
	return numbers;
}
