/* SPDX-License-Identifier: MIT */
/* cmd_stats.c: `rvprof stats WHAT FILE|- [--json]`: what the rows of a CSV file come to, by the definitions of
 * docs/metrics.md. The file may be another program's with the same columns. Figures are here, tables in stats_tables.c. */
#include "report/csv_rows.h"
#include "report/energy.h"
#include "report/latency.h"
#include "tools/commands.h"
#include "tools/figures.h"
#include "tools/stats_tables.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: rvprof stats latency|power|memory|kernels|memory-trace|timers|scopes FILE|- [--json]\n"
    "What the rows of a CSV file come to; '-' is standard input.\n"
    "  latency  of latency.csv: n, percentiles by nearest rank, mean, standard deviation\n"
    "  power    of power.csv: joules by the trapezoid rule, mean and peak watts\n"
    "  memory   of memory.csv: highest and mean RSS, sums of its kv_cache and activation columns\n"
    "Tables of earlier profilers:\n"
    "  kernels       name,ms (or kernels.csv): count, least, mean and highest time by name, as Taichi's profiler prints it\n"
    "    --trace           a row a record in place of a row a name\n"
    "    --query REGEX     count, least, highest and mean of the kernels whose names begin so\n"
    "    --arch NAME --toolkit NAME --device NAME   for the table's head\n"
    "  memory-trace  tag,used_mb,allocated_mb: RAF's memory trace and what it comes to\n"
    "  timers        timer,step,slot,value: last, running mean, mean of the sorted\n"
    "  scopes        path,seconds (a path is outer;inner): time by scope as a tree\n"
    "  --json   one JSON object\n"
    "  --help   this\n";

struct answer {
	struct rvp_figures figures;
	bool is_json;
	struct rvp_table_asked table; /* is_json is this one's, too */
};

/* The keys that summary.json has alone, so without a schema. */
static struct rvp_figures *open_answer(struct answer *answer)
{
	rvp_figures_open(&answer->figures, answer->is_json, NULL);
	answer->figures.is_plain = true;
	return &answer->figures;
}

/* ---- latency ---- */

static struct rvp_status read_times(struct rvp_csv_rows *rows, struct rvp_times *times)
{
	struct rvp_status status;
	uint64_t us = 0;
	bool has_row;

	while (!rvp_failed(status = rvp_csv_rows_next(rows, &has_row)) && has_row) {
		if (!*rows->fields[0])
			continue;
		status = rvp_csv_whole(rows, 0, &us);
		if (rvp_failed(status))
			return status;
		rvp_times_add(times, us);
	}
	return !rvp_failed(status) && times->no_memory ? rvp_fail("read", rows->path, ENOMEM) : status;
}

static void tell_times(struct answer *answer, const struct rvp_latency *latency)
{
	struct rvp_figures *figures = open_answer(answer);

	if (answer->is_json) {
		rvp_latency_write_keys(&figures->json, latency);
		rvp_figures_close(figures);
		return;
	}
	rvp_figure_whole(figures, "n", latency->count);
	rvp_figure_whole(figures, "p50_us", latency->p50_us);
	rvp_figure_whole(figures, "p95_us", latency->p95_us);
	rvp_figure_whole(figures, "p99_us", latency->p99_us);
	rvp_figure_double(figures, "mean_us", latency->mean_us);
	rvp_figure_double(figures, "std_us", latency->std_us);
	if (latency->is_estimate)
		puts("percentiles      within 0.39 %: more than 1,048,576 times");
}

static struct rvp_status tell_latency(struct rvp_csv_rows *rows, struct answer *answer)
{
	struct rvp_times times = {0};
	struct rvp_status status = read_times(rows, &times);
	struct rvp_latency latency = rvp_times_latency(&times);

	rvp_times_free(&times);
	if (!rvp_failed(status))
		tell_times(answer, &latency);
	return status;
}

/* ---- power ---- */

static struct rvp_status add_sample(const struct rvp_csv_rows *rows, struct rvp_energy *energy)
{
	struct rvp_status status;
	uint64_t us = 0;
	double watts = 0;

