/* SPDX-License-Identifier: MIT */
/* report_settings.c: see report_settings.h. */
#include "tools/report_settings.h"

#include "report/text_style.h"
#include "tools/commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char rvp_report_help[] =
    "rvprof report [OPTION..] [DIR]: what was recorded, also while the program runs or after a kill\n\n"
    "Without DIR: the newest run folder here.\n\n"
    "  --at TIME           what was live at that moment, in place of the peak\n"
    "  --from TIME --to TIME  what grew between two moments (--to end where it is left out)\n"
    "  --by WHAT           only the list by: peak, end, allocated, count, temporary\n"
    "  --device NAME       the same of that device's memory (cuda:0), in place of the host's\n"
    "  --ledger            what resident memory consisted of at its peak, the end and snapshots\n"
    "  --kernels           time on devices by kernel, with the columns of nsys' cuda_gpu_kern_sum\n"
    "  --kernels --by WHAT the same by: kernel, class, step, stream, site (call path of the launch), range "
    "(NVTX, scopes)\n"
    "  --kernels --step N  of one step alone\n"
    "  --latency           times of steps, to the first token and between tokens; stalls and what happened "
    "in them\n"
    "  --roofline          steps and products of matrices under this machine's limits (rvprof calibrate): FLOP/s, FLOPs a byte, "
    "what bounds them\n"
    "  --table NAME        in the layout of an earlier profiler: kernels-count, kernels-trace, ops, "
    "ops-count, ops-trace,\n"
    "                      scopes, memory-trace, timers (ops: operators of rvprof.h; timers: of "
    "rvprof_timers.h)\n"
    "  --table NAME --query REGEX  of kernels-count and ops-count: the names that begin so, taken for parts "
    "of one\n"
    "  --top N             call stacks a list (10 in the first, 5 in the others)\n"
    "  --frames N          lines a call stack (5)\n"
    "  --json              the text of summary.json; with any other option that answer\n"
    "  --rules FILE        rules of yours, asked before the built-in ones; the outputs are written again by "
    "them\n"
    "  --color WHEN        auto, always or never; NO_COLOR and FORCE_COLOR are heard "
    "too\n\n" RVP_QUESTIONS_HELP "\n"
    "TIME: 12.5s since the start, 40% of the run, step:3, peak, end, or a mark's label.\n";

/* clang-format off */
const struct option rvp_report_options[] = {
	{"at", required_argument, NULL, 'a'},
	{"from", required_argument, NULL, 'f'},
	{"to", required_argument, NULL, 't'},
	{"by", required_argument, NULL, 'b'},
	{"ledger", no_argument, NULL, 'l'},
	{"device", required_argument, NULL, 'D'},
	{"kernels", no_argument, NULL, 'k'},
	{"latency", no_argument, NULL, 'L'},
	{"roofline", no_argument, NULL, 'R'},
	{"table", required_argument, NULL, 'T'},
	{"query", required_argument, NULL, 'q'},
	{"top", required_argument, NULL, 'n'},
	{"frames", required_argument, NULL, 'd'},
	{"json", no_argument, NULL, 'j'},
	{"rules", required_argument, NULL, 'r'},
	{"color", required_argument, NULL, 'c'},
	{"help", no_argument, NULL, 'h'},
	RVP_QUESTION_OPTIONS,
	{NULL, 0, NULL, 0},
};
/* clang-format on */

static bool number_of(const char *name, const char *text, unsigned *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && value > 0 && value <= 1000000) {
		*number = (unsigned)value;
		return true;
	}
	rvp_complain("--%s takes a number from 1 to 1000000, not '%s'", name, text);
	return false;
}

static bool measure_of(const char *word, enum rvp_measure *measure)
{
	static const char *const words[] = {"peak", "end", "allocated", "count", "temporary", NULL};
	static const enum rvp_measure measures[] = {RVP_AT_PEAK, RVP_AT_END, RVP_ALLOCATED,
						    RVP_ALLOCATED_COUNT, RVP_TEMPORARY};

	for (int i = 0; words[i]; i++)
		if (!strcmp(word, words[i])) {
			*measure = measures[i];
			return true;
		}
	rvp_complain("--by takes peak, end, allocated, count or temporary, not '%s'", word);
	return false;
}

