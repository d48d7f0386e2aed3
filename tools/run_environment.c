/* SPDX-License-Identifier: MIT */
/* run_environment.c: see run_environment.h. */
#include "tools/run_environment.h"

#include "tools/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY   "librvprof.so"
#define SANITIZER "libasan.so"

enum { VARIABLE_BYTES = 64 };

static const char separators[] = ": \t\n";

static bool basename_begins(const char *item, size_t length, const char *prefix)
{
	const char *slash = memrchr(item, '/', length), *base = slash ? slash + 1 : item;
	size_t rest = length - (size_t)(base - item);

	return rest >= strlen(prefix) && !memcmp(base, prefix, strlen(prefix));
}

struct preload {
	char *value;
	size_t length, room;
	bool full;
};

static void add_item(struct preload *preload, const char *item, size_t length)
{
	if (preload->length + length + 2 > preload->room) {
		preload->full = true;
		return;
	}
	if (preload->length)
		preload->value[preload->length++] = ':';
	memcpy(preload->value + preload->length, item, length);
	preload->length += length;
	preload->value[preload->length] = 0;
}

/* The items of `existing` that are sanitizers, or those that are not (nor ours). */
static unsigned add_existing(struct preload *preload, const char *existing, bool sanitizers)
{
	unsigned added = 0;

	while (existing && *existing) {
		size_t length = strcspn(existing, separators);
		bool ours = basename_begins(existing, length, LIBRARY);

		if (length && !ours && basename_begins(existing, length, SANITIZER) == sanitizers) {
			add_item(preload, existing, length);
			added++;
		}
		existing += length + (existing[length] != 0);
	}
	return added;
}

struct rvp_status rvp_preload_value(char *value, unsigned bytes, const char *library, const char *existing,
				    const char *sanitizer)
{
	struct preload preload = {value, 0, bytes, false};

	*value = 0;
	if (strpbrk(library, separators))
		return rvp_fail_with("preload", library,
				     "LD_PRELOAD can not name a path with a space or colon; move it");
	if (!add_existing(&preload, existing, true) && sanitizer && *sanitizer)
		add_item(&preload, sanitizer, strlen(sanitizer));
	add_item(&preload, library, strlen(library));
	add_existing(&preload, existing, false);
	if (preload.full)
		return rvp_fail("set", "LD_PRELOAD", E2BIG);
	return RVP_OK;
}

void rvp_sanitizer_of(const char *program, char *name, unsigned bytes)
{
	struct rvp_elf elf;
	const char *needed = NULL;

	if (!rvp_failed(rvp_elf_open(&elf, program)))
		needed = rvp_elf_needs(&elf, SANITIZER);
	snprintf(name, bytes, "%s", needed ? needed : "");
	rvp_elf_close(&elf);
}

/* "max-log" -> RVPROF_MAX_LOG */
static int set_option(const struct rvp_given *given)
{
	char variable[VARIABLE_BYTES] = "RVPROF_";
	size_t at = strlen(variable);

	for (const char *letter = given->name; *letter && at < sizeof variable - 1; letter++)
		variable[at++] = *letter == '-' ? '_' : (char)(*letter - 'a' + 'A');
	variable[at] = 0;
	return setenv(variable, given->value, 1) ? errno : 0;
}

int rvp_set_environment(const struct rvp_run_settings *settings, const char *run_dir, const char *preload)
{
	int failed = 0;

	for (int i = 0; i < settings->given_count && !failed; i++)
		failed = set_option(&settings->given[i]);
	if (!failed && setenv("RVPROF_RUN_DIR", run_dir, 1))
		failed = errno;
	if (!failed && setenv("LD_PRELOAD", preload, 1))
		failed = errno;
	return failed;
}
