/* SPDX-License-Identifier: MIT */
/* rules_speak.h: which rule speaks for one block: of those that its call path allows (rules_match.h) the
 * first, within its class, whose other conditions the block fulfils. Of a mapping of a file only rules with
 * `file` speak: its bytes are the file's, whoever mapped it. */
#ifndef RVP_REPORT_RULES_SPEAK_H
#define RVP_REPORT_RULES_SPEAK_H

#include "report/rules_match.h"

/* What rules may ask of a block. Texts may be NULL: not known, and then nothing matches them. */
struct rvp_rule_block {
	uint64_t bytes;
	bool is_mapped, is_file; /* file: a mapping of one */
	uint32_t phase;          /* enum rvp_step_phase */
	const char *file, *thread;
	const struct rvp_text *scopes; /* names of what is open on its thread */
	size_t scope_count;
	const struct rvp_process *process; /* NULL: not known */
	const char *const *maps;           /* paths of files that the process mapped */
	size_t map_count;
};

bool rvp_rule_block_fulfils(const struct rvp_rule_list *rules, const struct rvp_rule_condition *condition,
			    const struct rvp_rule_block *block);

/* NULL: no rule speaks. A specific rule is preferred to a generic one. */
const struct rvp_rule *rvp_rule_speaking(const struct rvp_rule_list *rules, struct rvp_rule_choice choice,
					 const struct rvp_rule_block *block);

#endif
