/* SPDX-License-Identifier: MIT */
/* unwind_memo.c: see unwind_memo.h. */
#include "preload/unwind_memo.h"

#include "preload/own.h"
#include "preload/unwind_walk.h"

#include <string.h>

#define ADDRESS_WEIGHT 0xd6e8feb86659fd93ul
#define VALUE_WEIGHT   0xa0761d6478bd642ful

/* What a walk found: the steps that it made, and where it stands. */
struct found {
	struct rvp_walk_state end;
	uint32_t base;  /* frames of the last walk that it joined; 0: none */
	uint32_t count; /* steps */
	enum rvp_unwound how;
};

static size_t bytes_for(uint32_t capacity)
{
	return capacity * (sizeof(struct rvp_memo_frame) + sizeof(struct rvp_memo_step) +
			   RVP_MEMO_WORDS_A_FRAME * sizeof(struct rvp_memo_word)) +
	       sizeof(struct rvp_memo_word);
}

/* Room for four times as many frames; what is remembered and the steps of this walk stay. */
static bool grow(struct rvp_memo *memo)
{
	uint32_t capacity = memo->capacity ? 4 * memo->capacity : RVP_MEMO_FRAMES_FIRST;
	struct rvp_memo old = *memo;

	if (old.capacity == RVP_FRAMES_MAX)
		return false;
	capacity = capacity < RVP_FRAMES_MAX ? capacity : RVP_FRAMES_MAX;
	memo->frames = rvp_own_map(bytes_for(capacity));
	if (!memo->frames) {
		*memo = old;
		return false;
	}
	memo->words = (struct rvp_memo_word *)(memo->frames + capacity);
	memo->steps = (struct rvp_memo_step *)(memo->words + RVP_MEMO_WORDS_A_FRAME * capacity + 1);
	memo->words[0].at = UINT64_MAX;
	memo->capacity = capacity;
	if (!old.capacity)
		return true;
	memcpy(memo->frames, old.frames, old.frame_count * sizeof *old.frames);
	memcpy(memo->words, old.words, (old.word_count + 1) * sizeof *old.words);
	memcpy(memo->steps, old.steps, old.capacity * sizeof *old.steps);
	rvp_own_unmap(old.frames, bytes_for(old.capacity));
	return true;
}

/* How many of the outermost frames are still on the stack above `sp`, each word of theirs as it was. */
static uint32_t verified_frames(const struct rvp_memo *memo, uint64_t sp)
{
	uint32_t frames = memo->frame_count, words, same = 0;

	while (frames && memo->frames[frames - 1].sp < sp)
		frames--;
	words = frames ? memo->frames[frames - 1].word_count : 0;
	while (same < words && *(const uint64_t *)memo->words[same + 1].at == memo->words[same + 1].value)
		same++;
	while (frames && memo->frames[frames - 1].word_count > same)
		frames--;
	return frames;
}

static inline bool is_at(const struct rvp_walk_state *walk, const struct rvp_memo_frame *frame)
{
	uint64_t address = walk->pc | (walk->exact ? RVP_FRAME_EXACT : 0);

	return walk->sp == frame->sp && (frame->frame & (2 * RVP_FRAME_EXACT - 1)) == address &&
	       walk->pc < RVP_ADDRESS_END && (!frame->is_bp_used || walk->bp == frame->bp);
}

/* Walks until it stands where one of `known` frames stood, or to the stack's end. */
static void collect(struct rvp_memo *memo, uint32_t known, struct found *found)
{
	struct rvp_walk_state walk = found->end;
	enum rvp_unwound how = RVP_UNWOUND_ODD;
	bool is_joined = false;
	uint32_t count = 0;
	rvp_rule rule;

	for (;; count++) {
		while (known && memo->frames[known - 1].sp < walk.sp)
			known--;
		is_joined = known && is_at(&walk, &memo->frames[known - 1]);
		if (is_joined) {
			how = RVP_UNWOUND_WHOLE;
			break;
		}
		rule = rvp_walk_rule(&walk, &how);
		if (rule == RVP_RULE_NONE)
			break;
		if (__builtin_expect(count == memo->capacity, 0) && !grow(memo)) {
			how = RVP_UNWOUND_ODD;
			break;
		}
		memo->steps[count] = (struct rvp_memo_step){
		    walk.sp, walk.bp, rvp_frame(walk.pc, walk.exact, rvp_rule_module(rule)), rule};
		if (__builtin_expect(rvp_walk_step_usual(&walk, rule), 1))
			continue;
		how = rvp_rule_kind(rule) == RVP_RULE_END ? RVP_UNWOUND_WHOLE : RVP_UNWOUND_CUT;
		if (how == RVP_UNWOUND_WHOLE || !rvp_walk_step_any(&walk, rule)) {
			count++;
			break;
		}
	}
	found->base = is_joined ? known : 0;
	found->end = walk;
	found->count = count;
	found->how = how;
}