static bool color_of(const char *word, enum rvp_color_choice *choice)
{
	if (rvp_color_choice_of(word, choice))
		return true;
	rvp_complain("--color takes auto, always or never, not '%s'", word);
	return false;
}

static bool take_rules(struct rvp_report_settings *settings, const char *file)
{
	if (settings->rule_count == RVP_RULE_FILES_MAX) {
		rvp_complain("more than %d rule files", RVP_RULE_FILES_MAX);
		return false;
	}
	if (access(file, R_OK) != 0) {
		rvp_complain("cannot read rules %s: %s", file, strerror(errno));
		return false;
	}
	settings->rule_files[settings->rule_count++] = file;
	return true;
}

static bool table_of(struct rvp_report_settings *settings, const char *word)
{
	const char *near = rvp_nearest(word, rvp_run_table_names);

	settings->has_table = true;
	for (int i = 0; i < RVP_RUN_TABLES; i++)
		if (!strcmp(word, rvp_run_table_names[i])) {
			settings->table = (enum rvp_run_table)i;
			return true;
		}
	rvp_complain("--table takes kernels-count, kernels-trace, ops, ops-count, ops-trace, scopes, "
		     "memory-trace or timers, not '%s'%s%s%s",
		     word, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
	return false;
}

static bool take_option(struct rvp_report_settings *settings, int option)
{
	switch (option) {
	case 'a': settings->at = optarg; return true;
	case 'f': settings->from = optarg; return true;
	case 't': settings->to = optarg; return true;
	case 'b': settings->by = optarg; return true;
	case 'T': return table_of(settings, optarg);
	case 'q': settings->query = optarg; return true;
	case 'k': settings->kernels = true; return true;
	case 'L': settings->latency = true; return true;
	case 'R': settings->roofline = true; return true;
	case 'n': settings->has_top = true; return number_of("top", optarg, &settings->top_count);
	case 'd': return number_of("frames", optarg, &settings->frame_count);
	case 'j': settings->json = true; return true;
	case 'D': settings->device = optarg; return true;
	case 'l': settings->ledger = true; return true;
	case 'r': return take_rules(settings, optarg);
	case 'c': return color_of(optarg, &settings->color);
	default: return rvp_take_question(&settings->words, option, optarg);
	}
}

/* --kernels goes with --by, --step and what is about rows alone. */
static bool kernels_are_whole(struct rvp_report_settings *settings)
{
	const struct rvp_question_words *words = &settings->words;

	if (settings->at || settings->from || settings->to || settings->ledger || settings->latency || settings->roofline || words->has_versus ||
	    (words->what != RVP_ASKED_NOTHING && words->what != RVP_ASKED_STEPS)) {
		rvp_complain("report --kernels takes --by, --step, --top and --json");
		return false;
	}
	return !settings->by || rvp_kernels_by_of(settings->by, &settings->kernels_by);
}

/* --table goes with --json alone. */
static bool table_is_alone(const struct rvp_report_settings *settings)
{
	if (!settings->at && !settings->from && !settings->to && !settings->by && !settings->ledger &&
	    !settings->kernels && !settings->latency && !settings->roofline && !settings->device && !settings->has_top &&
	    settings->words.what == RVP_ASKED_NOTHING)
		return true;
	rvp_complain("report --table takes --json alone");
	return false;
}

bool rvp_report_settings_take(struct rvp_report_settings *settings, int argc, char **argv, bool *wants_help)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", rvp_report_options, NULL)) != -1) {
		if (option == '?' || option == ':') {
			rvp_complain_of_option("report", option, argv[optind - 1], rvp_report_options);
			return false;
		}
		*wants_help |= option == 'h';
		if (option != 'h' && !take_option(settings, option))
			return false;
	}
	if (settings->has_table)
		return table_is_alone(settings);
	if (settings->query) {
		rvp_complain("report --query goes with --table kernels-count or ops-count");
		return false;
	}
	if (settings->kernels)
		return kernels_are_whole(settings);
	if (settings->by && !measure_of(settings->by, &settings->measure))
		return false;
	if ((settings->at != NULL) + (settings->from || settings->to) + (settings->by != NULL) +
		settings->ledger + settings->latency + settings->roofline + (settings->words.what != RVP_ASKED_NOTHING) <
	    2)
		return rvp_questions_are_whole(&settings->words);
	rvp_complain("report takes one of --at, --from with --to, --by, --ledger, --latency, --roofline, and a question");
	return false;
}
