/* SPDX-License-Identifier: MIT */
/* unwind_straight.c: see unwind_straight.h. */
#include "preload/unwind_straight.h"

#include "preload/own.h"
#include "preload/unwind.h"

#include <string.h>

#define STEPS       (1u << RVP_STRAIGHT_STEPS_BITS)
#define HASH_FACTOR 0xd6e8feb86659fd93ul

static const int64_t step_most_bytes = 1 << 20;

static inline struct rvp_straight_step *place_of(struct rvp_straight_step *steps, uint64_t pc)
{
	return &steps[(uint32_t)pc * 0x9e3779b1u >> (32 - RVP_STRAIGHT_STEPS_BITS)];
}

/* The rule of a return address where it is remembered; else NONE. */
static rvp_rule rule_of(uint64_t pc, uint32_t generation)
{
	uint64_t key = rvp_rule_key(pc, false, generation);

	return pc && pc < RVP_ADDRESS_END && rvp_rule_entries ? rvp_rule_at(&rvp_rule_entries[rvp_rule_place(key)], key)
							      : RVP_RULE_NONE;
}

/* False: not a usual frame. */
static bool step_of_rule(rvp_rule rule, uint64_t *step)
{
	int64_t offset = rvp_rule_cfa_offset(rule);

	switch (rvp_rule_kind(rule)) {
	case RVP_RULE_SP: *step = (uint64_t)offset; return offset > 0 && offset <= step_most_bytes && !(offset & 7);
	case RVP_RULE_BP: *step = RVP_STRAIGHT_BY_BP; return true;
	case RVP_RULE_END: *step = RVP_STRAIGHT_END; return true;
	default: return false;
	}
}

static __attribute__((noinline)) bool fill(struct rvp_straight_step *place, uint64_t pc, uint32_t generation)
{
	uint64_t step;

	if (!step_of_rule(rule_of(pc, generation), &step))
		return false;
	/* A handler that jumps away from here leaves no half-written step. */
	place->pc = 0;
	atomic_signal_fence(memory_order_seq_cst);
	place->step = step;
	atomic_signal_fence(memory_order_seq_cst);
	place->pc = pc;
	return true;
}

static uint64_t pc_at(const struct rvp_straight *walk, uint64_t innermost_pc, uint32_t frame)
{
	return frame ? *(const uint64_t *)(walk->sp[frame - 1] - 8) : innermost_pc;
}

/* Where the frame pointer stands that the frames before `frame` left to it. False: not to be had. */
static bool frame_pointer(const struct rvp_straight *walk, struct rvp_caller caller, uint32_t frame, uint32_t generation,
			  uint64_t *bp)
{
	*bp = caller.bp;
	while (frame--) {
		rvp_rule rule = rule_of(pc_at(walk, caller.pc, frame), generation);
		uint64_t low = frame ? walk->sp[frame - 1] : caller.sp;
		uint64_t at = walk->sp[frame] + (uint64_t)rvp_rule_bp_offset(rule);

		if (rule == RVP_RULE_NONE || (rvp_rule_bp(rule) != RVP_BP_SAME && rvp_rule_bp(rule) != RVP_BP_AT_CFA))
			return false;
		if (rvp_rule_bp(rule) == RVP_BP_SAME)
			continue;
		if (at < low || at > walk->sp[frame] - 8)
			return false;
		*bp = *(const uint64_t *)at;
		return true;
	}
	return true;
}

/* The caller's stack pointer of a frame that is found by its frame pointer; 0: none. */
static __attribute__((noinline)) uint64_t step_by_bp(struct rvp_straight *walk, struct rvp_caller caller, uint32_t frame,
						     uint64_t sp, uint64_t high, uint32_t generation)
{
	uint64_t cfa;

	if (!frame_pointer(walk, caller, frame, generation, &cfa))
		return 0;
	cfa += (uint64_t)rvp_rule_cfa_offset(rule_of(pc_at(walk, caller.pc, frame), generation));
	walk->has_bp = true;
	return cfa > sp && cfa <= high && !(cfa & 7) ? cfa : 0;
}

/* The key comes last: where there is no memory the next walk tries again. */
static bool start(struct rvp_straight_steps *steps, uint64_t key)
{
	if (!steps->steps)
		steps->steps = rvp_own_map(STEPS * sizeof *steps->steps);
	else
		memset(steps->steps, 0, STEPS * sizeof *steps->steps);
	if (!steps->steps || !rvp_path_cache_reset(&steps->paths))
		return false;
	steps->key = key;
	return true;
}

bool rvp_straight_walk(struct rvp_straight_steps *steps, uint64_t key, struct rvp_caller caller, uint64_t high,
		       uint32_t generation, struct rvp_straight *walk)
{
	uint64_t pc = caller.pc, sp = caller.sp, hash = key, step;
	struct rvp_straight_step *all, *place;
	uint32_t count = 0;

	walk->has_bp = false;
	if ((steps->key != key || !steps->paths.paths) && !start(steps, key))
		return false;
	all = steps->steps;
	for (;;) {
		place = place_of(all, pc);
		if (__builtin_expect(place->pc != pc, 0)) {
			if (!pc)
				break;
			if (!fill(place, pc, generation))
				return false;
		}
		step = place->step;
		if (__builtin_expect(step < 8, 0)) {
			if (step != RVP_STRAIGHT_BY_BP)
				break;
			sp = step_by_bp(walk, caller, count, sp, high, generation);
			if (!sp)
				return false;
		} else {
			sp += step;
			if (__builtin_expect(sp > high, 0))
				return false;
		}
		if (__builtin_expect(count == RVP_STRAIGHT_FRAMES_MAX, 0))
			return false;
		hash = (hash + pc) * HASH_FACTOR;
		walk->sp[count++] = sp;
		pc = *(const uint64_t *)(sp - 8);
	}
	walk->word_count = count;
	walk->frame_count = count + (pc != 0);
	walk->hash = (hash + pc) * HASH_FACTOR;
	atomic_thread_fence(memory_order_acquire);
	return count && atomic_load_explicit(&rvp_rule_generation, memory_order_relaxed) == generation;
}

uint64_t rvp_straight_path(const struct rvp_straight *walk, uint64_t pc, uint32_t generation, uint64_t root)
{
	for (uint32_t i = walk->frame_count; i--;) {
		uint64_t address = pc_at(walk, pc, i);
		rvp_rule rule = rule_of(address, generation);

		if (rule == RVP_RULE_NONE)
			return 0;
		root = rvp_path_below(root, rvp_frame(address, false, rvp_rule_module(rule)));
	}
	return root;
}
