/* SPDX-License-Identifier: MIT */
/* counts.h: what the referee of the walk found, in a file that all processes of a program have mapped. */
#ifndef RVP_UNWIND_COUNTS_H
#define RVP_UNWIND_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

/* Why a stack of ours ends before the referee's. Only a cut with a reason that the referee itself sees is
 * one: anything else is a difference. */
#define UNWIND_CUTS(F)                                   \
	F(DEPTH, "at the most frames that are recorded") \
	F(NO_RULE, "at code without unwind information: there libunwind guesses")

/* Which hook the event came by. */
#define UNWIND_HOOKS(F) F(malloc) F(calloc) F(realloc) F(mmap)

enum unwind_cut {
#define CUT(name, text) UNWIND_CUT_##name,
	UNWIND_CUTS(CUT)
#undef CUT
	    UNWIND_CUT_COUNT,
};

enum unwind_hook {
#define HOOK(name) UNWIND_HOOK_##name,
	UNWIND_HOOKS(HOOK)
#undef HOOK
	    UNWIND_HOOK_OTHER,
	UNWIND_HOOK_COUNT,
};

struct unwind_counts {
	_Atomic uint64_t events;   /* walks, compared or not */
	_Atomic uint64_t compared; /* = equal + cut + referee_stops + different */
	_Atomic uint64_t equal;
	_Atomic uint64_t cut[UNWIND_CUT_COUNT]; /* a beginning of the referee's, equal as far as it goes */
	_Atomic uint64_t referee_stops; /* the referee's is a beginning of ours: it has no rule there */
	_Atomic uint64_t different;
	_Atomic uint64_t frames, deepest; /* of those compared */
	_Atomic uint64_t through_signal;  /* compared, with a signal frame in it */
	_Atomic uint64_t by_hook[UNWIND_HOOK_COUNT];
};

enum { UNWIND_COUNTS_BYTES = 4096 };
_Static_assert(sizeof(struct unwind_counts) <= UNWIND_COUNTS_BYTES, "a page");

#endif
