/* SPDX-License-Identifier: MIT */
/* cmd_bench.c: `rvprof bench`: one command at many settings: what each costs and gives, with a bundle that
 * anybody can check.
 */
#include "report/own_folder.h"
#include "report/text_numbers.h"
#include "sweep/figures.h"
#include "sweep/plan_words.h"
#include "sweep/seal.h"
#include "sweep/words.h"
#include "tools/bench_answer.h"
#include "tools/bench_report.h"
#include "tools/commands.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: rvprof bench [OPTION..] [--baseline 'CMD'] --grid NAME=VALUE,VALUE.. [--grid ..] -- CMD [ARG..]\n"
    "Runs CMD at every combination of the grids' values, which stand in its words as {NAME}, recorded by "
    "rvprof; writes\n"
    "csv/results.csv, a CSV a setting, and witness/witness.rvf, which `rvprof verify` checks.\n"
    "  -o, --output DIR       results go there (default rvprof-bench)\n"
    "  -f, --force            throw away the sweep that is there\n"
    "      --resume           go on with the sweep that is there\n"
    "      --ini FILE         a plan in a file; words here come after it\n"
    "      --baseline CMD     what settings are compared with, by sh where it needs one (default: the first "
    "setting)\n"
    "      --grid NAME=V,V..  an axis\n"
    "      --samples N        {samples} (default 1000)\n"
    "      --seed N           {seed}, and the order of runs (default 42)\n"
    "      --metric NAME=RE   a figure in the output: the first group of the last match\n"
    "      --name TEXT        names of settings, with places: 'l{lambda}_t{tau}'\n"
    "      --power SOURCE     energy, as of `rvprof run --power`\n"
    "      --repeats N[:M]    rounds of timing: at least N, at most M (default 5:15)\n"
    "      --warm-up N        rounds before them that don't count (default 1)\n"
    "      --precision PCT    enough rounds when each mean time is known so well (default 2)\n"
    "      --budget SECONDS   no new round when it would take longer (default 600)\n"
    "      --timeout SECONDS  of one run\n"
    "      --key FILE         sign the results with this Ed25519 key\n"
    "      --wide             results.csv with lambda and tau in columns of their own\n"
    "      --report DIR       of a sweep that is there, on standard output; nothing is run\n"
    "      --format FORM      of the report: md (default), html, csv, json\n"
    "      --json             the answer as one JSON object, schema rvprof.bench/1\n"
    "  -q, --quiet            no progress and no notes\n"
    "      --help             this\n"
    "Places: the grids' names, {samples}, {seed}, {setting}, {witness}: a file for a JSONL line a decision.\n"
    "Status: 0 done, 1 a setting failed, 2 wrong use, 125 rvprof itself failed.\n";

enum {
	OUTPUT = 'o',
	FORCE = 'f',
	QUIET = 'q',
	RESUME = 256,
	INI,
	GRID,
	METRIC,
	KEY,
	WIDE,
	JSON,
	REPORT,
	FORMAT,
	HELP,
	FIRST_WORD
};

struct arguments {
	struct rvp_plan plan;
	const char *out, *key_path, *report, *format;
	bool is_forced, resumes, is_wide, is_json, is_quiet;
};

static volatile int stop;

static void on_signal(int number)
{
	stop = number;
}

/* ---- words ---- */

static const struct option own_options[] = {
    {"output", required_argument, NULL, OUTPUT}, {"force", no_argument, NULL, FORCE},
    {"quiet", no_argument, NULL, QUIET},         {"resume", no_argument, NULL, RESUME},
    {"ini", required_argument, NULL, INI},       {"grid", required_argument, NULL, GRID},
    {"metric", required_argument, NULL, METRIC}, {"key", required_argument, NULL, KEY},
    {"wide", no_argument, NULL, WIDE},           {"json", no_argument, NULL, JSON},
    {"report", required_argument, NULL, REPORT}, {"format", required_argument, NULL, FORMAT},
    {"help", no_argument, NULL, HELP},
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options, OPTIONS_MAX = 40 };

