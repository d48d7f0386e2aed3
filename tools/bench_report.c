/* SPDX-License-Identifier: MIT */
/* bench_report.c: see bench_report.h. One table, whose cells are the same in all three forms; what differs is
 * what stands between them. */
#include "tools/bench_report.h"

#include "report/shortest.h"
#include "sweep/place.h"

#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum form { MARKDOWN, HTML, CSV, TABLES, JSON = TABLES, FORMS };
static const char *const form_names[FORMS] = {"md", "html", "csv", "json"};

enum { CELL_BYTES = 160 };

struct report {
	enum form form;
	const json_t *answer;
	char out[PATH_MAX]; /* the folder of the results */
};

/* ---- cells ---- */

static void put_cell(const struct report *report, const char *text, bool is_first, bool is_head)
{
	static const char *const before[TABLES][2] = {{"| ", " | "}, {"<tr><TAG>", "</TAG><TAG>"}, {"", ","}};
	const char *at = before[report->form][!is_first];

	for (; *at; at++)
		if (strncmp(at, "TAG", 3) == 0) {
			fputs(is_head ? "th" : "td", stdout);
			at += 2;
		} else
			putchar(*at);
	for (; *text; text++) {
		if (report->form == HTML && strchr("<>&\"", *text))
			printf("&#%d;", *text);
		else if (report->form == MARKDOWN && *text == '|')
			fputs("\\|", stdout);
		else if (report->form == CSV && strchr(",\"\n", *text))
			putchar(';');
		else
			putchar((unsigned char)*text < ' ' ? '?' : *text);
	}
}

