/* SPDX-License-Identifier: MIT */
/* fuzz_rules.c: any bytes as a rule file, as a name of a function and as a pattern.
 *
 *   (F6) A complaint is one line with a line and a column from 1; a rule that was understood has all its
 * parts, and its conditions point into the lists.
 */
#include "report/rules_names.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

static void check_complaint(void *context, const struct rvp_rule_error *error)
{
	int *count = context;

	++*count;
	if (!error->line || !error->column || !*error->text || strchr(error->text, '\n'))
		abort();
}

static void check_condition(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition)
{
	size_t links = condition->about == RVP_RULE_CALLER || condition->about == RVP_RULE_PYTHON
			   ? rules->python_count
			   : rules->native_count;

	if (condition->about >= RVP_RULE_ABOUT_COUNT || condition->link + condition->links > links ||
	    condition->first + condition->count > rules->pattern_count)
		abort();
}

static void check_rules(const struct rvp_rule_list *rules)
{
	char name[64];

	for (size_t i = 0; i < rules->count; i++) {
		const struct rvp_rule *rule = &rules->rules[i];

		if (!rule->title || !rule->because || !rule->count || !rule->line || rule->confidence > 100 ||
		    rule->first + rule->count > rules->condition_count)
			abort();
		for (uint32_t at = 0; at < rule->count; at++)
			check_condition(rules, &rules->conditions[rule->first + at]);
		rvp_rule_name(rule, name, sizeof name);
	}
}

static void match(const struct rvp_rule_list *rules, const char *text, size_t length)
{
	uint64_t words[RVP_RULE_LINKS_MAX / 64 + 1] = {0};
	const char *plain;
	size_t plain_length = rvp_plain_name(text, &plain);

	if (plain < text || plain + plain_length > text + length)
		abort();
	rvp_rule_native_hits(rules, text, text, words);
	rvp_rule_python_hits(rules, text, text, length & 1, words);
	rvp_rule_glob(text, text, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct rvp_rule_list rules = {0};
	int complaints = 0, errors;
	char *text = malloc(length + 1);

	if (!text)
		abort();
	memcpy(text, bytes, length);
	text[length] = 0;
	errors = rvp_rules_read_text(&rules, "fuzz.rules", text, length, check_complaint, &complaints);
	if (errors != complaints)
		abort();
	check_rules(&rules);
	match(&rules, text, strlen(text));
	rvp_rules_free(&rules);
	free(text);
	return 0;
}
