/* SPDX-License-Identifier: MIT */
/* text_report.c: the sections that are not lists of call stacks, and their order. */
#include "report/text_report.h"

#include "report/cost.h"
#include "report/text_categories.h"
#include "report/text_numbers.h"
#include "report/text_work.h"
#include "report/verdicts.h"
#include "report/windows.h"

#include <inttypes.h>
#include <string.h>

enum { LABEL_COLUMNS = 14, PROCESSES_MAX = 20, PATHS_MAX = 8, ENDING_BYTES = 128 };

void rvp_text_title(const struct rvp_view *view, const char *title)
{
	fprintf(view->out, "\n%s", rvp_style_on(&view->style, RVP_INK_TITLE));
	rvp_print_safely(view->out, title, view->style.width);
	fprintf(view->out, "%s\n", rvp_style_off(&view->style, RVP_INK_TITLE));
}

static void label(const struct rvp_view *view, const char *text)
{
	fprintf(view->out, "  %-*s", LABEL_COLUMNS, text);
}

/* ---- what ran ---- */

/* Prints `words` (NULL ends them) into what is left of a line. */
static void print_words(const struct rvp_view *view, char *const *words)
{
	unsigned room = view->style.width ? view->style.width : UINT32_MAX;

	for (size_t i = 0; words[i] && room > 8; i++) {
		unsigned columns = rvp_text_columns(words[i]);

		if (i)
			fputc(' ', view->out);
		room -= i != 0;
		room -= rvp_print_safely(view->out, words[i], columns > room ? room : 0);
	}
}

static void print_command(const struct rvp_view *view)
{
	const struct rvp_run *run = view->run;
	const struct rvp_process *root = rvp_last_root(run);

	fputs(rvp_style_on(&view->style, RVP_INK_TITLE), view->out);
	if (run->command_count)
		print_words(view, run->command);
	else if (root && root->argument_count)
		print_words(view, root->arguments);
	else
		rvp_print_safely(view->out, *run->name || !root ? run->name : root->name, view->style.width);
	fprintf(view->out, "%s%s\n", run->command_is_cut ? " ..." : "",
		rvp_style_off(&view->style, RVP_INK_TITLE));
}

static void print_mode(const struct rvp_view *view)
{
	const struct rvp_process *root = rvp_last_root(view->run);
	char bytes[RVP_NUMBER_TEXT_BYTES];

	label(view, "mode");
	if (view->run->mode == RVP_MODE_FULL)
		fprintf(view->out, "full: every alloc and free%s\n",
			!view->answer || view->answer->totals.timeline_is_exact ? "" : "; figures with ± are estimates");
	else if (root && root->sample_bytes)
		fprintf(view->out, "sampled: blocks below %s by chance; figures with ± are estimates\n",
			rvp_text_bytes(root->threshold_bytes, bytes));
	else
		fputs("sampled: small blocks by chance; figures with ± are estimates\n", view->out);
}

static void print_state(const struct rvp_view *view)
{
	char text[ENDING_BYTES], clock[RVP_NUMBER_TEXT_BYTES];
	const struct rvp_run *run = view->run;
	const struct rvp_process *root = rvp_last_root(run);

	label(view, "state");
	if (run->alive_count)
		fprintf(view->out, "as of %s, still running", rvp_text_clock(run->end_ns, clock));
	if (run->alive_count && root && root->end != RVP_END_ALIVE)
		fprintf(view->out, " (%zu of %zu processes); the program itself: ", run->alive_count,
			run->process_count);
	rvp_text_ending(run, text, sizeof text);
	if (!run->alive_count || (root && root->end != RVP_END_ALIVE))
		fputs(text, view->out);
	fputc('\n', view->out);
}

static void print_verdicts(const struct rvp_view *view)
{
	for (size_t i = 0; view->verdicts && i < view->verdicts->count; i++) {
		label(view, i ? "" : "verdict");
		rvp_print_safely(view->out, view->verdicts->sentences[i].text, 0);
		fputc('\n', view->out);
	}
}

void rvp_text_run(const struct rvp_view *view)
{
	const struct rvp_run *run = view->run;
	char date[RVP_NUMBER_TEXT_BYTES], duration[RVP_NUMBER_TEXT_BYTES], windows[RVP_WINDOWS_TEXT_BYTES];

	print_command(view);
	print_verdicts(view);
	print_state(view);
	label(view, "ran");
	fprintf(view->out, "%s, from %s", rvp_text_duration(run->end_ns - run->begin_ns, duration),
		rvp_text_date(run->begin_ns, date));
	if (run->process_count > 1)
		fprintf(view->out, ", %zu processes", run->process_count);
	fputc('\n', view->out);
	print_mode(view);
	if (rvp_windows_matter(run)) {
		rvp_windows_text(run, windows);
		label(view, "windows");
		fprintf(view->out, "%s\n", windows);
	}
	if (run->is_folded) {
		label(view, "log");
		fputs("folded at --max-log: counts and bytes allocated stay exact, other figures are ±\n",
		      view->out);
	}
	if (run->clock_is_guessed) {
		label(view, "times");
		fputs("guessed: no clock anchor was recorded; their order is right\n", view->out);
	}
	if (view->device) {
		label(view, "device");
		fprintf(view->out, "%s: what follows is its memory, not the host's\n", view->device->name);
	}
	label(view, "folder");
	rvp_print_safely(view->out, run->folder, 0);
	fputc('\n', view->out);
}

