/* SPDX-License-Identifier: MIT */
/* cost.c: see cost.h. */
#include "report/cost.h"

#include "report/run_source.h"

/* Of one process; 0 when its clock's pace is a guess. */
static double recording_ns(const struct rvp_run *run, const struct rvp_process *process)
{
	const struct rvp_clock_line *line = &run->source->clock.lines[process->clock];
	double events = (double)process->counters.alloc_count + (double)process->counters.free_count;
	double ticks = (double)process->cost_timed_ticks / (double)process->cost_timed_count;

	return line->is_guessed ? 0 : events * ticks * line->ns_per_tick;
}

bool rvp_cost_percent(const struct rvp_run *run, double *percent)
{
	double ours_ns = 0, cpu_ns = 0;

	for (size_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];

		if (!process->cost_timed_count || !process->cpu_ns)
			continue;
		ours_ns += recording_ns(run, process);
		cpu_ns += (double)process->cpu_ns;
	}
	if (ours_ns <= 0 || cpu_ns <= ours_ns)
		return false;
	*percent = 100 * ours_ns / (cpu_ns - ours_ns);
	return true;
}
