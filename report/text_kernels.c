/* SPDX-License-Identifier: MIT */
/* text_kernels.c: see text_kernels.h. */
#include "report/text_kernels.h"

#include "report/kernels_json.h"
#include "report/kernels_verdict.h"
#include "report/latency.h"
#include "report/text_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { LABEL_COLUMNS = 14, SECTION_ROWS = 5, NAME_COLUMNS = 90 };

const char *const rvp_kernels_by_names[RVP_KERNELS_BY_COUNT + 1] = {"kernel", "class", "step", "stream", "site", "range", NULL};

/* ---- rows ---- */

static uint64_t name_key(const void *item)
{
	return ((const struct rvp_distribution *)item)->sum;
}

static uint64_t sum_key(const void *item)
{
	return ((const struct rvp_kernel_sum *)item)->ns;
}

static uint64_t stream_key(const void *item)
{
	return ((const struct rvp_kernel_stream_sum *)item)->busy.ns;
}

static uint64_t site_key(const void *item)
{
	return ((const struct rvp_kernel_site *)item)->kernels.ns;
}

static uint64_t range_key(const void *item)
{
	return ((const struct rvp_kernel_range_sum *)item)->kernels.ns;
}

static uint64_t no_key(const void *item)
{
	(void)item;
	return 0;
}

static bool is_there(const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernels *kernels = view->kernels;

	switch (view->by) {
	case RVP_KERNELS_BY_KERNEL: return kernels->by_name[row].count > 0;
	case RVP_KERNELS_BY_CLASS: return kernels->by_class[row].count > 0;
	case RVP_KERNELS_BY_STEP: return kernels->steps[row].kernels.count + kernels->steps[row].copies.count > 0;
	case RVP_KERNELS_BY_RANGE: return kernels->by_range[row].kernels.count > 0;
	default: return true;
	}
}

uint32_t *rvp_kernel_rows(const struct rvp_kernel_view *view, size_t *count)
{
	const struct rvp_kernels *kernels = view->kernels;
	const struct {
		const void *items;
		size_t count, bytes;
		uint64_t (*key)(const void *item);
	} tables[RVP_KERNELS_BY_COUNT] = {
	    {kernels->by_name, kernels->name_count, sizeof *kernels->by_name, name_key},
	    {kernels->by_class, RVP_KERNEL_CLASS_COUNT, sizeof *kernels->by_class, sum_key},
	    {kernels->steps, kernels->step_count, sizeof *kernels->steps, no_key},
	    {kernels->streams, kernels->stream_count, sizeof *kernels->streams, stream_key},
	    {kernels->sites, kernels->site_count, sizeof *kernels->sites, site_key},
	    {kernels->by_range, kernels->range_count, sizeof *kernels->by_range, range_key},
	};
	uint32_t *rows = rvp_kernels_ranked(tables[view->by].items, tables[view->by].count, tables[view->by].bytes,
					    tables[view->by].key);

	*count = 0;
	for (size_t i = 0; rows && i < tables[view->by].count; i++)
		if (is_there(view, rows[i]))
			rows[(*count)++] = rows[i];
	return rows;
}

uint64_t rvp_kernel_rows_ns(const struct rvp_kernel_view *view)
{
	const struct rvp_kernels *kernels = view->kernels;

	uint64_t sum = 0;

	for (size_t i = 0; view->by == RVP_KERNELS_BY_STEP && i < kernels->step_count; i++)
		sum += kernels->steps[i].kernels.ns;
	if (view->by == RVP_KERNELS_BY_STEP)
		return sum;
	if (view->by == RVP_KERNELS_BY_CLASS || view->by == RVP_KERNELS_BY_STREAM)
		return kernels->kernels.ns + kernels->copies.ns + kernels->sets.ns + kernels->graph_runs.ns;
	return kernels->kernels.ns;
}

