/* SPDX-License-Identifier: MIT */
/* cmd_completion.c: `rvprof completion bash|zsh|fish`: a completion script, from commands.def and
 * options.def.
 *
 * After `rvprof run` and its options comes another program's command line, completed as that program's own.
 * Values of an option are its alternatives ("sampled|full"), folders or files.
 */
#include "tools/commands.h"
#include "tools/model.h"
#include "tools/op_layers.h"
#include "tools/overhead.h"
#include "tools/report_questions.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define STATS_WORDS "latency power memory"
#define CTL_WORDS   "start stop clear get dump snapshot"

struct command_row {
	const char *name, *help;
};
static const struct command_row commands[] = {
#define RVP_COMMAND(id, page, help) {#id, help},
#include "tools/commands.def"
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

struct option_row {
	const char *name, *argument, *help;
	int since;
};
static const struct option_row options[] = {
#define RVP_OPTION(id, name, argument, since, help) {name, argument, help, since},
#include "record/options.def"
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

static bool is_choice(const struct option_row *option)
{
	return strchr(option->argument, '|') != NULL;
}

/* "a|b" as "a b". */
static void print_choices(const char *argument)
{
	for (; *argument; argument++)
		putchar(*argument == '|' ? ' ' : *argument);
}

/* Text between single quotes, for a shell (and zsh's own ':' and '[' escaped when `zsh`). */
static void print_quoted(const char *text, bool zsh)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (zsh && strchr(":[]\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void print_bash_values(void)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!options[i].since || !is_choice(&options[i]))
			continue;
		printf("\t--%s) COMPREPLY=($(compgen -W '", options[i].name);
		print_choices(options[i].argument);
		puts("' -- \"$word\")); return ;;");
	}
	puts("\t--output|-o) COMPREPLY=($(compgen -d -- \"$word\")); return ;;");
}

static void print_bash_valued(void)
{
	fputs("-o", stdout);
	for (int i = 0; i < OPTION_COUNT; i++)
		if (options[i].since && options[i].argument[0])
			printf("|--%s", options[i].name);
}

/* Commands whose options are a table of getopt's. */
static const struct {
	const char *name;
	const struct option *options;
} tables[] = {{"report", rvp_report_options},
	      {"model", rvp_model_options},
	      {"op", rvp_op_layer_options},
	      {"calibrate", rvp_calibrate_options},
	      {"overhead", rvp_overhead_options}};
enum { TABLE_COUNT = sizeof tables / sizeof *tables };

/* Behind a command with a table a word that begins with a dash; behind `stats` what of, behind `ctl` the order. */
static void print_bash_report(void)
{
	for (int i = 0; i < TABLE_COUNT; i++) {
		printf(
		    "\tif [ \"${COMP_WORDS[1]}\" = %s ] && [ $COMP_CWORD -gt 1 ] && [[ $word == -* ]]; then\n"
		    "\t\tCOMPREPLY=($(compgen -W '",
		    tables[i].name);
		for (const struct option *option = tables[i].options; option->name; option++)
			printf("--%s ", option->name);
		puts("' -- \"$word\")); return\n\tfi");
	}
	puts("\tif [ \"${COMP_WORDS[1]}\" = stats ] && [ $COMP_CWORD -eq 2 ]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W '" STATS_WORDS "' -- \"$word\")); return\n\tfi\n"
	     "\tif [ \"${COMP_WORDS[1]}\" = ctl ] && [ $COMP_CWORD -eq 2 ]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W '" CTL_WORDS "' -- \"$word\")); return\n\tfi");
}

static void print_bash(void)
{
	fputs(
	    "# bash completion of rvprof: source it, or put it into bash-completion's folder as \"rvprof\".\n"
	    "_rvprof() {\n"
	    "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=1\n"
	    "\tlocal commands='",
	    stdout);
	for (int i = 0; i < COMMAND_COUNT; i++)
		printf("%s ", commands[i].name);
	fputs("help' options='", stdout);
	for (int i = 0; i < OPTION_COUNT; i++)
		if (options[i].since)
			printf("--%s ", options[i].name);
	fputs("--help'\n\t[ \"${COMP_WORDS[1]}\" = run ] && at=2\n"
	      "\twhile [ $at -lt $COMP_CWORD ]; do\n"
	      "\t\tcase ${COMP_WORDS[at]} in\n\t\t",
	      stdout);
	print_bash_valued();
	puts(") at=$((at + 2)) ;;\n\t\t--) at=$((at + 1)); break ;;\n\t\t-*) at=$((at + 1)) ;;\n\t\t*) break "
	     ";;\n"
	     "\t\tesac\n\tdone\n"
	     "\tcase $before in");
	print_bash_values();
	puts("\tesac");
	print_bash_report();
	puts("\tcase \" $commands \" in *\" ${COMP_WORDS[1]} \"*)\n"
	     "\t\tif [ \"${COMP_WORDS[1]}\" != run ] && [ $COMP_CWORD -gt 1 ]; then\n"
	     "\t\t\tCOMPREPLY=($(compgen -f -- \"$word\")); return\n\t\tfi ;;\n\tesac\n"
	     "\tif [ $at -lt $COMP_CWORD ] && declare -F _command_offset >/dev/null; then\n"
	     "\t\t_command_offset $at; return\n\tfi\n"
	     "\tcase $word in\n"
	     "\t-*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
	     "\t*) COMPREPLY=($(compgen -c -- \"$word\"))\n"
	     "\t   [ $COMP_CWORD -eq 1 ] && COMPREPLY=($(compgen -W \"$commands\" -- \"$word\") "
	     "\"${COMPREPLY[@]}\") ;;\n"
	     "\tesac\n}\ncomplete -o filenames -F _rvprof rvprof");
}

static void print_zsh_option(const struct option_row *option)
{
	printf("\t'--%s[", option->name);
	print_quoted(option->help, true);
	putchar(']');
	if (option->argument[0]) {
		printf(":%s:", is_choice(option) ? option->name : option->argument);
		if (is_choice(option)) {
			putchar('(');
			print_choices(option->argument);
			putchar(')');
		} else if (!strcmp(option->argument, "DIR")) {
			fputs("_files -/", stdout);
		}
	}
	puts("' \\");
}

static bool has_zsh_function(const char *command)
{
	return !strcmp(command, "run") || !strcmp(command, "report") || !strcmp(command, "model") ||
	       !strcmp(command, "stats") || !strcmp(command, "ctl");
}

/* What `rvprof report` takes; its values are moments, call paths and numbers, which no shell knows. */
static void print_zsh_report(void)
{
	puts("_rvprof_report() {\n\t_arguments -S \\");
	for (const struct option *option = rvp_report_options; option->name; option++)
		printf("\t'--%s%s' \\\n", option->name,
		       !strcmp(option->name, "rules") ? ":FILE:_files"
		       : option->has_arg              ? ":value:"
						      : "");
	puts("\t'*:run folder:_files -/'\n}\n_rvprof_model() {\n\t_arguments -S \\");
	for (const struct option *option = rvp_model_options; option->name; option++)
		printf("\t'--%s%s' \\\n", option->name, option->has_arg ? ":value:" : "");
	puts("\t'*:model file:_files'\n}\n"
	     "_rvprof_stats() {\n\t_arguments -S --json --help '1:what:(" STATS_WORDS
	     ")' '2:file:_files'\n}\n"
	     "_rvprof_ctl() {\n\t_arguments -S --json --help --level:N: --wait:SECONDS: --output:DIR:_files "
	     "'1:order:(" CTL_WORDS ")' '2:pid:_pids'\n}");
}

static void print_zsh(void)
{
	puts("#compdef rvprof\n"
	     "# zsh completion of rvprof: put it into a folder of $fpath as \"_rvprof\".\n"
	     "_rvprof_run() {\n\t_arguments -S \\");
	for (int i = 0; i < OPTION_COUNT; i++)
		if (options[i].since)
			print_zsh_option(&options[i]);
	puts("\t'(-):program:_command_names -e' '*::arguments:_normal'\n}");
	print_zsh_report();
	puts("_rvprof() {\n\tlocal -a commands\n\tcommands=(");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		printf("\t\t'%s:", commands[i].name);
		print_quoted(commands[i].help, true);
		puts("'");
	}
	puts("\t)\n"
	     "\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	     "\t\t_describe command commands\n\t\t_command_names -e\n\t\treturn\n\tfi\n"
	     "\tcase $words[2] in\n\trun) shift words; (( CURRENT-- )); _rvprof_run ;;\n"
	     "\t(report|model|stats|ctl)) local command=$words[2]; shift words; (( CURRENT-- )); "
	     "_rvprof_$command ;;");
	for (int i = 0, count = 0; i < COMMAND_COUNT; i++)
		if (!has_zsh_function(commands[i].name))
			printf("%s%s", count++ ? "|" : "\t", commands[i].name);
	puts(") _files ;;\n\t*) _rvprof_run ;;\n\tesac\n}\n_rvprof \"$@\"");
}

static void print_fish(void)
{
	puts("# fish completion of rvprof: put it into ~/.config/fish/completions/rvprof.fish.");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		printf("complete -c rvprof -n __fish_use_subcommand -a %s -d '", commands[i].name);
		print_quoted(commands[i].help, false);
		puts("'");
	}
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!options[i].since)
			continue;
		printf("complete -c rvprof -n '__fish_seen_subcommand_from run' -l %s -d '", options[i].name);
		print_quoted(options[i].help, false);
		putchar('\'');
		if (is_choice(&options[i])) {
			fputs(" -x -a '", stdout);
			print_choices(options[i].argument);
			putchar('\'');
		} else if (options[i].argument[0]) {
			fputs(" -r", stdout);
		}
		putchar('\n');
	}
	for (int i = 0; i < TABLE_COUNT; i++)
		for (const struct option *option = tables[i].options; option->name; option++)
			printf("complete -c rvprof -n '__fish_seen_subcommand_from %s' -l %s%s\n",
			       tables[i].name, option->name, option->has_arg ? " -r" : "");
	puts("complete -c rvprof -n '__fish_seen_subcommand_from stats' -a '" STATS_WORDS "'\n"
	     "complete -c rvprof -n '__fish_seen_subcommand_from stats' -l json");
	puts("complete -c rvprof -n '__fish_seen_subcommand_from ctl' -x -a '" CTL_WORDS "'\n"
	     "complete -c rvprof -n '__fish_seen_subcommand_from ctl' -l json");
	puts("complete -c rvprof -n '__fish_seen_subcommand_from run' -x -a '(__fish_complete_subcommand)'");
}

int rvp_cmd_completion(int argc, char **argv)
{
	const char *shell = argc == 2 ? argv[1] : "";

	if (!strcmp(shell, "--help") || !strcmp(shell, "-h"))
		puts("usage: rvprof completion bash|zsh|fish\n\n"
		     "Prints the completions of rvprof for a shell: `. <(rvprof completion bash)`.");
	else if (!strcmp(shell, "bash"))
		print_bash();
	else if (!strcmp(shell, "zsh"))
		print_zsh();
	else if (!strcmp(shell, "fish"))
		print_fish();
	else {
		rvp_complain("completion is for bash, zsh or fish: rvprof completion bash|zsh|fish");
		return RVP_EXIT_USAGE;
	}
	return RVP_EXIT_DONE;
}