/* ---- totals ---- */

static void print_estimate(const struct rvp_view *view, uint64_t bytes, uint64_t error_bytes)
{
	const struct rvp_totals *totals = &view->answer->totals;
	char text[RVP_NUMBER_TEXT_BYTES], error[RVP_NUMBER_TEXT_BYTES];

	fprintf(view->out, "%s%s%s", rvp_style_on(&view->style, RVP_INK_NUMBER), rvp_text_bytes(bytes, text),
		rvp_style_off(&view->style, RVP_INK_NUMBER));
	if (!totals->timeline_is_exact)
		fprintf(view->out, " ±%s%s", totals->error_is_known ? " " : "",
			totals->error_is_known ? rvp_text_bytes(error_bytes, error) : "");
}

static void print_since(const struct rvp_view *view, uint64_t ns)
{
	char duration[RVP_NUMBER_TEXT_BYTES];

	if (ns != RVP_NEVER && ns >= view->run->begin_ns)
		fprintf(view->out, " after %s", rvp_text_duration(ns - view->run->begin_ns, duration));
}

static void print_peaks(const struct rvp_view *view)
{
	const struct rvp_analysis *answer = view->answer;
	char text[RVP_NUMBER_TEXT_BYTES];

	if (answer->totals.peak_ns != RVP_NEVER) {
		label(view, "peak live");
		print_estimate(view, answer->totals.peak_live_bytes, answer->totals.peak_error_bytes);
		print_since(view, answer->totals.peak_ns);
		fputc('\n', view->out);
	}
	if (!answer->peak_rss_bytes)
		return;
	label(view, "peak RSS");
	fprintf(view->out, "%s", rvp_text_bytes(answer->peak_rss_bytes, text));
	print_since(view, answer->peak_rss_ns);
	if (answer->mean_rss_bytes)
		fprintf(view->out, ", mean %s", rvp_text_bytes(answer->mean_rss_bytes, text));
	fputc('\n', view->out);
}

static void print_counters(const struct rvp_view *view)
{
	const struct rvp_counters *counters = &view->answer->totals.counters;
	char text[RVP_NUMBER_TEXT_BYTES];

	label(view, "allocated");
	fprintf(view->out, "%s in ", rvp_text_bytes(counters->alloc_bytes, text));
	fprintf(view->out, "%s allocs, ", rvp_text_count(counters->alloc_count, text));
	fprintf(view->out, "%s frees%s\n", rvp_text_count(counters->free_count, text),
		view->answer->totals.counters_are_exact ? ""
							: " (at least: counters of a process are missing)");
	if (!counters->map_count)
		return;
	label(view, "mapped");
	fprintf(view->out, "%s in ", rvp_text_bytes(counters->map_bytes, text));
	fprintf(view->out, "%s calls, ", rvp_text_count(counters->map_count, text));
	fprintf(view->out, "%s unmapped\n", rvp_text_bytes(counters->unmap_bytes, text));
}

/* Sampling misses small blocks, but what was never given back is counted. */
static void print_exact_end(const struct rvp_view *view)
{
	const struct rvp_totals *totals = &view->answer->totals;
	const struct rvp_counters *counters = &totals->counters;
	char text[RVP_NUMBER_TEXT_BYTES];

	if (totals->timeline_is_exact || !totals->counters_are_exact ||
	    counters->alloc_count < counters->free_count ||
	    counters->alloc_usable_bytes < counters->free_usable_bytes)
		return;
	label(view, "exactly");
	fprintf(view->out, "%s more allocs than frees, ",
		rvp_text_count(counters->alloc_count - counters->free_count, text));
	fprintf(view->out, "%s of usable size\n",
		rvp_text_bytes(counters->alloc_usable_bytes - counters->free_usable_bytes, text));
}

void rvp_text_totals(const struct rvp_view *view)
{
	const struct rvp_totals *totals = &view->answer->totals;
	char text[RVP_NUMBER_TEXT_BYTES];

	rvp_text_title(view, "Memory of the host");
	print_peaks(view);
	print_counters(view);
	label(view, view->run->alive_count ? "live now" : "at the end");
	print_estimate(view, totals->end_live_bytes, totals->end_error_bytes);
	fprintf(view->out, " in %s block%s%s\n", rvp_text_count(totals->live_count, text), totals->live_count == 1 ? "" : "s",
		totals->timeline_is_exact ? "" : " ±");
	print_exact_end(view);
}

