/* SPDX-License-Identifier: MIT */
/* text_latency.c: see text_latency.h. */
#include "report/text_latency.h"

#include "report/kernels.h"
#include "report/kernels_stream.h"
#include "report/text_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BAR_COLUMNS = 40, STALLS_SHOWN = 10 };

size_t rvp_histogram_of(const struct rvp_sketch *sketch, struct rvp_histogram_row *rows)
{
	unsigned first = rvp_sketch_bucket(sketch->least), last = rvp_sketch_bucket(sketch->most), width = 1;
	size_t count = 0;
	uint64_t unused;

	while ((last - first) / width >= RVP_HISTOGRAM_ROWS)
		width *= 2;
	for (unsigned from = first; from <= last; from += width, count++) {
		unsigned to = from + width - 1 < last ? from + width - 1 : last;

		rows[count].count = 0;
		rvp_sketch_range(from, &rows[count].first_us, &unused);
		rvp_sketch_range(to, &unused, &rows[count].last_us);
		for (unsigned bucket = from; bucket <= to; bucket++)
			rows[count].count += sketch->buckets[bucket];
	}
	return count;
}

/* ---- what is shown, in its order ---- */

struct row {
	const char *text, *name; /* in texts, in JSON */
	struct rvp_times *times;
};
enum { ROWS_MAX = RVP_STEP_PHASE_COUNT + 3 };

static size_t rows_of(struct rvp_latency_rows *rows, struct row *list)
{
	size_t count = 0;

	list[count++] = (struct row){"all", "all", &rows->all};
	for (int i = RVP_STEP_PHASE_NONE + 1; i < RVP_STEP_PHASE_COUNT; i++)
		if (rows->phases[i].count)
			list[count++] =
			    (struct row){rvp_step_phase_texts[i],
					 i == RVP_STEP_PHASE_WARMUP ? "warmup" : rvp_step_phase_texts[i], &rows->phases[i]};
	if (rows->first_token.count)
		list[count++] = (struct row){"to first token", "first_token", &rows->first_token};
	if (rows->inter_token.count)
		list[count++] = (struct row){"between tokens", "inter_token", &rows->inter_token};
	return count;
}

/* Whose histogram is shown: of decode steps where there are any, since prompts lie elsewhere. */
static const struct row *histogram_row(const struct row *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, "decode"))
			return &list[i];
	return &list[0];
}

/* ---- text ---- */

static void print_time(FILE *out, double us)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	fprintf(out, "%11s", rvp_text_us(us, text));
}

static void print_row(FILE *out, const struct row *row)
{
	struct rvp_latency latency = rvp_times_latency(row->times);
	char text[RVP_NUMBER_TEXT_BYTES];

	fprintf(out, "  %-14s %12s", row->text, rvp_text_count(latency.count, text));
	print_time(out, (double)latency.p50_us);
	print_time(out, (double)latency.p95_us);
	print_time(out, (double)latency.p99_us);
	print_time(out, latency.mean_us);
	print_time(out, latency.std_us);
	print_time(out, (double)row->times->sketch->most);
	fputs(latency.is_estimate ? "  percentiles ± 0.4 %\n" : "\n", out);
}

static void print_rows(const struct rvp_view *view, struct rvp_latency_rows *rows, const struct row *list, size_t count)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	rvp_text_title(view, "Time of steps");
	fprintf(view->out, "  %-14s %12s%11s%11s%11s%11s%11s%11s\n", "", "n", "p50", "p95", "p99", "mean", "std", "longest");
	for (size_t i = 0; i < count; i++)
		print_row(view->out, &list[i]);
	if (rows->has_token)
		fprintf(view->out, "  first token %s after the start of its process\n",
			rvp_text_us((double)rows->until_token_us, text));
}

static void print_histogram(const struct rvp_view *view, const struct row *row)
{
	struct rvp_histogram_row parts[RVP_HISTOGRAM_ROWS];
	size_t count = rvp_histogram_of(row->times->sketch, parts);
	char title[64], from[RVP_NUMBER_TEXT_BYTES], to[RVP_NUMBER_TEXT_BYTES], number[RVP_NUMBER_TEXT_BYTES];
	uint64_t most = 1;

	for (size_t i = 0; i < count; i++)
		most = parts[i].count > most ? parts[i].count : most;
	snprintf(title, sizeof title, "Where they lie: %s", strcmp(row->name, "all") ? row->text : "all steps");
	rvp_text_title(view, title);
	for (size_t i = 0; i < count; i++) {
		int columns = (int)((parts[i].count * BAR_COLUMNS + most - 1) / most);

		fprintf(view->out, "  %11s to %11s %12s%s%.*s\n", rvp_text_us((double)parts[i].first_us, from),
			rvp_text_us((double)parts[i].last_us, to), rvp_text_count(parts[i].count, number), columns ? " " : "", columns,
			"########################################");
	}
}

