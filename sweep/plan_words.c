/* SPDX-License-Identifier: MIT */
/* plan_words.c: see plan_words.h. */
#include "sweep/plan_words.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, WHOLE, POSITIVE, RANGE };

static const struct word {
	const char *name;
	enum kind kind;
	size_t at;
} words[] = {
    {"baseline", TEXT, offsetof(struct rvp_plan, baseline)},
    {"name", TEXT, offsetof(struct rvp_plan, name)},
    {"power", TEXT, offsetof(struct rvp_plan, power)},
    {"samples", WHOLE, offsetof(struct rvp_plan, samples)},
    {"seed", WHOLE, offsetof(struct rvp_plan, seed)},
    {"warm-up", WHOLE, offsetof(struct rvp_plan, warm_up)},
    {"repeats", RANGE, offsetof(struct rvp_plan, least_repeats)},
    {"precision", POSITIVE, offsetof(struct rvp_plan, precision_percent)},
    {"budget", POSITIVE, offsetof(struct rvp_plan, budget_s)},
    {"timeout", POSITIVE, offsetof(struct rvp_plan, timeout_s)},
};
enum { WORDS = sizeof words / sizeof *words };

const char *const rvp_plan_word_names[] = {"baseline", "name",      "power",  "samples", "seed", "warm-up",
					   "repeats",  "precision", "budget", "timeout", NULL};

static const char *read_whole(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !errno ? end : NULL;
}

static bool take_range(struct rvp_plan *plan, const char *text)
{
	const char *end = read_whole(text, &plan->least_repeats);

	plan->most_repeats = plan->least_repeats;
	if (end && *end == ':')
		end = read_whole(end + 1, &plan->most_repeats);
	return end && !*end;
}

static bool take_text(char **field, const char *text)
{
	free(*field);
	return (*field = strdup(text)) != NULL;
}

static bool take_positive(double *field, const char *text)
{
	char *end;

	*field = strtod(text, &end);
	return *text && !*end && isfinite(*field) && *field > 0;
}

static bool take_value(struct rvp_plan *plan, const struct word *word, const char *text)
{
	void *field = (char *)plan + word->at;
	const char *end;

	switch (word->kind) {
	case TEXT: return take_text(field, text);
	case POSITIVE: return take_positive(field, text);
	case RANGE: return take_range(plan, text);
	case WHOLE: break;
	}
	end = read_whole(text, field);
	return end && !*end;
}

struct rvp_status rvp_plan_take_word(struct rvp_plan *plan, const char *name, const char *value)
{
	static const char *const wants[] = {[TEXT] = "a text",
					    [WHOLE] = "a whole number",
					    [POSITIVE] = "a number above 0",
					    [RANGE] = "a number of repeats, or LEAST:MOST"};

	for (int i = 0; i < WORDS; i++)
		if (strcmp(words[i].name, name) == 0)
			return take_value(plan, &words[i], value)
				   ? RVP_OK
				   : rvp_fail_with("read", name, "'%.100s' is not %s", value,
						   wants[words[i].kind]);
	return rvp_fail_with("read", name, "there is no such option");
}
