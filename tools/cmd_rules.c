/* SPDX-License-Identifier: MIT */
/* cmd_rules.c: `rvprof rules check FILE.. | list | why SITE [DIR] | kernel NAME..`: what rule files say, and which rule spoke
 * where.
 *
 * `why` matches every call path of the run that has SITE in a frame against all rules, the user's first (of
 * --rules, and of the run's RVPROF_RULES), and shows of each rule that any of its conditions on the call path
 * holds for how far it came. What a rule asks of a block (bytes, file, thread, phase, scope) is told, not
 * judged: blocks of one call path differ. */
#include "report/analysis.h"
#include "report/json_writer.h"
#include "report/kernels_names.h"
#include "report/rules_speak.h"
#include "report/run_source.h"
#include "report/symbols_groups.h"
#include "tools/commands.h"
#include "tools/newest_run.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USER_FILES_MAX = 16, ROWS_MAX = 8, FRAMES_SHOWN = 6, FRAME_BYTES = 4200 };

static const char help[] =
    "Usage: rvprof rules check FILE..             are these rule files well-formed?\n"
    "       rvprof rules list [--rules FILE]      every rule, in the order in which they are asked\n"
    "       rvprof rules why SITE [DIR] [--rules FILE]\n"
    "                                             which rules were tried on the call stacks with SITE in a\n"
    "                                             function's name, and which one speaks\n"
    "       rvprof rules kernel NAME..             of which class kernels of these names are, and by which rule\n"
    "  --rules FILE   rules of your own, asked before the built-in ones; several times\n"
    "  --json         one JSON object\n"
    "  --help         this\n"
    "The language: docs/rules.md.\n";

struct arguments {
	const char *files[USER_FILES_MAX];
	size_t file_count;
	bool is_json;
	char **words; /* behind the options */
	int word_count;
};

static void complain(void *context, const struct rvp_rule_error *error)
{
	(void)context;
	rvp_complain("%s:%u:%u: %s", error->path, error->line, error->column, error->text);
}

/* ---- check ---- */

static int check(const struct arguments *arguments)
{
	int errors = 0;
	size_t count = 0;

	if (!arguments->word_count) {
		rvp_complain("rules check takes a file; see rvprof rules --help");
		return RVP_EXIT_USAGE;
	}
	for (int i = 0; i < arguments->word_count; i++) {
		struct rvp_rule_list rules = {0};
		struct rvp_status status =
		    rvp_rules_read_file(&rules, arguments->words[i], complain, NULL, &errors);

		count += rules.count;
		rvp_rules_free(&rules);
		if (rvp_failed(status)) {
			rvp_complain_of(&status);
			return RVP_EXIT_USAGE;
		}
	}
	printf("%zu rule%s, %d error%s\n", count, count == 1 ? "" : "s", errors, errors == 1 ? "" : "s");
	return errors ? RVP_EXIT_NO : RVP_EXIT_DONE;
}

/* ---- list ---- */

/* One that is gone since is told. */
static void read_recorded(void *context, const char *path)
{
	int errors = 0;
	struct rvp_status status = rvp_rules_read_file(context, path, complain, NULL, &errors);

	if (rvp_failed(status))
		rvp_complain_of(&status);
}

/* Those of --rules, those that the run had (NULL: none), then the built-in ones. False after a complaint. */
static bool read_all(const struct arguments *arguments, const struct rvp_run *run,
		     struct rvp_rule_list *rules)
{
	struct rvp_status status = RVP_OK;
	char folder[PATH_MAX];
	int errors = 0;

	for (size_t i = 0; i < arguments->file_count && !rvp_failed(status); i++)
		status = rvp_rules_read_file(rules, arguments->files[i], complain, NULL, &errors);
	if (run && !rvp_failed(status))
		rvp_rules_recorded(run, read_recorded, rules);
	if (!rvp_failed(status)) {
		if (rvp_rules_folder(folder, sizeof folder))
			status = rvp_rules_read_folder(rules, folder, complain, NULL, &errors);
		else
			rvp_complain("the built-in rules are not beside rvprof nor in ../share/rvprof/rules");
	}
	if (rvp_failed(status))
		rvp_complain_of(&status);
	return !rvp_failed(status);
}

static void json_rule(struct rvp_json *json, const struct rvp_rule *rule)
{
	rvp_json_string(json, "file", rule->file);
	rvp_json_number(json, "line", rule->line);
	rvp_json_string(json, "says", rule->purpose);
	rvp_json_string(json, "title", rule->title);
	rvp_json_string(json, "because", rule->because);
	rvp_json_string(json, "evidence", rule->is_generic ? "generic" : "rule");
	rvp_json_number(json, "confidence_percent", rule->confidence);
	rvp_json_bool(json, "untested", rule->is_untested);
}