/* "1,200 allocs of 34.0 MiB (usual: 3 of 1.0 KiB)"; the '*' of `what` is the plural's s. */
static void print_doing(FILE *out, const char **between, double count, double bytes, double usual_count,
			double usual_bytes, const char *what, bool has_bytes)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	if (count < 0.5)
		return;
	fprintf(out, "%s%s %.*s%s%s", *between, rvp_text_count((uint64_t)llround(count), text), (int)strcspn(what, "*"), what,
		llround(count) == 1 ? "" : "s", strchr(what, '*') + 1);
	if (has_bytes)
		fprintf(out, " of %s", rvp_text_bytes((uint64_t)llround(bytes), text));
	if (usual_count >= 0) {
		fprintf(out, " (usual: %.*f", usual_count < 9.95 && usual_count >= 0.05 ? 1 : 0, usual_count);
		if (has_bytes)
			fprintf(out, " of %s", rvp_text_bytes((uint64_t)llround(usual_bytes), text));
		fputc(')', out);
	}
	*between = ", ";
}

static void print_doings(const struct rvp_view *view, const struct rvp_latency_rows *rows, uint32_t phase,
			 const struct rvp_step_doings *doings)
{
	const struct rvp_step_doings *usual = &rows->usual[phase];
	double n = (double)rows->usual_count[phase];
	const char *between = "      ";
	FILE *out = view->out;

#define USUAL(field) (n ? (double)usual->field / n : -1)
	print_doing(out, &between, doings->alloc_count, doings->alloc_bytes, USUAL(alloc_count), USUAL(alloc_bytes),
		    "alloc*", true);
	if (view->run->mode == RVP_MODE_FULL)
		print_doing(out, &between, (double)doings->free_count, 0, USUAL(free_count), 0, "free*", false);
	print_doing(out, &between, (double)doings->map_count, (double)doings->map_bytes, USUAL(map_count), USUAL(map_bytes),
		    "mapping*", true);
	print_doing(out, &between, (double)doings->unmap_count, 0, USUAL(unmap_count), 0, "unmapping*", false);
	print_doing(out, &between, (double)doings->read_count, (double)doings->read_bytes, USUAL(read_count),
		    USUAL(read_bytes), "read* of files", true);
	print_doing(out, &between, (double)doings->thread_count, 0, USUAL(thread_count), 0, "new thread*", false);
	print_doing(out, &between, (double)doings->device_alloc_count, (double)doings->device_alloc_bytes,
		    USUAL(device_alloc_count), USUAL(device_alloc_bytes), "alloc* on a device", true);
	print_doing(out, &between, (double)doings->launch_count, 0, USUAL(launch_count), 0, "launch call*", false);
	print_doing(out, &between, (double)doings->kernel_count, 0, USUAL(kernel_count), 0, "kernel*", false);
	print_doing(out, &between, (double)doings->look_count, 0, USUAL(look_count), 0, "look* of rvprof at its memory", false);
#undef USUAL
	fputs(*between == ',' ? "\n" : "      nothing that is recorded\n", out);
}

static bool is_longer(const struct rvp_stall *a, const struct rvp_stall *b)
{
	return a->us != b->us ? a->us > b->us : a->step < b->step;
}

/* The next longest behind `before`; NULL: there is none. */
static const struct rvp_stall *next_longest(const struct rvp_latency_rows *rows, const struct rvp_stall *before)
{
	const struct rvp_stall *best = NULL;

	for (size_t i = 0; i < rows->stall_count; i++)
		if ((!before || is_longer(before, &rows->stalls[i])) && (!best || is_longer(&rows->stalls[i], best)))
			best = &rows->stalls[i];
	return best;
}

