/* SPDX-License-Identifier: MIT */
/* step_name.c: see step_name.h. ASCII letters alone, whatever the locale: it is asked inside the program too. */
#include "record/step_name.h"

#include <string.h>

static char lower(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool is_of_number(char letter)
{
	return (letter >= '0' && letter <= '9') || (letter && strchr(" #:_-=/[]()", letter));
}

static bool is_word(const char *text, size_t length, const char *word)
{
	if (strlen(word) != length)
		return false;
	while (length && lower(text[length - 1]) == word[length - 1])
		length--;
	return length == 0;
}

/* Words that people give to the range around a step, without the number behind it. */
bool rvp_is_step_name(const char *text, size_t length)
{
	static const char *const words[] = {
	    "step",          "iteration",     "iter",           "train_step",  "train step",
	    "training_step", "training step", "decode",         "decode_step", "decode step",
	    "prefill",       "profilerstep",  "generate_token", "token"};

	while (length && is_of_number(text[length - 1]))
		length--;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is_word(text, length, words[i]))
			return true;
	return false;
}