static void list_as_json(const struct rvp_rule_list *rules)
{
	struct rvp_json json = {.out = stdout};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.rules/1");
	rvp_json_open(&json, "rows", '[');
	for (size_t i = 0; i < rules->count; i++) {
		rvp_json_open(&json, NULL, '{');
		json_rule(&json, &rules->rules[i]);
		rvp_json_close(&json, '}');
	}
	rvp_json_close(&json, ']');
	rvp_json_close(&json, '}');
	fputc('\n', stdout);
}

static void list_as_text(const struct rvp_rule_list *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rvp_rule *rule = &rules->rules[i];
		char place[64];

		snprintf(place, sizeof place, "%s:%u", rule->file, rule->line);
		printf("%-24s %-22s %s%s%s\n", place, rule->purpose,
		       *rule->title ? rule->title : rule->because, rule->is_generic ? "  [generic]" : "",
		       rule->is_untested ? "  [untested]" : "");
	}
}

static int list(const struct arguments *arguments)
{
	struct rvp_rule_list rules = {0};
	bool is_good = read_all(arguments, NULL, &rules);

	if (is_good && arguments->is_json)
		list_as_json(&rules);
	else if (is_good)
		list_as_text(&rules);
	rvp_rules_free(&rules);
	return is_good ? RVP_EXIT_DONE : RVP_EXIT_USAGE;
}

/* ---- why ---- */

struct inquiry {
	const struct rvp_rule_list *rules;
	struct rvp_rule_matcher *matcher;
	const struct rvp_site *site;
	struct rvp_json *json; /* NULL: as text */
};

static bool is_of_path(const struct rvp_rule_condition *condition)
{
	return condition->about <= RVP_RULE_PYTHON;
}

static bool holds(const struct inquiry *inquiry, const struct rvp_rule_condition *condition)
{
	return rvp_rule_condition_holds(inquiry->matcher, condition, inquiry->site->process,
					inquiry->site->stack, inquiry->site->python, inquiry->site->first_ns);
}

/* Worth telling: a positive condition on the call path holds. */
static bool came_near(const struct inquiry *inquiry, const struct rvp_rule *rule)
{
	for (uint32_t i = 0; i < rule->count; i++) {
		const struct rvp_rule_condition *condition = &inquiry->rules->conditions[rule->first + i];

		if (is_of_path(condition) && !condition->is_negated && holds(inquiry, condition))
			return true;
	}
	return false;
}

/* "by, frame": the words of the conditions on the call path that do not hold, or those on blocks. */
static void words(const struct inquiry *inquiry, const struct rvp_rule *rule, bool of_block, char *text,
		  size_t text_bytes)
{
	size_t at = 0;

	*text = 0;
	for (uint32_t i = 0; i < rule->count && at < text_bytes; i++) {
		const struct rvp_rule_condition *condition = &inquiry->rules->conditions[rule->first + i];

		if (of_block == !is_of_path(condition) && (of_block || !holds(inquiry, condition)))
			at += (size_t)snprintf(text + at, text_bytes - at, "%s%s%s", at ? ", " : "",
					       condition->is_negated ? "not " : "",
					       rvp_rule_words[condition->about]);
	}
}

static void tell(const struct inquiry *inquiry, const struct rvp_rule *rule, const char *verdict,
		 const char *missing, const char *asks)
{
	if (inquiry->json) {
		rvp_json_open(inquiry->json, NULL, '{');
		json_rule(inquiry->json, rule);
		rvp_json_string(inquiry->json, "result", verdict);
		rvp_json_string(inquiry->json, "not_fulfilled", missing);
		rvp_json_string(inquiry->json, "asked_of_each_block", asks);
		rvp_json_close(inquiry->json, '}');
		return;
	}
	printf("    %-8s %s:%u %s%s%s", verdict, rule->file, rule->line, rule->purpose,
	       *rule->title ? " " : "", rule->title);
	if (*missing)
		printf("; does not hold: %s", missing);
	if (*asks)
		printf("; asked of each block: %s", asks);
	puts(rule->is_untested ? " (untested)" : "");
}

/* How far each rule came. A rule that asks nothing of the block ends its class; the others may speak behind
 * it. */
static void inquire(const struct inquiry *inquiry)
{
	bool has_spoken[2] = {false, false}; /* specific, generic */

	for (size_t i = 0; i < inquiry->rules->count; i++) {
		const struct rvp_rule *rule = &inquiry->rules->rules[i];
		char missing[128], asks[128];
		const char *verdict;

		if (rule->action == RVP_RULE_STEP || rule->action == RVP_RULE_KERNEL || !came_near(inquiry, rule))
			continue;
		words(inquiry, rule, false, missing, sizeof missing);
		words(inquiry, rule, true, asks, sizeof asks);
		verdict = *missing                                               ? "no"
			  : has_spoken[0] || (rule->is_generic && has_spoken[1]) ? "too late"
			  : *asks                                                ? "may"
										 : "speaks";
		tell(inquiry, rule, verdict, missing, asks);
		if (!*missing && !*asks)
			has_spoken[rule->is_generic] = true;
	}
}

