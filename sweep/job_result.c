/* SPDX-License-Identifier: MIT */
/* job_result.c: see job_result.h. A figure of the same name comes from the last of these that has it:
 * rvprof_metric, the last line of the output where it is a JSON object, --metric. */
#include "sweep/job_result.h"

#include "record/clock_ns.h"
#include "report/json_writer.h"
#include "report/latency.h"
#include "report/shortest.h"
#include "sweep/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { OUTPUT_MAX_BYTES = 1 << 24, RVPROF_FAILED = 125 };

struct result {
	json_t *json, *metrics;
	const struct rvp_running *running;
};

static void in_folder(const struct result *result, const char *name, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/%s", result->running->folder, name) >= PATH_MAX)
		path[0] = 0;
}

static void set_real(json_t *object, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(object, key, json_real(value));
}

static void set_failure(struct result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void set_failure(struct result *result, const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (!json_object_get(result->json, "failure"))
		json_object_set_new(result->json, "failure", json_string(line));
}

/* ---- the program's own figures ---- */

/* The end of what it printed, terminated and malloc'ed. */
static char *read_output(const struct result *result)
{
	char path[PATH_MAX], *text = NULL;
	FILE *file;
	long bytes;

	in_folder(result, "out", path);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) >= 0) {
		long from = bytes > OUTPUT_MAX_BYTES ? bytes - OUTPUT_MAX_BYTES : 0;

		text = malloc((size_t)(bytes - from) + 1);
		if (text && fseek(file, from, SEEK_SET) == 0)
			text[fread(text, 1, (size_t)(bytes - from), file)] = 0;
	}
	fclose(file);
	return text;
}

static void take_last_line(struct result *result, const char *output)
{
	size_t length = strlen(output);
	const char *key, *line;
	json_t *object, *value;

	while (length && output[length - 1] == '\n')
		length--;
	line = output + length;
	while (line > output && line[-1] != '\n')
		line--;
	object = json_loadb(line, (size_t)(output + length - line), 0, NULL);
	json_object_foreach(object, key, value) if (json_is_number(value))
	    set_real(result->metrics, key, json_number_value(value));
	json_decref(object);
}

static void take_matches(struct result *result, const char *output, const struct rvp_metric_rule *rule)
{
	regmatch_t groups[2];
	regex_t pattern;
	double value = NAN;

	if (regcomp(&pattern, rule->pattern, REG_EXTENDED | REG_NEWLINE) != 0)
		return;
	while (regexec(&pattern, output, 2, groups, 0) == 0) {
		if (groups[1].rm_so >= 0)
			value = strtod(output + groups[1].rm_so, NULL);
		output += groups[0].rm_eo + (groups[0].rm_eo == groups[0].rm_so);
		if (!*output)
			break;
	}
	regfree(&pattern);
	set_real(result->metrics, rule->name, value);
}

static void take_metrics(struct result *result, const struct rvp_plan *plan, const json_t *summary)
{
	char *output = read_output(result);
	const char *key;
	json_t *value;

	json_object_foreach(json_object_get(summary, "metrics"), key, value)
	    set_real(result->metrics, key, json_number_value(value));
	if (output)
		take_last_line(result, output);
	for (size_t i = 0; output && i < plan->metric_count; i++)
		take_matches(result, output, &plan->metrics[i]);
	free(output);
}

/* ---- samples ---- */

static void put_row(FILE *out, const struct rvp_sample *row)
{
	struct rvp_shortest joules = rvp_shortest_double(row->joules);
	char text[RVP_SHORTEST_TEXT_BYTES];

	if (row->seq_len)
		fprintf(out, "%" PRIu64, row->seq_len);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n", row->wall_time_us, row->peak_bytes,
		row->kv_cache_bytes, isfinite(row->joules) ? rvp_shortest_plain(&joules, text) : "");
}

static struct rvp_status write_samples(struct result *result, const struct rvp_samples *samples)
{
	char path[PATH_MAX];
	FILE *out;

