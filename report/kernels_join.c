/* SPDX-License-Identifier: MIT */
/* kernels_join.c: see kernels_join.h. A table a process, a place for each correlation modulo its size, which
 * grows while launches push each other out. */
#include "report/kernels_join.h"

#include "report/run_source.h"

#include <stdlib.h>

enum { LAUNCHES_FIRST = 1024 };

struct table {
	struct rvp_launch *launches;
	size_t room; /* a power of 2 */
	uint64_t last_ns;
	bool has_last;
};

struct rvp_kernel_join {
	const struct rvp_run *run;
	const struct rvp_steps *steps;
	struct rvp_kernel_ranges *ranges;
	struct table *tables; /* by process */
};

static struct rvp_launch *place_of(const struct table *table, uint64_t correlation)
{
	return &table->launches[correlation & (table->room - 1)];
}

static bool grow(struct table *table)
{
	size_t room = table->room ? table->room * 2 : LAUNCHES_FIRST;
	struct table bigger = {.launches = calloc(room, sizeof *bigger.launches), .room = room};

	if (!bigger.launches)
		return false;
	for (size_t i = 0; i < table->room; i++)
		if (table->launches[i].correlation)
			*place_of(&bigger, table->launches[i].correlation) = table->launches[i];
	free(table->launches);
	table->launches = bigger.launches;
	table->room = room;
	return true;
}

/* The place for a correlation, empty if it is a new one. NULL without memory. */
static struct rvp_launch *take_place(struct table *table, uint64_t correlation)
{
	if (!table->room && !grow(table))
		return NULL;
	for (;;) {
		struct rvp_launch *place = place_of(table, correlation);

		if (place->correlation == correlation)
			return place;
		if (!place->correlation || table->room == RVP_LAUNCHES_MAX) {
			*place = (struct rvp_launch){0};
			return place;
		}
		if (!grow(table))
			return NULL;
	}
}

static uint64_t since(struct table *table, uint64_t ns)
{
	uint64_t since_ns = !table->has_last ? RVP_NEVER : ns > table->last_ns ? ns - table->last_ns : 0;

	table->has_last = true;
	table->last_ns = ns;
	return since_ns;
}

static void take_launch(struct table *table, struct rvp_launch *launch, const struct rvp_activity *activity)
{
	uint64_t since_ns = launch->correlation ? launch->since_ns : since(table, activity->start_ns);
	bool is_used = launch->is_used, has_call = launch->has_call;

	*launch = (struct rvp_launch){
	    .correlation = activity->correlation,
	    .ns = activity->start_ns,
	    .duration_ns = activity->duration_ns,
	    .stands_for = activity->bytes,
	    .since_ns = since_ns,
	    .tid = activity->tid,
	    .stack = activity->stack,
	    .python = activity->python,
	    .function = activity->number,
	    .is_told = true,
	    .has_call = has_call,
	    .is_used = is_used,
	};
}

static void take_call(struct table *table, struct rvp_launch *launch, const struct rvp_activity *activity)
{
	*launch = (struct rvp_launch){
	    .correlation = activity->correlation,
	    .ns = activity->start_ns,
	    .duration_ns = activity->duration_ns,
	    .stands_for = 1,
	    .since_ns = since(table, activity->start_ns),
	    .tid = activity->tid,
	    .function = activity->number,
	};
}

/* A LAUNCH is at the begin of its call, so the call of the same correlation is the same one. */
static bool join_host(struct rvp_kernel_join *join, const struct rvp_activity *activity,
		      struct rvp_work *work)
{
	struct table *table = &join->tables[activity->process];
	struct rvp_launch *launch;

	if (!activity->correlation || !activity->has_start)
		return true;
	launch = take_place(table, activity->correlation);
	if (!launch)
		return false;
	if (activity->kind == RVP_LAUNCH) {
		take_launch(table, launch, activity);
	} else {
		work->is_inner = launch->has_call;
		if (!launch->correlation)
			take_call(table, launch, activity);
		launch->has_call = true;
	}
	if (!work->is_inner)
		launch->range =
		    rvp_kernel_range_at(join->ranges, activity->process, activity->tid, activity->start_ns);
	work->launch = launch;
	work->range = launch->range;
	return true;
}

