/* SPDX-License-Identifier: MIT */
/* unwind_slow.c: the walk for stacks with a frame that needs more registers than sp and bp, or an expression:
 * in glibc the lazy binder, in cryptographic code written by hand, in code of other compilers. About a
 * microsecond a frame; nothing is remembered but the modules. */
#include "preload/unwind.h"
#include "preload/unwind_row.h"
#include "preload/unwind_rule.h"

/* One step outwards; *exact: of the address before and after. END where the tables say so. */
static __attribute__((noinline)) enum rvp_rule_kind step(struct rvp_object *object, struct rvp_memory *memory,
							 struct rvp_registers *registers, bool *exact)
{
	uint64_t at = registers->value[RVP_REGISTER_RA] - !*exact, sp = registers->value[RVP_REGISTER_SP];
	struct rvp_fde fde;
	struct rvp_row row;

	if (rvp_fde_find(object, at, &fde) != RVP_FOUND || !rvp_row_make(&fde, at, &row))
		return RVP_RULE_UNKNOWN;
	if (row.how[row.return_register] == RVP_HOW_UNDEFINED)
		return RVP_RULE_END;
	if (!rvp_row_step(&row, memory, registers))
		return RVP_RULE_UNKNOWN;
	if (!row.is_signal && registers->value[RVP_REGISTER_SP] <= sp)
		return RVP_RULE_UNKNOWN;
	*exact = row.is_signal;
	return row.is_signal ? RVP_RULE_SIGNAL : RVP_RULE_SP;
}

/* From the registers of a frame of ours out to the hook's caller, then on. */
static enum rvp_unwound walk_out(struct rvp_thread *thread, struct rvp_caller caller,
				 struct rvp_memory *memory, struct rvp_registers *registers, uint32_t *count)
{
	bool exact = false, is_ours = true;

	for (*count = 0; *count < RVP_FRAMES_MAX;) {
		uint64_t pc = registers->value[RVP_REGISTER_RA], sp = registers->value[RVP_REGISTER_SP];
		struct rvp_object object;
		enum rvp_rule_kind kind;
		bool is_known = pc < RVP_ADDRESS_END && rvp_object_find(pc - !exact, &object);

		is_ours = is_ours && sp < caller.sp;
		if (!pc)
			return RVP_UNWOUND_WHOLE;
		if (!is_ours)
			thread->frames[(*count)++] =
			    rvp_frame(pc, exact, is_known ? rvp_module_of(thread, &object) : 0);
		kind = is_known ? step(&object, memory, registers, &exact) : RVP_RULE_UNKNOWN;
		if (kind == RVP_RULE_END)
			return RVP_UNWOUND_WHOLE;
		if (kind == RVP_RULE_UNKNOWN)
			return RVP_UNWOUND_CUT;
		if (kind == RVP_RULE_SIGNAL)
			rvp_memory_stand(memory, registers->value[RVP_REGISTER_SP]);
	}
	return RVP_UNWOUND_CUT;
}

__attribute__((noinline)) enum rvp_unwound rvp_unwind_slow(struct rvp_thread *thread,
							   struct rvp_caller caller,
							   struct rvp_memory *memory, uint32_t *count)
{
	struct rvp_registers registers;

	rvp_registers_here(&registers);
	if (memory->high)
		memory->low = registers.value[RVP_REGISTER_SP];
	return walk_out(thread, caller, memory, &registers, count);
}
