/* SPDX-License-Identifier: MIT */
/* run_settings.c: see run_settings.h. The options are those of record/options.def; each goes through
 * rvp_options_set, the same reader that the library uses for the variables. */
#include "tools/run_settings.h"

#include "tools/commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HELP = 'h', FIRST_LONG = 256 };

#define HAS_ARGUMENT(text) (sizeof(text) > 1 ? required_argument : no_argument)

enum option_number {
	FIRST_LONG_BEFORE = FIRST_LONG - 1,
#define RVP_OPTION(id, name, argument, since, help) NUMBER_##id,
#include "record/options.def"
};

static const struct option long_options[] = {
#define RVP_OPTION(id, name, argument, since, help) {name, HAS_ARGUMENT(argument), NULL, NUMBER_##id},
#include "record/options.def"
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static const struct {
	const char *name, *argument, *help;
	int since;
} rows[] = {
#define RVP_OPTION(id, name, argument, since, help) {name, argument, help, since},
#include "record/options.def"
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static char letter_of(const char *name)
{
	return !strcmp(name, "output")  ? 'o'
	       : !strcmp(name, "force") ? 'f'
	       : !strcmp(name, "quiet") ? 'q'
					: 0;
}

static void print_option(const char *name, const char *argument, const char *help)
{
	char left[64], letter = letter_of(name);

	snprintf(left, sizeof left, "%c%c%c --%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
		 letter ? ',' : ' ', name, *argument ? " " : "", argument);
	printf("  %-32s %s\n", left, help);
}

void rvp_run_help(void)
{
	puts("usage: rvprof run [OPTION..] [--] CMD [ARG..]\n\n"
	     "Runs CMD and records its memory. Options end at the first word that is not one. Each option is "
	     "also a\n"
	     "variable: --max-log is RVPROF_MAX_LOG; RVPROF_OPTIONS=\"mode=full,max-log=64MiB\" sets "
	     "several.\n");
	for (int i = 0; i < ROW_COUNT; i++)
		if (rows[i].since)
			print_option(rows[i].name, rows[i].argument, rows[i].help);
	puts("\nStatus: the program's (a signal is raised again); 125 when rvprof itself fails, 126 when CMD "
	     "can not be\n"
	     "executed, 127 when it is not found.");
}

static int complain_of_value(const char *complaint)
{
	rvp_complain("%s", complaint);
	return RVP_EXIT_RUN_FAILED;
}

/* Adds a rule file to those of before, by its whole path: what reads it may stand in another folder. */
static bool add_rules(struct rvp_run_settings *settings, const char *file)
{
	size_t length = strlen(settings->rules);
	char *path = realpath(file, NULL);
	bool fits = path && length + strlen(path) + 2 <= sizeof settings->rules && !strchr(path, ':');

	if (!path || access(path, R_OK) != 0)
		rvp_complain("cannot read rules %s: %s", file, strerror(errno));
	else if (!fits)
		rvp_complain("cannot take rules %s: its path has a colon, or all paths are too long", file);
	else
		snprintf(settings->rules + length, sizeof settings->rules - length, "%s%s", length ? ":" : "",
			 path);
	fits = fits && access(path, R_OK) == 0;
	free(path);
	return fits;
}

/* Adds a list of sources to those of before. */
static bool add_power(struct rvp_run_settings *settings, const char *list)
{
	size_t length = strlen(settings->power);

	if (length + strlen(list) + 2 > sizeof settings->power) {
		rvp_complain("cannot take --power %s: the list of sources is too long", list);
		return false;
	}
	snprintf(settings->power + length, sizeof settings->power - length, "%s%s", length ? "," : "", list);
	return true;
}

/* One option of the table; 0 or the status. */
static int take(struct rvp_run_settings *settings, const char *name, const char *value)
{
	char complaint[RVP_COMPLAINT_BYTES];

	if (!value)
		value = "1";
	if (!strcmp(name, "rules")) {
		if (!add_rules(settings, value))
			return RVP_EXIT_RUN_FAILED;
		value = settings->rules;
	}
	if (!strcmp(name, "power") && *value) {
		if (!add_power(settings, value))
			return RVP_EXIT_RUN_FAILED;
		value = settings->power;
	}
	if (!rvp_options_set(&settings->options, name, strlen(name), value, strlen(value), complaint,
			     sizeof complaint))
		return complain_of_value(complaint);
	for (int i = 0; i < settings->given_count; i++) {
		if (strcmp(settings->given[i].name, name))
			continue;
		settings->given[i].value = value;
		return 0;
	}
	settings->given[settings->given_count++] = (struct rvp_given){name, value};
	return 0;
}
_Static_assert((int)ROW_COUNT <= (int)RVP_RUN_GIVEN_MAX, "each option has a place");

static const char *name_of(int option)
{
	switch (option) {
	case 'o': return "output";
	case 'f': return "force";
	case 'q': return "quiet";
	default: return option >= FIRST_LONG ? rows[option - FIRST_LONG].name : NULL;
	}
}

static int read_words(struct rvp_run_settings *settings, int argc, char **argv, int *status)
{
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+:o:fqh", long_options, NULL)) != -1) {
		if (option == HELP) {
			rvp_run_help();
			*status = RVP_EXIT_DONE;
			return -1;
		}
		*status = RVP_EXIT_RUN_FAILED;
		if (!name_of(option)) {
			rvp_complain_of_option("run", option, argv[optind - 1], long_options);
			return -1;
		}
		*status = take(settings, name_of(option), optarg);
		if (*status)
			return -1;
	}
	return 0;
}

int rvp_run_settings_read(struct rvp_run_settings *settings, int argc, char **argv, int *status)
{
	char complaint[RVP_COMPLAINT_BYTES];

	memset(settings, 0, sizeof *settings);
	if (!rvp_options_read(&settings->options, environ, complaint, sizeof complaint)) {
		settings->environment_was_odd = true;
		rvp_complain("%s", complaint);
	}
	if (read_words(settings, argc, argv, status))
		return -1;
	if (rvp_options_contradiction(&settings->options)) {
		*status = complain_of_value(rvp_options_contradiction(&settings->options));
		return -1;
	}
	settings->program = argv + optind;
	settings->program_count = argc - optind;
	if (settings->program_count > 0)
		return 0;
	rvp_complain("no program to run; usage: rvprof run [OPTION..] [--] CMD [ARG..]");
	*status = RVP_EXIT_RUN_FAILED;
	return -1;
}
