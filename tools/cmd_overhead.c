/* SPDX-License-Identifier: MIT */
/* cmd_overhead.c: `rvprof overhead [--rounds N] [--json] -- CMD [ARG..]`: what it costs CMD to be recorded, on this machine.
 *
 * A round runs CMD as it is, as it is once more, and under `rvprof run`, one after the other, in an order that turns from round to
 * round: what the machine does meanwhile hits all three. The cost is the median over the rounds of recorded / plain; its 95 %
 * interval is by order statistics (report/pairs.h). The second plain run says how far equal runs differ here: a cost whose
 * interval touches that band is not resolved, and said to be so.
 *
 * The outputs are not written in the rounds (that is after the program, and once): what that takes is measured behind them.
 * RVPROF_ variables are heard: RVPROF_MODE=full measures that mode.
 */
#include "record/clock_ns.h"
#include "report/json_writer.h"
#include "report/own_folder.h"
#include "report/pairs.h"
#include "tools/commands.h"
#include "tools/find_program.h"
#include "tools/overhead.h"
#include "tools/run_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 15, ROUNDS_MAX = 1000, PLAIN = 0, AGAIN, RECORDED, VARIANTS, WALL = 0, CPU, MEASURES };

static const char help[] =
    "Usage: rvprof overhead [--rounds N] [--json] -- CMD [ARG..]\n"
    "What it costs CMD to be recorded: it is run with and without, in turn, and once more without in each round, which\n"
    "tells how far equal runs differ here. Its output is thrown away. RVPROF_MODE=full and other variables are heard.\n"
    "  --rounds N  15; fewer than 6 have no interval\n"
    "  --json      one JSON object, schema rvprof.overhead/1\n"
    "  --help      this\n";

struct overhead {
	unsigned rounds;
	bool is_json;
	char **words; /* CMD */
	char folder[512], run_folder[544], self[4096];
	double ms[MEASURES][VARIANTS][ROUNDS_MAX];
	double outputs_ms;
	int status; /* of wait, of CMD by itself */
};

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* A signal to us ends what runs, and then us: the folder goes first. */
static volatile sig_atomic_t running, signalled;

static void pass_on(int number)
{
	signalled = number;
	if (running > 0)
		kill((pid_t)running, number);
}

static double now_ms(void)
{
	return (double)rvp_clock_ns(CLOCK_MONOTONIC) / 1e6;
}

static double ms_of(struct timeval time)
{
	return (double)time.tv_sec * 1e3 + (double)time.tv_usec * 1e-3;
}

/* ---- running ---- */

static int spawn(pid_t *child, const char *program, char **words)
{
	posix_spawn_file_actions_t quiet;
	posix_spawnattr_t attributes;
	sigset_t usual;
	int error;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	sigemptyset(&usual);
	for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
		sigaddset(&usual, ending_signals[i]);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	error = posix_spawn(child, program, &quiet, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&quiet);
	return error;
}

/* Runs to its end. Fails where it can't be started. */
static struct rvp_status run(const char *program, char **words, double took_ms[MEASURES], int *wait_status)
{
	double begin_ms = now_ms();
	struct rusage usage;
	pid_t child;
	int error = spawn(&child, program, words);

	if (error)
		return rvp_fail("run", words[0], error);
	running = child;
	if (signalled)
		kill(child, signalled);
	while (wait4(child, wait_status, 0, &usage) != child)
		continue;
	running = 0;
	took_ms[WALL] = now_ms() - begin_ms;
	took_ms[CPU] = ms_of(usage.ru_utime) + ms_of(usage.ru_stime);
	return RVP_OK;
}

/* "rvprof run -q -f -o FOLDER -- CMD ARG..": the words are the overhead's. */
static struct rvp_status run_recorded(struct overhead *overhead, double took_ms[MEASURES], int *wait_status)
{
	static char *const head[] = {"rvprof", "run", "-q", "-f", "-o", NULL, "--"};
	enum { HEAD = sizeof head / sizeof *head, FOLDER_AT = 5 };
	size_t count = 0;
	struct rvp_status status;
	char **words;

