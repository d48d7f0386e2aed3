/* SPDX-License-Identifier: MIT */
/* cmd_export.c: `rvprof export FORMAT [DIR] [-o FILE|-]`: a run in the format of another tool. */
#include "report/export_csv.h"
#include "report/export_be.h"
#include "report/export_trace.h"
#include "report/run.h"
#include "report/whole_file.h"
#include "tools/commands.h"
#include "tools/newest_run.h"
#include "tools/run_loss.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: rvprof export chrome|chrome-be|csv|hta [DIR] [-o FILE|-] [--pid N] [--level N] [--from TIME] [--to TIME]\n"
    "  chrome     what trace.json has, without its limit of 100 MB: for Perfetto and chrome://tracing\n"
    "  chrome-be  begins and ends as RAF's profiler writes them: operators and work of devices; with --level 2 also scopes,\n"
    "             steps, Python functions, calls of BLAS and CUDA\n"
    "  csv        what kernels.csv has, without its limit of 100 MB: every kernel\n"
    "  hta        work on devices, launches and steps of one process, for HolisticTraceAnalysis\n"
    "  -o FILE    where to (DIR/chrome.json, DIR/chrome-be.json, DIR/kernels-all.csv, DIR/hta.json); '-': standard output\n"
    "  --pid N    of hta: the process, where several used devices; of chrome: this one alone\n"
    "  --from TIME --to TIME  of chrome: what begins between two moments: 12.5s, 40%, step:3, a mark\n"
    "  --level N  of chrome-be: 1 or 2 (1)\n"
    "  --help     this\n";

static const char *const formats[] = {"chrome", "chrome-be", "csv", "hta", NULL};
static const char *const later[] = {"perfetto", "pprof",	    "speedscope", "collapsed", "firefox",
				    "sqlite",	 "memory-viz", "openmetrics", "jsonl",	NULL};

struct arguments {
	const char *format, *output;
	const char *from, *to;
	uint32_t pid;
	int level; /* 0: not given */
	char **words; /* behind the format */
	int word_count;
};

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
					{"pid", required_argument, NULL, 'p'},
					{"level", required_argument, NULL, 'l'},
					{"from", required_argument, NULL, 'f'},
					{"to", required_argument, NULL, 't'},
					{"help", no_argument, NULL, 'h'},
					{NULL, 0, NULL, 0}};

static bool pid_of(const char *text, uint32_t *pid)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*pid = (uint32_t)value;
	if (*text >= '1' && *text <= '9' && !*end && value <= INT_MAX)
		return true;
	rvp_complain("--pid takes the number of a process, not '%s'", text);
	return false;
}

static bool level_of(const char *text, int *level)
{
	*level = !strcmp(text, "1") ? 1 : !strcmp(text, "2") ? 2 : 0;
	if (!*level)
		rvp_complain("--level takes 1 (operators and work of devices) or 2 (and calls of the host), not '%s'", text);
	return *level;
}

static bool is_in(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

static bool format_of(const char *word)
{
	const char *near = rvp_nearest(word, formats);

	if (is_in(word, formats))
		return true;
	if (is_in(word, later))
		rvp_complain("export '%s' is not in this version", word);
	else
		rvp_complain("export takes chrome, chrome-be, csv or hta, not '%s'%s%s%s", word, near ? "; did you mean '" : "",
			     near ? near : "", near ? "'?" : "");
	return false;
}

static bool has_its_options(const struct arguments *arguments)
{
	if (arguments->level && strcmp(arguments->format, "chrome-be")) {
		rvp_complain("--level is of chrome-be alone");
		return false;
	}
	if ((arguments->from || arguments->to) && strcmp(arguments->format, "chrome")) {
		rvp_complain("export %s takes all of the run: --from and --to are of chrome", arguments->format);
		return false;
	}
	return true;
}

/* False: the command is over with *status. */
static bool read_arguments(struct arguments *arguments, int argc, char **argv, int *status)
{
	int option;

	*status = RVP_EXIT_USAGE;
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			*status = RVP_EXIT_DONE;
			return false;
		}
		if (option == 'o') {
			arguments->output = optarg;
		} else if (option == 'p') {
			if (!pid_of(optarg, &arguments->pid))
				return false;
		} else if (option == 'l') {
			if (!level_of(optarg, &arguments->level))
				return false;
		} else if (option == 'f') {
			arguments->from = optarg;
		} else if (option == 't') {
			arguments->to = optarg;
		} else {
			rvp_complain_of_option("export", option, argv[optind - 1], options);
			return false;
		}
	}
	arguments->format = optind < argc ? argv[optind] : NULL;
	arguments->words = argv + optind + 1;
	arguments->word_count = argc - optind - 1;
	if (!arguments->format)
		rvp_complain("export takes a format: chrome, chrome-be, csv or hta");
	return arguments->format && format_of(arguments->format) && has_its_options(arguments);
}