static void end_row(const struct report *report, bool is_head)
{
	static const char *const ends[TABLES] = {" |", NULL, ""};

	puts(report->form != HTML ? ends[report->form] : is_head ? "</th></tr>" : "</td></tr>");
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void put_number(const struct report *report, double value, double factor, const char *format)
{
	char text[CELL_BYTES] = "";
	struct rvp_shortest shortest = rvp_shortest_double(value);
	char whole[RVP_SHORTEST_TEXT_BYTES];

	if (isfinite(value) && report->form == CSV)
		return put_cell(report, rvp_shortest_plain(&shortest, whole), false, false);
	if (isfinite(value))
		snprintf(text, sizeof text, format, value * factor);
	put_cell(report, text, false, false);
}

/* "0.912 [0.880, 0.946], p 0.003, differs" */
static void put_comparison(const struct report *report, const json_t *comparison)
{
	char text[CELL_BYTES] = "";

	if (comparison)
		snprintf(text, sizeof text, "%.3f [%.3f, %.3f], p %.3g%s", number_of(comparison, "ratio"),
			 number_of(comparison, "low"), number_of(comparison, "high"),
			 number_of(comparison, "p"),
			 json_is_true(json_object_get(comparison, "is_different")) ? ", differs" : "");
	put_cell(report, text, false, false);
}

/* ---- the table ---- */

static const struct column {
	const char *key, *title, *format;
	double factor;
	enum { FIGURE, METRIC, COMPARED } kind;
} columns[] = {
    {"kv_cache_reduction", "KV cache saved, %", "%.1f", 100, FIGURE},
    {"peak_mem_reduction", "peak memory saved, %", "%.1f", 100, FIGURE},
    {"energy_reduction", "energy saved, %", "%.1f", 100, FIGURE},
    {"coherence_delta", "coherence", "%.4g", 1, METRIC},
    {"accuracy", "accuracy", "%.4g", 1, METRIC},
    {"mean_peak_bytes", "mean peak, MiB", "%.3f", 1.0 / 1048576, FIGURE},
    {"p95_latency_us", "p95, us", "%.0f", 1, FIGURE},
    {"mean_us", "mean time, ratio", NULL, 1, COMPARED},
    {"p95_us", "p95, ratio", NULL, 1, COMPARED},
    {"mean_joules", "energy, ratio", NULL, 1, COMPARED},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const json_t *find(const json_t *row, const struct column *column)
{
	const json_t *from = row;

	if (column->kind != FIGURE)
		from = json_object_get(row, column->kind == METRIC ? "metrics" : "compared");
	return json_object_get(from, column->key);
}

/* A column that no setting has is left out, but of CSV, whose readers count on it. */
static bool is_shown(const struct report *report, const struct column *column)
{
	const json_t *row;
	size_t i;
	bool is = report->form == CSV;

	json_array_foreach(json_object_get(report->answer, "rows"), i, row) is |= find(row, column) != NULL;
	return is;
}

static void put_head(const struct report *report)
{
	unsigned shown = 1;

	put_cell(report, "setting", true, true);
	for (int i = 0; i < COLUMNS; i++)
		if (is_shown(report, &columns[i])) {
			put_cell(report, report->form == CSV ? columns[i].key : columns[i].title, false,
				 true);
			shown++;
		}
	end_row(report, true);
	for (unsigned i = 0; report->form == MARKDOWN && i < shown; i++)
		fputs(i ? " --- |" : "| --- |", stdout);
	if (report->form == MARKDOWN)
		putchar('\n');
}

static void put_row(const struct report *report, const json_t *row)
{
	put_cell(report, json_string_value(json_object_get(row, "setting")), true, false);
	for (int i = 0; i < COLUMNS; i++) {
		const json_t *value = find(row, &columns[i]);

		if (!is_shown(report, &columns[i]))
			continue;
		if (columns[i].kind == COMPARED)
			put_comparison(report, value);
		else
			put_number(report, value ? json_number_value(value) : NAN, columns[i].factor,
				   columns[i].format);
	}
	end_row(report, false);
}

static void put_table(const struct report *report)
{
	const json_t *row;
	size_t i;

	if (report->form == HTML)
		puts("<table>");
	put_head(report);
	json_array_foreach(json_object_get(report->answer, "rows"), i, row) put_row(report, row);
	if (report->form == HTML)
		puts("</table>");
}

/* ---- around it ---- */

static void put_paragraph(const struct report *report, const char *text)
{
	printf(report->form == HTML ? "<p>%s</p>\n" : "\n%s\n", text);
}

static void put_words(const struct report *report)
{
	char text[1024];
	const json_t *equal = json_object_get(report->answer, "equal_runs");

	snprintf(text, sizeof text,
		 "Ratios are setting by %s within each of %lld rounds (geometric mean, 95 %% interval of "
		 "each by itself). p is "
		 "corrected by Holm over all %lld comparisons of this report: where none of them is a true "
		 "difference, one is "
		 "called so with a probability of 5 %% at most.",
		 json_string_value(json_object_get(report->answer, "reference")),
		 (long long)json_integer_value(json_object_get(report->answer, "rounds")),
		 (long long)json_integer_value(json_object_get(report->answer, "comparisons")));
	put_paragraph(report, text);
	if (equal) {
		snprintf(text, sizeof text, "The same run twice on this machine: %.3f [%.3f, %.3f].",
			 number_of(equal, "ratio"), number_of(equal, "low"), number_of(equal, "high"));
		put_paragraph(report, text);
	}
}

static void put_failures(const struct report *report)
{
	const json_t *row;
	char text[1024];
	size_t i;

	json_array_foreach(json_object_get(report->answer, "rows"), i, row)
	{
		const char *failure = json_string_value(json_object_get(row, "failure"));

		if (failure) {
			snprintf(text, sizeof text, "%s failed: %s",
				 json_string_value(json_object_get(row, "setting")), failure);
			put_paragraph(report, text);
		}
	}
}

/* An HTML page has its pictures in it, so that it can be sent as one file. */
static void put_figure(const struct report *report, const char *name)
{
	char path[PATH_MAX + 512], line[4096];
	FILE *file;
	bool is_open = false;

	if (report->form == MARKDOWN) {
		printf("\n![%s](figs/%s)\n", name, name);
		return;
	}
	snprintf(path, sizeof path, "%s/figs/%s", report->out, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if ((is_open |= strncmp(line, "<svg", 4) == 0))
			fputs(line, stdout);
	if (file)
		fclose(file);
}

static void put_figures(const struct report *report)
{
	char path[PATH_MAX + 16];
	glob_t found = {0};

	snprintf(path, sizeof path, "%s/figs/*.svg", report->out);
	glob(path, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		put_figure(report, strrchr(found.gl_pathv[i], '/') + 1);
	globfree(&found);
}

static void put_report(const struct report *report)
{
	if (report->form == CSV) {
		put_table(report);
		return;
	}
	puts(
	    report->form == MARKDOWN
		? "# Sweep\n"
		: "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sweep</title>\n"
		  "<style>body{font-family:sans-serif;max-width:75em;margin:2em auto}td,th{padding:.2em .7em;"
		  "text-align:right;border-bottom:1px solid "
		  "#ddd}td:first-child,th:first-child{text-align:left}"
		  "</style></head><body><h1>Sweep</h1>");
	put_table(report);
	put_failures(report);
	put_words(report);
	put_figures(report);
	if (report->form == HTML)
		puts("</body></html>");
}

struct rvp_status rvp_bench_report(const char *folder, const char *format)
{
	struct rvp_sweep_place place;
	struct report report = {.form = MARKDOWN};
	char path[PATH_MAX + 16];
	struct rvp_status status = rvp_sweep_place_name(&place, folder);
	json_t *answer;

	while (report.form < FORMS && strcmp(form_names[report.form], format) != 0)
		report.form++;
	if (report.form == FORMS)
		return rvp_fail_with("report", NULL, "--format '%.40s' is none of md, html, csv, json", format);
	if (rvp_failed(status))
		return status;
	snprintf(path, sizeof path, "%s/answer.json", place.work);
	answer = json_load_file(path, 0, NULL);
	if (!answer)
		return rvp_fail_with("report", folder, "no finished sweep lies there (%.150s)", path);
	strcpy(report.out, place.out);
	report.answer = answer;
	if (report.form == JSON) {
		json_dumpf(answer, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
		putchar('\n');
	} else {
		put_report(&report);
	}
	json_decref(answer);
	return RVP_OK;
}
