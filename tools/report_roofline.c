/* SPDX-License-Identifier: MIT */
/* report_roofline.c: see report_roofline.h. One pass over the log, with the limits at hand. */
#include "tools/report_roofline.h"

#include "report/analysis.h"
#include "report/kernels_stream.h"
#include "report/text_numbers.h"
#include "report/text_work.h"
#include "tools/roofline.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { OTHERS_PERCENT = 5 }; /* more, while it was calibrated, is said */

static const char *const group_names[RVP_ROOFLINE_GROUPS] = {"steps", "calls", "kernels"};
static const char *const group_titles[RVP_ROOFLINE_GROUPS] = {
    "steps, by their wall time", "products, by the time in calls", "kernels of devices, by the sum of their times"};

/* ---- text ---- */

static void print_limits(const struct rvp_view *view, const struct rvp_roofline *roofline)
{
	const struct rvp_machine *machine = &roofline->machine;

	fputs("  limits        ", view->out);
	if (!roofline->has_limits) {
		rvp_print_safely(view->out, roofline->why_no_limits, 0);
		fputc('\n', view->out);
		return;
	}
	fprintf(view->out, "%.4g GFLOP/s in f32", machine->flops_per_s / 1e9);
	if (machine->f64_flops_per_s > 0)
		fprintf(view->out, " (%.4g in f64)", machine->f64_flops_per_s / 1e9);
	fprintf(view->out, ", %.4g GB/s: they meet at %.3g FLOPs a byte\n", machine->bytes_per_s / 1e9,
		machine->flops_per_s / machine->bytes_per_s);
	fputs("                (rvprof calibrate, ", view->out);
	rvp_print_safely(view->out, machine->processor, 0);
	fprintf(view->out, ", %u processor%s)\n", machine->threads, machine->threads == 1 ? "" : "s");
	if (machine->others_percent > OTHERS_PERCENT)
		fprintf(view->out, "                other programs took %.0f %% of the processors then: limits are higher, shares lower\n",
			machine->others_percent);
}

/* "-" for what isn't known. */
static void print_figure(FILE *out, int columns, const char *format, double value)
{
	char text[RVP_NUMBER_TEXT_BYTES] = "-";

	if (!isnan(value))
		snprintf(text, sizeof text, format, value);
	fprintf(out, "%*s", columns, text);
}

static void print_row(const struct rvp_view *view, const struct rvp_roofline_row *row)
{
	const struct rvp_roofline_figures *figures = &row->figures;
	char count[RVP_NUMBER_TEXT_BYTES], flops[RVP_FLOPS_TEXT_BYTES] = "not known", time[RVP_NUMBER_TEXT_BYTES] = "not known";

	if (!isnan(row->work.flops))
		rvp_text_flops(row->work.flops, flops);
	if (row->work.ns)
		rvp_text_us((double)row->work.ns / 1e3, time);
	fprintf(view->out, "  %-14s%11s%14s%11s", row->name, rvp_text_count(row->work.count, count), flops, time);
	print_figure(view->out, 10, "%.3g", figures->flops_per_s / 1e9);
	print_figure(view->out, 10, "%.3g", figures->intensity);
	print_figure(view->out, 9, "%.1f %%", figures->share_of_peak * 100);
	print_figure(view->out, 15, "%.1f %%", figures->share_of_attainable * 100);
	fprintf(view->out, "  %s\n", !figures->has_bound ? "-" : figures->is_memory_bound ? "memory" : "compute");
}

static void print_groups(const struct rvp_view *view, const struct rvp_roofline *roofline, bool seen[RVP_ROOFLINE_GROUPS])
{
	fprintf(view->out, "  %-14s%11s%14s%11s%10s%10s%9s%15s  bound by\n", "", "n", "FLOPs", "time", "GFLOP/s", "FLOPs/B",
		"of peak", "of attainable");
	for (size_t i = 0; i < roofline->count; i++) {
		const struct rvp_roofline_row *row = &roofline->rows[i];

		if (!seen[row->group])
			fprintf(view->out, "  %s\n", group_titles[row->group]);
		seen[row->group] = true;
		print_row(view, row);
	}
}