struct writer {
	struct rvp_memo *memo;
	uint64_t high; /* of the thread's own stack */
	uint32_t words;
};

/* Adds a word that a frame whose stack pointer is `sp` read. False: not one that can be remembered. */
static bool add_word(struct writer *writer, uint64_t sp, uint64_t at, uint64_t value)
{
	struct rvp_memo_word *word = &writer->memo->words[writer->words + 1];

	if (at < sp || at > writer->high - 8 || at & 7)
		return false;
	*word = (struct rvp_memo_word){
	    at, value, rvp_path_below(word[-1].content, at * ADDRESS_WEIGHT + value * VALUE_WEIGHT)};
	writer->words++;
	return true;
}

static bool add_bp_word(struct writer *writer, const struct rvp_memo_step *step, uint64_t cfa, uint64_t value)
{
	uint64_t offset = (uint64_t)rvp_rule_bp_offset(step->rule);

	switch (rvp_rule_bp(step->rule)) {
	case RVP_BP_SAME: return true;
	case RVP_BP_AT_CFA: return add_word(writer, step->sp, cfa + offset, value);
	case RVP_BP_AT_BP: return add_word(writer, step->sp, step->bp + offset, value);
	default: return false;
	}
}

/* Adds what a step read on its way to `next`, the state that it came to, whose bp matters or not. */
static bool add_words(struct writer *writer, const struct rvp_memo_step *step,
		      const struct rvp_walk_state *next, bool is_bp_used)
{
	enum rvp_rule_kind kind = rvp_rule_kind(step->rule);
	uint64_t deref = step->bp + (uint64_t)rvp_rule_cfa_offset(step->rule);

	if (kind == RVP_RULE_END)
		return true;
	if (kind != RVP_RULE_SP && kind != RVP_RULE_BP && kind != RVP_RULE_BP_DEREF)
		return false;
	if (kind == RVP_RULE_BP_DEREF && !add_word(writer, step->sp, deref, next->sp))
		return false;
	return add_word(writer, step->sp, next->sp - 8, next->pc) &&
	       (!is_bp_used || add_bp_word(writer, step, next->sp, next->bp));
}

/* Whether the walk from this step on uses bp, when the one from the next step on does. */
static bool uses_bp(rvp_rule rule, bool next_uses)
{
	enum rvp_rule_kind kind = rvp_rule_kind(rule);
	enum rvp_bp_rule bp = rvp_rule_bp(rule);

	return kind == RVP_RULE_BP || kind == RVP_RULE_BP_DEREF ||
	       (next_uses && (bp == RVP_BP_SAME || bp == RVP_BP_AT_BP));
}

static struct rvp_walk_state state_of(uint64_t sp, uint64_t bp, uint64_t frame)
{
	return (struct rvp_walk_state){.sp = sp, .bp = bp, .pc = rvp_frame_pc(frame)};
}

/* Writes the steps behind the `base` frames that stay, outermost first. Returns how many frames can be
 * joined. */
static uint32_t write_steps(struct rvp_memo *memo, const struct found *found, uint64_t high, uint64_t era)
{
	struct rvp_memo_frame *frame = memo->frames + found->base;
	const struct rvp_memo_frame *outer = found->base ? frame - 1 : NULL;
	struct writer writer = {memo, high, outer ? outer->word_count : 0};
	bool is_bp_used = outer && outer->is_bp_used, is_joinable = found->how == RVP_UNWOUND_WHOLE;
	struct rvp_walk_state next = outer ? state_of(outer->sp, outer->bp, outer->frame) : found->end;
	uint64_t path = outer ? outer->path : era;
	uint32_t joinable = found->base;

	for (uint32_t i = found->count; i--; frame++) {
		const struct rvp_memo_step *step = &memo->steps[i];

		is_joinable = is_joinable && add_words(&writer, step, &next, is_bp_used);
		is_bp_used = uses_bp(step->rule, is_bp_used);
		path = rvp_path_below(path, step->frame);
		*frame = (struct rvp_memo_frame){
		    step->sp, step->bp, step->frame, path, 0, (uint16_t)writer.words, is_bp_used};
		next = state_of(step->sp, step->bp, step->frame);
		joinable += is_joinable;
	}
	return joinable;
}

/* The number of the path of memo->frames[0, count): by its own hash, else each from the outermost inwards.
 * Where one cannot be had STACK_TABLE is lost, and the deepest known path stands for it. */
static uint32_t number_of(struct rvp_memo *memo, uint32_t count, struct rvp_thread *thread,
			  struct rvp_path_tree *tree)
{
	struct rvp_memo_frame *frames = memo->frames;
	uint32_t i = count, number;

