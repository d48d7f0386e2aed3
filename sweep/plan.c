/* SPDX-License-Identifier: MIT */
/* plan.c: see plan.h. */
#include "sweep/plan.h"

#include "report/grow.h"
#include "sweep/places.h"
#include "sweep/words.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const own_places[] = {"samples", "seed", "setting", "witness"};
enum { OWN_PLACES = sizeof own_places / sizeof *own_places };

void rvp_plan_begin(struct rvp_plan *plan)
{
	*plan = (struct rvp_plan){.samples = 1000,
				  .seed = 42,
				  .warm_up = 1,
				  .least_repeats = 5,
				  .most_repeats = 15,
				  .precision_percent = 2,
				  .budget_s = 600};
}

static void free_axis(struct rvp_axis *axis)
{
	for (size_t i = 0; i < axis->count; i++)
		free(axis->values[i]);
	free(axis->values);
	free(axis->name);
	*axis = (struct rvp_axis){.name = NULL};
}

void rvp_plan_free(struct rvp_plan *plan)
{
	for (size_t i = 0; i < plan->axis_count; i++)
		free_axis(&plan->axes[i]);
	for (size_t i = 0; i < plan->metric_count; i++) {
		free(plan->metrics[i].name);
		free(plan->metrics[i].pattern);
	}
	rvp_words_free(plan->command);
	free(plan->baseline);
	free(plan->name);
	free(plan->power);
}

/* "NAME=REST": a copy of the name, and where the rest begins; NULL: it is not so. */
static char *cut_name(const char *text, const char **rest)
{
	const char *equals = strchr(text, '=');

	*rest = equals ? equals + 1 : NULL;
	return equals && equals > text ? strndup(text, (size_t)(equals - text)) : NULL;
}

/* ---- axes ---- */

static struct rvp_status add_values(struct rvp_axis *axis, const char *values)
{
	size_t room = 0;

	for (const char *at = values; *values;) {
		size_t length = strcspn(at, ",");

		if (!length)
			return rvp_fail_with("read --grid", axis->name, "a value is empty in '%.100s'",
					     values);
		if (!rvp_grow((void **)&axis->values, &room, axis->count + 1, sizeof *axis->values) ||
		    !(axis->values[axis->count] = strndup(at, length)))
			return rvp_fail("read --grid", axis->name, ENOMEM);
		for (size_t i = 0; i < axis->count; i++)
			if (strcmp(axis->values[i], axis->values[axis->count]) == 0) {
				axis->count++;
				return rvp_fail_with("read --grid", axis->name,
						     "the value '%.80s' is there twice", axis->values[i]);
			}
		axis->count++;
		at += length;
		if (!*at++)
			return RVP_OK;
	}
	return rvp_fail_with("read --grid", axis->name, "the axis has no values");
}

/* The axis of that name, emptied; or a new one. */
static struct rvp_axis *take_axis(struct rvp_plan *plan, char *name)
{
	for (size_t i = 0; i < plan->axis_count; i++)
		if (strcmp(plan->axes[i].name, name) == 0) {
			free_axis(&plan->axes[i]);
			return &plan->axes[i];
		}
	return plan->axis_count < RVP_AXES_MAX ? &plan->axes[plan->axis_count++] : NULL;
}

struct rvp_status rvp_plan_add_axis(struct rvp_plan *plan, const char *text)
{
	const char *values;
	char *name = cut_name(text, &values);
	struct rvp_axis *axis;

	if (!name)
		return rvp_fail_with("read --grid", NULL, "'%.100s' is no NAME=VALUE,VALUE..", text);
	for (int i = 0; i < OWN_PLACES; i++)
		if (strcmp(name, own_places[i]) == 0) {
			free(name);
			return rvp_fail_with("read --grid", NULL,
					     "{%s} has a meaning of its own: name the axis otherwise",
					     own_places[i]);
		}
	axis = take_axis(plan, name);
	if (!axis) {
		free(name);
		return rvp_fail_with("read --grid", NULL, "more than %d axes", RVP_AXES_MAX);
	}
	axis->name = name;
	return add_values(axis, values);
}

struct rvp_status rvp_plan_add_metric(struct rvp_plan *plan, const char *text)
{
	struct rvp_metric_rule rule;
	const char *pattern;
	regex_t compiled;
	size_t groups;

	rule.name = cut_name(text, &pattern);
	if (!rule.name || plan->metric_count == RVP_METRIC_RULES_MAX) {
		free(rule.name);
		return rvp_fail_with("read --metric", NULL,
				     "'%.100s' is no NAME=REGEX, or there are more than %d", text,
				     RVP_METRIC_RULES_MAX);
	}
	rule.pattern = strdup(pattern);
	plan->metrics[plan->metric_count++] = rule;
	if (!rule.pattern)
		return rvp_fail("read --metric", NULL, ENOMEM);
	if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE) != 0)
		return rvp_fail_with("read --metric", rule.name, "'%.150s' is no extended regular expression",
				     pattern);
	groups = compiled.re_nsub;
	regfree(&compiled);
	return groups ? RVP_OK
		      : rvp_fail_with("read --metric", rule.name,
				      "'%.120s' has no group: put the figure into (..)", pattern);
}

