/* SPDX-License-Identifier: MIT */
/* bench_answer.c: see bench_answer.h. No bare difference of means: a time has its interval, and a mark only
 * where it is one after correction for how many were looked at. */
#include "tools/bench_answer.h"

#include "report/json_writer.h"
#include "report/shortest.h"
#include "report/text_numbers.h"
#include "report/text_style.h"
#include "sweep/compare.h"
#include "sweep/growth.h"
#include "tools/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

static void put_share(double value)
{
	if (isfinite(value))
		printf("  %8.1f %%", 100 * value);
	else
		printf("  %10s", "-");
}

static void put_figure(double value)
{
	if (isfinite(value))
		printf("  %10.4g", value);
	else
		printf("  %10s", "-");
}

static void put_whole(double value)
{
	if (isfinite(value))
		printf("  %10.0f", value);
	else
		printf("  %10s", "-");
}

static void put_ratio(const struct rvp_comparison *comparison)
{
	if (comparison->rounds > 1)
		printf("  %5.3fx [%.3f, %.3f]%c", comparison->ratio, comparison->low, comparison->high,
		       comparison->is_different ? '*' : ' ');
	else
		printf("  %22s ", "-");
}

static int name_width(const struct rvp_outcomes *outcomes)
{
	int width = 7;

	for (size_t i = 0; i < outcomes->count; i++)
		width = snprintf(NULL, 0, "%s", outcomes->rows[i].name) > width
			    ? snprintf(NULL, 0, "%s", outcomes->rows[i].name)
			    : width;
	return width;
}

static void put_row(const struct rvp_outcome *outcome, const struct rvp_comparison *compared, int width)
{
	printf("%-*s", width, outcome->name);
	put_share(outcome->kv_cache_reduction);
	put_share(outcome->peak_reduction);
	put_figure(outcome->coherence_delta);
	put_figure(outcome->accuracy);
	put_whole(outcome->p95_us);
	put_ratio(&compared[RVP_MEAN_TIME]);
	put_ratio(&compared[RVP_ENERGY]);
	putchar('\n');
}

static void put_table(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
		      const struct rvp_comparisons *comparisons)
{
	int width = name_width(outcomes);

	printf("%-*s  %10s  %10s  %10s  %10s  %10s  %23s  %23s\n", width, "setting", "kv saved", "peak saved",
	       "coherence", "accuracy", "p95 us", "mean time, 95 %", "energy, 95 %");
	for (size_t i = 0; i < outcomes->count; i++)
		put_row(&outcomes->rows[i], comparisons->rows[i], width);
	printf("\nAgainst %s, %u rounds. * differs: p < 0.05 after Holm's correction over %zu comparisons.\n",
	       outcomes->rows[0].name, sweep->rounds, comparisons->tests);
}

/* ---- growth ---- */

static bool has_growth(const struct rvp_growth *growth)
{
	return growth->points > 2 && isfinite(growth->exponent) && isfinite(growth->half);
}

static void put_growth(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes)
{
	struct rvp_growth growth;

	for (size_t axis = 0; axis < sweep->plan->axis_count; axis++)
		for (int grown = 0; grown < RVP_GROWN_COUNT; grown++)
			if (rvp_growth_of_axis(&growth, sweep, outcomes, axis, grown) && has_growth(&growth))
				printf("%s grows as %s^(%.3f +- %.3f), %zu points\n", rvp_grown_names[grown],
				       sweep->plan->axes[axis].name, growth.exponent, growth.half,
				       growth.points);
}

static void json_growth(struct rvp_json *json, const struct rvp_sweep *sweep,
			const struct rvp_outcomes *outcomes)
{
	struct rvp_growth growth;

	rvp_json_open(json, "growth", '[');
	for (size_t axis = 0; axis < sweep->plan->axis_count; axis++)
		for (int grown = 0; grown < RVP_GROWN_COUNT; grown++) {
			if (!rvp_growth_of_axis(&growth, sweep, outcomes, axis, grown) ||
			    !has_growth(&growth))
				continue;
			rvp_json_open(json, NULL, '{');
			rvp_json_string(json, "axis", sweep->plan->axes[axis].name);
			rvp_json_string(json, "figure", rvp_grown_names[grown]);
			rvp_json_double(json, "exponent", growth.exponent);
			rvp_json_double(json, "half", growth.half);
			rvp_json_number(json, "points", growth.points);
			rvp_json_close(json, '}');
		}
	rvp_json_close(json, ']');
}

/* ---- notes ---- */

