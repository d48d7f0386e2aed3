/* SPDX-License-Identifier: MIT */
/* fuzz_options.c: any bytes as an environment (lines) and as options of the command line.
 *
 *   (F5) A refusal has a complaint of one line, terminated inside its room; what is not understood changes
 * nothing.
 */
#include "record/options.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 64 };

static void check_complaint(const char *complaint, size_t room)
{
	size_t length = strnlen(complaint, room);

	if (length == room || length == 0 || memchr(complaint, '\n', length))
		abort();
}

static void read_environment(char **environment)
{
	char complaint[RVP_COMPLAINT_BYTES] = "", small[9] = "";
	struct rvp_options options, again;

	if (!rvp_options_read(&options, environment, complaint, sizeof complaint))
		check_complaint(complaint, sizeof complaint);
	/* Room too small for the line: cut, never beyond. */
	if (!rvp_options_read(&again, environment, small, sizeof small))
		check_complaint(small, sizeof small);
	if (memcmp(&options.mode, &again.mode, sizeof options.mode) != 0 ||
	    options.max_log_bytes != again.max_log_bytes)
		abort();
}

static void set_one(char *word)
{
	char complaint[RVP_COMPLAINT_BYTES] = "", *value = strchr(word, '=');
	struct rvp_options options, before;

	rvp_options_defaults(&options);
	before = options;
	if (rvp_options_set(&options, word, value ? (size_t)(value - word) : strlen(word),
			    value ? value + 1 : "", value ? strlen(value + 1) : 0, complaint,
			    sizeof complaint))
		return;
	check_complaint(complaint, sizeof complaint);
	if (options.mode != before.mode || options.max_log_bytes != before.max_log_bytes ||
	    options.exit_wait_s != before.exit_wait_s || options.python != before.python)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char *text = malloc(length + 1), *environment[WORDS_MAX + 1];
	size_t count = 0;

	if (!text)
		abort();
	memcpy(text, bytes, length);
	text[length] = 0;
	for (char *at = text, *end; at && count < WORDS_MAX; at = end ? end + 1 : NULL) {
		end = strchr(at, '\n');
		if (end)
			*end = 0;
		environment[count++] = at;
	}
	environment[count] = NULL;
	read_environment(environment);
	for (size_t i = 0; i < count; i++)
		set_one(environment[i]);
	free(text);
	return 0;
}