static struct rvp_status put(const struct arguments *arguments, struct rvp_run *run, FILE *out)
{
	if (!strcmp(arguments->format, "hta"))
		return rvp_export_hta(run, arguments->pid, out);
	if (!strcmp(arguments->format, "csv"))
		return rvp_export_csv(run, out);
	if (!strcmp(arguments->format, "chrome-be"))
		return rvp_export_be(run, arguments->level ? arguments->level : 1, out);
	return rvp_export_chrome(
	    run, &(struct rvp_trace_part){.pid = arguments->pid, .from = arguments->from, .to = arguments->to}, out);
}

/* Into what is no file of its own: a pipe, a terminal, /dev/null. A file beside it would take its place. */
static struct rvp_status put_into(const struct arguments *arguments, struct rvp_run *run, const char *path)
{
	FILE *out = fopen(path, "we");
	struct rvp_status status;

	if (!out)
		return rvp_fail("write", path, errno);
	status = put(arguments, run, out);
	if (fclose(out) != 0 && !rvp_failed(status) && errno != EPIPE)
		status = rvp_fail("write", path, errno);
	return status;
}

static struct rvp_status put_file(const struct arguments *arguments, struct rvp_run *run, const char *path)
{
	struct rvp_whole_file whole;
	struct rvp_status status;

	if (rvp_is_no_plain_file(path))
		return put_into(arguments, run, path);
	status = rvp_whole_file_open(&whole, path);
	if (rvp_failed(status))
		return status;
	return rvp_whole_file_close(&whole, put(arguments, run, whole.file));
}

static struct rvp_status export(const struct arguments *arguments, const char *folder)
{
	char path[PATH_MAX + 64];
	struct rvp_run *run;
	struct rvp_status status = rvp_run_open(&run, folder);

	if (rvp_failed(status))
		return status;
	rvp_say_loss(run);
	rvp_origin_make(run, NULL);
	if (!strcmp(arguments->format, "csv"))
		snprintf(path, sizeof path, "%s/kernels-all.csv", folder);
	else
		snprintf(path, sizeof path, "%s/%s.json", folder, arguments->format);
	if (arguments->output && !strcmp(arguments->output, "-"))
		status = put(arguments, run, stdout);
	else
		status = put_file(arguments, run, arguments->output ? arguments->output : path);
	rvp_run_close(run);
	if (!rvp_failed(status) && fflush(stdout) != 0 && errno != EPIPE)
		status = rvp_fail("write", "standard output", errno);
	return status;
}

int rvp_cmd_export(int argc, char **argv)
{
	struct arguments arguments = {0};
	char newest[PATH_MAX];
	const char *folder;
	struct rvp_status status;
	int exit_status;

	if (!read_arguments(&arguments, argc, argv, &exit_status))
		return exit_status;
	folder = rvp_run_folder_of("export", arguments.word_count, arguments.words, newest);
	if (!folder)
		return RVP_EXIT_USAGE;
	status = export(&arguments, folder);
	if (!rvp_failed(status))
		return RVP_EXIT_DONE;
	rvp_complain_of(&status);
	return RVP_EXIT_USAGE;
}