static struct rvp_launch *find(const struct rvp_kernel_join *join, const struct rvp_activity *activity)
{
	const struct table *table = &join->tables[activity->process];
	struct rvp_launch *place =
	    table->room && activity->correlation ? place_of(table, activity->correlation) : NULL;

	return place && place->correlation == activity->correlation ? place : NULL;
}

static int64_t step_in(const struct rvp_kernel_join *join, struct rvp_work *work, uint64_t ns)
{
	int64_t number = join->steps && join->steps->count ? rvp_step_at(join->steps, ns) : -1;
	const struct rvp_step *step = number >= 0 ? &join->steps->steps[number] : NULL;

	if (!step || ns >= step->end_ns)
		return -1;
	work->is_in_other_step = step->process != work->activity->process;
	return work->is_in_other_step ? -1 : number;
}

static bool is_tied(const struct rvp_kernel_join *join, uint32_t process)
{
	return rvp_kernel_defs_of(&join->run->processes[process])->clock.is_tied;
}

static void set_step(const struct rvp_kernel_join *join, struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;

	if (work->launch) {
		work->step = step_in(join, work, work->launch->ns);
		return;
	}
	if (!activity->has_start || !is_tied(join, activity->process))
		return;
	work->step = step_in(join, work, activity->start_ns);
	work->step_by_time = true;
}

/* Of a graph's kernels the first alone waits for the launch and nothing else. */
static void set_latency(const struct rvp_kernel_join *join, struct rvp_work *work, bool is_first)
{
	const struct rvp_activity *activity = work->activity;

	if (!work->launch || !is_first || !activity->has_start || activity->flaw ||
	    !is_tied(join, activity->process))
		return;
	work->has_latency = activity->start_ns >= work->launch->ns;
	work->is_conflict = !work->has_latency;
	work->latency_ns = work->has_latency ? activity->start_ns - work->launch->ns : 0;
}

static uint32_t path_at(const uint32_t *numbers, size_t count, uint32_t number)
{
	if (!numbers)
		return number;
	return number < count ? numbers[number] : 0;
}

static void set_path(const struct rvp_kernel_join *join, struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;
	const struct rvp_process *process = &join->run->processes[activity->process];
	const struct rvp_process_source *source = process->source;
	uint32_t stack = 0, python = 0;

	if (work->launch) {
		work->stack = work->launch->stack;
		work->python = work->launch->python;
	}
	if (!activity->node ||
	    !rvp_graph_node_path(rvp_kernel_defs_of(process), activity->node, &stack, &python))
		return;
	work->stack = path_at(source->node_numbers, source->node_numbers_count, stack);
	work->python = path_at(source->python_numbers, source->python_numbers_count, python);
}

static void join_device(struct rvp_kernel_join *join, struct rvp_work *work)
{
	struct rvp_launch *launch = find(join, work->activity);
	bool is_first = !launch || !launch->is_used;

	work->launch = launch;
	work->is_first = is_first;
	if (launch) {
		launch->is_used = true;
		work->range = launch->range;
	}
	set_step(join, work);
	set_latency(join, work, is_first);
	set_path(join, work);
}

bool rvp_kernel_join(struct rvp_kernel_join *join, const struct rvp_activity *activity, struct rvp_work *work)
{
	*work = (struct rvp_work){.activity = activity, .step = -1, .range = RVP_RANGE_UNKNOWN};
	if (activity->kind == RVP_LAUNCH || activity->kind == RVP_DEVICE_CALL)
		return join_host(join, activity, work);
	if (activity->has_device)
		join_device(join, work);
	else
		work->launch = find(join, activity);
	return true;
}

struct rvp_kernel_join *rvp_kernel_join_open(const struct rvp_run *run, const struct rvp_steps *steps,
					     struct rvp_kernel_ranges *ranges)
{
	struct rvp_kernel_join *join = calloc(1, sizeof *join);

	if (!join)
		return NULL;
	join->run = run;
	join->steps = steps;
	join->ranges = ranges;
	join->tables = calloc(run->process_count + 1, sizeof *join->tables);
	if (join->tables)
		return join;
	free(join);
	return NULL;
}

void rvp_kernel_join_close(struct rvp_kernel_join *join)
{
	if (!join)
		return;
	for (size_t i = 0; join->tables && i < join->run->process_count; i++)
		free(join->tables[i].launches);
	free(join->tables);
	free(join);
}
