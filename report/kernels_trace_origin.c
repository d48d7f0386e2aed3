/* SPDX-License-Identifier: MIT */
/* kernels_trace_origin.c: where a piece of device work was launched, in the trace (kernels_trace.h). */
#include "report/kernels_trace.h"

#include "report/grow.h"
#include "report/trace_events.h"

enum { TEXT_BYTES = 512 };

static void put_text(struct rvp_trace *trace, const char *key, const char *text)
{
	rvp_trace_put(trace, ",\"%s\":", key);
	rvp_trace_put_text(trace, text);
}

static void put_site(struct rvp_kernel_trace *to, const struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;

	if (!work->site || (!work->stack && !work->python))
		return;
	rvp_trace_put(to->trace, ",\"site\":%u", work->site);
	if (!rvp_grow((void **)&to->told_sites, &to->told_site_count, work->site + 1, sizeof *to->told_sites)) {
		to->no_memory = true;
		return;
	}
	if (to->told_sites[work->site])
		return;
	to->told_sites[work->site] = true;
	rvp_trace_put_device_paths(to->trace, &to->trace->run->processes[activity->process], work->stack, work->python,
				   work->launch ? work->launch->ns : activity->start_ns);
}

void rvp_kernel_trace_put_origin(struct rvp_kernel_trace *to, const struct rvp_work *work)
{
	const struct rvp_process *process = &to->trace->run->processes[work->activity->process];
	char text[TEXT_BYTES];

	if (work->range >= RVP_RANGE_FIRST)
		put_text(to->trace, "range", rvp_kernel_range_text(to->kernels->ranges, work->range, text, sizeof text));
	if (rvp_trace_python_function(process, work->python, text, sizeof text))
		put_text(to->trace, "python_function", text);
	put_site(to, work);
}
