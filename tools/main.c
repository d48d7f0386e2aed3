/* SPDX-License-Identifier: MIT */
/* main.c: the `rvprof` command: picks the subcommand. `rvprof CMD ..` without a subcommand is `rvprof run CMD
 * ..`.
 *
 * Help has two pages (commands.def): the first screen, and the rest. A reserved name says that it is not
 * built yet. What a command printed is written here, and what could not be is said: no command need look.
 */
#include "tools/commands.h"

#include "prove/environment.h"
#include "record/schema.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct command {
	const char *name, *help;
	int page;
	int (*function)(int argc, char **argv);
};

static const struct command commands[] = {
#define RVP_COMMAND(id, page, help) {#id, help, page, rvp_cmd_##id},
#include "tools/commands.def"
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const char *const reserved[] = {
#define RVP_COMMAND(id, page, help)
#define RVP_RESERVED(id) #id,
#include "tools/commands.def"
    NULL};

static const struct command *command_of(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static bool is_reserved(const char *name)
{
	for (const char *const *at = reserved; *at; at++)
		if (!strcmp(*at, name))
			return true;
	return false;
}

static void print_commands(int page)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (commands[i].page == page)
			printf("  %-11s %s\n", commands[i].name, commands[i].help);
}

static int print_help(bool all)
{
	puts("rvprof: where did my program's memory go?\n\n"
	     "  rvprof run -- ./app args           record; a summary at the end, everything in one folder\n"
	     "  rvprof report                      any time, also while it runs, also after a kill\n"
	     "  LD_PRELOAD=librvprof.so ./app      the same records without this command\n\n"
	     "Commands (`rvprof CMD ..` is `rvprof run CMD ..`):");
	print_commands(1);
	if (all)
		print_commands(2);
	puts(all ? "\n`rvprof COMMAND --help` tells about one of them."
		 : "\n`rvprof help --all` lists the rest, `rvprof COMMAND --help` tells about one of them.");
	return RVP_EXIT_DONE;
}

static int say_reserved(const char *name)
{
	rvp_complain("'%s' is not in this version", name);
	return RVP_EXIT_USAGE;
}

/* rvprof help [--all | COMMAND] */
static int help(int argc, char **argv)
{
	const char *about = argc > 1 ? argv[1] : NULL;

	if (!about)
		return print_help(false);
	if (!strcmp(about, "all") || !strcmp(about, "--all"))
		return print_help(true);
	if (is_reserved(about))
		return say_reserved(about);
	if (command_of(about)) {
		char *words[] = {argv[1], (char[]){"--help"}, NULL};

		return command_of(about)->function(2, words);
	}
	rvp_complain("there is no command '%s'; `rvprof help --all` lists them", about);
	return RVP_EXIT_USAGE;
}

static int print_version(void)
{
	printf("rvprof %s\nhost memory, log format %d\n", RVP_VERSION, RVP_FORMAT_VERSION);
	return RVP_EXIT_DONE;
}

static int answer(int argc, char **argv)
{
	rvp_origin_made_by(rvp_environment_make);
	if (argc < 2) {
		rvp_complain("nothing to run; `rvprof --help` tells what there is");
		return RVP_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(argc - 1, argv + 1);
	if (is_reserved(argv[1]))
		return say_reserved(argv[1]);
	if (command_of(argv[1]))
		return command_of(argv[1])->function(argc - 1, argv + 1);
	return rvp_cmd_run(argc, argv);
}

/* Also where the write that failed lies back: its errno is gone then. */
static bool nobody_reads(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return errno == EPIPE || (poll(&output, 1, 0) == 1 && output.revents & POLLERR);
}

/* A command that failed has complained. A pipe that nobody reads is no failure of ours. */
static int with_output(int status)
{
	int error;

	errno = 0;
	if (status != RVP_EXIT_DONE && status != RVP_EXIT_NO)
		return status;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	error = errno;
	if (nobody_reads())
		return status;
	rvp_complain("cannot write standard output%s%s", error ? ": " : "", error ? strerror(error) : "");
	return RVP_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	return with_output(answer(argc, argv));
}
