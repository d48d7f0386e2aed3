/* SPDX-License-Identifier: MIT */
/* plan_words.h: options of a sweep that have one value, by their names: on the command line and in INI files
 * alike. */
#ifndef RVP_SWEEP_PLAN_WORDS_H
#define RVP_SWEEP_PLAN_WORDS_H

#include "sweep/plan.h"

/* "samples", "1000". Fails on an unknown name or a value that is none. */
struct rvp_status rvp_plan_take_word(struct rvp_plan *plan, const char *name, const char *value);

/* The names; NULL ends them. */
extern const char *const rvp_plan_word_names[];

#endif