/* ---- a table ---- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_head(const struct rvp_kernel_view *view)
{
	static const char *const heads[RVP_KERNELS_BY_COUNT] = {
	    " Time (%)  Total Time (ns)   Instances    Avg (ns)    Med (ns)    Min (ns)    Max (ns)  StdDev (ns)  Name",
	    " Time (%)  Total Time (ns)   Instances    Avg (ns)  Class",
	    "    Step    Wall (us)   Kernels  Kernel time (us)  Kernels busy (us)  Busy (us)  Busy (%)",
	    " Busy (%)     Busy (us)   Kernels  Kernel time (us)    Copies  Copy time (us)  Stream",
	    " Time (%)  Total Time (ns)   Instances  Launched from",
	    " Time (%)  Total Time (ns)   Instances  With inner (ns)  Launched in",
	};

	fprintf(view->view->out, "%s%s%s\n", rvp_style_on(&view->view->style, RVP_INK_TITLE), heads[view->by],
		rvp_style_off(&view->view->style, RVP_INK_TITLE));
}

static void print_kernel(const struct rvp_kernel_view *view, uint32_t row)
{
	struct rvp_distribution *times = &view->kernels->by_name[row];
	const char *name = rvp_kernel_name_at(view->kernels->names, row)->text;

	fprintf(view->view->out, "%9.1f %16" PRIu64 " %11" PRIu64 " %11.1f %11.1f %11" PRIu64 " %11" PRIu64 " %12.1f  ",
		percent(times->sum, rvp_kernel_rows_ns(view)), times->sum, times->count, rvp_distribution_mean(times),
		rvp_distribution_median(times), times->least, times->most, rvp_distribution_deviation(times));
	rvp_print_safely(view->view->out, *name ? name : "(a kernel whose name was not told)",
			 view->view->style.width ? NAME_COLUMNS : 0);
}

static void print_class(const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_sum *sum = &view->kernels->by_class[row];

	fprintf(view->view->out, "%9.1f %16" PRIu64 " %11" PRIu64 " %11.1f  %s", percent(sum->ns, rvp_kernel_rows_ns(view)),
		sum->ns, sum->count, (double)sum->ns / (double)sum->count, rvp_kernel_class_names[row]);
}

static void print_step(const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_step *step = &view->kernels->steps[row];
	uint64_t wall_ns = view->steps->steps[row].end_ns - view->steps->steps[row].begin_ns;

	fprintf(view->view->out, "%8u %12" PRIu64 " %9" PRIu64 " %17.3f %18.3f %10.3f %9.1f", row, wall_ns / 1000,
		step->kernels.count, (double)step->kernels.ns / 1e3, (double)step->kernel_busy.ns / 1e3,
		(double)step->busy.ns / 1e3, percent(step->busy.ns, wall_ns));
}

static void print_stream(const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_stream_sum *stream = &view->kernels->streams[row];
	const struct rvp_process *process = &view->view->run->processes[stream->process];
	uint64_t span_ns = 0;

	for (size_t i = 0; i < view->kernels->device_count; i++)
		if (view->kernels->devices[i].process == stream->process &&
		    view->kernels->devices[i].device == stream->device)
			span_ns = view->kernels->devices[i].last_ns - view->kernels->devices[i].first_ns;
	fprintf(view->view->out, "%9.1f %13.3f %9" PRIu64 " %17.3f %9" PRIu64 " %15.3f  cuda:%u stream %u (process %u)",
		percent(stream->busy.ns, span_ns), (double)stream->busy.ns / 1e3, stream->kernels.count,
		(double)stream->kernels.ns / 1e3, stream->copies.count, (double)stream->copies.ns / 1e3,
		rvp_device_called(view->view->run, process, stream->device), stream->stream, process->pid);
}

static void print_site(const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_site *site = &view->kernels->sites[row];
	struct rvp_frame_list stack = rvp_stacks_of(view->stacks, &(struct rvp_site){.device = 1, .process = site->process,
										     .stack = site->stack,
										     .python = site->python,
										     .first_ns = site->first_ns});

	fprintf(view->view->out, "%9.1f %16" PRIu64 " %11" PRIu64, percent(site->kernels.ns, rvp_kernel_rows_ns(view)),
		site->kernels.ns, site->kernels.count);
	if (site->estimated_ns != site->kernels.ns)
		fprintf(view->view->out, "  (by its sampled launches all of it took ±%" PRIu64 " ns)", site->estimated_ns);
	if (!site->stack && !site->python) {
		fputs("  launches that were not recorded", view->view->out);
		return;
	}
	fputc('\n', view->view->out);
	rvp_text_stack(view->view, &stack);
}

static void print_range(const struct rvp_kernel_view *view, uint32_t row)
{
	const struct rvp_kernel_range_sum *range = &view->kernels->by_range[row];
	char text[512];

	fprintf(view->view->out, "%9.1f %16" PRIu64 " %11" PRIu64, percent(range->kernels.ns, rvp_kernel_rows_ns(view)),
		range->kernels.ns, range->kernels.count);
	if (row < RVP_RANGE_FIRST) {
		fprintf(view->view->out, "                   %s",
			row == RVP_RANGE_NONE ? "(no range)" : "(launches that were not recorded)");
		return;
	}
	fprintf(view->view->out, " %16" PRIu64 "  ", range->with_inner_ns);
	rvp_print_safely(view->view->out, rvp_kernel_range_text(view->kernels->ranges, row, text, sizeof text),
			 view->view->style.width ? NAME_COLUMNS : 0);
	if (range->estimated_ns != range->kernels.ns)
		fprintf(view->view->out, "  (by its sampled launches all of it took ±%" PRIu64 " ns)", range->estimated_ns);
}

/* What a reader of the figures must know. */
static void print_notes(const struct rvp_kernel_view *view)
{
	const struct rvp_kernels *kernels = view->kernels;
	FILE *out = view->view->out;

	if (view->by == RVP_KERNELS_BY_STEP && kernels->step_count)
		fprintf(out, "Steps by %s.\n", rvp_kernels_step_by(kernels));
	if (view->by == RVP_KERNELS_BY_STEP && kernels->in_other_steps)
		fprintf(out, "%" PRIu64 " pieces of work of one process during a step of another are in no step.\n",
			kernels->in_other_steps);
	if (view->by == RVP_KERNELS_BY_CLASS || view->by == RVP_KERNELS_BY_STREAM)
		fputs("Kernels, and what copies, memsets and whole graphs took.\n", out);
	if (view->by == RVP_KERNELS_BY_RANGE && rvp_kernel_ranges_cut(kernels->ranges))
		fprintf(out, "Beyond %d ranges: %" PRIu64 " launches count as made in the range around theirs.\n",
			RVP_RANGES_MAX, rvp_kernel_ranges_cut(kernels->ranges));
	if (kernels->flawed_kernels)
		fprintf(out, "%" PRIu64 " kernel%s no usable time and stand%s in no sum.\n", kernels->flawed_kernels, kernels->flawed_kernels == 1 ? " has" : "s have",
			kernels->flawed_kernels == 1 ? "s" : "");
	if (!kernels->clock.is_tied)
		fputs("The device's clock was not tied to ours: durations are right, moments count from the first work.\n",
		      out);
	else if (kernels->clock.steps)
		fprintf(out, "The clock was set %zu time%s during the run, by up to %.3f ms: moments near it are wrong.\n",
			kernels->clock.steps, kernels->clock.steps == 1 ? "" : "s", (double)kernels->clock.largest_step_ns / 1e6);
}