/* ---- settings ---- */

size_t rvp_plan_setting_count(const struct rvp_plan *plan)
{
	size_t count = 1;

	for (size_t i = 0; i < plan->axis_count; i++)
		if (__builtin_mul_overflow(count, plan->axes[i].count, &count))
			return SIZE_MAX;
	return count;
}

const char *rvp_plan_value(const struct rvp_plan *plan, size_t setting, size_t axis)
{
	for (size_t i = plan->axis_count; i-- > axis + 1;)
		setting /= plan->axes[i].count;
	return plan->axes[axis].values[setting % plan->axes[axis].count];
}

struct filling {
	const struct rvp_plan *plan;
	size_t setting;
	const char *witness_path;
	char number[2][24], name[RVP_SETTING_NAME_BYTES];
};

static bool is(const char *word, const char *name, size_t length)
{
	return strlen(word) == length && strncmp(word, name, length) == 0;
}

static const char *find_place(void *context, const char *name, size_t length)
{
	struct filling *filling = context;
	const struct rvp_plan *plan = filling->plan;

	for (size_t i = 0; i < plan->axis_count && filling->setting != RVP_BASELINE; i++)
		if (is(plan->axes[i].name, name, length))
			return rvp_plan_value(plan, filling->setting, i);
	if (is("samples", name, length))
		return filling->number[0];
	if (is("seed", name, length))
		return filling->number[1];
	if (is("witness", name, length))
		return filling->witness_path;
	return is("setting", name, length) && *filling->name ? filling->name : NULL;
}

static void begin_filling(struct filling *filling, const struct rvp_plan *plan, size_t setting,
			  const char *witness_path)
{
	*filling = (struct filling){.plan = plan, .setting = setting, .witness_path = witness_path};
	snprintf(filling->number[0], sizeof filling->number[0], "%" PRIu64, plan->samples);
	snprintf(filling->number[1], sizeof filling->number[1], "%" PRIu64, plan->seed);
}

static struct rvp_status wrong_place(const char *step, const char *text, const char *wrong)
{
	return wrong ? rvp_fail_with(step, NULL, "nothing fills %.*s in '%.120s'",
				     (int)strcspn(wrong, "}") + 1, wrong, text)
		     : rvp_fail(step, NULL, ENOMEM);
}

static char *default_name(const struct rvp_plan *plan, size_t setting)
{
	char *name = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&name, &bytes);

	for (size_t i = 0; out && i < plan->axis_count; i++)
		fprintf(out, "%s%s%s", i ? "_" : "", plan->axes[i].name, rvp_plan_value(plan, setting, i));
	if (out && !plan->axis_count)
		fputs("setting", out);
	return out && fclose(out) == 0 ? name : NULL;
}

struct rvp_status rvp_plan_setting_name(const struct rvp_plan *plan, size_t setting,
					char name[RVP_SETTING_NAME_BYTES])
{
	struct filling filling;
	const char *wrong = NULL;
	char *filled;
	size_t length;

	begin_filling(&filling, plan, setting, NULL);
	if (setting == RVP_BASELINE)
		return strcpy(name, "baseline"), RVP_OK;
	filled = plan->name ? rvp_places_fill(plan->name, find_place, &filling, &wrong)
			    : default_name(plan, setting);
	if (!filled)
		return wrong_place("name a setting by --name", plan->name ? plan->name : "", wrong);
	length = strlen(filled);
	if (length < RVP_SETTING_NAME_BYTES)
		strcpy(name, filled);
	free(filled);
	for (char *at = name; length < RVP_SETTING_NAME_BYTES && *at; at++)
		if (*at == '/' || (unsigned char)*at <= ' ' || *at == 0x7f)
			*at = '-'; /* it becomes a file's name */
	return length && length < RVP_SETTING_NAME_BYTES && *name != '.'
		   ? RVP_OK
		   : rvp_fail_with("name a setting by --name", NULL,
				   "a name is empty, begins with '.' or has more than %d bytes",
				   RVP_SETTING_NAME_BYTES - 1);
}

/* Without a shell where it needs none: that is a process of its own, with memory of its own. */
static char **baseline_words(const char *command)
{
	char **words;

	if (!rvp_words_need_shell(command))
		return rvp_failed(rvp_words_cut(&words, command)) ? NULL : words;
	words = calloc(4, sizeof *words);
	if (words && (words[0] = strdup("sh")) && (words[1] = strdup("-c")) && (words[2] = strdup(command)))
		return words;
	rvp_words_free(words);
	return NULL;
}

static char **fill_words(const struct rvp_plan *plan, struct filling *filling, const char **wrong,
			 const char **text)
{
	size_t count = 0;
	char **words;

	if (filling->setting == RVP_BASELINE) {
		char *command = rvp_places_fill(*text = plan->baseline, find_place, filling, wrong);

		words = command ? baseline_words(command) : NULL;
		free(command);
		return words;
	}
	while (plan->command[count])
		count++;
	words = calloc(count + 1, sizeof *words);
	for (size_t i = 0; words && i < count; i++) {
		words[i] = rvp_places_fill(*text = plan->command[i], find_place, filling, wrong);
		if (words[i])
			continue;
		rvp_words_free(words);
		return NULL;
	}
	return words;
}

