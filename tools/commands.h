/* SPDX-License-Identifier: MIT */
/* commands.h: what a subcommand is: a function that gets its own words (argv[0] is its name, NULL ends them)
 * and returns the exit status. Its file, tools/cmd_<name>.c, is the only place that prints; nothing below
 * exits.
 *
 * Rules
 *   - Answers go to stdout, everything else to stderr as one line that begins "rvprof: ".
 *   - `--help` prints the command's own help to stdout, status 0.
 *   - Status: enum rvp_exit; `run` gives the program's.
 *   - getopt_long may be called once: main has not used it before.
 */
#ifndef RVP_COMMANDS_H
#define RVP_COMMANDS_H

#include "record/status.h"

enum rvp_exit {
	RVP_EXIT_DONE = 0,
	RVP_EXIT_NO = 1,               /* the answer is no */
	RVP_EXIT_USAGE = 2,            /* wrong use or input */
	RVP_EXIT_RUN_FAILED = 125,     /* of `run`: rvprof itself could not */
	RVP_EXIT_NOT_EXECUTABLE = 126, /* of `run` */
	RVP_EXIT_NOT_FOUND = 127,      /* of `run` */
};

#define RVP_COMMAND(id, page, help) int rvp_cmd_##id(int argc, char **argv);
#include "tools/commands.def"

/* One line on stderr: "rvprof: ...", with '?' for what could steer a terminal. */
void rvp_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the colours of text_style.h left in it: for figures and words of our own alone. */
void rvp_say_in_color(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a failed status. */
void rvp_complain_of(const struct rvp_status *status);

/* The nearest of `names` (NULL ends them) to a mistyped `word`, or NULL when none is near. */
const char *rvp_nearest(const char *word, const char *const *names);

struct option;

/* After getopt_long (opterr 0, short options that begin "+:" or ":") said `why`, '?' or ':': one line with
 * the nearest right option. `word` is the word that it stood on when it failed: argv[optind - 1]. */
void rvp_complain_of_option(const char *command, int why, const char *word, const struct option *options);

#endif
