/* SPDX-License-Identifier: MIT */
/* words.c: see words.h. */
#include "words.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool complain(const char *command, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "attn %s: ", command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return false;
}

static bool take_value(const char *command, const struct word *word, const char *text)
{
	char *end = NULL;

	errno = 0;
	if (word->kind == WORD_TEXT)
		return (*(const char **)word->value = text) != NULL;
	if (word->kind == WORD_FLOAT) {
		*(float *)word->value = strtof(text, &end);
		if (*text && !*end && isfinite(*(float *)word->value))
			return true;
		return complain(command, "%s '%s' is no number", word->name, text);
	}
	*(uint64_t *)word->value = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return true;
	return complain(command, "%s '%s' is no whole number", word->name, text);
}

bool words_read(const char *command, int argc, char **argv, const struct word *words)
{
	for (int i = 1; i < argc; i++) {
		const struct word *word = words;

		while (word->name && strcmp(word->name, argv[i]) != 0)
			word++;
		if (!word->name)
			return complain(command, "'%s' is not understood", argv[i]);
		if (word->kind == WORD_FLAG)
			*(bool *)word->value = true;
		else if (++i == argc)
			return complain(command, "%s needs a value", word->name);
		else if (!take_value(command, word, argv[i]))
			return false;
	}
	return true;
}

json_t *read_input(const char *command)
{
	json_error_t error;
	json_t *input = json_loadf(stdin, JSON_DECODE_ANY, &error);

	if (!input)
		complain(command, "standard input is no JSON: line %d: %s", error.line, error.text);
	return input;
}

float *floats_of(const char *command, const char *what, const json_t *list, size_t *count)
{
	float *floats = malloc((json_array_size(list) + 1) * sizeof *floats);
	const json_t *item;
	size_t i;

	*count = json_array_size(list);
	if (!json_is_array(list) || !floats)
		return complain(command, "%s is no list", what), free(floats), NULL;
	json_array_foreach(list, i, item)
	{
		floats[i] = (float)json_number_value(item);
		if (!json_is_number(item) || !isfinite(floats[i]))
			return complain(command, "item %zu of %s is no number", i + 1, what), free(floats),
			       NULL;
	}
	return floats;
}

bool *mask_of(const char *command, const char *what, const json_t *list, size_t *count)
{
	bool *mask = malloc((json_array_size(list) + 1) * sizeof *mask);
	const json_t *item;
	size_t i;

	*count = json_array_size(list);
	if (!json_is_array(list) || !mask)
		return complain(command, "%s is no list", what), free(mask), NULL;
	json_array_foreach(list, i, item)
	{
		mask[i] = json_is_true(item);
		if (!json_is_boolean(item))
			return complain(command, "item %zu of %s is neither true nor false", i + 1, what),
			       free(mask), NULL;
	}
	return mask;
}