char **rvp_plan_words(const struct rvp_plan *plan, size_t setting, const char *witness_path)
{
	struct filling filling;
	const char *wrong, *text;

	begin_filling(&filling, plan, setting, witness_path);
	if (rvp_failed(rvp_plan_setting_name(plan, setting, filling.name)))
		return NULL;
	return fill_words(plan, &filling, &wrong, &text);
}

/* ---- whether it can be run ---- */

static bool is_taken(const struct rvp_plan *plan, const char *name)
{
	for (char **word = plan->command; *word; word++)
		if (rvp_places_has(*word, name))
			return true;
	return false;
}

static struct rvp_status check_words(const struct rvp_plan *plan, size_t setting)
{
	struct filling filling;
	const char *wrong = NULL, *text = "";
	struct rvp_status status;
	char **words;

	begin_filling(&filling, plan, setting, "witness");
	status = rvp_plan_setting_name(plan, setting, filling.name);
	if (rvp_failed(status))
		return status;
	words = fill_words(plan, &filling, &wrong, &text);
	status =
	    words ? RVP_OK
		  : wrong_place(setting == RVP_BASELINE ? "run --baseline" : "run the command", text, wrong);
	rvp_words_free(words);
	return status;
}

static struct rvp_status check_names(const struct rvp_plan *plan)
{
	size_t count = rvp_plan_setting_count(plan);
	char name[RVP_SETTING_NAME_BYTES], other[RVP_SETTING_NAME_BYTES];
	struct rvp_status status = RVP_OK;

	for (size_t i = 0; i < count && !rvp_failed(status); i++) {
		status = rvp_plan_setting_name(plan, i, name);
		for (size_t j = 0; j < i && !rvp_failed(status); j++)
			if (!rvp_failed(rvp_plan_setting_name(plan, j, other)) && strcmp(name, other) == 0)
				status = rvp_fail_with("name a setting by --name", NULL,
						       "two settings would be called '%s'", name);
		if (!rvp_failed(status) && (strcmp(name, "baseline") == 0 || strcmp(name, "results") == 0))
			status = rvp_fail_with("name a setting by --name", NULL,
					       "'%s' is another file's name", name);
	}
	return status;
}

struct rvp_status rvp_plan_check(const struct rvp_plan *plan)
{
	struct rvp_status status;

	if (!plan->command || !plan->command[0])
		return rvp_fail_with("sweep", NULL,
				     "there is no command: rvprof bench [OPTION..] -- CMD [ARG..]");
	if (plan->baseline && !plan->baseline[strspn(plan->baseline, " \t")])
		return rvp_fail_with("sweep", NULL, "--baseline is empty");
	if (!plan->samples)
		return rvp_fail_with("sweep", NULL, "--samples 0: there is nothing to measure");
	if (!plan->least_repeats || plan->least_repeats > plan->most_repeats ||
	    plan->most_repeats > RVP_ROUNDS_MAX)
		return rvp_fail_with("sweep", NULL, "--repeats %" PRIu64 ":%" PRIu64 " is no range",
				     plan->least_repeats, plan->most_repeats);
	if (rvp_plan_setting_count(plan) > RVP_SETTINGS_MAX)
		return rvp_fail_with("sweep", NULL, "the axes make more than %d settings", RVP_SETTINGS_MAX);
	for (size_t i = 0; i < plan->axis_count; i++)
		if (!is_taken(plan, plan->axes[i].name))
			return rvp_fail_with("sweep", NULL,
					     "the axis '%s' changes nothing: no {%s} in the command",
					     plan->axes[i].name, plan->axes[i].name);
	status = check_words(plan, 0);
	if (!rvp_failed(status) && plan->baseline)
		status = check_words(plan, RVP_BASELINE);
	return rvp_failed(status) ? status : check_names(plan);
}

/* ---- as text ---- */

static void put_texts(FILE *out, const struct rvp_plan *plan)
{
	fprintf(out, "rvprof.sweep/1\nsamples %" PRIu64 "\nseed %" PRIu64 "\nbaseline %s\ncommand",
		plan->samples, plan->seed, plan->baseline ? plan->baseline : "");
	for (char **word = plan->command; *word; word++)
		fprintf(out, " %zu:%s", strlen(*word), *word);
	for (size_t i = 0; i < plan->axis_count; i++) {
		fprintf(out, "\naxis %s", plan->axes[i].name);
		for (size_t j = 0; j < plan->axes[i].count; j++)
			fprintf(out, "%s%s", j ? "," : " ", plan->axes[i].values[j]);
	}
	for (size_t i = 0; i < plan->metric_count; i++)
		fprintf(out, "\nmetric %s %s", plan->metrics[i].name, plan->metrics[i].pattern);
	fprintf(out, "\nname %s\npower %s\n", plan->name ? plan->name : "", plan->power ? plan->power : "");
}

char *rvp_plan_text(const struct rvp_plan *plan)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	put_texts(out, plan);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
