/* SPDX-License-Identifier: MIT */
/* unwind_walk.h: one step of a walk by remembered rules, for the two that walk so: unwind.c and
 * unwind_memo.c. */
#ifndef RVP_UNWIND_WALK_H
#define RVP_UNWIND_WALK_H

#include "preload/unwind.h"
#include "preload/unwind_rule.h"

struct rvp_walk_state {
	struct rvp_thread *thread;
	struct rvp_memory *memory;
	uint64_t pc, sp, bp;
	uint64_t low, high; /* as memory's, which may be read directly */
	bool exact;
};

static inline struct rvp_walk_state rvp_walk_begin(struct rvp_thread *thread, struct rvp_caller caller,
						   struct rvp_memory *memory)
{
	return (struct rvp_walk_state){thread,    memory,      caller.pc,    caller.sp,
				       caller.bp, memory->low, memory->high, false};
}

/* The rule of the frame where the walk stands; NONE: the walk ends before it, as *how says. */
static inline __attribute__((always_inline)) rvp_rule rvp_walk_rule(const struct rvp_walk_state *walk,
								    enum rvp_unwound *how)
{
	rvp_rule rule;

	*how = walk->pc ? RVP_UNWOUND_CUT : RVP_UNWOUND_WHOLE;
	if (__builtin_expect(walk->pc - 1 >= RVP_ADDRESS_END - 1, 0))
		return RVP_RULE_NONE;
	rule = __builtin_expect(walk->exact, 0) ? rvp_rule_of(walk->thread, walk->pc, true)
						: rvp_rule_of_return(walk->thread, walk->pc);
	if (__builtin_expect(rvp_rule_kind(rule) == RVP_RULE_ODD, 0)) {
		*how = RVP_UNWOUND_ODD;
		return RVP_RULE_NONE;
	}
	return rule;
}

/* One usual frame whose words lie on the stack that is read directly: the way of nearly every step. False:
 * not such a frame, and nothing changed. */
static inline __attribute__((always_inline)) bool rvp_walk_step_usual(struct rvp_walk_state *walk,
								      rvp_rule rule)
{
	enum rvp_rule_kind kind = rvp_rule_kind(rule);
	uint64_t cfa = (kind == RVP_RULE_SP ? walk->sp : walk->bp) + (uint64_t)rvp_rule_cfa_offset(rule),
		 saved;

	if ((kind != RVP_RULE_SP && kind != RVP_RULE_BP) || cfa <= walk->sp || cfa > walk->high || cfa & 7)
		return false;
	if (rvp_rule_bp(rule) == RVP_BP_AT_CFA) {
		saved = cfa + (uint64_t)rvp_rule_bp_offset(rule);
		if (saved < walk->low || saved > walk->high - 8)
			return false;
		walk->bp = *(const uint64_t *)saved;
	} else if (rvp_rule_bp(rule) != RVP_BP_SAME) {
		return false;
	}
	walk->pc = *(const uint64_t *)(cfa - 8);
	walk->sp = cfa;
	walk->exact = false;
	return true;
}

/* Any frame; false: the stack is cut here. */
bool rvp_walk_step_any(struct rvp_walk_state *walk, rvp_rule rule);

#endif
