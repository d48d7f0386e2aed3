/* SPDX-License-Identifier: MIT */
/* rules_match.h: which rules a call path of a run can match. Each distinct instruction is named once, each
 * node of the trees of call paths is visited once, and equal results are shared.
 *
 *   (R1) A node's set holds the links that are fulfilled on its path to the outermost caller: link n is when
 *        its function matches and, in a chain, link n + 1 was fulfilled by a caller (rules.h).
 *   (R2) Addresses are named by the module that held them at the given time, by .symtab, else .dynsym, of the
 *        file as it was then: a file that is gone or replaced has no names.
 *   (R3) Nothing is denied of what is not known: under `not`, a function of a file that names none is taken
 *        for any function that the file could hold, and a call path that was not recorded for any at all: the
 *        rule stays silent. Where a file names others, a nameless one is a local function, and no rule's.
 */
#ifndef RVP_REPORT_RULES_MATCH_H
#define RVP_REPORT_RULES_MATCH_H

#include "report/rules.h"
#include "report/run.h"

struct rvp_rule_matcher;

/* `rules` and `run` must outlive it; `symbols_path`: librvprof_symbols.so, NULL: the usual places. NULL
 * without memory. */
struct rvp_rule_matcher *rvp_rule_matcher_open(const struct rvp_rule_list *rules, const struct rvp_run *run,
					       const char *symbols_path);
void rvp_rule_matcher_close(struct rvp_rule_matcher *matcher);

/* Numbers of the rules that the call path allows, in order; what they ask of a single block (bytes, file,
 * ...) is not looked at. `on_device`: the memory is a device's. RVP_NO_RULES: no memory. The list lives until the matcher is closed. */
struct rvp_rule_choice {
	const uint32_t *rules;
	size_t count;
};
struct rvp_rule_choice rvp_rules_for(struct rvp_rule_matcher *matcher, uint32_t process, uint32_t stack,
				     uint32_t python, uint64_t ns, bool on_device);

/* Whether the call path fulfils one condition (of the kinds BY to PYTHON). */
bool rvp_rule_condition_holds(struct rvp_rule_matcher *matcher, const struct rvp_rule_condition *condition,
			      uint32_t process, uint32_t stack, uint32_t python, uint64_t ns);

/* The native function at a node, as rules see it; NULL: nameless. *module: its path, NULL: in none. */
const char *rvp_rule_native_name(struct rvp_rule_matcher *matcher, uint32_t process, uint32_t node,
				 uint64_t ns, const char **module);

bool rvp_rule_matcher_failed(const struct rvp_rule_matcher *matcher); /* without memory */

/* What the user should know, a line each ("names of native functions are not to be had: ..."), 0..n. */
size_t rvp_rule_matcher_notes(const struct rvp_rule_matcher *matcher, char notes[][256], size_t room);

#endif