static bool has_frame(const struct rvp_frame_list *stack, const char *site)
{
	char text[FRAME_BYTES];

	for (size_t i = 0; i < stack->count; i++) {
		rvp_frame_text(&stack->frames[i], text, sizeof text);
		if (strstr(text, site))
			return true;
	}
	return false;
}

static void show_stack(struct inquiry *inquiry, const struct rvp_frame_list *stack, uint64_t bytes)
{
	char text[FRAME_BYTES];
	size_t shown = inquiry->json || stack->count < FRAMES_SHOWN ? stack->count : FRAMES_SHOWN;

	if (inquiry->json) {
		rvp_json_open(inquiry->json, NULL, '{');
		rvp_json_number(inquiry->json, "bytes", bytes);
		rvp_json_open(inquiry->json, "stack", '[');
	} else {
		printf("%llu bytes at the peak\n", (unsigned long long)bytes);
	}
	for (size_t i = 0; i < shown; i++) {
		rvp_frame_text(&stack->frames[i], text, sizeof text);
		if (inquiry->json)
			rvp_json_string(inquiry->json, NULL, text);
		else
			printf("  %s\n", text);
	}
	if (inquiry->json) {
		rvp_json_close(inquiry->json, ']');
		rvp_json_open(inquiry->json, "rules", '[');
	} else if (stack->count > shown) {
		printf("  ... and %zu more\n", stack->count - shown);
	}
}

/* The largest groups at the peak whose stack has `site`; how many were shown. */
static size_t show_groups(struct inquiry *inquiry, const struct rvp_groups *groups, const char *site)
{
	size_t count, shown = 0, left = 0;
	uint32_t *order = rvp_groups_by(groups, RVP_AT_PEAK, &count);
	uint32_t *rest = order && count ? NULL : rvp_groups_by(groups, RVP_ALLOCATED, &left);
	const uint32_t *numbers = rest ? rest : order;

	for (size_t i = 0; numbers && i < (rest ? left : count); i++) {
		const struct rvp_group *group = &groups->groups[numbers[i]];
		struct rvp_frame_list stack = rvp_group_stack(groups, group);

		if (!has_frame(&stack, site) || shown++ >= ROWS_MAX)
			continue;
		inquiry->site = group->site;
		show_stack(inquiry, &stack, group->at_peak.bytes);
		inquire(inquiry);
		if (inquiry->json) {
			rvp_json_close(inquiry->json, ']');
			rvp_json_close(inquiry->json, '}');
		} else {
			putchar('\n');
		}
	}
	free(order);
	free(rest);
	return shown;
}

static void show_notes(const struct inquiry *inquiry)
{
	char notes[8][256];
	size_t count = rvp_rule_matcher_notes(inquiry->matcher, notes, 8);

	for (size_t i = 0; i < count; i++)
		rvp_complain("%s", notes[i]);
}

static int show(struct inquiry *inquiry, const struct rvp_groups *groups, const char *site, bool is_json)
{
	struct rvp_json json = {.out = stdout};
	size_t shown;

	if (is_json) {
		inquiry->json = &json;
		rvp_json_open(&json, NULL, '{');
		rvp_json_string(&json, "schema", "rvprof.rules-why/1");
		rvp_json_open(&json, "rows", '[');
	}
	shown = show_groups(inquiry, groups, site);
	if (is_json) {
		rvp_json_close(&json, ']');
		rvp_json_close(&json, '}');
		fputc('\n', stdout);
	}
	show_notes(inquiry);
	if (shown > ROWS_MAX)
		rvp_complain("%zu more call stacks have '%s' in them: the largest %d are shown",
			     shown - ROWS_MAX, site, ROWS_MAX);
	if (!shown)
		rvp_complain("no call stack has '%s' in it", site);
	return shown ? RVP_EXIT_DONE : RVP_EXIT_NO;
}