struct rvp_status rvp_text_kernels(const struct rvp_kernel_view *view)
{
	static void (*const print[RVP_KERNELS_BY_COUNT])(const struct rvp_kernel_view *view, uint32_t row) = {
	    print_kernel, print_class, print_step, print_stream, print_site, print_range};
	size_t count;
	uint32_t *rows = rvp_kernel_rows(view, &count);

	if (!rows)
		return rvp_fail("print the kernels", NULL, ENOMEM);
	print_head(view);
	for (size_t i = 0; i < count && i < view->row_count; i++) {
		print[view->by](view, rows[i]);
		fputc('\n', view->view->out);
	}
	if (count > view->row_count)
		fprintf(view->view->out, "%9s %zu more\n", "...", count - view->row_count);
	print_notes(view);
	free(rows);
	return RVP_OK;
}

/* ---- the section ---- */

static void print_device(const struct rvp_view *view, const struct rvp_kernels *kernels,
			 const struct rvp_kernel_device *device)
{
	uint64_t span_ns = device->last_ns - device->first_ns, idle_ns = rvp_kernel_device_idle_ns(device);
	char busy[RVP_NUMBER_TEXT_BYTES], span[RVP_NUMBER_TEXT_BYTES], part[RVP_NUMBER_TEXT_BYTES], name[32];
	enum rvp_idle why = rvp_kernel_largest_idle(device);

	(void)kernels;
	snprintf(name, sizeof name, "cuda:%u busy", device->called);
	fprintf(view->out, "  %-*s%s of %s", LABEL_COLUMNS, name, rvp_text_share(device->all.ns, span_ns, busy),
		rvp_text_duration(span_ns, span));
	if (idle_ns)
		fprintf(view->out, "; idle: %s of it %s", rvp_text_share(device->idle_ns[why], idle_ns, part),
			rvp_idle_text(why));
	fputc('\n', view->out);
}

