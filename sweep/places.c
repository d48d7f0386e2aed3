/* SPDX-License-Identifier: MIT */
/* places.c: see places.h. A brace that is not around a name is itself, so JSON and awk in a command need no
 * care; {{NAME}} is the text {NAME}. */
#include "sweep/places.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the name behind a '{'; 0: this brace is itself. */
static size_t name_length(const char *at)
{
	size_t length = 0;

	while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '-')
		length++;
	return length && !isdigit((unsigned char)*at) && at[length] == '}' ? length : 0;
}

/* Length of the name in "{{NAME}}"; 0: it is none. */
static size_t escaped_length(const char *at)
{
	size_t length = at[1] == '{' ? name_length(at + 2) : 0;

	return length && at[2 + length + 1] == '}' ? length : 0;
}

static const char *put_place(FILE *out, const char *at, rvp_place_fn *find, void *context, const char **wrong)
{
	size_t length = escaped_length(at);
	const char *value;

	if (length) {
		fprintf(out, "{%.*s}", (int)length, at + 2);
		return at + length + 4;
	}
	length = name_length(at + 1);
	if (!length) {
		fputc('{', out);
		return at + 1;
	}
	value = find(context, at + 1, length);
	if (value)
		fputs(value, out);
	else
		*wrong = at;
	return at + length + 2;
}

char *rvp_places_fill(const char *text, rvp_place_fn *find, void *context, const char **wrong)
{
	char *filled = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&filled, &bytes);

	*wrong = NULL;
	if (!out)
		return NULL;
	while (*text && !*wrong) {
		if (*text == '{') {
			text = put_place(out, text, find, context, wrong);
			continue;
		}
		fputc(*text++, out);
	}
	if (fclose(out) == 0 && !*wrong)
		return filled;
	free(filled);
	return NULL;
}

struct search {
	const char *name;
	bool is_there;
};

static const char *look(void *context, const char *name, size_t length)
{
	struct search *search = context;

	search->is_there |= strlen(search->name) == length && strncmp(search->name, name, length) == 0;
	return "";
}

bool rvp_places_has(const char *text, const char *name)
{
	struct search search = {.name = name};
	const char *wrong;

	free(rvp_places_fill(text, look, &search, &wrong));
	return search.is_there;
}
