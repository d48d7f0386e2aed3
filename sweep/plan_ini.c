/* SPDX-License-Identifier: MIT */
/* plan_ini.c: a plan from an INI file, see plan.h. The command is one line, cut at blanks as a shell without
 * variables cuts it: 'single' and "double" quotes hold words together, a backslash takes the next character
 * as it is. */
#include "sweep/plan.h"
#include "sweep/plan_words.h"
#include "sweep/words.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rvp_status take_command(struct rvp_plan *plan, const char *text)
{
	rvp_words_free(plan->command);
	return rvp_words_cut(&plan->command, text);
}

struct reading {
	struct rvp_plan *plan;
	struct rvp_status status;
};

static struct rvp_status take_named(struct rvp_plan *plan, const char *key, const char *value,
				    struct rvp_status (*add)(struct rvp_plan *, const char *))
{
	char *text;
	struct rvp_status status;

	if (asprintf(&text, "%s=%s", key, value) < 0)
		return rvp_fail("read", key, ENOMEM);
	status = add(plan, text);
	free(text);
	return status;
}

static struct rvp_status take(struct rvp_plan *plan, const char *key, const char *value)
{
	if (strncmp(key, "grid.", 5) == 0)
		return take_named(plan, key + 5, value, rvp_plan_add_axis);
	if (strncmp(key, "metric.", 7) == 0)
		return take_named(plan, key + 7, value, rvp_plan_add_metric);
	if (strcmp(key, "command") == 0)
		return take_command(plan, value);
	return rvp_plan_take_word(plan, key, value);
}

static int take_line(void *context, const char *section, const char *key, const char *value)
{
	struct reading *reading = context;

	if (rvp_failed(reading->status))
		return 0;
	if (strcmp(section, "sweep") != 0)
		reading->status =
		    rvp_fail_with("read", NULL, "section [%.40s]: only [sweep] has a meaning", section);
	else
		reading->status = take(reading->plan, key, value);
	return !rvp_failed(reading->status);
}

struct rvp_status rvp_plan_read_ini(struct rvp_plan *plan, const char *path)
{
	struct reading reading = {.plan = plan, .status = RVP_OK};
	FILE *file = fopen(path, "re");
	int line;

	if (!file)
		return rvp_fail("open", path, errno);
	line = ini_parse_file(file, take_line, &reading);
	fclose(file);
	if (rvp_failed(reading.status))
		return rvp_fail_with("read", path, "line %d: %s %s", line, reading.status.detail,
				     reading.status.path);
	return line ? rvp_fail_with("read", path, "line %d is neither [section] nor key = value", line)
		    : RVP_OK;
}
