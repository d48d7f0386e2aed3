/* SPDX-License-Identifier: MIT */
/* cmd_op.c: `rvprof op [DIR]` and `rvprof op -- CMD [ARG..]`: the operators that a program, or an adapter, told of
 * (rvprof_op_begin), by name and args: times and workspace. A command is recorded in full mode, so that bytes are exact,
 * and ends as it would have. */
#include "report/run.h"
#include "report/run_tables.h"
#include "tools/commands.h"
#include "tools/newest_run.h"
#include "tools/op_layers.h"
#include "tools/run_loss.h"
#include "tools/run_place.h"
#include "tools/run_program.h"
#include "tools/run_record.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_DEFAULT = 1000, FIRST_MAX = 10000000, RUN_WORDS = 16 };

static const char help[] =
    "Usage: rvprof op [--json] [--first N] [DIR]\n"
    "       rvprof op [--json] [--first N] [-o DIR] [-f] [--mode MODE] -- CMD [ARG..]\n"
    "       rvprof op 'LAYERS' --input SHAPE ..     operators that are run here: `rvprof op --input= --help`\n"
    "Operators of rvprof.h and rvprof.py (rvprof_op_begin) by name and args: how often, latency in microseconds, time\n"
    "less that of operators inside, and the most that was live of what they asked for (workspace).\n"
    "  DIR         of a run that is there, or the newest here\n"
    "  -- CMD      of CMD, which is recorded first, in full mode; the status is CMD's\n"
    "  --first N   how many latencies of each are listed (1000 in JSON, 10 in text)\n"
    "  -o DIR, -f, --mode MODE   as of `rvprof run`\n"
    "  --json      one JSON object, schema rvprof.op/1\n"
    "  --help      this\n";

struct arguments {
	bool json, force;
	size_t first_count;
	const char *output, *mode;
	char **words;
	int word_count;
	bool is_command;
};

static const struct option options[] = {{"json", no_argument, NULL, 'j'},    {"first", required_argument, NULL, 'n'},
					{"output", required_argument, NULL, 'o'}, {"force", no_argument, NULL, 'f'},
					{"mode", required_argument, NULL, 'm'},	  {"help", no_argument, NULL, 'h'},
					{NULL, 0, NULL, 0}};

static bool first_of(const char *text, size_t *count)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*count = value;
	if (*text >= '0' && *text <= '9' && !*end && value <= FIRST_MAX)
		return true;
	rvp_complain("--first takes a number from 0 to %d, not '%s'", FIRST_MAX, text);
	return false;
}

static bool take_option(struct arguments *arguments, int option)
{
	switch (option) {
	case 'j': arguments->json = true; return true;
	case 'n': return first_of(optarg, &arguments->first_count);
	case 'o': arguments->output = optarg; return true;
	case 'f': arguments->force = true; return true;
	case 'm': arguments->mode = optarg; return true;
	default: return false;
	}
}

/* Where "--" stands; argc: nowhere. */
static int end_of_words(int argc, char **argv)
{
	int at = 1;

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	return at;
}

static bool read_options(struct arguments *arguments, int argc, char **argv, int *status)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:fh", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			*status = RVP_EXIT_DONE;
			return false;
		}
		if (option == '?' || option == ':')
			rvp_complain_of_option("op", option, argv[optind - 1], options);
		if (option == '?' || option == ':' || !take_option(arguments, option))
			return false;
	}
	return true;
}

/* False: the command is over with *status. */
static bool read_arguments(struct arguments *arguments, int argc, char **argv, int *status)
{
	int end = end_of_words(argc, argv);
	char *mark = argv[end];
	bool is_right;

	*status = RVP_EXIT_USAGE;
	argv[end] = NULL;
	is_right = read_options(arguments, end, argv, status);
	argv[end] = mark;
	if (!is_right)
		return false;
	arguments->is_command = end < argc;
	arguments->words = arguments->is_command ? argv + end + 1 : argv + optind;
	arguments->word_count = arguments->is_command ? argc - end - 1 : argc - optind;
	if (arguments->is_command && optind < end)
		rvp_complain("op takes a run folder or a command behind --, not both");
	else if (arguments->is_command && !arguments->word_count)
		rvp_complain("op takes a command behind --");
	else
		return true;
	return false;
}

static int print(const struct arguments *arguments, const char *folder)
{
	struct rvp_run *run;
	struct rvp_status status = rvp_run_open(&run, folder);

	if (!rvp_failed(status)) {
		rvp_say_loss(run);
		status = rvp_run_ops_print(run, arguments->first_count, arguments->json, stdout);
		rvp_run_close(run);
	}
	if (!rvp_failed(status) && fflush(stdout) != 0 && errno != EPIPE)
		status = rvp_fail("write", "standard output", errno);
	if (!rvp_failed(status))
		return RVP_EXIT_DONE;
	rvp_complain_of(&status);
	return RVP_EXIT_USAGE;
}

/* ---- a command ---- */

/* The words of `rvprof run` that record it. */
static int run_words(const struct arguments *arguments, const char **words)
{
	int count = 0;

	words[count++] = "run";
	words[count++] = "-q";
	words[count++] = "--mode";
	words[count++] = arguments->mode ? arguments->mode : "full";
	if (arguments->force)
		words[count++] = "-f";
	if (arguments->output) {
		words[count++] = "-o";
		words[count++] = arguments->output;
	}
	words[count++] = "--";
	for (int i = 0; i < arguments->word_count; i++)
		words[count++] = arguments->words[i];
	words[count] = NULL;
	return count;
}

static int record(const struct arguments *arguments)
{
	const char **words = calloc((size_t)arguments->word_count + RUN_WORDS, sizeof *words);
	struct rvp_recorded recorded;
	int status;

	if (!words) {
		rvp_complain("no memory for the words of the command");
		return RVP_EXIT_RUN_FAILED;
	}
	optind = 0; /* getopt begins anew */
	if (rvp_run_record(run_words(arguments, words), (char **)words, &recorded, &status)) {
		rvp_complain("op of %s", rvp_path_from_here(recorded.folder));
		status = print(arguments, recorded.folder) == RVP_EXIT_DONE ? rvp_program_pass_on(recorded.wait_status)
									   : RVP_EXIT_RUN_FAILED;
	}
	free(words);
	return status;
}

int rvp_cmd_op(int argc, char **argv)
{
	struct arguments arguments = {.first_count = FIRST_DEFAULT};
	char newest[PATH_MAX];
	const char *folder;
	int status;

	if (rvp_op_is_of_layers(argc, argv))
		return rvp_op_of_layers(argc, argv);
	if (!read_arguments(&arguments, argc, argv, &status))
		return status;
	if (arguments.is_command)
		return record(&arguments);
	if (arguments.output || arguments.force || arguments.mode) {
		rvp_complain("op takes -o, -f and --mode with a command behind -- alone");
		return RVP_EXIT_USAGE;
	}
	folder = rvp_run_folder_of("op", arguments.word_count, arguments.words, newest);
	return folder ? print(&arguments, folder) : RVP_EXIT_USAGE;
}