/* ---- processes ---- */

static void print_process(const struct rvp_view *view, const struct rvp_process *process,
			  const struct rvp_totals *totals)
{
	char text[RVP_NUMBER_TEXT_BYTES], ending[ENDING_BYTES];

	fprintf(view->out, "  %7u  ", process->pid);
	fprintf(view->out, "%11s%2s", rvp_text_bytes(totals->peak_live_bytes, text),
		totals->timeline_is_exact ? "" : " ±");
	fprintf(view->out, "%12s", rvp_text_bytes(totals->end_live_bytes, text));
	fprintf(view->out, "%12s",
		process->peak_rss_bytes ? rvp_text_bytes(process->peak_rss_bytes, text) : "-");
	fprintf(view->out, "%14s  ", rvp_text_count(process->counters.alloc_count, text));
	rvp_text_process_ending(process, ending, sizeof ending);
	fprintf(view->out, "%-16s  ", ending);
	rvp_print_safely(view->out, process->name, 30);
	if (*process->rank) {
		fputs("  rank ", view->out);
		rvp_print_safely(view->out, process->rank, 12);
	}
	fputc('\n', view->out);
}

/* The `rank`-th process by peak; ties by number. */
static size_t next_process(const struct rvp_view *view, size_t before)
{
	const struct rvp_totals *all = view->answer->processes;
	size_t count = view->run->process_count, best = count;

	for (size_t i = 0; i < count; i++) {
		bool is_behind = before == count || all[i].peak_live_bytes < all[before].peak_live_bytes ||
				 (all[i].peak_live_bytes == all[before].peak_live_bytes && i > before);

		if (is_behind && (best == count || all[i].peak_live_bytes > all[best].peak_live_bytes))
			best = i;
	}
	return best;
}

void rvp_text_processes(const struct rvp_view *view)
{
	size_t count = view->run->process_count, at = count, shown = 0;
	char title[64];

	if (count < 2)
		return;
	snprintf(title, sizeof title, "By process: %zu", count);
	rvp_text_title(view, title);
	fprintf(view->out, "  %7s  %11s  %12s%12s%14s  %-16s  %s\n", "pid", "peak live", "at its end",
		"peak RSS", "allocs", "state", "program");
	for (; shown < PROCESSES_MAX && (at = next_process(view, at)) < count; shown++)
		print_process(view, &view->run->processes[at], &view->answer->processes[at]);
	if (count > shown)
		fprintf(view->out, "  ... and %zu more\n", count - shown);
}

/* ---- cost ---- */

/* summary.json's `cost` in one line. */
static void print_whole_cost(const struct rvp_view *view, uint64_t own_bytes, uint64_t log_bytes)
{
	const struct rvp_counters *counters = &view->answer->totals.counters;
	char text[RVP_NUMBER_TEXT_BYTES];
	double percent;

	label(view, "in all");
	fprintf(view->out, "%s events",
		rvp_text_count(counters->alloc_count + counters->free_count + counters->map_count +
				   counters->unmap_count,
			       text));
	if (own_bytes)
		fprintf(view->out, ", %s own memory", rvp_text_bytes(own_bytes, text));
	fprintf(view->out, ", %s log", rvp_text_bytes(log_bytes, text));
	if (rvp_cost_percent(view->run, &percent))
		fprintf(view->out, ", about %.*f %% of the program's processor time or more (`rvprof overhead` measures it)",
			percent < 9.95 ? 1 : 0, percent);
	fputc('\n', view->out);
}

void rvp_text_cost(const struct rvp_view *view)
{
	const struct rvp_run *run = view->run;
	uint64_t own_bytes = 0, log_bytes = 0;
	char text[RVP_NUMBER_TEXT_BYTES];

	for (size_t i = 0; i < run->process_count; i++) {
		own_bytes += run->processes[i].own_bytes;
		log_bytes += run->processes[i].log_bytes;
	}
	rvp_text_title(view, "Cost of recording");
	print_whole_cost(view, own_bytes, log_bytes);
	label(view, "records");
	fprintf(view->out, "%s\n", rvp_text_count(view->answer->totals.counters.record_count, text));
	label(view, "stacks");
	fprintf(view->out, "%s walked\n", rvp_text_count(view->answer->totals.counters.walk_count, text));
	if (view->answer->totals.counters.flush_count) {
		label(view, "writing");
		fprintf(view->out, "%s\n", rvp_text_duration(view->answer->totals.counters.flush_ns, text));
	}
	if (run->watch_cost_ns) {
		label(view, "watching");
		fprintf(view->out, "%s, outside of the program\n",
			rvp_text_duration(run->watch_cost_ns, text));
	}
}

