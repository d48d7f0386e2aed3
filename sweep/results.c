/* SPDX-License-Identifier: MIT */
/* results.c: the files of a sweep's results, see results.h. */
#include "sweep/results.h"

#include "report/csv_rows.h"
#include "report/pairs.h"
#include "report/shortest.h"
#include "report/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEQ_LEN, WALL, PEAK, JOULES };
static const char *const columns[] = {"seq_len", "wall_time_us", "peak_bytes", "joules", NULL};

/* ---- files ---- */

static struct rvp_status open_output(struct rvp_whole_file *output, const struct rvp_sweep *sweep,
				     const char *folder, const char *name, const char *ending)
{
	char parent[PATH_MAX], path[PATH_MAX];

	if (snprintf(parent, sizeof parent, "%s/%s", sweep->place.out, folder) >= PATH_MAX ||
	    snprintf(path, sizeof path, "%s/%s%s", parent, name, ending) >= PATH_MAX)
		return rvp_fail("make", sweep->place.out, ENAMETOOLONG);
	if (mkdir(parent, 0777) != 0 && errno != EEXIST)
		return rvp_fail("make", parent, errno);
	return rvp_whole_file_open(output, path);
}

static void put_number(FILE *out, double value)
{
	struct rvp_shortest shortest = rvp_shortest_double(value);
	char text[RVP_SHORTEST_TEXT_BYTES];

	fprintf(out, ",%s", isfinite(value) ? rvp_shortest_plain(&shortest, text) : "");
}

/* ---- a setting's samples ---- */

struct rows {
	struct row {
		uint64_t seq_len, peak_bytes;
		double times_us[RVP_ROUNDS_MAX], joules[RVP_ROUNDS_MAX];
		size_t time_count, joule_count;
	} * rows;
	size_t count;
};

static double field(const struct rvp_csv_rows *csv, unsigned column)
{
	double value = NAN;

	return *csv->fields[column] && !rvp_failed(rvp_csv_decimal(csv, column, &value)) ? value : NAN;
}

/* The rows of one job: the recorded one says how many there are. */
static struct rvp_status take_job(struct rows *rows, const struct rvp_sweep *sweep, const struct rvp_job *job)
{
	char folder[PATH_MAX], path[PATH_MAX + 16];
	struct rvp_csv_rows csv;
	struct rvp_status status;
	bool has_row;

	rvp_job_folder(sweep->plan, sweep->place.work, job, folder);
	snprintf(path, sizeof path, "%s/samples.csv", folder);
	status = rvp_csv_rows_open(&csv, path, columns);
	for (size_t i = 0; !rvp_failed(status); i++) {
		status = rvp_csv_rows_next(&csv, &has_row);
		if (rvp_failed(status) || !has_row || i >= rows->count)
			break;
		if (job->kind == RVP_JOB_RECORD) {
			rows->rows[i].seq_len =
			    isnan(field(&csv, SEQ_LEN)) ? 0 : (uint64_t)field(&csv, SEQ_LEN);
			rows->rows[i].peak_bytes = (uint64_t)field(&csv, PEAK);
		} else {
			rows->rows[i].times_us[rows->rows[i].time_count++] = field(&csv, WALL);
			if (!isnan(field(&csv, JOULES)))
				rows->rows[i].joules[rows->rows[i].joule_count++] = field(&csv, JOULES);
		}
	}
	rvp_csv_rows_close(&csv);
	return status;
}

static void put_row(FILE *out, size_t number, const struct row *row)
{
	double time_us = rvp_pairs_median(row->times_us, row->time_count);

	fprintf(out, "%zu,", number);
	if (row->seq_len)
		fprintf(out, "%" PRIu64, row->seq_len);
	put_number(out, isnan(time_us) ? time_us : nearbyint(time_us));
	fprintf(out, ",%" PRIu64, row->peak_bytes);
	put_number(out, rvp_pairs_median(row->joules, row->joule_count));
	fputc('\n', out);
}

static struct rvp_status read_rows(struct rows *rows, const struct rvp_sweep *sweep, size_t setting)
{
	struct rvp_job job = {.setting = setting, .kind = RVP_JOB_RECORD};
	json_t *result = rvp_job_result(sweep->plan, sweep->place.work, &job);
	struct rvp_status status;

	rows->count = (size_t)json_integer_value(json_object_get(result, "samples"));
	json_decref(result);
	rows->rows = calloc(rows->count + 1, sizeof *rows->rows);
	if (!rows->rows)
		return rvp_fail("sum up", sweep->place.out, ENOMEM);
	status = take_job(rows, sweep, &job);
	job.kind = RVP_JOB_TIME;
	for (job.round = 0; job.round < sweep->rounds && !rvp_failed(status); job.round++)
		status = take_job(rows, sweep, &job);
	return status;
}