static void print_classes(const struct rvp_view *view, struct rvp_kernels *kernels)
{
	struct rvp_kernel_view by_class = {.view = view, .kernels = kernels, .by = RVP_KERNELS_BY_CLASS};
	char share[RVP_NUMBER_TEXT_BYTES];
	size_t count;
	uint32_t *rows = rvp_kernel_rows(&by_class, &count);

	fprintf(view->out, "  %-*s", LABEL_COLUMNS, "by class");
	for (size_t i = 0; rows && i < count && i < SECTION_ROWS; i++)
		fprintf(view->out, "%s%s %s", i ? ", " : "", rvp_kernel_class_names[rows[i]],
			rvp_text_share(kernels->by_class[rows[i]].ns, rvp_kernel_rows_ns(&by_class), share));
	fputc('\n', view->out);
	free(rows);
}

void rvp_text_kernels_section(const struct rvp_view *view, struct rvp_kernels *kernels)
{
	char count[RVP_NUMBER_TEXT_BYTES], all[RVP_NUMBER_TEXT_BYTES], time[RVP_NUMBER_TEXT_BYTES], copies[RVP_NUMBER_TEXT_BYTES];

	if (!kernels->has_device || !kernels->device_count)
		return;
	rvp_text_title(view, "Work of devices");
	fprintf(view->out, "  %-*s%s, %s in all; copies %s\n", LABEL_COLUMNS, "kernels",
		rvp_text_count(kernels->kernels.count, count), rvp_text_duration(kernels->kernels.ns, time),
		rvp_text_bytes(kernels->copies.bytes, copies));
	for (size_t i = 0; i < kernels->device_count; i++)
		print_device(view, kernels, &kernels->devices[i]);
	print_classes(view, kernels);
	if (kernels->flawed_kernels)
		fprintf(view->out, "  %-*s%s without a usable time, in no sum\n", LABEL_COLUMNS, "",
			rvp_text_count(kernels->flawed_kernels, count));
	if (kernels->csv_cut_rows)
		fprintf(view->out, "  %-*skernels.csv has the first %s of %s: rvprof export csv writes all\n", LABEL_COLUMNS, "",
			rvp_text_count(kernels->csv_rows, count),
			rvp_text_count(kernels->csv_rows + kernels->csv_cut_rows, all));
	fprintf(view->out, "  %-*srvprof report --kernels [--by kernel|class|step|stream|site|range]\n", LABEL_COLUMNS, "more");
}