	in_folder(result, "samples.csv", path);
	out = fopen(path, "we");
	if (!out)
		return rvp_fail("make", path, errno);
	fputs("seq_len,wall_time_us,peak_bytes,kv_cache_bytes,joules\n", out);
	for (size_t i = 0; i < samples->count; i++)
		put_row(out, &samples->rows[i]);
	return fclose(out) == 0 ? RVP_OK : rvp_fail("write", path, errno);
}

static void set_times(struct result *result, const struct rvp_samples *samples)
{
	uint64_t *times = calloc(samples->count + 1, sizeof *times);
	struct rvp_latency latency;

	for (size_t i = 0; times && i < samples->count; i++)
		times[i] = samples->rows[i].wall_time_us;
	if (times) {
		latency = rvp_latency_of(times, samples->count);
		json_object_set_new(result->json, "p95_us", json_integer((json_int_t)latency.p95_us));
		set_real(result->json, "mean_us", latency.mean_us);
	}
	free(times);
}

static struct rvp_status take_samples(struct result *result)
{
	char path[PATH_MAX];
	struct rvp_samples samples;
	struct rvp_status status;

	in_folder(result, "run", path);
	status = rvp_samples_read(&samples, path);
	if (rvp_failed(status)) {
		set_failure(result, "nothing was recorded: %s", status.detail);
		status = RVP_OK;
	} else {
		json_object_set_new(result->json, "samples", json_integer((json_int_t)samples.count));
		if (result->running->job.kind == RVP_JOB_RECORD) {
			set_real(result->json, "mean_peak_bytes", rvp_samples_mean_peak(&samples));
			set_real(result->json, "mean_kv_cache_bytes", rvp_samples_mean_kv_cache(&samples));
		}
		set_real(result->json, "mean_joules", rvp_samples_mean_joules(&samples));
		set_times(result, &samples);
		status = write_samples(result, &samples);
	}
	rvp_samples_free(&samples);
	return status;
}

/* ---- how it ended ---- */

static void take_end(struct result *result, int wait_status, bool was_late)
{
	set_real(result->json, "wall_s",
		 (double)rvp_clock_ns(CLOCK_MONOTONIC) / 1e9 - result->running->begin_s);
	if (was_late) {
		json_object_set_new(result->json, "timed_out", json_true());
		set_failure(result, "it was stopped by the time limit");
	} else if (WIFSIGNALED(wait_status)) {
		json_object_set_new(result->json, "signal", json_integer(WTERMSIG(wait_status)));
		set_failure(result, "it was ended by signal %d", WTERMSIG(wait_status));
	} else {
		json_object_set_new(result->json, "status", json_integer(WEXITSTATUS(wait_status)));
		if (WEXITSTATUS(wait_status) >= RVPROF_FAILED && WEXITSTATUS(wait_status) < 128)
			set_failure(result, "it could not be run (status %d)", WEXITSTATUS(wait_status));
		else if (WEXITSTATUS(wait_status))
			set_failure(result, "it ended with status %d", WEXITSTATUS(wait_status));
	}
}

static struct rvp_status write_json(const struct result *result)
{
	char path[PATH_MAX];

	in_folder(result, "result.json", path);
	return json_dump_file(result->json, path, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0
		   ? RVP_OK
		   : rvp_fail("write", path, errno ? errno : EIO);
}

struct rvp_status rvp_job_result_write(const struct rvp_running *running, const struct rvp_plan *plan,
				       int wait_status, bool was_late)
{
	struct result result = {.json = json_object(), .metrics = json_object(), .running = running};
	char path[PATH_MAX];
	struct rvp_status status;
	json_t *summary;

	in_folder(&result, "run/summary.json", path);
	summary = json_load_file(path, 0, NULL);
	json_object_set_new(result.json, "schema", json_string("rvprof.job/1"));
	take_end(&result, wait_status, was_late);
	status = take_samples(&result);
	take_metrics(&result, plan, summary);
	json_object_set_new(result.json, "metrics", result.metrics);
	if (!rvp_failed(status))
		status = write_json(&result);
	json_decref(summary);
	json_decref(result.json);
	return status;
}