/* And those that have one value, by the plan's own list. */
static void make_options(struct option options[OPTIONS_MAX])
{
	int count = OWN_OPTIONS;

	memcpy(options, own_options, sizeof own_options);
	for (int i = 0; rvp_plan_word_names[i]; i++)
		options[count++] =
		    (struct option){rvp_plan_word_names[i], required_argument, NULL, FIRST_WORD + i};
	options[count] = (struct option){NULL, 0, NULL, 0};
}

static struct rvp_status take_option(struct arguments *arguments, int letter, const char *value)
{
	switch (letter) {
	case OUTPUT: arguments->out = value; break;
	case FORCE: arguments->is_forced = true; break;
	case QUIET: arguments->is_quiet = true; break;
	case RESUME: arguments->resumes = true; break;
	case KEY: arguments->key_path = value; break;
	case REPORT: arguments->report = value; break;
	case FORMAT: arguments->format = value; break;
	case WIDE: arguments->is_wide = true; break;
	case JSON: arguments->is_json = true; break;
	case GRID: return rvp_plan_add_axis(&arguments->plan, value);
	case METRIC: return rvp_plan_add_metric(&arguments->plan, value);
	case INI: return rvp_plan_read_ini(&arguments->plan, value);
	default: return rvp_plan_take_word(&arguments->plan, rvp_plan_word_names[letter - FIRST_WORD], value);
	}
	return RVP_OK;
}

static struct rvp_status take_command(struct rvp_plan *plan, char **words)
{
	size_t count = 0;
	char **command;

	while (words[count])
		count++;
	if (!count)
		return RVP_OK; /* an INI file's, or the check complains */
	command = calloc(count + 1, sizeof *command);
	for (size_t i = 0; command && i < count; i++)
		if (!(command[i] = strdup(words[i]))) {
			rvp_words_free(command);
			command = NULL;
		}
	if (!command)
		return rvp_fail("sweep", NULL, ENOMEM);
	rvp_words_free(plan->command);
	plan->command = command;
	return RVP_OK;
}

/* 0: go on; else the command is over with this status, + 1. */
static int read_words(struct arguments *arguments, int argc, char **argv)
{
	struct option options[OPTIONS_MAX];
	struct rvp_status status = RVP_OK;
	int letter;

	make_options(options);
	opterr = 0;
	while (!rvp_failed(status) && (letter = getopt_long(argc, argv, "+:o:fq", options, NULL)) != -1) {
		if (letter == HELP)
			return fputs(help, stdout), RVP_EXIT_DONE + 1;
		if (letter == '?' || letter == ':') {
			rvp_complain_of_option("bench", letter, argv[optind - 1], options);
			return RVP_EXIT_USAGE + 1;
		}
		status = take_option(arguments, letter, optarg);
	}
	if (!rvp_failed(status))
		status = take_command(&arguments->plan, argv + optind);
	if (!rvp_failed(status) && !arguments->report)
		status = rvp_plan_check(&arguments->plan);
	if (rvp_failed(status))
		rvp_complain_of(&status);
	return rvp_failed(status) ? RVP_EXIT_USAGE + 1 : 0;
}

/* ---- progress ---- */

static void show_progress(const struct rvp_sweep *sweep, const char *what, size_t done, size_t all)
{
	char left[RVP_NUMBER_TEXT_BYTES] = "";
	unsigned rounds_left = (unsigned)(sweep->plan->most_repeats - sweep->rounds);

	if (sweep->round_s > 0 && sweep->rounds < sweep->plan->most_repeats)
		rvp_text_duration((uint64_t)(sweep->round_s * 1e9 * rounds_left), left);
	fprintf(stderr, "\r\033[K%s: %zu of %zu runs%s%s%s", what, done, all, *left ? ", at most " : "", left,
		*left ? " left" : "");
	if (done == all)
		fputs("\r\033[K", stderr);
}

/* ---- the sweep ---- */

static void catch_signals(void)
{
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &action, NULL);
}

static struct rvp_status answer(const struct rvp_bench *written, const struct arguments *arguments)
{
	struct rvp_comparisons comparisons;
	struct rvp_bench bench = *written;
	struct rvp_status status;