static void print_stall(const struct rvp_view *view, const struct rvp_latency_rows *rows, const struct rvp_steps *steps,
			const struct rvp_stall *stall)
{
	const struct rvp_step *step = &steps->steps[stall->step];
	char text[RVP_NUMBER_TEXT_BYTES];

	fprintf(view->out, "  step %zu%s%s", stall->step, step->phase ? ", " : "", rvp_step_phase_texts[step->phase]);
	fprintf(view->out, ": %s, %.1f x the median", rvp_text_us((double)stall->us, text),
		(double)stall->us / (double)(stall->median_us ? stall->median_us : 1));
	fprintf(view->out, ", %s after the start\n",
		rvp_text_duration(step->begin_ns > view->run->begin_ns ? step->begin_ns - view->run->begin_ns : 0, text));
	print_doings(view, rows, step->phase, &stall->doings);
}

static void print_stalls(const struct rvp_view *view, const struct rvp_latency_rows *rows, const struct rvp_steps *steps)
{
	const struct rvp_stall *stall = NULL;
	char title[96];

	snprintf(title, sizeof title, "Stalls: %zu step%s longer than %d times the median of %s phase", rows->all_stall_count,
		 rows->all_stall_count == 1 ? "" : "s", RVP_STALL_FACTOR, rows->all_stall_count == 1 ? "its" : "their");
	rvp_text_title(view, title);
	for (unsigned i = 0; i < STALLS_SHOWN && (stall = next_longest(rows, stall)); i++)
		print_stall(view, rows, steps, stall);
	if (rows->all_stall_count > STALLS_SHOWN)
		fprintf(view->out, "  ... and %zu shorter ones\n", rows->all_stall_count - STALLS_SHOWN);
	if (rows->all_stall_count && view->run->mode != RVP_MODE_FULL)
		fputs("  allocs are estimates: small ones were sampled\n", view->out);
	if (rows->all_stall_count)
		fputs("  page faults, waiting for a lock or another program are not recorded\n", view->out);
}

static void print_text(const struct rvp_view *view, struct rvp_latency_rows *rows, const struct rvp_steps *steps)
{
	struct row list[ROWS_MAX];
	size_t count = rows_of(rows, list);

	rvp_text_run(view);
	rvp_text_steps(view);
	rvp_text_power(view);
	print_rows(view, rows, list, count);
	print_histogram(view, histogram_row(list, count));
	print_stalls(view, rows, steps);
}

/* ---- JSON ---- */

static void write_row(struct rvp_json *json, const struct row *row)
{
	struct rvp_latency latency = rvp_times_latency(row->times);

	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "name", row->name);
	rvp_latency_write_keys(json, &latency);
	rvp_json_number(json, "max_us", row->times->sketch->most);
	rvp_json_close(json, '}');
}

