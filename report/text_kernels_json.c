/* SPDX-License-Identifier: MIT */
/* text_kernels_json.c: the tables of text_kernels.h as one JSON object:
 * {"schema": "rvprof.kernels/1", "by", "rows": [..], "total_ns"}; total_ns is that of all rows, listed or not. */
#include "report/kernels_json.h"
#include "report/text_kernels.h"

#include <errno.h>
#include <stdlib.h>

static void write_times(struct rvp_json *json, const struct rvp_kernel_sum *sum)
{
	rvp_json_number(json, "total_ns", sum->ns);
	rvp_json_number(json, "count", sum->count);
}

static void write_kernel(struct rvp_json *json, const struct rvp_kernel_view *view, uint32_t row)
{
	struct rvp_distribution *times = &view->kernels->by_name[row];
	const struct rvp_kernel_name *name = rvp_kernel_name_at(view->kernels->names, row);

	rvp_json_string(json, "name", name->text);
	rvp_json_string(json, "class", rvp_kernel_class_names[name->class]);
	rvp_json_number(json, "total_ns", times->sum);
	rvp_json_number(json, "count", times->count);
	rvp_json_decimal(json, "avg_ns", rvp_distribution_mean(times), 1);
	rvp_json_decimal(json, "median_ns", rvp_distribution_median(times), 1);
	rvp_json_bool(json, "median_is_exact", !times->is_histogram);
	rvp_json_number(json, "min_ns", times->least);
	rvp_json_number(json, "max_ns", times->most);
	rvp_json_decimal(json, "stddev_ns", rvp_distribution_deviation(times), 1);
}

static void write_class(struct rvp_json *json, const struct rvp_kernel_view *view, uint32_t row)
{
	rvp_json_string(json, "class", rvp_kernel_class_names[row]);
	write_times(json, &view->kernels->by_class[row]);
}

static void write_step(struct rvp_json *json, const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_step *step = &view->kernels->steps[row];

	rvp_json_number(json, "step", row);
	rvp_json_number(json, "wall_ns", view->steps->steps[row].end_ns - view->steps->steps[row].begin_ns);
	write_times(json, &step->kernels);
	rvp_json_number(json, "kernels_busy_ns", step->kernel_busy.ns);
	rvp_json_number(json, "busy_ns", step->busy.ns);
	rvp_json_number(json, "copies_ns", step->copies.ns);
}

static void write_stream(struct rvp_json *json, const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_stream_sum *stream = &view->kernels->streams[row];
	const struct rvp_process *process = &view->view->run->processes[stream->process];
	char name[32];

	snprintf(name, sizeof name, "cuda:%u",
		 rvp_device_called(view->view->run, process, stream->device));
	rvp_json_string(json, "device", name);
	rvp_json_number(json, "pid", process->pid);
	rvp_json_number(json, "context", stream->context);
	rvp_json_number(json, "stream", stream->stream);
	rvp_json_number(json, "total_ns", stream->kernels.ns + stream->copies.ns);
	rvp_json_number(json, "count", stream->kernels.count);
	rvp_json_number(json, "copies", stream->copies.count);
	rvp_json_number(json, "busy_ns", stream->busy.ns);
}

static void write_site(struct rvp_json *json, const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_site *site = &view->kernels->sites[row];
	struct rvp_frame_list stack = rvp_stacks_of(view->stacks, &(struct rvp_site){.device = 1, .process = site->process,
										     .stack = site->stack,
										     .python = site->python,
										     .first_ns = site->first_ns});

	rvp_json_number(json, "site", row + 1);
	write_times(json, &site->kernels);
	if (site->estimated_ns != site->kernels.ns)
		rvp_json_number(json, "estimated_ns", site->estimated_ns);
	rvp_json_open(json, "stack", '[');
	for (size_t i = 0; i < stack.count; i++)
		rvp_json_string(json, NULL, stack.frames[i].function);
	rvp_json_close(json, ']');
}

static void write_range(struct rvp_json *json, const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_range_sum *range = &view->kernels->by_range[row];
	char text[512];

	if (row >= RVP_RANGE_FIRST)
		rvp_json_string(json, "range",
				rvp_kernel_range_text(view->kernels->ranges, row, text, sizeof text));
	rvp_json_bool(json, "launch_is_recorded", row != RVP_RANGE_UNKNOWN);
	write_times(json, &range->kernels);
	if (range->estimated_ns != range->kernels.ns)
		rvp_json_number(json, "estimated_ns", range->estimated_ns);
	if (row >= RVP_RANGE_FIRST)
		rvp_json_number(json, "with_inner_ns", range->with_inner_ns);
}

struct rvp_status rvp_json_kernels(const struct rvp_kernel_view *view)
{
	static void (*const write[RVP_KERNELS_BY_COUNT])(struct rvp_json *json, const struct rvp_kernel_view *view,
							 uint32_t row) = {write_kernel, write_class, write_step,
									  write_stream, write_site, write_range};
	struct rvp_json json = {.out = view->view->out};
	size_t count;
	uint32_t *rows = rvp_kernel_rows(view, &count);

	if (!rows)
		return rvp_fail("print the kernels", NULL, ENOMEM);
	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.kernels/1");
	rvp_json_string(&json, "by", rvp_kernels_by_names[view->by]);
	rvp_json_open(&json, "rows", '[');
	for (size_t i = 0; i < count && i < view->row_count; i++) {
		rvp_json_open(&json, NULL, '{');
		write[view->by](&json, view, rows[i]);
		rvp_json_close(&json, '}');
	}
	rvp_json_close(&json, ']');
	rvp_json_number(&json, "total_ns", rvp_kernel_rows_ns(view));
	rvp_json_string(&json, "step_by", rvp_kernels_step_by(view->kernels));
	rvp_json_number(&json, "flawed_kernels", view->kernels->flawed_kernels);
	rvp_json_bool(&json, "clock_is_tied", view->kernels->clock.is_tied);
	rvp_json_close(&json, '}');
	fputc('\n', view->view->out);
	free(rows);
	return RVP_OK;
}