/* Not by what rounding shows. */
static bool is_above_limits(const struct rvp_roofline *roofline)
{
	for (size_t i = 0; i < roofline->count; i++)
		if (roofline->rows[i].figures.share_of_attainable > 1.0005)
			return true;
	return false;
}

static void print_text(const struct rvp_view *view, const struct rvp_roofline *roofline, const struct rvp_steps *steps)
{
	bool seen[RVP_ROOFLINE_GROUPS] = {false};

	rvp_text_run(view);
	rvp_text_title(view, "Roofline");
	print_limits(view, roofline);
	if (roofline->count)
		print_groups(view, roofline, seen);
	if (seen[RVP_ROOFLINE_CALLS])
		fputs("  FLOPs 2 m n k a product, bytes the least (each operand and result moved once): no other work is counted\n",
		      view->out);
	else
		fprintf(view->out, "  no call of a BLAS was seen: FLOPs of %s are not known\n",
			steps->count ? "the steps" : "the program");
	if (seen[RVP_ROOFLINE_KERNELS])
		fputs("  kernels: the shapes of what they compute are not recorded, so FLOPs and bytes are not known\n",
		      view->out);
	if (is_above_limits(roofline))
		fputs("  more than 100 % of attainable: operands came from a cache, which the bytes a second don't know\n", view->out);
	if (roofline->has_cut_times)
		fputs("  times are a little short: very long calls beside very many short ones\n", view->out);
}

/* ---- JSON ---- */

static void write_known(struct rvp_json *json, const char *key, double value)
{
	if (!isnan(value))
		rvp_json_double(json, key, value);
}

static void write_limits(struct rvp_json *json, const struct rvp_roofline *roofline)
{
	const struct rvp_machine *machine = &roofline->machine;

	if (!roofline->has_limits) {
		rvp_json_string(json, "why_no_limits", roofline->why_no_limits);
		return;
	}
	rvp_json_open(json, "limits", '{');
	rvp_json_string(json, "processor", machine->processor);
	rvp_json_number(json, "threads", machine->threads);
	rvp_json_double(json, "peak_gflops_per_second", machine->flops_per_s / 1e9);
	if (machine->f64_flops_per_s > 0)
		rvp_json_double(json, "peak_f64_gflops_per_second", machine->f64_flops_per_s / 1e9);
	rvp_json_double(json, "peak_gbytes_per_second", machine->bytes_per_s / 1e9);
	rvp_json_double(json, "balance_flops_per_byte", machine->flops_per_s / machine->bytes_per_s);
	write_known(json, "others_percent", machine->others_percent);
	rvp_json_number(json, "measured_unix_s", machine->measured_unix_s);
	rvp_json_close(json, '}');
}

static void write_row(struct rvp_json *json, const struct rvp_roofline_row *row)
{
	const struct rvp_roofline_figures *figures = &row->figures;

	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "group", group_names[row->group]);
	rvp_json_string(json, "name", row->name);
	rvp_json_number(json, "count", row->work.count);
	if (row->work.ns)
		rvp_json_decimal(json, "time_us", (double)row->work.ns / 1e3, 3);
	if (!isnan(row->work.flops))
		rvp_json_decimal(json, "flops", row->work.flops, 0);
	if (!isnan(row->work.bytes))
		rvp_json_decimal(json, "least_bytes", row->work.bytes, 0);
	write_known(json, "gflops_per_second", figures->flops_per_s / 1e9);
	write_known(json, "intensity_flops_per_byte", figures->intensity);
	write_known(json, "attainable_gflops_per_second", figures->attainable_flops_per_s / 1e9);
	write_known(json, "least_ms", figures->least_ms);
	write_known(json, "share_of_peak", figures->share_of_peak);
	write_known(json, "share_of_attainable", figures->share_of_attainable);
	if (figures->has_bound)
		rvp_json_string(json, "bound", figures->is_memory_bound ? "memory" : "compute");
	rvp_json_close(json, '}');
}

