/* SPDX-License-Identifier: MIT */
/* unwind.c: see unwind.h. */
#include "preload/unwind.h"

#include "preload/own.h"
#include "preload/unwind_walk.h"

static bool step_signal(struct rvp_walk_state *walk)
{
	uint64_t frame = walk->sp;

	if (!rvp_memory_word(walk->memory, frame + RVP_SIGNAL_PC_AT, &walk->pc) ||
	    !rvp_memory_word(walk->memory, frame + RVP_SIGNAL_BP_AT, &walk->bp) ||
	    !rvp_memory_word(walk->memory, frame + RVP_SIGNAL_SP_AT, &walk->sp))
		return false;
	walk->exact = true;
	rvp_memory_stand(walk->memory, walk->sp);
	return true;
}

/* The caller's bp, 0 where it cannot be read: only a later frame that is found by it is lost then. (Between
 * the last pop and the return of a realigned function gcc's tables say that bp is saved where it is not.) */
static uint64_t caller_bp(struct rvp_walk_state *walk, rvp_rule rule, uint64_t cfa)
{
	uint64_t at = (uint64_t)rvp_rule_bp_offset(rule), bp;

	switch (rvp_rule_bp(rule)) {
	case RVP_BP_SAME: return walk->bp;
	case RVP_BP_AT_CFA: at += cfa; break;
	case RVP_BP_AT_BP: at += walk->bp; break;
	default: return 0;
	}
	return rvp_memory_word(walk->memory, at, &bp) ? bp : 0;
}

/* To the caller of a frame whose canonical address is `cfa`. */
static inline bool step_to(struct rvp_walk_state *walk, rvp_rule rule, uint64_t cfa)
{
	if (cfa <= walk->sp || !rvp_memory_word(walk->memory, cfa - 8, &walk->pc))
		return false;
	walk->bp = caller_bp(walk, rule, cfa);
	walk->sp = cfa;
	walk->exact = false;
	return true;
}

static bool step_deref(struct rvp_walk_state *walk, rvp_rule rule)
{
	uint64_t cfa;

	return rvp_memory_word(walk->memory, walk->bp + (uint64_t)rvp_rule_cfa_offset(rule), &cfa) &&
	       step_to(walk, rule, cfa);
}

/* Whether `pc` is a return address in code with unwind tables, right behind a call. */
static bool is_sane_return(struct rvp_walk_state *walk, uint64_t pc)
{
	uint8_t code[7];
	enum rvp_rule_kind kind;

	if (pc < 4096 || pc >= RVP_ADDRESS_END || !rvp_memory_bytes(walk->memory, pc - 7, code, sizeof code))
		return false;
	kind = rvp_rule_kind(rvp_rule_of(walk->thread, pc, false));
	return kind != RVP_RULE_UNKNOWN && rvp_code_is_after_call(code + sizeof code);
}

/* In code without tables: a handler's return that its program brought along, or generated code with a frame
 * pointer; both only where everything about them fits. */
static bool step_unknown(struct rvp_walk_state *walk)
{
	uint8_t code[9];
	uint64_t pc, bp;

	if (rvp_memory_bytes(walk->memory, walk->pc, code, sizeof code) && rvp_code_is_sigreturn(code))
		return step_signal(walk);
	if (walk->bp < walk->sp || !rvp_memory_word(walk->memory, walk->bp, &bp) || bp <= walk->bp ||
	    !rvp_memory_word(walk->memory, walk->bp + 8, &pc) || !is_sane_return(walk, pc))
		return false;
	walk->sp = walk->bp + 16;
	walk->bp = bp;
	walk->pc = pc;
	walk->exact = false;
	return true;
}

static inline bool step(struct rvp_walk_state *walk, rvp_rule rule)
{
	switch (rvp_rule_kind(rule)) {
	case RVP_RULE_SP: return step_to(walk, rule, walk->sp + (uint64_t)rvp_rule_cfa_offset(rule));
	case RVP_RULE_BP: return step_to(walk, rule, walk->bp + (uint64_t)rvp_rule_cfa_offset(rule));
	case RVP_RULE_BP_DEREF: return step_deref(walk, rule);
	case RVP_RULE_SIGNAL: return step_signal(walk);
	case RVP_RULE_UNKNOWN: return step_unknown(walk);
	default: return false;
	}
}

/* On a copy, so that a caller's loop can keep its own in registers. */
__attribute__((noinline)) bool rvp_walk_step_any(struct rvp_walk_state *walk, rvp_rule rule)
{
	struct rvp_walk_state any = *walk;
	bool is_good = step(&any, rule);

	any.low = any.memory->low;
	any.high = any.memory->high;
	*walk = any;
	return is_good;
}

enum rvp_unwound rvp_unwind_fast(struct rvp_thread *thread, struct rvp_caller caller,
				 struct rvp_memory *memory, uint32_t *total)
{
	struct rvp_walk_state walk = rvp_walk_begin(thread, caller, memory);
	enum rvp_unwound how = RVP_UNWOUND_CUT;
	uint32_t count = 0;
	rvp_rule rule;

	while (count < RVP_FRAMES_MAX && (rule = rvp_walk_rule(&walk, &how)) != RVP_RULE_NONE) {
		thread->frames[count++] = rvp_frame(walk.pc, walk.exact, rvp_rule_module(rule));
		how = rvp_rule_kind(rule) == RVP_RULE_END ? RVP_UNWOUND_WHOLE : RVP_UNWOUND_CUT;
		if (how == RVP_UNWOUND_WHOLE)
			break;
		if (__builtin_expect(!rvp_walk_step_usual(&walk, rule), 0) && !rvp_walk_step_any(&walk, rule))
			break;
	}
	*total = count;
	return how;
}

enum rvp_unwound rvp_unwind(struct rvp_thread *thread, struct rvp_caller caller, struct rvp_memory *memory,
			    uint32_t *count)
{
	struct rvp_memory at_start = *memory;
	enum rvp_unwound how = rvp_unwind_fast(thread, caller, memory, count);

	if (__builtin_expect(how == RVP_UNWOUND_ODD, 0)) {
		rvp_lose(RVP_LOSS_UNWIND_FALLBACK, 1);
		*memory = at_start;
		how = rvp_unwind_slow(thread, caller, memory, count);
	}
	if (__builtin_expect(how != RVP_UNWOUND_WHOLE, 0))
		rvp_lose(RVP_LOSS_STACK_CUT, 1);
	return how;
}
