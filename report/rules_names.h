/* SPDX-License-Identifier: MIT */
/* rules_names.h: whether a function is one that a rule speaks of. */
#ifndef RVP_REPORT_RULES_NAMES_H
#define RVP_REPORT_RULES_NAMES_H

#include "report/rules.h"

/* The part of a demangled name that people say: no return type, parameters or compiler's suffix:
 * "a::b<int>::c" of "void a::b<int>::c(int) const [clone .part.0]". Its length; *plain gets where it begins.
 */
size_t rvp_plain_name(const char *function, const char **plain);

/* Sets the bit of each native link that matches; `words` is large enough and is not cleared before.
 * `function` "": it has no name; NULL: its name is not to be had, and may be any for a link that is denied.
 * `module`: its path, NULL: none. */
void rvp_rule_native_hits(const struct rvp_rule_list *rules, const char *function, const char *module,
			  uint64_t *words);

/* The same for Python links; `is_qualified`: the interpreter says qualified names (3.11 and later). */
void rvp_rule_python_hits(const struct rvp_rule_list *rules, const char *function, const char *file,
			  bool is_qualified, uint64_t *words);

#endif