	if (!frames[count - 1].number)
		frames[count - 1].number = rvp_path_tree_known(tree, frames[count - 1].path);
	while (i && !frames[i - 1].number)
		i--;
	number = i ? frames[i - 1].number : 0;
	for (; i < count; i++, number = frames[i - 1].number) {
		frames[i].number =
		    rvp_path_tree_number(tree, thread, frames[i].path, number, frames[i].frame, NULL);
		if (!frames[i].number) {
			rvp_lose(RVP_LOSS_STACK_TABLE, 1);
			break;
		}
	}
	return number;
}

/* The rule of a return address where it is remembered; else NONE. */
static inline __attribute__((always_inline)) rvp_rule remembered_rule(uint64_t pc, uint32_t generation)
{
	uint64_t key = rvp_rule_key(pc, false, generation);

	return rvp_rule_at(&rvp_rule_entries[rvp_rule_place(key)], key);
}

/* One usual frame; false: another one. */
static inline __attribute__((always_inline)) bool step_out(rvp_rule rule, uint64_t high, uint64_t *pc, uint64_t *sp,
							   uint64_t *bp)
{
	uint64_t cfa = (rvp_rule_kind(rule) == RVP_RULE_SP ? *sp : *bp) + (uint64_t)rvp_rule_cfa_offset(rule);
	uint64_t saved = cfa + (uint64_t)rvp_rule_bp_offset(rule), low = *sp;

	if ((rule & 15) - RVP_RULE_SP > RVP_RULE_BP - RVP_RULE_SP || cfa - low - 8 > high - low - 8 || cfa & 7)
		return false;
	if (rvp_rule_bp(rule) == RVP_BP_AT_CFA) {
		if (saved - low > high - low - 8)
			return false;
		*bp = *(const uint64_t *)saved;
	} else if (rvp_rule_bp(rule) != RVP_BP_SAME) {
		return false;
	}
	*pc = *(const uint64_t *)(cfa - 8);
	*sp = cfa;
	return true;
}

uint32_t rvp_memo_branch(const struct rvp_memo *memo, struct rvp_caller caller, uint64_t high, uint32_t generation,
			 struct rvp_path_tree *tree, uint32_t *depth)
{
	uint64_t pc = caller.pc, sp = caller.sp, bp = caller.bp, path, frame[RVP_MEMO_BRANCH_MAX];
	uint32_t known = verified_frames(memo, sp), count = 0;
	const struct rvp_memo_frame *join;
	rvp_rule rule;

	for (; rvp_rule_entries; count++) {
		while (known && memo->frames[known - 1].sp < sp)
			known--;
		if (!known)
			return 0;
		join = &memo->frames[known - 1];
		if (join->sp == sp && (join->frame & (2 * RVP_FRAME_EXACT - 1)) == pc && (!join->is_bp_used || join->bp == bp))
			break;
		if (count == RVP_MEMO_BRANCH_MAX || pc >= RVP_ADDRESS_END)
			return 0;
		rule = remembered_rule(pc, generation);
		frame[count] = rvp_frame(pc, false, rvp_rule_module(rule));
		if (!step_out(rule, high, &pc, &sp, &bp))
			return 0;
	}
	if (!rvp_rule_entries)
		return 0;
	path = join->path;
	*depth = known + count;
	while (count--)
		path = rvp_path_below(path, frame[count]);
	return rvp_path_tree_known(tree, path);
}

enum rvp_unwound rvp_memo_walk(struct rvp_memo *memo, struct rvp_thread *thread, struct rvp_caller caller,
			       struct rvp_memory *memory, struct rvp_path_tree *tree, uint64_t era,
			       uint32_t *number)
{
	struct found found = {.end = rvp_walk_begin(thread, caller, memory)};
	uint32_t joinable;

	if (!memo->capacity && !grow(memo))
		return RVP_UNWOUND_ODD;
	collect(memo, verified_frames(memo, caller.sp), &found);
	while (found.how != RVP_UNWOUND_ODD && found.base + found.count > memo->capacity)
		if (!grow(memo))
			found.how = RVP_UNWOUND_ODD;
	memo->depth = found.base + found.count;
	if (found.how == RVP_UNWOUND_ODD || !memo->depth)
		return RVP_UNWOUND_ODD;
	memo->version += 2;
	memo->frame_count = found.base;
	memo->word_count = found.base ? memo->frames[found.base - 1].word_count : 0;
	atomic_signal_fence(memory_order_seq_cst);
	joinable = write_steps(memo, &found, memory->own_high, era);
	*number = number_of(memo, memo->depth, thread, tree);
	atomic_signal_fence(memory_order_seq_cst);
	memo->frame_count = joinable;
	memo->word_count = joinable ? memo->frames[joinable - 1].word_count : 0;
	return found.how;
}
