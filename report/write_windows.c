/* SPDX-License-Identifier: MIT */
/* write_windows.c: see write_windows.h. */
#include "report/write_windows.h"

const struct rvp_write_span *rvp_write_window_at(const struct rvp_process *process, uint64_t number)
{
	for (size_t i = 0; i < process->write_window_count; i++)
		if (process->write_windows[i].number == number && number)
			return &process->write_windows[i];
	return NULL;
}

static bool is_in_window(const struct rvp_process *process, const struct rvp_step *step)
{
	for (size_t i = 0; i < process->write_window_count; i++) {
		const struct rvp_write_span *span = &process->write_windows[i];

		if (span->number && step->begin_ns < span->end_ns && step->end_ns > span->begin_ns)
			return true;
	}
	return false;
}

uint64_t rvp_steps_in_write_windows(const struct rvp_run *run, const struct rvp_steps *steps)
{
	uint64_t count = 0;

	for (size_t i = 0; i < steps->count; i++)
		count += steps->steps[i].process < run->process_count &&
			 is_in_window(&run->processes[steps->steps[i].process], &steps->steps[i]);
	return count;
}