static void say_notes(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
		      const struct rvp_comparisons *comparisons, uint64_t decisions)
{
	const struct rvp_comparison *same = &comparisons->same;
	double off = fmax(same->high - 1, 1 - same->low);
	char count[RVP_NUMBER_TEXT_BYTES];

	for (size_t i = 0; i < outcomes->count; i++)
		if (*outcomes->rows[i].failure)
			rvp_complain("%s: %s", outcomes->rows[i].name, outcomes->rows[i].failure);
	if (same->rounds > 1 && 100 * off > sweep->plan->precision_percent)
		rvp_complain("this machine is noisy: equal runs may differ by %.1f %% here (%s twice: %.3fx "
			     "[%.3f, %.3f])",
			     100 * off, outcomes->rows[0].name, same->ratio, same->low, same->high);
	if (sweep->plan->power && strstr(sweep->plan->power, "mock:"))
		rvp_complain("energy is by %s: a mock is made up, not measured", sweep->plan->power);
	if (!sweep->is_precise)
		rvp_complain("times are not known to %.3g %%: more --repeats or --budget would help",
			     sweep->plan->precision_percent);
	rvp_complain("%s/ has csv/results.csv, a file a setting and witness/witness.rvf (%s decisions)",
		     sweep->place.out, rvp_text_count(decisions, count));
}

/* ---- JSON ---- */

static void json_number(struct rvp_json *json, const char *key, double value)
{
	if (isfinite(value))
		rvp_json_double(json, key, value);
}

static void json_comparison(struct rvp_json *json, const char *key, const struct rvp_comparison *comparison)
{
	if (comparison->rounds < 2)
		return;
	rvp_json_open(json, key, '{');
	json_number(json, "ratio", comparison->ratio);
	json_number(json, "low", comparison->low);
	json_number(json, "high", comparison->high);
	json_number(json, "p", comparison->p);
	rvp_json_bool(json, "is_different", comparison->is_different);
	rvp_json_close(json, '}');
}

static void json_row(struct rvp_json *json, const struct rvp_outcome *outcome,
		     const struct rvp_comparison *compared)
{
	const char *key;
	json_t *value;

	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "setting", outcome->name);
	if (*outcome->failure)
		rvp_json_string(json, "failure", outcome->failure);
	json_number(json, "kv_cache_reduction", outcome->kv_cache_reduction);
	json_number(json, "peak_mem_reduction", outcome->peak_reduction);
	json_number(json, "energy_reduction", outcome->energy_reduction);
	json_number(json, "mean_peak_bytes", outcome->peak_bytes);
	json_number(json, "mean_kv_cache_bytes", outcome->kv_cache_bytes);
	json_number(json, "p95_latency_us", outcome->p95_us);
	json_number(json, "mean_joules", outcome->joules);
	rvp_json_open(json, "metrics", '{');
	json_object_foreach(outcome->metrics, key, value) json_number(json, key, json_number_value(value));
	rvp_json_close(json, '}');
	rvp_json_open(json, "compared", '{');
	for (int i = 0; i < RVP_MEASURED_COUNT; i++)
		json_comparison(json, rvp_measured_names[i], &compared[i]);
	rvp_json_close(json, '}');
	rvp_json_close(json, '}');
}

static void put_json(FILE *out, const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
		     const struct rvp_comparisons *comparisons, uint64_t decisions)
{
	struct rvp_json json = {.out = out};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.bench/1");
	rvp_json_string(&json, "folder", sweep->place.out);
	rvp_json_string(&json, "reference", outcomes->rows[0].name);
	rvp_json_number(&json, "rounds", sweep->rounds);
	rvp_json_bool(&json, "is_precise", sweep->is_precise);
	rvp_json_number(&json, "decisions", decisions);
	rvp_json_number(&json, "comparisons", comparisons->tests);
	json_comparison(&json, "equal_runs", &comparisons->same);
	rvp_json_open(&json, "rows", '[');
	for (size_t i = 0; i < outcomes->count; i++)
		json_row(&json, &outcomes->rows[i], comparisons->rows[i]);
	rvp_json_close(&json, ']');
	json_growth(&json, sweep, outcomes);
	rvp_json_close(&json, '}');
	fputc('\n', out);
}

struct rvp_status rvp_bench_keep(const struct rvp_bench *bench)
{
	char path[PATH_MAX + 16];
	FILE *out;

	snprintf(path, sizeof path, "%s/answer.json", bench->sweep->place.work);
	out = fopen(path, "we");
	if (out)
		put_json(out, bench->sweep, bench->outcomes, bench->comparisons, bench->decisions);
	return out && fclose(out) == 0 ? RVP_OK : rvp_fail("write", path, errno);
}

void rvp_bench_answer(const struct rvp_bench *bench, bool is_json, bool is_quiet)
{
	if (is_json)
		put_json(stdout, bench->sweep, bench->outcomes, bench->comparisons, bench->decisions);
	else {
		put_table(bench->sweep, bench->outcomes, bench->comparisons);
		put_growth(bench->sweep, bench->outcomes);
	}
	if (!is_quiet)
		say_notes(bench->sweep, bench->outcomes, bench->comparisons, bench->decisions);
}
