/* SPDX-License-Identifier: MIT */
/* unwind.c: see unwind.h. */
#include "preload/unwind.h"

#include "preload/own.h"
#include "preload/unwind_rule.h"

struct walk {
	struct rvp_thread *thread;
	struct rvp_memory *memory;
	uint64_t pc, sp, bp;
	uint64_t low, high; /* as memory's, which may be read directly */
	bool exact;
};

static bool step_signal(struct walk *walk)
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
static uint64_t caller_bp(struct walk *walk, rvp_rule rule, uint64_t cfa)
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
static inline bool step_to(struct walk *walk, rvp_rule rule, uint64_t cfa)
{
	if (cfa <= walk->sp || !rvp_memory_word(walk->memory, cfa - 8, &walk->pc))
		return false;
	walk->bp = caller_bp(walk, rule, cfa);
	walk->sp = cfa;
	walk->exact = false;
	return true;
}

static bool step_deref(struct walk *walk, rvp_rule rule)
{
	uint64_t cfa;

	return rvp_memory_word(walk->memory, walk->bp + (uint64_t)rvp_rule_cfa_offset(rule), &cfa) &&
	       step_to(walk, rule, cfa);
}

/* Whether `pc` is a return address in code with unwind tables, right behind a call. */
static bool is_sane_return(struct walk *walk, uint64_t pc)
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
static bool step_unknown(struct walk *walk)
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

static inline bool step(struct walk *walk, rvp_rule rule)
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

/* One usual frame whose words lie on the stack that is read directly: the way of nearly every step. False:
 * not such a frame, and nothing changed. */
static inline __attribute__((always_inline)) bool step_usual(struct walk *walk, rvp_rule rule)
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
	return true;
}

/* Any frame. On a copy, so that the loop's own walk can stay in registers. */
static __attribute__((noinline)) bool step_any(struct walk *walk, rvp_rule rule)
{
	bool is_good = step(walk, rule);

	walk->low = walk->memory->low;
	walk->high = walk->memory->high;
	return is_good;
}

/* False: the walk ends here, as *how says. */
static inline __attribute__((always_inline)) bool add_frame(struct walk *walk, uint32_t *count,
							    rvp_rule *rule, enum rvp_unwound *how)
{
	*how = walk->pc ? RVP_UNWOUND_CUT : RVP_UNWOUND_WHOLE;
	if (__builtin_expect(walk->pc - 1 >= RVP_ADDRESS_END - 1, 0))
		return false;
	*rule = __builtin_expect(walk->exact, 0) ? rvp_rule_of(walk->thread, walk->pc, true)
						 : rvp_rule_of_return(walk->thread, walk->pc);
	if (__builtin_expect(rvp_rule_kind(*rule) == RVP_RULE_ODD, 0)) {
		*how = RVP_UNWOUND_ODD;
		return false;
	}
	walk->thread->frames[(*count)++] = rvp_frame(walk->pc, walk->exact, rvp_rule_module(*rule));
	if (__builtin_expect(rvp_rule_kind(*rule) == RVP_RULE_END, 0)) {
		*how = RVP_UNWOUND_WHOLE;
		return false;
	}
	return true;
}

enum rvp_unwound rvp_unwind_fast(struct rvp_thread *thread, struct rvp_caller caller,
				 struct rvp_memory *memory, uint32_t *total)
{
	struct walk walk = {thread,    memory,      caller.pc,    caller.sp,
			    caller.bp, memory->low, memory->high, false};
	enum rvp_unwound how = RVP_UNWOUND_CUT;
	uint32_t count = 0;
	rvp_rule rule;

	while (count < RVP_FRAMES_MAX && add_frame(&walk, &count, &rule, &how)) {
		struct walk any;

		if (__builtin_expect(step_usual(&walk, rule), 1)) {
			walk.exact = false;
			continue;
		}
		any = walk;
		if (!step_any(&any, rule))
			break;
		walk = any;
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