	while (overhead->words[count])
		count++;
	words = calloc(HEAD + count + 1, sizeof *words);
	if (!words)
		return rvp_fail("run", overhead->words[0], ENOMEM);
	memcpy(words, head, sizeof head);
	words[FOLDER_AT] = overhead->run_folder;
	memcpy(words + HEAD, overhead->words, count * sizeof *words);
	setenv("RVPROF_FINALIZE", "0", 1);
	status = run(overhead->self, words, took_ms, wait_status);
	unsetenv("RVPROF_FINALIZE");
	free(words);
	return status;
}

static struct rvp_status how_it_ended(const struct overhead *overhead, int variant, int wait_status)
{
	const char *what = variant == RECORDED ? "with recording" : "by itself";

	if (WIFSIGNALED(wait_status))
		return rvp_fail_with("measure", overhead->words[0], "it was ended by signal %d %s", WTERMSIG(wait_status), what);
	return rvp_fail_with("measure", overhead->words[0], "it ended with status %d %s, and with %d before",
			     WEXITSTATUS(wait_status), what, WEXITSTATUS(overhead->status));
}

static struct rvp_status run_variant(struct overhead *overhead, const char *program, int variant, unsigned round)
{
	double took_ms[MEASURES] = {0};
	int wait_status = 0;
	struct rvp_status status = variant == RECORDED ? run_recorded(overhead, took_ms, &wait_status)
						       : run(program, overhead->words, took_ms, &wait_status);

	if (rvp_failed(status))
		return status;
	if (overhead->status < 0)
		overhead->status = wait_status;
	if (signalled)
		return rvp_fail_with("measure", overhead->words[0], "signal %d came", (int)signalled);
	if (WIFSIGNALED(wait_status) || wait_status != overhead->status)
		return how_it_ended(overhead, variant, wait_status);
	for (int i = 0; i < MEASURES; i++)
		overhead->ms[i][variant][round] = took_ms[i];
	return RVP_OK;
}

/* One that is not counted comes first: files are read into memory by it. */
static struct rvp_status run_rounds(struct overhead *overhead, const char *program)
{
	struct rvp_status status = run_variant(overhead, program, PLAIN, 0);
	bool shows = isatty(STDERR_FILENO);

	for (unsigned round = 0; round < overhead->rounds && !rvp_failed(status); round++) {
		if (shows)
			fprintf(stderr, "\rround %u of %u", round + 1, overhead->rounds);
		for (unsigned i = 0; i < VARIANTS && !rvp_failed(status); i++)
			status = run_variant(overhead, program, (int)((round + i) % VARIANTS), round);
	}
	if (shows)
		fputs("\r\033[K", stderr);
	return status;
}

static struct rvp_status write_outputs(struct overhead *overhead)
{
	char *words[] = {"rvprof", "finalize", overhead->run_folder, NULL};
	double took_ms[MEASURES];
	int wait_status;
	struct rvp_status status = run(overhead->self, words, took_ms, &wait_status);

	overhead->outputs_ms = took_ms[WALL];
	return status;
}

/* ---- what it comes to ---- */

struct cost {
	double plain_ms, recorded_ms, ratio;
	struct rvp_band band, same; /* of the ratio; of equal runs */
	bool is_resolved;
};

static struct cost cost_of(const struct overhead *overhead, int measure)
{
	double recorded[ROUNDS_MAX], again[ROUNDS_MAX];
	const double(*ms)[ROUNDS_MAX] = overhead->ms[measure];
	struct cost cost;