	if (!*rows->fields[1])
		return RVP_OK;
	status = rvp_csv_whole(rows, 0, &us);
	if (!rvp_failed(status))
		status = rvp_csv_decimal(rows, 1, &watts);
	if (!rvp_failed(status))
		rvp_energy_add(energy, us, watts);
	return status;
}

static struct rvp_status tell_power(struct rvp_csv_rows *rows, struct answer *answer)
{
	struct rvp_energy energy = {0};
	struct rvp_figures *figures;
	struct rvp_status status;
	bool has_row;

	while (!rvp_failed(status = rvp_csv_rows_next(rows, &has_row)) && has_row)
		if (rvp_failed(status = add_sample(rows, &energy)))
			break;
	if (rvp_failed(status))
		return status;
	if (!isfinite(energy.total_joules) || !isfinite(energy.sum_watts))
		return rvp_fail_with("sum up", rvp_csv_path(rows), "the sum is beyond what a double holds");
	figures = open_answer(answer);
	if (answer->is_json)
		rvp_json_string(&figures->json, "source", rows->path);
	rvp_figure_double(figures, "total_joules", energy.total_joules);
	rvp_figure_double(figures, "mean_watts", rvp_energy_mean_watts(&energy));
	rvp_figure_double(figures, "peak_watts", energy.peak_watts);
	rvp_figure_double(figures, "duration_s", rvp_energy_duration_s(&energy));
	rvp_figure_whole(figures, "samples", energy.sample_count);
	rvp_figures_close(figures);
	return RVP_OK;
}

/* ---- memory ---- */

enum { RSS, KV_CACHE, ACTIVATION, MEMORY_COLUMNS };

struct memory {
	unsigned __int128 sum[MEMORY_COLUMNS];
	uint64_t measured[MEMORY_COLUMNS];
	uint64_t peak_rss, row_count;
};

static struct rvp_status add_row(const struct rvp_csv_rows *rows, struct memory *memory)
{
	memory->row_count++;
	for (unsigned i = 0; i < MEMORY_COLUMNS; i++) {
		struct rvp_status status;
		uint64_t value;

		if (!*rows->fields[i])
			continue;
		status = rvp_csv_whole(rows, i, &value);
		if (rvp_failed(status))
			return status;
		memory->sum[i] += value;
		memory->measured[i]++;
		if (i == RSS && value > memory->peak_rss)
			memory->peak_rss = value;
	}
	return RVP_OK;
}

/* 0 of no rows, absent where there are rows and none has the figure. */
static bool is_told(const struct memory *memory, int column)
{
	return memory->measured[column] || !memory->row_count;
}

static void tell_sums(const struct memory *memory, struct answer *answer)
{
	uint64_t rows = memory->measured[RSS] ? memory->measured[RSS] : 1;
	struct rvp_figures *figures = open_answer(answer);

	if (is_told(memory, RSS)) {
		rvp_figure_whole(figures, "peak_rss", memory->peak_rss);
		rvp_figure_whole(figures, "mean_rss", (uint64_t)(memory->sum[RSS] / rows));
	}
	if (is_told(memory, KV_CACHE))
		rvp_figure_whole(figures, "kv_cache_total", (uint64_t)memory->sum[KV_CACHE]);
	if (is_told(memory, ACTIVATION))
		rvp_figure_whole(figures, "activation_total", (uint64_t)memory->sum[ACTIVATION]);
	rvp_figure_whole(figures, "n", memory->row_count);
	rvp_figures_close(figures);
}

static struct rvp_status tell_memory(struct rvp_csv_rows *rows, struct answer *answer)
{
	struct memory memory = {0};
	struct rvp_status status;
	bool has_row;

	while (!rvp_failed(status = rvp_csv_rows_next(rows, &has_row)) && has_row)
		if (rvp_failed(status = add_row(rows, &memory)))
			break;
	if (rvp_failed(status))
		return status;
	if (memory.sum[KV_CACHE] > UINT64_MAX || memory.sum[ACTIVATION] > UINT64_MAX)
		return rvp_fail_with("sum up", rvp_csv_path(rows), "a column's sum is beyond 64 bits");
	tell_sums(&memory, answer);
	return RVP_OK;
}