static int why_in(const struct rvp_rule_list *rules, struct rvp_run *run, const char *site, bool is_json)
{
	struct rvp_symbols *symbols = rvp_symbols_open(NULL);
	struct rvp_stacks *stacks = symbols ? rvp_stacks_open(symbols, run) : NULL;
	struct inquiry inquiry = {.rules = rules, .matcher = rvp_rule_matcher_open(rules, run, NULL)};
	struct rvp_analysis answer;
	struct rvp_groups groups;
	struct rvp_status status = rvp_analyse(run, &(struct rvp_question){0}, &answer);
	int exit_status = RVP_EXIT_USAGE;

	if (!rvp_failed(status) && stacks && inquiry.matcher) {
		status = rvp_groups_make(&groups, stacks, &answer, 0);
		if (!rvp_failed(status)) {
			exit_status = show(&inquiry, &groups, site, is_json);
			rvp_groups_free(&groups);
		}
		rvp_analysis_free(&answer);
	}
	if (rvp_failed(status))
		rvp_complain_of(&status);
	rvp_rule_matcher_close(inquiry.matcher);
	rvp_stacks_close(stacks);
	rvp_symbols_close(symbols);
	return exit_status;
}

static int why(const struct arguments *arguments)
{
	char newest[PATH_MAX];
	const char *folder;
	struct rvp_rule_list rules = {0};
	struct rvp_run *run;
	struct rvp_status status;
	int exit_status = RVP_EXIT_USAGE;

	if (arguments->word_count < 1 || arguments->word_count > 2) {
		rvp_complain("rules why takes a part of a function's name and perhaps a run folder");
		return RVP_EXIT_USAGE;
	}
	folder = rvp_run_folder_of("rules", arguments->word_count - 1, arguments->words + 1, newest);
	if (!folder)
		return RVP_EXIT_USAGE;
	status = rvp_run_open(&run, folder);
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	if (read_all(arguments, run, &rules))
		exit_status = why_in(&rules, run, arguments->words[0], arguments->is_json);
	rvp_rules_free(&rules);
	rvp_run_close(run);
	return exit_status;
}

/* ---- kernel ---- */

/* Names as kernels.csv has them: demangled. */
static int kernel(const struct arguments *arguments)
{
	struct rvp_rule_list rules = {0};
	bool is_good = read_all(arguments, NULL, &rules);

	if (!arguments->word_count) {
		rvp_complain("rules kernel takes the name of a kernel");
		is_good = false;
	}
	for (int i = 0; is_good && i < arguments->word_count; i++) {
		const struct rvp_rule *rule = rvp_rules_of_kernel(&rules, arguments->words[i]);

		if (rule)
			printf("%-14s %s:%u %s%s\n", rvp_kernel_class_names[rule->phase], rule->file, rule->line,
			       rule->title, rule->is_untested ? "  [untested]" : "");
		else
			printf("%-14s no rule\n", rvp_kernel_class_names[RVP_KERNEL_CLASS_OTHER]);
	}
	rvp_rules_free(&rules);
	return is_good ? RVP_EXIT_DONE : RVP_EXIT_USAGE;
}

/* ---- words ---- */

static const struct option options[] = {{"json", no_argument, NULL, 'j'},
					{"rules", required_argument, NULL, 'r'},
					{"help", no_argument, NULL, 'h'},
					{NULL, 0, NULL, 0}};

/* False: the command is over with *status. */
static bool read_arguments(struct arguments *arguments, int argc, char **argv, int *status)
{
	int option;

	*status = RVP_EXIT_USAGE;
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		*status = option == 'h' ? RVP_EXIT_DONE : RVP_EXIT_USAGE;
		if (option == 'j') {
			arguments->is_json = true;
		} else if (option == 'r' && arguments->file_count < USER_FILES_MAX) {
			arguments->files[arguments->file_count++] = optarg;
		} else if (option == 'r') {
			rvp_complain("more than %d rule files", USER_FILES_MAX);
			return false;
		} else if (option == 'h') {
			fputs(help, stdout);
			return false;
		} else {
			rvp_complain_of_option("rules", option, argv[optind - 1], options);
			return false;
		}
	}
	arguments->words = argv + optind;
	arguments->word_count = argc - optind;
	return true;
}

int rvp_cmd_rules(int argc, char **argv)
{
	static const char *const verbs[] = {"check", "list", "why", "kernel", NULL};
	static int (*const act[])(const struct arguments *) = {check, list, why, kernel};
	struct arguments arguments = {0};
	const char *near;
	int status;

	if (!read_arguments(&arguments, argc, argv, &status))
		return status;
	if (!arguments.word_count) {
		rvp_complain("rules takes check, list, why or kernel; see rvprof rules --help");
		return RVP_EXIT_USAGE;
	}
	for (int i = 0; verbs[i]; i++)
		if (!strcmp(arguments.words[0], verbs[i])) {
			arguments.words++;
			arguments.word_count--;
			return act[i](&arguments);
		}
	near = rvp_nearest(arguments.words[0], verbs);
	rvp_complain("rules takes check, list, why or kernel, not '%s'%s%s%s", arguments.words[0],
		     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return RVP_EXIT_USAGE;
}
