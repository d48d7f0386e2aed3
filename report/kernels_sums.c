/* SPDX-License-Identifier: MIT */
/* kernels_sums.c: see kernels_sums.h. */
#include "report/kernels_sums.h"

#include "report/grow.h"

#include <stdlib.h>

/* ---- names ---- */

void rvp_kernels_name(struct rvp_kernels *kernels, const struct rvp_run *run, struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;
	const struct rvp_kernel_shape *shape;

	work->class = RVP_KERNEL_CLASS_OTHER;
	if (activity->kind == RVP_DEVICE_COPY)
		work->class = RVP_KERNEL_CLASS_COPY;
	if (activity->kind == RVP_DEVICE_SET)
		work->class = RVP_KERNEL_CLASS_MEMSET;
	if (activity->kind != RVP_KERNEL)
		return;
	shape = rvp_kernel_shape_at(rvp_kernel_defs_of(&run->processes[activity->process]), activity->number);
	work->name = shape ? rvp_kernel_name_number(kernels->names, activity->process, shape->name) : 0;
	work->class = (uint8_t)rvp_kernel_name_at(kernels->names, work->name)->class;
}

/* ---- by what ---- */

static void add_sum(struct rvp_kernel_sum *sum, const struct rvp_activity *activity)
{
	sum->count++;
	sum->ns += activity->duration_ns;
	if (activity->kind == RVP_DEVICE_COPY || activity->kind == RVP_DEVICE_SET)
		sum->bytes += activity->bytes;
}

static void add_name(struct rvp_kernels *kernels, const struct rvp_work *work)
{
	size_t count = rvp_kernel_name_count(kernels->names);

	if (!rvp_grow((void **)&kernels->by_name, &kernels->name_room, count, sizeof *kernels->by_name)) {
		kernels->no_memory = true;
		return;
	}
	kernels->name_count = count;
	rvp_distribution_add(&kernels->by_name[work->name], work->activity->duration_ns);
}

/* The item of this key in an array, zeroed where it is new. NULL without memory. */
static void *item_of(struct rvp_kernels *kernels, struct rvp_key_places *keys, struct rvp_key key, void **items, size_t *count,
		     size_t *room, size_t item_bytes, bool *is_new)
{
	size_t number;

	if (!rvp_key_number(keys, key, &number, is_new) || !rvp_grow(items, room, keys->count, item_bytes)) {
		kernels->no_memory = true;
		return NULL;
	}
	*count = keys->count;
	return (char *)*items + number * item_bytes;
}

static struct rvp_kernel_stream_sum *stream_of(struct rvp_kernels *kernels,
					       const struct rvp_activity *activity)
{
	struct rvp_key key = {rvp_key_half(activity->process, activity->device),
			      rvp_key_half(activity->context, activity->stream)};
	bool is_new;
	struct rvp_kernel_stream_sum *stream =
	    item_of(kernels, &kernels->stream_keys, key, (void **)&kernels->streams, &kernels->stream_count,
		    &kernels->stream_room, sizeof *kernels->streams, &is_new);

	if (stream && is_new)
		*stream = (struct rvp_kernel_stream_sum){.process = activity->process,
							 .device = activity->device,
							 .context = activity->context,
							 .stream = activity->stream};
	return stream;
}

static void add_stream(struct rvp_kernels *kernels, const struct rvp_activity *activity)
{
	struct rvp_kernel_stream_sum *stream = stream_of(kernels, activity);

	if (!stream)
		return;
	add_sum(activity->kind == RVP_KERNEL ? &stream->kernels : &stream->copies, activity);
	rvp_busy_add(&stream->busy, activity->start_ns, activity->end_ns);
}

static void add_step(struct rvp_kernels *kernels, const struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;
	struct rvp_kernel_step *step;

	kernels->in_other_steps += work->is_in_other_step;
	if (work->step_by_time)
		kernels->step_by_time++;
	else if (work->launch)
		kernels->step_by_launch++;
	if (work->step < 0 || (size_t)work->step >= kernels->step_count)
		return;
	step = &kernels->steps[work->step];
	add_sum(activity->kind == RVP_KERNEL ? &step->kernels : &step->copies, activity);
	rvp_busy_add(&step->busy, activity->start_ns, activity->end_ns);
	if (activity->kind == RVP_KERNEL)
		rvp_busy_add(&step->kernel_busy, activity->start_ns, activity->end_ns);
}

/* ---- sites ---- */

static struct rvp_kernel_site *site_of(struct rvp_kernels *kernels, const struct rvp_work *work)
{
	struct rvp_key key = {rvp_key_half(work->stack, work->python), work->activity->process};
	bool is_new;
	struct rvp_kernel_site *site = item_of(kernels, &kernels->site_keys, key, (void **)&kernels->sites, &kernels->site_count,
					       &kernels->site_room, sizeof *kernels->sites, &is_new);

	if (site && is_new)
		*site = (struct rvp_kernel_site){.process = work->activity->process,
						 .stack = work->stack,
						 .python = work->python,
						 .first_ns = work->activity->start_ns};
	return site;
}

/* Kernels without a path are a site of their own: stack and python 0. */
static void add_site(struct rvp_kernels *kernels, struct rvp_work *work)
{
	struct rvp_kernel_site *site = site_of(kernels, work);
	uint64_t stands_for = work->launch ? work->launch->stands_for : 1;

	if (!site)
		return;
	work->site = (uint32_t)(site - kernels->sites) + 1;
	add_sum(&site->kernels, work->activity);
	site->estimated_ns += work->activity->duration_ns * stands_for;
	kernels->without_path += !work->stack && !work->python;
	kernels->sampled_launches += stands_for > 1;
}

