/* SPDX-License-Identifier: MIT */
/* plan.h: what a sweep is to do: a command with places to fill, and the values of each axis that go there.
 *
 * A place is {NAME} in a word of the command: an axis, or one of samples, seed, setting (its name), witness
 * (a file for a JSONL line a decision). "{{" is a brace. Settings are all combinations, the last axis turning
 * fastest; the baseline is a command of its own, run by sh. A place that nothing fills, an axis that no place
 * takes, an axis without values, a value twice: refused before anything runs. */
#ifndef RVP_SWEEP_PLAN_H
#define RVP_SWEEP_PLAN_H

#include "record/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RVP_AXES_MAX = 8,
	RVP_METRIC_RULES_MAX = 16,
	RVP_SETTINGS_MAX = 1000,
	RVP_ROUNDS_MAX = 200,
	RVP_SETTING_NAME_BYTES = 128
};

struct rvp_axis {
	char *name;
	char **values;
	size_t count;
};

/* A figure that the program prints: the first group of the regular expression's last match in its output. */
struct rvp_metric_rule {
	char *name, *pattern;
};

struct rvp_plan {
	char *baseline; /* NULL: the first setting is what others are compared with */
	char **command; /* NULL ends it */
	struct rvp_axis axes[RVP_AXES_MAX];
	size_t axis_count;
	struct rvp_metric_rule metrics[RVP_METRIC_RULES_MAX];
	size_t metric_count;
	char *name;  /* of a setting, with places: "mincut_l{lambda}_t{tau}"; NULL: axis and value, joined by
			'_' */
	char *power; /* as of `rvprof run --power`; NULL: none */
	uint64_t samples, seed;
	uint64_t warm_up, least_repeats, most_repeats;
	double precision_percent, budget_s, timeout_s; /* 0: no limit of time */
};

void rvp_plan_begin(struct rvp_plan *plan); /* the defaults */
void rvp_plan_free(struct rvp_plan *plan);

/* "lambda=0.3,0.5,0.7"; "accuracy=acc=([0-9.]+)". */
struct rvp_status rvp_plan_add_axis(struct rvp_plan *plan, const char *text);
struct rvp_status rvp_plan_add_metric(struct rvp_plan *plan, const char *text);

/* An INI file: [sweep] with the options' names as keys, `grid.NAME = a,b` and `metric.NAME = REGEX`. Words of
 * the command line come after it and win. */
struct rvp_status rvp_plan_read_ini(struct rvp_plan *plan, const char *path);

/* Whether it can be run at all. */
struct rvp_status rvp_plan_check(const struct rvp_plan *plan);

size_t rvp_plan_setting_count(const struct rvp_plan *plan);
const char *rvp_plan_value(const struct rvp_plan *plan, size_t setting, size_t axis);
/* RVP_BASELINE: "baseline". */
#define RVP_BASELINE ((size_t)-1)
struct rvp_status rvp_plan_setting_name(const struct rvp_plan *plan, size_t setting,
					char name[RVP_SETTING_NAME_BYTES]);

/* The words to execute, NULL ends them; each and the list malloc'ed. NULL without memory. */
char **rvp_plan_words(const struct rvp_plan *plan, size_t setting, const char *witness_path);

/* Everything that decides what comes out, as text: two plans with the same text are one sweep. malloc'ed. */
char *rvp_plan_text(const struct rvp_plan *plan);

#endif
