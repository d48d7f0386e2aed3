/* SPDX-License-Identifier: MIT */
/* unwind_shape.c: see unwind_shape.h. */
#include "preload/unwind_shape.h"

#include "preload/own.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define BP_WEIGHT 0xe7037ed1a0b428db

_Static_assert(RVP_WINDOW_BLOCK * sizeof(uint16_t) == sizeof(uint64_t), "a block is a word");

enum { SETS_FIRST = 8 }; /* a page at first, 128 KiB at most */

const uint64_t rvp_window_weights[RVP_WINDOW_BLOCK - 1] = {0x566bf9d7c55a45f9, 0xcf0c26ef4243ed53, 0x5d96cf7f265beda9};

static const uint64_t offset_most_bytes = UINT16_MAX * 8ul;

static size_t bytes_of(uint32_t sets)
{
	return (size_t)sets * RVP_SHAPE_SET_BYTES;
}

bool rvp_shapes_start(struct rvp_shapes *shapes, uint64_t key)
{
	shapes->key = key;
	if (!shapes->shapes) {
		shapes->shapes = rvp_own_map(bytes_of(SETS_FIRST));
		shapes->set_mask = (SETS_FIRST - 1) * RVP_SHAPE_SET_BYTES;
	}
	return shapes->shapes && (shapes->paths.paths || rvp_path_cache_reset(&shapes->paths));
}

bool rvp_shape_fit(struct rvp_shape *shape, const struct rvp_memo *memo, uint64_t sp)
{
	const struct rvp_memo_word *outermost = &memo->words[shape->outer_words];

	if (shape->version == memo->version || !shape->outer_words)
		return true;
	if (shape->version == memo->version + 1)
		return false;
	if (shape->outer_words > memo->word_count || outermost->at < sp) {
		shape->version = memo->version + 1;
		return false;
	}
	shape->salt_now = shape->salt + outermost->content;
	atomic_signal_fence(memory_order_seq_cst);
	shape->version = memo->version;
	return true;
}

static uint64_t tag_of(const struct rvp_shapes *shapes, struct rvp_caller caller)
{
	return rvp_path_below(rvp_path_below(shapes->key, caller.pc), caller.sp);
}

/* The rest of a shape whose offsets of `count` words are there. False: it cannot have one. */
static bool finish(struct rvp_shape *shape, uint64_t tag, uint32_t outer, uint32_t count, bool is_bp_used)
{
	uint64_t places = 0, block;

	shape->outer_words = (uint16_t)outer;
	shape->window = (uint8_t)((count + RVP_WINDOW_BLOCK - 1) & ~(uint32_t)(RVP_WINDOW_BLOCK - 1));
	shape->bp_weight = is_bp_used ? BP_WEIGHT : 0;
	for (uint32_t i = count; i < shape->window; i++)
		shape->offset[i] = shape->offset[0];
	for (uint32_t i = 0; i < shape->window; i += RVP_WINDOW_BLOCK) {
		memcpy(&block, &shape->offset[i], sizeof block);
		places = rvp_path_below(places, block);
	}
	shape->salt = rvp_path_below(rvp_path_below(tag, places), outer << 16 | count << 1 | is_bp_used);
	return count > 0;
}

/* The shape of the memo's walk: all words in its window, or as many as it holds. False: it cannot have one. */
static bool make(struct rvp_shape *shape, const struct rvp_memo *memo, struct rvp_caller caller, uint64_t tag)
{
	const struct rvp_memo_frame *inner = &memo->frames[memo->frame_count - 1];
	uint32_t words = inner->word_count, outer = words > RVP_WINDOW_MAX ? (words - RVP_WINDOW_MAX + 3) & ~3u : 0;

	for (uint32_t i = 0; i < words - outer; i++) {
		uint64_t at = memo->words[outer + 1 + i].at - caller.sp;

		if (at > offset_most_bytes)
			return false;
		shape->offset[i] = (uint16_t)(at / 8);
	}
	if (!finish(shape, tag, outer, words - outer, inner->is_bp_used))
		return false;
	shape->salt_now = shape->salt + memo->words[outer].content;
	shape->version = memo->version;
	return true;
}

/* A handler that jumps away from here leaves no half-written shape. */
static void put(struct rvp_shape *place, const struct rvp_shape *shape)
{
	place->sp = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(&place->pc, &shape->pc, sizeof *place - offsetof(struct rvp_shape, pc));
	atomic_signal_fence(memory_order_seq_cst);
	place->sp = shape->sp;
}

