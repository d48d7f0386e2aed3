/* SPDX-License-Identifier: MIT */
/* unwind_shape.h: call paths that a thread met before, found again without a step of unwinding.
 *
 * A shape says where the words lie that a walk from one return address and stack pointer read before: the
 * inner ones, the window, by their distance from the stack pointer; the outer ones are the first of the
 * memo's (unwind_memo.h). The words that lie there now, with their places, are hashed; the hash finds the
 * number of the path that a whole walk with these words at these places had.
 *
 *   (S1) A shape is a guess and proves nothing. The hash covers the caller's state, the place and the value
 * of every word of the list, and a path is entered under it only by a walk that read exactly this list: so
 * what is found is what a walk would find, but for two lists of one 64-bit hash (of a million remembered,
 * below 1e-6). (S2) The outer words are compared with the memo's one by one, the window's are hashed: each is
 * read at each use. (S3) Every place lies on the thread's own stack between the present stack pointer and its
 * end: a shape is asked only for its own tag, and that is of one stack pointer and one stack, so this is found out
 * once for each version of the memo. (S4) What is remembered holds for one key, as (N4): it is in every hash, so what
 * is of another key is never found.
 */
#ifndef RVP_UNWIND_SHAPE_H
#define RVP_UNWIND_SHAPE_H

#include "preload/path_cache.h"
#include "preload/unwind_memo.h"

enum { RVP_SHAPE_WAYS = 4, RVP_WINDOW_MAX = 32, RVP_WINDOW_FIRST = 8, RVP_WINDOW_BLOCK = 4 };

struct rvp_shape {
	uint64_t tag;                    /* of the caller's address and stack pointer; 0: free */
	uint64_t salt;                   /* hash of the tag and of the list's places */
	uint64_t version;                /* of the memo that it fits; 1 more: of one that it does not fit */
	uint64_t salt_now;               /* with the content of that memo's outer words */
	uint64_t bp_weight;              /* 0 where the caller's bp does not matter */
	uint16_t outer_words;            /* of the memo's: a multiple of 4 */
	uint8_t window;                  /* a multiple of RVP_WINDOW_BLOCK */
	uint8_t window_words;            /* without what fills it up to that */
	uint32_t reach_bytes;            /* from the stack pointer to the end of the window's furthest word */
	uint16_t offset[RVP_WINDOW_MAX]; /* of the window's words from the stack pointer, in words */
};

struct rvp_shapes {
	uint64_t key;
	struct rvp_shape *shapes; /* sets of RVP_SHAPE_WAYS */
	uint32_t set_mask;
	uint32_t pushed_out; /* since there are as many sets as there are */
	struct rvp_path_cache paths;
};

extern const uint64_t rvp_window_weights[RVP_WINDOW_MAX];

static inline uint64_t rvp_shape_tag(const struct rvp_shapes *shapes, struct rvp_caller caller)
{
	uint64_t tag = caller.pc * 0x9e3779b97f4a7c15 + caller.sp * 0xc2b2ae3d27d4eb4f + shapes->key;

	return tag ^ tag >> 32;
}

/* Makes a shape fit the memo as it is now; false: it says more of the memo's words than there are above the stack pointer,
 * or a place beyond the stack's end. */
bool rvp_shape_fit(struct rvp_shape *shape, const struct rvp_memo *memo, uint64_t sp, uint64_t high);

/* The hash of the words that a shape says, which fits, as they are now. */
static inline __attribute__((always_inline)) uint64_t rvp_shape_hash(const struct rvp_shape *shape,
								     struct rvp_caller caller)
{
	const uint64_t *stack = (const uint64_t *)caller.sp, *weight = rvp_window_weights;
	const uint16_t *offset = shape->offset, *end = offset + shape->window;
	uint64_t hash = shape->salt_now + caller.bp * shape->bp_weight, other = 0;

	do {
		hash += stack[offset[0]] * weight[0] + stack[offset[1]] * weight[1];
		other += stack[offset[2]] * weight[2] + stack[offset[3]] * weight[3];
		offset += RVP_WINDOW_BLOCK;
		weight += RVP_WINDOW_BLOCK;
	} while (offset < end);
	return hash + other;
}

/* Bits of words that are not the memo's, of its first `count`, a multiple of 4. */
static inline __attribute__((always_inline)) uint64_t rvp_memo_difference(const struct rvp_memo *memo,
									  uint32_t count)
{
	const struct rvp_memo_word *word = memo->words + 1, *end = word + count;
	uint64_t difference = 0;

	for (; word < end; word += 4)
		difference |= (*(const uint64_t *)word[0].at ^ word[0].value) |
			      (*(const uint64_t *)word[1].at ^ word[1].value) |
			      (*(const uint64_t *)word[2].at ^ word[2].value) |
			      (*(const uint64_t *)word[3].at ^ word[3].value);
	return difference;
}

/* The path that the words of a shape stand for now; NULL: not known. */
static inline __attribute__((always_inline)) const struct rvp_known_path *rvp_shape_path(
    const struct rvp_shapes *shapes, struct rvp_shape *shape, const struct rvp_memo *memo, struct rvp_caller caller,
    uint64_t high)
{
	const struct rvp_known_path *path;
	uint64_t hash;

	if (__builtin_expect(shape->version != memo->version, 0) && !rvp_shape_fit(shape, memo, caller.sp, high))
		return NULL;
	hash = rvp_shape_hash(shape, caller);
	path = rvp_path_cache_place(&shapes->paths, hash);
	return __builtin_expect((path->hash ^ hash) | rvp_memo_difference(memo, shape->outer_words), 0) ? NULL : path;
}

static inline struct rvp_shape *rvp_shapes_set(const struct rvp_shapes *shapes, uint64_t tag)
{
	return &shapes->shapes[(tag & shapes->set_mask) * RVP_SHAPE_WAYS];
}

/* The path of a caller on the thread's own stack, which ends at `high`, by the shapes of its tag behind the first of the
 * set; NULL: not known. The caller in three words: as a struct in memory it would be there from the begin. */
const struct rvp_known_path *rvp_shapes_find_further(struct rvp_shapes *shapes, const struct rvp_memo *memo, uint64_t pc,
						     uint64_t sp, uint64_t bp, uint64_t high);

/* The same by all. */
static inline __attribute__((always_inline)) const struct rvp_known_path *rvp_shapes_find(
    struct rvp_shapes *shapes, const struct rvp_memo *memo, struct rvp_caller caller, uint64_t high)
{
	uint64_t tag = rvp_shape_tag(shapes, caller);
	struct rvp_shape *shape = rvp_shapes_set(shapes, tag);
	const struct rvp_known_path *path;

	if (__builtin_expect(shape->tag == tag, 1)) {
		path = rvp_shape_path(shapes, shape, memo, caller, high);
		if (__builtin_expect(path != NULL, 1))
			return path;
	}
	return rvp_shapes_find_further(shapes, memo, caller.pc, caller.sp, caller.bp, high);
}

/* Enters the memo's walk, which was from this caller and found the whole path `number`. */
void rvp_shapes_enter(struct rvp_shapes *shapes, const struct rvp_memo *memo, struct rvp_caller caller,
		      uint32_t number);

/* From here on for another key; false: no memory. */
bool rvp_shapes_start(struct rvp_shapes *shapes, uint64_t key);

#endif