static const struct kind {
	const char *name;
	const char *columns[RVP_CSV_COLUMNS_MAX];
	struct rvp_status (*tell)(struct rvp_csv_rows *rows, struct answer *answer);
	struct rvp_status (*print)(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked);
} kinds[] = {
    {"latency", {"wall_time_us"}, tell_latency, NULL},
    {"power", {"timestamp_us", "watts"}, tell_power, NULL},
    {"memory", {"peak_rss_bytes", "kv_cache_bytes", "activation_bytes"}, tell_memory, NULL},
    {"kernels", RVP_STATS_KERNEL_COLUMNS, NULL, rvp_stats_kernels},
    {"memory-trace", {"tag", "used_mb", "allocated_mb"}, NULL, rvp_stats_memory_trace},
    {"timers", {"step", "slot", "value", "?timer"}, NULL, rvp_stats_timers},
    {"scopes", {"path", "seconds", "?thread"}, NULL, rvp_stats_scopes},
};

/* Tables are printed row after row; a bad row further down must not leave half of one. */
static struct rvp_status print_whole(const struct kind *kind, struct rvp_csv_rows *rows, struct rvp_table_asked *asked)
{
	struct rvp_status status;
	char bytes[8192];
	size_t got;

	asked->out = tmpfile();
	if (!asked->out)
		return rvp_fail("make", "a temporary file", errno);
	status = kind->print(rows, asked);
	if (!rvp_failed(status) && (fflush(asked->out) != 0 || ferror(asked->out)))
		status = rvp_fail("write", "a temporary file", errno);
	rewind(asked->out);
	while (!rvp_failed(status) && (got = fread(bytes, 1, sizeof bytes, asked->out)) > 0)
		fwrite(bytes, 1, got, stdout);
	fclose(asked->out);
	return status;
}

static int tell(const struct kind *kind, const char *path, struct answer *answer)
{
	struct rvp_csv_rows rows;
	struct rvp_status status = rvp_csv_rows_open(&rows, path, kind->columns);

	if (!rvp_failed(status)) {
		status = kind->tell ? kind->tell(&rows, answer) : print_whole(kind, &rows, &answer->table);
		rvp_csv_rows_close(&rows);
	}
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	return RVP_EXIT_DONE;
}

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!strcmp(name, kinds[i].name))
			return &kinds[i];
	return NULL;
}

static int answer_words(int count, char **words, struct answer *answer)
{
	const struct kind *kind = count ? kind_of(words[0]) : NULL;

	if (!kind) {
		rvp_complain("stats takes latency, power, memory, kernels, memory-trace, timers or scopes%s%s%s",
			     count ? ", not '" : " and a file", count ? words[0] : "", count ? "'" : "");
		return RVP_EXIT_USAGE;
	}
	if (answer->table.is_for_kernels && kind->print != rvp_stats_kernels) {
		rvp_complain("stats %s takes --json alone", kind->name);
		return RVP_EXIT_USAGE;
	}
	if (count != 2) {
		rvp_complain("stats %s takes one file ('-': standard input)%s%s%s", kind->name,
			     count > 2 ? ", not also '" : "", count > 2 ? words[2] : "",
			     count > 2 ? "'" : "");
		return RVP_EXIT_USAGE;
	}
	return tell(kind, words[1], answer);
}

int rvp_cmd_stats(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						RVP_STATS_TABLE_OPTIONS,
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct answer answer = {.table = rvp_table_asked_first()};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return RVP_EXIT_DONE;
		}
		if (option == '?' || option == ':') {
			rvp_complain_of_option(argv[0], option, argv[optind - 1], options);
			return RVP_EXIT_USAGE;
		}
		if (option == 'j')
			answer.is_json = answer.table.is_json = true;
		else
			rvp_table_take_option(&answer.table, option, optarg);
	}
	return answer_words(argc - optind, argv + optind, &answer);
}