/* What was right comes first: paths of one function often come in a row. */
static __attribute__((noinline)) void swap(struct rvp_shape *first, struct rvp_shape *other)
{
	struct rvp_shape was = *first;

	put(first, other);
	put(other, &was);
}

const struct rvp_known_path *rvp_shapes_find_further(struct rvp_shapes *shapes, const struct rvp_memo *memo,
						     struct rvp_caller caller)
{
	struct rvp_shape *first = rvp_shapes_set(shapes, caller.pc, caller.sp), *shape = first;

	for (; shape < first + RVP_SHAPE_WAYS; shape++) {
		const struct rvp_known_path *path;
		bool was_asked = shape == first && (!shape->outer_words || shape->version == memo->version);

		if (shape->sp != caller.sp || shape->pc != (caller.pc ^ shapes->key) || was_asked ||
		    !rvp_shape_fit(shape, memo, caller.sp))
			continue;
		path = rvp_shape_path(shapes, shape, memo, caller);
		if (!path)
			continue;
		if (shape != first)
			swap(first, shape);
		return path;
	}
	return NULL;
}

/* Puts a shape first in its set; the others move on, and the last goes. */
static void put_first(struct rvp_shapes *shapes, const struct rvp_shape *shape)
{
	struct rvp_shape *set = rvp_shapes_set(shapes, shape->pc ^ shapes->key, shape->sp);
	int way = 0;

	while (way < RVP_SHAPE_WAYS - 1 && set[way].sp && set[way].salt != shape->salt)
		way++;
	shapes->pushed_out += set[way].sp && set[way].salt != shape->salt;
	for (; way; way--)
		put(&set[way], &set[way - 1]);
	put(set, shape);
}

static void grow(struct rvp_shapes *shapes)
{
	struct rvp_shapes old = *shapes;
	uint32_t sets = 2 * (old.set_mask / RVP_SHAPE_SET_BYTES + 1);
	struct rvp_shape *bigger =
	    sets <= RVP_SHAPE_SETS_MOST ? rvp_path_memory_grow(bytes_of(sets / 2), bytes_of(sets)) : NULL;

	shapes->pushed_out = 0;
	if (!bigger)
		return;
	shapes->shapes = bigger;
	shapes->set_mask = (sets - 1) * RVP_SHAPE_SET_BYTES;
	for (uint32_t i = sets / 2 * RVP_SHAPE_WAYS; i--;)
		if (old.shapes[i].sp)
			put_first(shapes, &old.shapes[i]);
	shapes->pushed_out = 0;
	rvp_own_unmap(old.shapes, bytes_of(sets / 2));
}

static void enter(struct rvp_shapes *shapes, const struct rvp_shape *shape, struct rvp_caller caller, uint32_t number,
		  uint32_t depth)
{
	uint64_t hash = rvp_shape_hash(shape, caller);

	if (rvp_shapes_set(shapes, caller.pc, caller.sp)->salt != shape->salt)
		put_first(shapes, shape);
	if (!rvp_path_cache_find(&shapes->paths, hash))
		rvp_path_cache_enter(&shapes->paths, hash, number, depth);
	if (shapes->pushed_out > shapes->set_mask / RVP_SHAPE_SET_BYTES * RVP_SHAPE_WAYS)
		grow(shapes);
}

void rvp_shapes_enter(struct rvp_shapes *shapes, const struct rvp_memo *memo, struct rvp_caller caller,
		      uint32_t number)
{
	struct rvp_shape shape = {.sp = caller.sp, .pc = caller.pc ^ shapes->key};

	if (make(&shape, memo, caller, tag_of(shapes, caller)))
		enter(shapes, &shape, caller, number, memo->depth);
}

bool rvp_shapes_enter_straight(struct rvp_shapes *shapes, const struct rvp_straight *walk, struct rvp_caller caller,
			       uint32_t number)
{
	struct rvp_shape shape = {.sp = caller.sp, .pc = caller.pc ^ shapes->key};
	uint32_t count = walk->word_count;

	if (walk->has_bp || count > RVP_WINDOW_MAX || walk->sp[count - 1] - caller.sp > offset_most_bytes)
		return false;
	for (uint32_t i = 0; i < count; i++)
		shape.offset[i] = (uint16_t)((walk->sp[count - 1 - i] - 8 - caller.sp) / 8);
	if (!finish(&shape, tag_of(shapes, caller), 0, count, false))
		return false;
	shape.salt_now = shape.salt;
	enter(shapes, &shape, caller, number, walk->frame_count);
	return true;
}
