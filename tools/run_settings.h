/* SPDX-License-Identifier: MIT */
/* run_settings.h: the words of `rvprof run`: which options, which program. */
#ifndef RVP_RUN_SETTINGS_H
#define RVP_RUN_SETTINGS_H

#include "record/options.h"

enum { RVP_RUN_GIVEN_MAX = 32, RVP_RUN_RULES_BYTES = 3072 };

/* An option as it was given, to be handed on as a variable. */
struct rvp_given {
	const char *name, *value;
};

struct rvp_run_settings {
	struct rvp_options options; /* environment, then command line */
	bool environment_was_odd;   /* told already: the library need not tell again */
	struct rvp_given given[RVP_RUN_GIVEN_MAX];
	int given_count;
	char rules[RVP_RUN_RULES_BYTES]; /* whole paths of the rule files, by colons */
	char power[RVP_OPTION_TEXT_BYTES]; /* what each --power said, by commas */
	char **program;                  /* its argv; NULL-terminated */
	int program_count;
};

/* 0 and `settings`; else what main returns (help was printed, or a complaint) in *status and -1. */
int rvp_run_settings_read(struct rvp_run_settings *settings, int argc, char **argv, int *status);

/* Help of `rvprof run`, from options.def. */
void rvp_run_help(void);

#endif