static void write_histogram(struct rvp_json *json, const struct row *row)
{
	struct rvp_histogram_row parts[RVP_HISTOGRAM_ROWS];
	size_t count = rvp_histogram_of(row->times->sketch, parts);

	rvp_json_open(json, "histogram", '{');
	rvp_json_string(json, "of", row->name);
	rvp_json_open(json, "rows", '[');
	for (size_t i = 0; i < count; i++) {
		rvp_json_open(json, NULL, '{');
		rvp_json_number(json, "first_us", parts[i].first_us);
		rvp_json_number(json, "last_us", parts[i].last_us);
		rvp_json_number(json, "count", parts[i].count);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
	rvp_json_close(json, '}');
}

/* Of one step, or the mean over `n`. */
static void write_doings(struct rvp_json *json, const char *key, const struct rvp_view *view,
			 const struct rvp_step_doings *doings, double n)
{
	rvp_json_open(json, key, '{');
	rvp_json_figure(json, "alloc_count", doings->alloc_count / n);
	rvp_json_figure(json, "alloc_bytes", doings->alloc_bytes / n);
	if (view->run->mode == RVP_MODE_FULL)
		rvp_json_figure(json, "free_count", (double)doings->free_count / n);
	rvp_json_figure(json, "map_count", (double)doings->map_count / n);
	rvp_json_figure(json, "map_bytes", (double)doings->map_bytes / n);
	rvp_json_figure(json, "unmap_count", (double)doings->unmap_count / n);
	rvp_json_figure(json, "read_count", (double)doings->read_count / n);
	rvp_json_figure(json, "read_bytes", (double)doings->read_bytes / n);
	rvp_json_figure(json, "thread_count", (double)doings->thread_count / n);
	if (view->run->device_count) {
		rvp_json_figure(json, "device_alloc_count", (double)doings->device_alloc_count / n);
		rvp_json_figure(json, "device_alloc_bytes", (double)doings->device_alloc_bytes / n);
		rvp_json_figure(json, "launch_count", (double)doings->launch_count / n);
		rvp_json_figure(json, "kernel_count", (double)doings->kernel_count / n);
		rvp_json_figure(json, "kernel_us", (double)doings->kernel_us / n);
	}
	rvp_json_figure(json, "look_count", (double)doings->look_count / n);
	rvp_json_close(json, '}');
}

static void write_stalls(struct rvp_json *json, const struct rvp_view *view, const struct rvp_latency_rows *rows,
			 const struct rvp_steps *steps)
{
	rvp_json_number(json, "stall_count", rows->all_stall_count);
	rvp_json_bool(json, "allocs_are_estimates", view->run->mode != RVP_MODE_FULL);
	rvp_json_open(json, "stalls", '[');
	for (size_t i = 0; i < rows->stall_count; i++) {
		const struct rvp_stall *stall = &rows->stalls[i];
		const struct rvp_step *step = &steps->steps[stall->step];

		rvp_json_open(json, NULL, '{');
		rvp_json_number(json, "step", stall->step);
		if (step->phase)
			rvp_json_string(json, "phase", rvp_step_phase_texts[step->phase]);
		rvp_json_number(json, "begin_unix_us", step->begin_ns / 1000);
		rvp_json_number(json, "wall_time_us", stall->us);
		rvp_json_number(json, "median_us", stall->median_us);
		write_doings(json, "doings", view, &stall->doings, 1);
		if (rows->usual_count[step->phase])
			write_doings(json, "usual", view, &rows->usual[step->phase], (double)rows->usual_count[step->phase]);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

static void print_json(const struct rvp_view *view, struct rvp_latency_rows *rows, const struct rvp_steps *steps)
{
	struct rvp_json json = {.out = view->out};
	struct row list[ROWS_MAX];
	size_t count = rows_of(rows, list);

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.latency/1");
	rvp_json_open(&json, "rows", '[');
	for (size_t i = 0; i < count; i++)
		write_row(&json, &list[i]);
	rvp_json_close(&json, ']');
	if (rows->has_token)
		rvp_json_number(&json, "until_first_token_us", rows->until_token_us);
	write_histogram(&json, histogram_row(list, count));
	write_stalls(&json, view, rows, steps);
	rvp_json_close(&json, '}');
	fputc('\n', view->out);
}

/* ---- the answer ---- */

static struct rvp_status explain(struct rvp_latency_rows *rows, const struct rvp_view *view, const struct rvp_steps *steps)
{
	const struct rvp_run *run = view->run;
	struct rvp_kernels kernels = {.has_device = false};
	struct rvp_status status = RVP_OK;
	bool has_devices = rvp_run_has_devices(run);

	if (rows->no_memory)
		return rvp_fail("sort the steps of", run->folder, ENOMEM);
	if (!rows->stall_count)
		return RVP_OK;
	if (has_devices)
		status = rvp_kernels_read(&kernels, run, &(struct rvp_kernel_question){.steps = steps});
	if (!rvp_failed(status))
		status = rvp_stalls_explain(rows, run, steps, has_devices ? &kernels : NULL);
	rvp_kernels_free(&kernels);
	return status;
}

static struct rvp_status answer(const struct rvp_view *view, const struct rvp_steps *steps, bool json)
{
	static struct rvp_latency_rows rows;
	struct rvp_status status;

	if (!steps->count)
		return rvp_fail_with("report latency", NULL, "the run has no steps%s%s", *steps->why_none ? ": " : "",
				     steps->why_none);
	rvp_latency_rows_make(&rows, view->run, steps);
	status = explain(&rows, view, steps);
	if (!rvp_failed(status) && json)
		print_json(view, &rows, steps);
	else if (!rvp_failed(status))
		print_text(view, &rows, steps);
	rvp_latency_rows_free(&rows);
	return status;
}

struct rvp_status rvp_report_latency(const struct rvp_view *view, bool json)
{
	struct rvp_view with_steps = *view;
	struct rvp_steps steps;
	struct rvp_status status = rvp_steps_find(view->run, &steps);

	if (rvp_failed(status))
		return status;
	with_steps.steps = &steps;
	status = answer(&with_steps, &steps, json);
	rvp_steps_free(&steps);
	return status;
}