static struct rvp_status write_samples(const struct rvp_sweep *sweep, const struct rvp_outcome *outcome)
{
	struct rows rows = {.rows = NULL};
	struct rvp_whole_file output;
	struct rvp_status status = open_output(&output, sweep, "csv", outcome->name, ".csv");

	if (rvp_failed(status))
		return status;
	fputs("sample_id,seq_len,wall_time_us,peak_mem_bytes,energy_j\n", output.file);
	if (outcome->is_recorded)
		status = read_rows(&rows, sweep, outcome->setting);
	for (size_t i = 0; i < rows.count && !rvp_failed(status); i++)
		put_row(output.file, i, &rows.rows[i]);
	free(rows.rows);
	return rvp_whole_file_close(&output, status);
}

/* ---- witness lines ---- */

static struct rvp_status copy(FILE *from, const char *from_path, FILE *to)
{
	char piece[1 << 16];
	size_t bytes;

	while ((bytes = fread(piece, 1, sizeof piece, from)) > 0)
		fwrite(piece, 1, bytes, to);
	return ferror(from) ? rvp_fail("read", from_path, errno) : RVP_OK;
}

/* Of the recorded run; a program that was given no {witness} wrote none. */
static struct rvp_status take_witness(const struct rvp_sweep *sweep, const struct rvp_outcome *outcome)
{
	struct rvp_job job = {.setting = outcome->setting, .kind = RVP_JOB_RECORD};
	char folder[PATH_MAX], path[PATH_MAX + 16];
	struct rvp_whole_file output;
	struct rvp_status status;
	FILE *from;

	rvp_job_folder(sweep->plan, sweep->place.work, &job, folder);
	snprintf(path, sizeof path, "%s/witness.jsonl", folder);
	from = fopen(path, "re");
	if (!from)
		return errno == ENOENT ? RVP_OK : rvp_fail("open", path, errno);
	status = open_output(&output, sweep, "witness", outcome->name, ".jsonl");
	if (!rvp_failed(status))
		status = rvp_whole_file_close(&output, copy(from, path, output.file));
	fclose(from);
	return status;
}

/* ---- results.csv ---- */

/* As RFC 4180 has it, for the one column that is a text. */
static void put_name(FILE *out, const char *name)
{
	if (!strpbrk(name, ",\"\n")) {
		fputs(name, out);
		return;
	}
	fputc('"', out);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', out);
		fputc(*name, out);
	}
	fputc('"', out);
}

static const char *value_of(const struct rvp_sweep *sweep, size_t setting, const char *axis)
{
	for (size_t i = 0; i < sweep->plan->axis_count; i++)
		if (strcmp(sweep->plan->axes[i].name, axis) == 0)
			return rvp_plan_value(sweep->plan, setting, i);
	return "";
}

static void put_outcome(FILE *out, const struct rvp_sweep *sweep, const struct rvp_outcome *outcome,
			bool is_wide)
{
	put_name(out, outcome->name);
	if (is_wide)
		fprintf(out, ",%s,%s", value_of(sweep, outcome->setting, "lambda"),
			value_of(sweep, outcome->setting, "tau"));
	put_number(out, outcome->coherence_delta);
	put_number(out, outcome->kv_cache_reduction);
	put_number(out, outcome->peak_reduction);
	put_number(out, outcome->energy_reduction);
	put_number(out, outcome->p95_us);
	put_number(out, outcome->accuracy);
	fputc('\n', out);
}

static struct rvp_status write_results(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
				       bool is_wide)
{
	struct rvp_whole_file output;
	struct rvp_status status = open_output(&output, sweep, "csv", "results", ".csv");

	if (rvp_failed(status))
		return status;
	fprintf(output.file,
		"setting,%scoherence_delta,kv_cache_reduction,peak_mem_reduction,energy_reduction,p95_"
		"latency_us,accuracy\n",
		is_wide ? "lambda,tau," : "");
	for (size_t i = 0; i < outcomes->count; i++)
		if (outcomes->rows[i].setting != RVP_BASELINE)
			put_outcome(output.file, sweep, &outcomes->rows[i], is_wide);
	return rvp_whole_file_close(&output, RVP_OK);
}

struct rvp_status rvp_results_write(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
				    bool is_wide)
{
	struct rvp_status status = RVP_OK;

	for (size_t i = 0; i < outcomes->count && !rvp_failed(status); i++) {
		status = write_samples(sweep, &outcomes->rows[i]);
		if (!rvp_failed(status) && outcomes->rows[i].is_recorded)
			status = take_witness(sweep, &outcomes->rows[i]);
	}
	return rvp_failed(status) ? status : write_results(sweep, outcomes, is_wide);
}
