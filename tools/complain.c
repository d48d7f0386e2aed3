/* SPDX-License-Identifier: MIT */
/* complain.c: what the command says when something is wrong: one line on stderr, with the nearest right name.
 * What a program or a file is called may steer a terminal, so a line is printed safely, whoever its words are
 * by.
 */
#include "tools/commands.h"

#include "record/nearest.h"
#include "report/text_style.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024, OPTIONS_MAX = 64 };

/* `line` as rvp_print_safely prints it; never longer. */
static void make_safe(char line[LINE_BYTES])
{
	char safe[LINE_BYTES] = "";
	FILE *out = fmemopen(safe, sizeof safe, "w");

	if (out) {
		rvp_print_safely(out, line, 0);
		fclose(out);
	}
	memcpy(line, safe, sizeof safe);
}

/* One write a line, so that lines of several processes stay whole. */
static void put_line(const char *format, va_list arguments, bool has_colors)
{
	char line[LINE_BYTES];

	vsnprintf(line, sizeof line, format, arguments);
	if (!has_colors)
		make_safe(line);
	fprintf(stderr, "rvprof: %s\n", line);
}

void rvp_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_line(format, arguments, false);
	va_end(arguments);
}

void rvp_say_in_color(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_line(format, arguments, true);
	va_end(arguments);
}

void rvp_complain_of(const struct rvp_status *status)
{
	char line[LINE_BYTES];

	rvp_complain("%s", rvp_status_line(status, line, sizeof line));
}

const char *rvp_nearest(const char *word, const char *const *names)
{
	const char *best = NULL;
	unsigned least = RVP_NEAREST_NAME_BYTES;

	for (; *names; names++) {
		unsigned apart = rvp_letters_apart(word, strlen(word), *names);

		if (apart < least) {
			least = apart;
			best = *names;
		}
	}
	return rvp_is_a_slip(least, strlen(word)) ? best : NULL;
}

static const struct option *option_of(const char *name, size_t length, const struct option *options)
{
	for (; options->name; options++)
		if (!strncmp(options->name, name, length) && !options->name[length])
			return options;
	return NULL;
}

static void complain_of_unknown(const char *command, const char *word, size_t length,
				const struct option *options)
{
	const char *names[OPTIONS_MAX + 1];
	char copy[RVP_NEAREST_NAME_BYTES];
	const char *near;
	int count = 0;

	snprintf(copy, sizeof copy, "%.*s", (int)length, word);
	for (; options->name && count < OPTIONS_MAX; options++)
		names[count++] = options->name;
	names[count] = NULL;
	near = rvp_nearest(copy, names);
	if (near)
		rvp_complain("%s has no option '--%s' (did you mean '--%s'?)", command, copy, near);
	else
		rvp_complain("%s has no option '--%s'; `rvprof %s --help` lists them", command, copy,
			     command);
}

void rvp_complain_of_option(const char *command, int why, const char *word, const struct option *options)
{
	const char *name = word + 2, *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(word) < 2 ? 0 : strlen(name);

	if (why == ':')
		rvp_complain("option '%s' of %s needs a value", word, command);
	else if (word[0] != '-' || word[1] != '-')
		rvp_complain("%s does not understand '%s'; `rvprof %s --help` lists its options", command,
			     word, command);
	else if (option_of(name, length, options))
		rvp_complain("option '%.*s' of %s takes no value", (int)length + 2, word, command);
	else
		complain_of_unknown(command, name, length, options);
}
