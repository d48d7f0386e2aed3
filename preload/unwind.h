/* SPDX-License-Identifier: MIT */
/* unwind.h: from registers to the return addresses of a whole stack.
 *
 * Usual frames go by remembered rules (unwind_rule.h). A frame with an odd rule makes the whole walk start
 * again with the slow unwinder, which keeps every register that calls preserve; it begins in our own frames,
 * since only from there are these known.
 *
 *   (U1) Every frame lies further out than the one before, except across a signal frame; there are at most
 *        RVP_FRAMES_MAX. So a walk ends, whatever the stack holds.
 *   (U2) No address is read but by unwind_memory.h's rule (M1).
 */
#ifndef RVP_UNWIND_H
#define RVP_UNWIND_H

#include "preload/thread.h"
#include "preload/unwind_memory.h"

/* A frame in one word: address, whether it is exact, and its module's number modulo 2^16. */
#define RVP_FRAME_EXACT ((uint64_t)1 << 47)
static inline uint64_t rvp_frame(uint64_t pc, bool exact, uint16_t module)
{
	return pc | (exact ? RVP_FRAME_EXACT : 0) | (uint64_t)module << 48;
}
static inline uint64_t rvp_frame_pc(uint64_t frame)
{
	return frame & (RVP_FRAME_EXACT - 1);
}
static inline bool rvp_frame_is_exact(uint64_t frame)
{
	return (frame & RVP_FRAME_EXACT) != 0;
}

enum rvp_unwound {
	RVP_UNWOUND_WHOLE, /* to the outermost frame */
	RVP_UNWOUND_CUT,   /* outer frames are missing */
	RVP_UNWOUND_ODD,   /* the fast way cannot */
};

/* Fills thread->frames, innermost first; *count: how many. Loses STACK_CUT and UNWIND_FALLBACK by itself.
 * `memory` is this walk's view: [low, high) is what of the stack may be read directly. */
enum rvp_unwound rvp_unwind(struct rvp_thread *thread, struct rvp_caller caller, struct rvp_memory *memory,
			    uint32_t *count);

/* The two ways by themselves, for tests. The slow one starts at its own caller and keeps what lies at or
 * above caller.sp. */
enum rvp_unwound rvp_unwind_fast(struct rvp_thread *thread, struct rvp_caller caller,
				 struct rvp_memory *memory, uint32_t *count);
enum rvp_unwound rvp_unwind_slow(struct rvp_thread *thread, struct rvp_caller caller,
				 struct rvp_memory *memory, uint32_t *count);

#endif
