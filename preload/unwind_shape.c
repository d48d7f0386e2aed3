/* SPDX-License-Identifier: MIT */
/* unwind_shape.c: see unwind_shape.h. */
#include "preload/unwind_shape.h"

#include "preload/own.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define BP_WEIGHT 0xe7037ed1a0b428db

enum { SETS_FIRST = 8 }; /* a page at first, 128 KiB at most */

const uint64_t rvp_window_weights[RVP_WINDOW_MAX] = {
    0xd1a6e55e9b9b1325, 0x566bf9d7c55a45f9, 0xcf0c26ef4243ed53, 0x5d96cf7f265beda9, 0xc1d77cffb7decc0d,
    0x5e6a0a2edd70e34d, 0x0463513755ac0ecd, 0xb37523a53b4a3ee3, 0x4de45321ad915a37, 0x9823beb1e6ba3ad7,
    0xdd4eabbd1fcfb981, 0x683447c10cc8af11, 0xbfb637dd5bae2d27, 0xaed09b824ca87fc3, 0x158d003d9a0b2361,
    0x1ff135342e825ce1, 0x33f5f28807f0cbd5, 0x00d9f4ad53a2f2b7, 0x4cc346363c234039, 0xd330a5494d14cf1b,
    0x668dc8f46a423cf9, 0xd178403035c9a8c5, 0x765890e0f94855d1, 0xaf5d8bb09f2e9ea5, 0xa9dfdec6baecde5b,
    0x699f071a5fd8e665, 0xf82d5644ef7d9967, 0xfdfb462fd6fad8db, 0xdb18bd763f20134d, 0x0e46c215b5fa5b0d,
    0xbf416c30f1f0742b, 0x422acab59248b975,
};

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

/* The shape of the memo's walk: all words in its window, or as many as it holds. False: it cannot have one. */
static bool make(struct rvp_shape *shape, const struct rvp_memo *memo, struct rvp_caller caller, uint64_t tag)
{
	const struct rvp_memo_frame *inner = &memo->frames[memo->frame_count - 1];
	uint32_t words = inner->word_count, outer = words > RVP_WINDOW_MAX ? (words - RVP_WINDOW_MAX + 3) & ~3u : 0;
	uint32_t count = words - outer;
	uint64_t places = 0;

	shape->outer_words = (uint16_t)outer;
	shape->window = (uint8_t)((count + RVP_WINDOW_BLOCK - 1) & ~(uint32_t)(RVP_WINDOW_BLOCK - 1));
	shape->bp_weight = inner->is_bp_used ? BP_WEIGHT : 0;
	for (uint32_t i = 0; i < shape->window; i++) {
		uint64_t at = memo->words[outer + 1 + (i < count ? i : 0)].at - caller.sp;

		if (at > UINT16_MAX * 8ul)
			return false;
		shape->offset[i] = (uint16_t)(at / 8);
		places += at * rvp_window_weights[i];
	}
	shape->salt =
	    rvp_path_below(rvp_path_below(tag, places), outer << 16 | count << 1 | inner->is_bp_used);
	shape->salt_now = shape->salt + memo->words[outer].content;
	shape->version = memo->version;
	return count > 0;
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

void rvp_shapes_enter(struct rvp_shapes *shapes, const struct rvp_memo *memo, struct rvp_caller caller,
		      uint32_t number)
{
	struct rvp_shape shape = {.sp = caller.sp, .pc = caller.pc ^ shapes->key};

	if (!make(&shape, memo, caller, tag_of(shapes, caller)))
		return;
	if (rvp_shapes_set(shapes, caller.pc, caller.sp)->salt != shape.salt)
		put_first(shapes, &shape);
	rvp_path_cache_enter(&shapes->paths, rvp_shape_hash(&shape, caller), number, memo->depth);
	if (shapes->pushed_out > shapes->set_mask / RVP_SHAPE_SET_BYTES * RVP_SHAPE_WAYS)
		grow(shapes);
}
