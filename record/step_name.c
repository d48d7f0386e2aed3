/* SPDX-License-Identifier: MIT */
/* step_name.c: see step_name.h. */
#include "record/step_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Words that people give to the range around a step, without the number behind it. */
bool rvp_is_step_name(const char *text, size_t length)
{
	static const char *const words[] = {
	    "step",          "iteration",     "iter",           "train_step",  "train step",
	    "training_step", "training step", "decode",         "decode_step", "decode step",
	    "prefill",       "profilerstep",  "generate_token", "token"};

	while (length &&
	       (isdigit((unsigned char)text[length - 1]) || strchr(" #:_-=/[]()", text[length - 1])))
		length--;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == length && !strncasecmp(words[i], text, length))
			return true;
	return false;
}