	for (unsigned i = 0; i < overhead->rounds; i++) {
		recorded[i] = ms[RECORDED][i] / ms[PLAIN][i];
		again[i] = ms[AGAIN][i] / ms[PLAIN][i];
	}
	cost.plain_ms = rvp_pairs_median(ms[PLAIN], overhead->rounds);
	cost.recorded_ms = rvp_pairs_median(ms[RECORDED], overhead->rounds);
	cost.ratio = rvp_pairs_median(recorded, overhead->rounds);
	cost.band = rvp_pairs_band(recorded, overhead->rounds);
	cost.same = rvp_equal_band(again, overhead->rounds);
	cost.is_resolved = cost.band.low > cost.same.high || cost.band.high < cost.same.low;
	return cost;
}

/* TinyTorch's words for an overhead factor. */
static const char *word_of(double ratio)
{
	return ratio < 2 ? "low" : ratio < 10 ? "moderate" : "high";
}

static bool has_band(const struct rvp_band *band)
{
	return isfinite(band->high);
}

static void print_cost(const char *name, const struct cost *cost)
{
	printf("%-12s %10.2f %10.2f", name, cost->plain_ms, cost->recorded_ms);
	if (!isfinite(cost->ratio)) {
		puts("       too short to measure");
		return;
	}
	printf(" %8.3f", cost->ratio);
	if (!has_band(&cost->band))
		printf("  %-17s %-17s", "-", "-");
	else
		printf("  %.3f to %.3f    %.3f to %.3f   ", cost->band.low, cost->band.high, cost->same.low, cost->same.high);
	printf(" %s%s\n", word_of(cost->ratio), cost->is_resolved ? "" : ", not resolved");
}

static void print_text(const struct overhead *overhead, const struct cost *costs)
{
	printf("%-12s %10s %10s %8s  %-17s %-17s %s\n", "", "plain ms", "recorded", "ratio", "95 % interval", "equal runs", "");
	print_cost("wall", &costs[WALL]);
	print_cost("user + sys", &costs[CPU]);
	printf("outputs      %10.2f ms once the program is gone\n", overhead->outputs_ms);
	if (!has_band(&costs[WALL].band))
		printf("%u rounds have no interval: 6 and more do\n", overhead->rounds);
	else if (!costs[WALL].is_resolved)
		puts("not resolved: equal runs differ as much on this machine; more rounds or a longer program tell more");
	if (overhead->status)
		printf("each run ended with status %d: it may have done less than you want measured\n",
		       WEXITSTATUS(overhead->status));
	puts("low: less than 2 times, moderate: less than 10, else high");
}

static void write_cost(struct rvp_json *json, const char *name, const struct cost *cost)
{
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "name", name);
	rvp_json_figure(json, "plain_ms", cost->plain_ms);
	rvp_json_figure(json, "recorded_ms", cost->recorded_ms);
	if (isfinite(cost->ratio))
		rvp_json_figure(json, "ratio", cost->ratio);
	if (isfinite(cost->ratio) && has_band(&cost->band)) {
		rvp_json_figure(json, "ratio_low", cost->band.low);
		rvp_json_figure(json, "ratio_high", cost->band.high);
		rvp_json_figure(json, "equal_low", cost->same.low);
		rvp_json_figure(json, "equal_high", cost->same.high);
	}
	rvp_json_bool(json, "is_resolved", cost->is_resolved);
	if (isfinite(cost->ratio))
		rvp_json_string(json, "level", word_of(cost->ratio));
	rvp_json_close(json, '}');
}

static void print_json(const struct overhead *overhead, const struct cost *costs)
{
	struct rvp_json json = {.out = stdout};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.overhead/1");
	rvp_json_open(&json, "command", '[');
	for (char **word = overhead->words; *word; word++)
		rvp_json_string(&json, NULL, *word);
	rvp_json_close(&json, ']');
	rvp_json_number(&json, "rounds", overhead->rounds);
	rvp_json_number(&json, "exit_status", (uint64_t)WEXITSTATUS(overhead->status));
	rvp_json_open(&json, "rows", '[');
	write_cost(&json, "wall", &costs[WALL]);
	write_cost(&json, "cpu", &costs[CPU]);
	rvp_json_close(&json, ']');
	rvp_json_figure(&json, "outputs_ms", overhead->outputs_ms);
	rvp_json_close(&json, '}');
	fputc('\n', stdout);
}

