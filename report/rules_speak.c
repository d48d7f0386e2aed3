/* SPDX-License-Identifier: MIT */
/* rules_speak.c: see rules_speak.h. */
#include "report/rules_speak.h"

#include <stdio.h>
#include <string.h>

static bool is_named(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition,
		     const char *text, size_t length)
{
	for (uint32_t i = 0; text && i < condition->count; i++)
		if (rvp_rule_glob(rules->patterns[condition->first + i].name, text, length))
			return true;
	return false;
}

static bool is_file(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition,
		    const char *path)
{
	for (uint32_t i = 0; path && i < condition->count; i++)
		if (rvp_rule_path_glob(rules->patterns[condition->first + i].name, path))
			return true;
	return false;
}

static bool is_loaded(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition,
		      const struct rvp_process *process)
{
	for (size_t i = 0; process && i < process->module_count; i++)
		if (is_file(rules, condition, process->modules[i].path))
			return true;
	return false;
}

static bool maps(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition,
		 const struct rvp_rule_block *block)
{
	for (size_t i = 0; i < block->map_count; i++)
		if (is_file(rules, condition, block->maps[i]))
			return true;
	return false;
}

static bool is_inside(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition,
		      const struct rvp_rule_block *block)
{
	for (size_t i = 0; i < block->scope_count; i++)
		if (is_named(rules, condition, block->scopes[i].bytes, block->scopes[i].length))
			return true;
	return false;
}

bool rvp_rule_block_fulfils(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition,
			    const struct rvp_rule_block *block)
{
	switch (condition->about) {
	case RVP_RULE_BYTES: return condition->least <= block->bytes && block->bytes <= condition->most;
	case RVP_RULE_FILE: return is_file(rules, condition, block->file);
	case RVP_RULE_THREAD:
		return is_named(rules, condition, block->thread, block->thread ? strlen(block->thread) : 0);
	case RVP_RULE_PHASE: return condition->phases >> block->phase & 1;
	case RVP_RULE_SCOPE: return is_inside(rules, condition, block);
	case RVP_RULE_MAPPED: return block->is_mapped;
	case RVP_RULE_LOADED: return is_loaded(rules, condition, block->process);
	case RVP_RULE_MAPS: return maps(rules, condition, block);
	default: return !condition->is_negated; /* of the call path: it holds already */
	}
}

static bool speaks(const struct rvp_rule_list *rules, const struct rvp_rule *rule,
		   const struct rvp_rule_block *block)
{
	bool names_file = false;

	for (uint32_t i = 0; i < rule->count; i++) {
		const struct rvp_rule_condition *condition = &rules->conditions[rule->first + i];

		if (rvp_rule_block_fulfils(rules, condition, block) == condition->is_negated)
			return false;
		names_file |= condition->about == RVP_RULE_FILE && !condition->is_negated;
	}
	return names_file || !block->is_file;
}

const struct rvp_rule *rvp_rule_speaking(const struct rvp_rule_list *rules, struct rvp_rule_choice choice,
					 const struct rvp_rule_block *block)
{
	const struct rvp_rule *generic = NULL;

	for (size_t i = 0; i < choice.count; i++) {
		const struct rvp_rule *rule = &rules->rules[choice.rules[i]];

		if ((rule->is_generic && generic) || !speaks(rules, rule, block))
			continue;
		if (!rule->is_generic && rule->action == RVP_RULE_LEAVE)
			return NULL;
		if (!rule->is_generic)
			return rule;
		generic = rule;
	}
	return generic && generic->action != RVP_RULE_LEAVE ? generic : NULL;
}

const struct rvp_rule *rvp_rules_of_scope(const struct rvp_rule_list *rules, const char *name, size_t length,
					  enum rvp_rule_action action)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rvp_rule *rule = &rules->rules[i];
		const struct rvp_rule_condition *condition = &rules->conditions[rule->first];

		if (rule->action == action && rule->count == 1 && condition->about == RVP_RULE_SCOPE &&
		    is_named(rules, condition, name, length) != condition->is_negated)
			return rule;
	}
	return NULL;
}

char *rvp_rule_name(const struct rvp_rule *rule, char *text, size_t text_bytes)
{
	const char *what = *rule->title ? rule->title : rule->because;

	snprintf(text, text_bytes, "%s:%u %s%s", rule->file, rule->line, what,
		 rule->is_untested ? " (untested)" : "");
	return text;
}