	bench.comparisons = &comparisons;
	status = rvp_compare(&comparisons, bench.sweep, bench.outcomes)
		     ? rvp_bench_keep(&bench)
		     : rvp_fail("compare", bench.sweep->place.out, ENOMEM);
	if (!rvp_failed(status))
		rvp_bench_answer(&bench, arguments->is_json, arguments->is_quiet);
	rvp_comparisons_free(&comparisons);
	return status;
}

static struct rvp_status write_all(struct rvp_sweep *sweep, const struct arguments *arguments,
				   struct rvp_outcomes *outcomes)
{
	struct rvp_status status = rvp_outcomes_read(outcomes, sweep);
	uint64_t decisions = 0;
	bool has_gnuplot = false;

	if (!rvp_failed(status))
		status = rvp_results_write(sweep, outcomes, arguments->is_wide);
	if (!rvp_failed(status))
		status = rvp_figures_write(sweep, outcomes, &has_gnuplot);
	if (!rvp_failed(status))
		status = rvp_sweep_seal(sweep, outcomes, arguments->key_path, &decisions);
	if (!rvp_failed(status) && !has_gnuplot && !arguments->is_quiet)
		rvp_complain("gnuplot is not here: figs/ has its scripts, and no pictures");
	if (!rvp_failed(status))
		status = answer(&(struct rvp_bench){sweep, outcomes, NULL, decisions}, arguments);
	return status;
}

static bool has_failed(const struct rvp_outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++)
		if (*outcomes->rows[i].failure)
			return true;
	return false;
}

static int sweep_all(const struct arguments *arguments)
{
	char self[PATH_MAX] = "";
	struct rvp_sweep sweep = {.plan = &arguments->plan, .self = self, .stop = &stop};
	struct rvp_outcomes outcomes = {.rows = NULL};
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct rvp_status status;

	sweep.workers = processors > 0 ? (unsigned)processors : 1;
	sweep.progress = arguments->is_quiet || !isatty(STDERR_FILENO) ? NULL : show_progress;
	if (!rvp_own_path(self))
		return rvp_complain("/proc is not there: rvprof can't find itself"), RVP_EXIT_RUN_FAILED;
	status = rvp_sweep_place_open(&sweep.place, arguments->out, &arguments->plan,
				      arguments->is_forced ? RVP_SWEEP_ANEW
				      : arguments->resumes ? RVP_SWEEP_GOES_ON
							   : RVP_SWEEP_FIRST);
	if (rvp_failed(status)) {
		rvp_sweep_place_close(&sweep.place);
		return rvp_complain_of(&status), RVP_EXIT_USAGE;
	}
	catch_signals();
	status = rvp_sweep_run(&sweep);
	if (!rvp_failed(status))
		status = write_all(&sweep, arguments, &outcomes);
	if (stop)
		rvp_complain("stopped; what is done is kept: --resume goes on");
	else if (rvp_failed(status))
		rvp_complain_of(&status);
	rvp_sweep_place_close(&sweep.place);
	if (rvp_failed(status))
		return rvp_outcomes_free(&outcomes), RVP_EXIT_RUN_FAILED;
	processors = has_failed(&outcomes);
	rvp_outcomes_free(&outcomes);
	return processors ? RVP_EXIT_NO : RVP_EXIT_DONE;
}

static int report(const struct arguments *arguments)
{
	struct rvp_status status = rvp_bench_report(arguments->report, arguments->is_json  ? "json"
								       : arguments->format ? arguments->format
											   : "md");

	if (rvp_failed(status))
		rvp_complain_of(&status);
	return rvp_failed(status) ? RVP_EXIT_USAGE : RVP_EXIT_DONE;
}

int rvp_cmd_bench(int argc, char **argv)
{
	struct arguments arguments = {.out = "rvprof-bench"};
	int status;

	rvp_plan_begin(&arguments.plan);
	status = read_words(&arguments, argc, argv);
	if (!status)
		status = arguments.report ? report(&arguments) : sweep_all(&arguments);
	else
		status--;
	rvp_plan_free(&arguments.plan);
	return status;
}
