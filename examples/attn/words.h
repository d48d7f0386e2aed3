/* SPDX-License-Identifier: MIT */
/* words.h: options of the form --name VALUE, and JSON from standard input. */
#ifndef ATTN_WORDS_H
#define ATTN_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum word_kind { WORD_FLAG, WORD_FLOAT, WORD_COUNT, WORD_TEXT };

struct word {
	const char *name; /* "--lambda"; NULL ends them */
	enum word_kind kind;
	void *value; /* bool, float, uint64_t, const char * */
};

/* False with one line on standard error. */
bool words_read(const char *command, int argc, char **argv, const struct word *words);

/* "attn COMMAND: ..." */
bool complain(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* NULL with one line on standard error. */
json_t *read_input(const char *command);

/* malloc'ed; NULL with one line: it is no list of numbers (or true and false), or one of them is not finite
 * as a float. */
float *floats_of(const char *command, const char *what, const json_t *list, size_t *count);
bool *mask_of(const char *command, const char *what, const json_t *list, size_t *count);

#endif