static void print_json(const struct rvp_view *view, const struct rvp_roofline *roofline)
{
	struct rvp_json json = {.out = view->out};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.roofline/1");
	write_limits(&json, roofline);
	rvp_json_bool(&json, "times_are_short", roofline->has_cut_times);
	rvp_json_open(&json, "rows", '[');
	for (size_t i = 0; i < roofline->count; i++)
		write_row(&json, &roofline->rows[i]);
	rvp_json_close(&json, ']');
	rvp_json_close(&json, '}');
	fputc('\n', view->out);
}

/* ---- the answer ---- */

static struct rvp_status pass(struct rvp_run *run, struct rvp_blas_work *work)
{
	struct rvp_observer *observers[] = {&work->observer, NULL};
	struct rvp_analysis analysis;
	struct rvp_status status = rvp_analyse(run, &(struct rvp_question){.observers = observers}, &analysis);

	if (rvp_failed(status))
		return status;
	rvp_analysis_free(&analysis);
	for (int i = 0; i < RVP_BLAS_CLASSES * RVP_BLAS_TYPES; i++)
		if (work->covered[i / RVP_BLAS_TYPES][i % RVP_BLAS_TYPES].no_memory)
			return rvp_fail("sort the calls of", run->folder, ENOMEM);
	return RVP_OK;
}

static struct rvp_status fill(struct rvp_run *run, struct rvp_roofline *roofline, const struct rvp_steps *steps,
			      struct rvp_blas_work *work)
{
	struct rvp_kernels kernels = {.has_device = false};
	bool has_devices = rvp_run_has_devices(run);
	struct rvp_status status;

	rvp_roofline_find_limits(roofline, run);
	for (int type = 0; type < RVP_BLAS_TYPES && roofline->has_limits; type++)
		work->limits[type] = (struct rvp_blas_limits){rvp_roofline_peak(&roofline->machine, (enum rvp_blas_type)type),
							      roofline->machine.bytes_per_s};
	status = pass(run, work);
	if (!rvp_failed(status) && has_devices)
		status = rvp_kernels_read(&kernels, run,
					  &(struct rvp_kernel_question){.steps = steps, .without_ranges = true});
	if (!rvp_failed(status))
		rvp_roofline_fill(roofline, steps, work, has_devices ? &kernels : NULL);
	rvp_kernels_free(&kernels);
	return status;
}

static struct rvp_status answer(struct rvp_run *run, const struct rvp_view *view, const struct rvp_steps *steps, bool json)
{
	static struct rvp_roofline roofline;
	struct rvp_blas_work work;
	struct rvp_status status;

	if (!rvp_blas_work_open(&work, run, steps))
		return rvp_fail("sum the work of", run->folder, ENOMEM);
	status = fill(run, &roofline, steps, &work);
	rvp_blas_work_close(&work);
	if (rvp_failed(status))
		return status;
	if (!roofline.count && !steps->count)
		return rvp_fail_with("report roofline", NULL,
				     "the run has neither steps nor calls of a BLAS nor kernels");
	if (json)
		print_json(view, &roofline);
	else
		print_text(view, &roofline, steps);
	return RVP_OK;
}

struct rvp_status rvp_report_roofline(struct rvp_run *run, const struct rvp_view *view, bool json)
{
	struct rvp_view with_steps = *view;
	struct rvp_steps steps;
	struct rvp_status status = rvp_steps_find(run, &steps);

	if (rvp_failed(status))
		return status;
	with_steps.steps = &steps;
	status = answer(run, &with_steps, &steps, json);
	rvp_steps_free(&steps);
	return status;
}