/* ---- the command ---- */

/* Where the runs are kept meanwhile; it goes again, also where a signal ends us. */
static struct rvp_status open_folder(struct overhead *overhead)
{
	const char *temporary = getenv("TMPDIR");
	char path[sizeof overhead->folder];

	if (!rvp_own_path(overhead->self))
		return rvp_fail("find", "rvprof itself", ENOENT);
	if (!temporary || !*temporary || strlen(temporary) > sizeof path - 32)
		temporary = "/tmp";
	snprintf(path, sizeof path, "%.400s/rvprof-overhead-XXXXXX", temporary);
	if (!mkdtemp(path))
		return rvp_fail("make", path, errno);
	memcpy(overhead->folder, path, sizeof path);
	snprintf(overhead->run_folder, sizeof overhead->run_folder, "%s/run", path);
	for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
		sigaction(ending_signals[i], &(struct sigaction){.sa_handler = pass_on}, NULL);
	return RVP_OK;
}

static struct rvp_status measure(struct overhead *overhead, const char *program)
{
	struct rvp_status status = open_folder(overhead), removed = RVP_OK;

	if (rvp_failed(status))
		return status;
	status = run_rounds(overhead, program);
	if (!rvp_failed(status))
		status = write_outputs(overhead);
	if (access(overhead->run_folder, F_OK) == 0)
		removed = rvp_old_run_remove(overhead->run_folder);
	rmdir(overhead->folder);
	return rvp_failed(status) ? status : removed;
}

static int answer(struct overhead *overhead)
{
	char program[RVP_PROGRAM_PATH_BYTES];
	struct cost costs[MEASURES];
	struct rvp_status status;
	int error = rvp_find_program(overhead->words[0], program);

	if (error) {
		rvp_complain("cannot run '%s': %s", overhead->words[0], error == ENOENT ? "no such program" : strerror(error));
		return RVP_EXIT_USAGE;
	}
	overhead->status = -1;
	status = measure(overhead, program);
	if (signalled) {
		signal(signalled, SIG_DFL);
		raise(signalled);
	}
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	for (int i = 0; i < MEASURES; i++)
		costs[i] = cost_of(overhead, i);
	if (overhead->is_json)
		print_json(overhead, costs);
	else
		print_text(overhead, costs);
	return RVP_EXIT_DONE;
}

static bool take_rounds(unsigned *rounds, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !value || value > ROUNDS_MAX) {
		rvp_complain("--rounds takes a number from 1 to %d, not '%s'", ROUNDS_MAX, text);
		return false;
	}
	*rounds = (unsigned)value;
	return true;
}

const struct option rvp_overhead_options[] = {{"rounds", required_argument, NULL, 'r'},
					      {"json", no_argument, NULL, 'j'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};

int rvp_cmd_overhead(int argc, char **argv)
{
	static struct overhead overhead = {.rounds = ROUNDS};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:", rvp_overhead_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return RVP_EXIT_DONE;
		}
		if (option == '?' || option == ':') {
			rvp_complain_of_option(argv[0], option, argv[optind - 1], rvp_overhead_options);
			return RVP_EXIT_USAGE;
		}
		overhead.is_json |= option == 'j';
		if (option == 'r' && !take_rounds(&overhead.rounds, optarg))
			return RVP_EXIT_USAGE;
	}
	overhead.words = argv + optind;
	if (*overhead.words)
		return answer(&overhead);
	rvp_complain("no program to run; usage: rvprof overhead [--rounds N] [--json] -- CMD [ARG..]");
	return RVP_EXIT_USAGE;
}
