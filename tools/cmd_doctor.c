/* SPDX-License-Identifier: MIT */
/* cmd_doctor.c: `rvprof doctor [--json] [CMD | PID]`: why a program can not be seen, and how to mend it. */
#include "tools/commands.h"

#include "report/text_style.h"
#include "tools/doctor.h"
#include "tools/find_program.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {"no", "less", "note"};

static const struct option options[] = {
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int print_help(void)
{
	puts("usage: rvprof doctor [--json] [CMD | PID]\n\n"
	     "Tells why a program's memory can not be seen, or not all of it, and how to mend it. Without "
	     "CMD or PID\n"
	     "only this machine and folder are looked at. Levels: no (nothing can be recorded), less (a part "
	     "is not\n"
	     "seen), note.\n\n"
	     "  --json    as one JSON object\n\n"
	     "Status: 0 when all can be seen, 1 when something is in the way.");
	return RVP_EXIT_DONE;
}

static bool is_seen(const struct rvp_findings *findings)
{
	return !rvp_findings_have(findings, RVP_FINDING_NO) && !rvp_findings_have(findings, RVP_FINDING_LESS);
}

static void print_line(const char *before, const char *text)
{
	fputs(before, stdout);
	rvp_print_safely(stdout, text, 0);
	putchar('\n');
}

static void print_text(const char *subject, const struct rvp_findings *findings)
{
	bool none = rvp_findings_have(findings, RVP_FINDING_NO);

	rvp_print_safely(stdout, subject, 0);
	printf(": %s\n", is_seen(findings) ? "can be recorded"
			 : none            ? "can not be recorded"
					   : "can be recorded, but not all of it");
	for (size_t i = 0; i < findings->count; i++) {
		const struct rvp_finding *row = &findings->rows[i];

		printf("  %-5s %s", level_names[row->level], row->id);
		print_line(": ", row->text);
		if (row->mend[0])
			print_line("        mend: ", row->mend);
	}
}

static void print_json(const char *subject, const struct rvp_findings *findings)
{
	json_t *rows = json_array(), *whole;

	for (size_t i = 0; i < findings->count; i++) {
		const struct rvp_finding *row = &findings->rows[i];

		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:s, s:s}", "level", level_names[row->level],
						"id", row->id, "text", row->text, "mend", row->mend));
	}
	whole = json_pack("{s:s, s:s, s:b, s:o}", "schema", "rvprof.doctor/1", "subject", subject, "seen",
			  is_seen(findings), "rows", rows);
	json_dumpf(whole, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(whole);
}

/* A word of digits alone is a pid, unless a program is called so. */
static pid_t pid_of(const char *word)
{
	char path[RVP_PROGRAM_PATH_BYTES];

	if (!*word || word[strspn(word, "0123456789")] || strlen(word) > 9)
		return 0;
	return rvp_find_program(word, path) == 0 ? 0 : (pid_t)atoi(word);
}

static int examine(struct rvp_findings *findings, const char *word)
{
	char path[RVP_PROGRAM_PATH_BYTES];

	if (pid_of(word)) {
		rvp_doctor_process(findings, pid_of(word));
		return 0;
	}
	if (rvp_find_program(word, path)) {
		rvp_complain("there is no program '%s' to look at", word);
		return RVP_EXIT_USAGE;
	}
	rvp_doctor_program(findings, path);
	rvp_doctor_system(findings);
	return 0;
}

int rvp_cmd_doctor(int argc, char **argv)
{
	static struct rvp_findings findings;
	bool wants_json = false;
	int option, status = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
		if (option == 'h')
			return print_help();
		if (option != 'j') {
			rvp_complain_of_option("doctor", option, argv[optind - 1], options);
			return RVP_EXIT_USAGE;
		}
		wants_json = true;
	}
	if (argv[optind])
		status = examine(&findings, argv[optind]);
	else
		rvp_doctor_system(&findings);
	if (status)
		return status;
	(wants_json ? print_json : print_text)(argv[optind] ? argv[optind] : "this machine", &findings);
	return is_seen(&findings) ? RVP_EXIT_DONE : RVP_EXIT_NO;
}