/* ---- ranges ---- */

static void add_range(struct rvp_kernels *kernels, const struct rvp_work *work)
{
	size_t count = rvp_kernel_range_count(kernels->ranges);
	struct rvp_kernel_range_sum *range;

	if (!rvp_grow((void **)&kernels->by_range, &kernels->range_room, count, sizeof *kernels->by_range)) {
		kernels->no_memory = true;
		return;
	}
	kernels->range_count = count;
	range = &kernels->by_range[work->range];
	add_sum(&range->kernels, work->activity);
	range->estimated_ns += work->activity->duration_ns * (work->launch ? work->launch->stands_for : 1);
}

/* ---- devices ---- */

static struct rvp_kernel_device *device_of(struct rvp_kernels *kernels, const struct rvp_run *run,
					   const struct rvp_activity *activity)
{
	struct rvp_key key = {rvp_key_half(activity->process, activity->device), 0};
	bool is_new;
	struct rvp_kernel_device *device =
	    item_of(kernels, &kernels->device_keys, key, (void **)&kernels->devices, &kernels->device_count,
		    &kernels->device_room, sizeof *kernels->devices, &is_new);

	if (!device || !is_new)
		return device;
	*device = (struct rvp_kernel_device){
	    .process = activity->process,
	    .device = activity->device,
	    .called = rvp_device_called(run, &run->processes[activity->process], activity->device),
	    .first_ns = activity->start_ns,
	    .told = rvp_device_at(rvp_kernel_defs_of(&run->processes[activity->process]), activity->device)};
	return device;
}

static void add_device(struct rvp_kernels *kernels, const struct rvp_run *run, const struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;
	uint64_t begin_ns = activity->start_ns, end_ns = activity->end_ns;
	struct rvp_kernel_device *device = device_of(kernels, run, activity);
	bool is_comm = work->class == RVP_KERNEL_CLASS_COMMUNICATION;
	bool is_copy = activity->kind == RVP_DEVICE_COPY || activity->kind == RVP_DEVICE_SET;

	if (!device)
		return;
	if (device->all.until_ns && begin_ns > device->all.until_ns) {
		rvp_idle_add(device->idle_ns, device->all.until_ns, work, &kernels->waits[activity->process],
			     device->is_behind_comm);
		rvp_distribution_add(&device->gaps, begin_ns - device->all.until_ns);
	}
	if (end_ns >= device->all.until_ns)
		device->is_behind_comm = is_comm;
	rvp_busy_add(&device->all, begin_ns, end_ns);
	if (!is_comm)
		rvp_busy_add(&device->without_comm, begin_ns, end_ns);
	rvp_busy_add(is_copy ? &device->copies : &device->kernels, begin_ns, end_ns);
	if (activity->kind == RVP_KERNEL)
		add_sum(&device->sum, activity);
	device->last_ns = end_ns > device->last_ns ? end_ns : device->last_ns;
}

/* ---- one piece ---- */

static void add_kernel(struct rvp_kernels *kernels, struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;

	add_sum(&kernels->kernels, activity);
	add_name(kernels, work);
	add_site(kernels, work);
	add_range(kernels, work);
	kernels->without_launch += !work->launch;
	kernels->clock_conflicts += work->is_conflict;
	if (work->has_latency)
		rvp_distribution_add(&kernels->latency, work->latency_ns);
	if (activity->queued_ns)
		rvp_distribution_add(&kernels->queued, activity->queued_ns);
	if (activity->submitted_ns)
		rvp_distribution_add(&kernels->submitted, activity->submitted_ns);
}

static void add_work(struct rvp_kernels *kernels, const struct rvp_run *run, struct rvp_work *work)
{
	switch (work->activity->kind) {
	case RVP_KERNEL: add_kernel(kernels, work); break;
	case RVP_DEVICE_COPY: add_sum(&kernels->copies, work->activity); break;
	case RVP_DEVICE_SET: add_sum(&kernels->sets, work->activity); break;
	default: add_sum(&kernels->graph_runs, work->activity); break;
	}
	add_sum(&kernels->by_class[work->class], work->activity);
	add_stream(kernels, work->activity);
	add_step(kernels, work);
	add_device(kernels, run, work);
}

static void add_host(struct rvp_kernels *kernels, const struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;

	switch (activity->kind) {
	case RVP_LAUNCH:
		add_sum(&kernels->launches, activity);
		kernels->launches_meant += activity->bytes;
		break;
	case RVP_DEVICE_CALL:
		if (!work->is_inner)
			add_sum(&kernels->calls, activity);
		break;
	case RVP_DEVICE_SYNC:
		add_sum(&kernels->syncs, activity);
		rvp_host_wait_see(&kernels->waits[activity->process], activity);
		break;
	default: add_sum(&kernels->overheads[rvp_overhead_number(activity->number)], activity); break;
	}
}

void rvp_kernels_add(struct rvp_kernels *kernels, const struct rvp_run *run, struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;

	if (activity->flaw) {
		kernels->flaws[activity->flaw]++;
		kernels->flawed_kernels += activity->kind == RVP_KERNEL;
	} else if (activity->has_device) {
		add_work(kernels, run, work);
	} else {
		add_host(kernels, work);
	}
}