/* ---- what is missing ---- */

static void print_reason(const struct rvp_view *view, uint64_t count, const char *text)
{
	char number[RVP_NUMBER_TEXT_BYTES];

	fprintf(view->out, "  %s%12s%s  ", rvp_style_on(&view->style, RVP_INK_BAD),
		rvp_text_count(count, number), rvp_style_off(&view->style, RVP_INK_BAD));
	rvp_print_safely(view->out, text, view->style.width ? view->style.width - 16 : 0);
	fputc('\n', view->out);
}

static void print_flaws(const struct rvp_view *view)
{
	if (view->run->flaw[0]) {
		fputs("  the run: ", view->out);
		rvp_print_safely(view->out, view->run->flaw, 0);
		fputc('\n', view->out);
	}
	for (size_t i = 0; i < view->run->process_count; i++) {
		const struct rvp_process *process = &view->run->processes[i];

		if (!process->flaw[0])
			continue;
		fprintf(view->out, "  process %u: ", process->pid);
		rvp_print_safely(view->out, process->flaw, 0);
		fputc('\n', view->out);
	}
}

static bool has_flaw(const struct rvp_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].flaw[0])
			return true;
	return false;
}

static bool has_loss(const struct rvp_view *view)
{
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		if (view->answer->totals.loss[i])
			return true;
	return view->run->unfollowed || view->run->flaw[0] || has_flaw(view->run);
}

void rvp_text_lost(const struct rvp_view *view)
{
	const struct rvp_totals *totals = &view->answer->totals;
	char title[96], number[RVP_NUMBER_TEXT_BYTES];

	if (!has_loss(view)) {
		rvp_text_title(view, "Lost: nothing");
		return;
	}
	snprintf(title, sizeof title, totals->lost_records == 1 ? "Lost: %s record" : "Lost: %s records",
		 totals->lost_records ? rvp_text_count(totals->lost_records, number) : "no");
	rvp_text_title(view, title);
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		if (totals->loss[i])
			print_reason(view, totals->loss[i], rvp_loss_texts[i]);
	if (view->run->unfollowed)
		print_reason(view, view->run->unfollowed,
			     "programs started with an environment without ours: not followed");
	print_flaws(view);
}

static void print_paths(const struct rvp_view *view, enum rvp_symbols_state state, const char *what)
{
	const char *paths[PATHS_MAX];
	size_t count = rvp_symbols_files_in_state(view->symbols, state, paths, PATHS_MAX);

	if (!count)
		return;
	fprintf(view->out, "  %s:", what);
	for (size_t i = 0; i < count && i < PATHS_MAX; i++) {
		fputs(i ? ", " : " ", view->out);
		rvp_print_safely(view->out, paths[i], 0);
	}
	if (count > PATHS_MAX)
		fprintf(view->out, " and %zu more", count - PATHS_MAX);
	fputc('\n', view->out);
}

void rvp_text_names(const struct rvp_view *view)
{
	const char *complaint = rvp_symbols_complaint(view->symbols);
	const char *path;

	if (complaint)
		fprintf(view->out, "\n  %s\n", complaint);
	else if (rvp_symbols_files_in_state(view->symbols, RVP_SYMBOLS_REPLACED, &path, 1) +
		 rvp_symbols_files_in_state(view->symbols, RVP_SYMBOLS_MISSING, &path, 1))
		rvp_text_title(view, "Without names");
	print_paths(view, RVP_SYMBOLS_REPLACED, "replaced since");
	print_paths(view, RVP_SYMBOLS_MISSING, "not there");
}

void rvp_text_lists(const struct rvp_view *view)
{
	bool is_growth = view->moment_count == 2;

	if (is_growth)
		rvp_text_sites(view, RVP_GROWTH, view->top_count);
	rvp_text_sites(view, view->moment_count == 1 ? RVP_AT_MOMENT : RVP_AT_PEAK,
		       is_growth ? view->more_count : view->top_count);
	rvp_text_sites(view, RVP_ALLOCATED, view->more_count);
	rvp_text_sites(view, RVP_TEMPORARY, view->more_count);
	rvp_text_sites(view, RVP_AT_END, view->more_count);
}

void rvp_text_host(const struct rvp_view *view)
{
	rvp_text_run(view);
	rvp_text_totals(view);
	rvp_text_steps(view);
	rvp_text_power(view);
	rvp_text_work(view);
	rvp_text_categories(view);
	rvp_text_lists(view);
}

void rvp_text_rest(const struct rvp_view *view)
{
	rvp_text_processes(view);
	rvp_text_cost(view);
	rvp_text_lost(view);
	rvp_text_names(view);
}
