/* SPDX-License-Identifier: MIT */
/* unwind_shape.h: call paths that a thread met before, found again without a step of unwinding.
 *
 * A shape says where the words lie that a walk from one return address and stack pointer read before: the
 * inner ones, the window, by their distance from the stack pointer; of a deep stack the outer ones are the first of the
 * memo's (unwind_memo.h). The words that lie there now, with their places, are hashed; the hash finds the
 * number of the path that a whole walk with these words at these places had.
 *
 *   (S1) A shape is a guess and proves nothing. The hash covers the caller's state, the place and the value
 * of every word of the list, and a path is entered under it only by a walk that read exactly this list: so
 * what is found is what a walk would find, but for two lists of one 64-bit hash (of a million remembered,
 * below 1e-6). (S2) The outer words are compared with the memo's one by one, the window's are hashed: each is
 * read at each use. (S3) Every place lies on the thread's own stack between the present stack pointer and its
 * end: a shape is asked only for its own caller, that is one stack pointer of one stack, so the window lies where it lay
 * when a walk read it; of the memo's words this is found out once for each version of it. (S4) What is remembered holds for one key, as (N4): it is in every shape's address
 * and every hash, so what is of another key is never found.
 */
#ifndef RVP_UNWIND_SHAPE_H
#define RVP_UNWIND_SHAPE_H

#include "preload/path_cache.h"
#include "preload/unwind_memo.h"
#include "preload/unwind_straight.h"

enum { RVP_SHAPE_WAYS = 4, RVP_WINDOW_MAX = 36, RVP_WINDOW_BLOCK = 4 };

struct rvp_shape {
	uint64_t sp;                     /* the caller's stack pointer; 0: free */
	uint64_t pc;                     /* its address, with the key */
	uint64_t salt;                   /* hash of both and of the list's places */
	uint64_t version;                /* of the memo that its outer words fit; 1 more: that they do not fit */
	uint64_t salt_now;               /* with the content of that memo's outer words */
	uint64_t bp_weight;              /* 0 where the caller's bp does not matter */
	uint16_t outer_words;            /* of the memo's: a multiple of 4 */
	uint8_t window;                  /* a multiple of RVP_WINDOW_BLOCK */
	uint32_t unused;
	uint16_t offset[RVP_WINDOW_MAX]; /* of the window's words from the stack pointer, in words */
};
enum { RVP_SHAPE_SET_BYTES = RVP_SHAPE_WAYS * 128, RVP_SHAPE_SETS_MOST = 256 };
_Static_assert(RVP_SHAPE_WAYS * sizeof(struct rvp_shape) == RVP_SHAPE_SET_BYTES, "a shape is two lines of the cache");

struct rvp_shapes {
	uint64_t key;
	struct rvp_shape *shapes; /* sets of RVP_SHAPE_WAYS */
	uint32_t set_mask;        /* of a set's place in bytes */
	uint32_t pushed_out;      /* since there are as many sets as there are */
	struct rvp_path_cache paths;
};

static const uint64_t rvp_window_factor = 0xd1a6e55e9b9b1325;
extern const uint64_t rvp_window_weights[RVP_WINDOW_BLOCK - 1] __attribute__((visibility("hidden")));

/* The set of a caller, by the uppermost bits of a product. */
static inline __attribute__((always_inline)) struct rvp_shape *rvp_shapes_set(const struct rvp_shapes *shapes,
									       uint64_t pc, uint64_t sp)
{
	uint32_t place = (uint32_t)pc * 0x9e3779b1u + (uint32_t)sp * 0x85ebca6bu;

	_Static_assert((RVP_SHAPE_SETS_MOST - 1) * RVP_SHAPE_SET_BYTES < 1 << 17, "17 bits are enough");
	return (struct rvp_shape *)((char *)shapes->shapes + (place >> 15 & shapes->set_mask));
}

/* Makes a shape fit the memo as it is now; false: it says more of the memo's words than there are above the stack pointer. */
bool rvp_shape_fit(struct rvp_shape *shape, const struct rvp_memo *memo, uint64_t sp);

/* The hash of the words that a shape says, which fits, as they are now: four polynomials, so that none waits long for
 * itself. Reading is what takes the time here: one factor for all stays in a register. */
static inline __attribute__((always_inline)) uint64_t rvp_shape_hash(const struct rvp_shape *shape,
								     struct rvp_caller caller)
{
	const uint64_t *stack = (const uint64_t *)caller.sp;
	const uint16_t *offset = shape->offset, *end = offset + shape->window;
	const uint64_t factor = rvp_window_factor;
	uint64_t a = shape->salt_now + caller.bp * shape->bp_weight, b = 0, c = 0, d = 0;

	do {
		a = (a + stack[offset[0]]) * factor;
		b = (b + stack[offset[1]]) * factor;
		c = (c + stack[offset[2]]) * factor;
		d = (d + stack[offset[3]]) * factor;
		offset += RVP_WINDOW_BLOCK;
	} while (offset < end);
	return a + b * rvp_window_weights[0] + c * rvp_window_weights[1] + d * rvp_window_weights[2];
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

/* The path that the words of a shape stand for now; NULL: not known. A shape that has outer words fits. */
static inline __attribute__((always_inline)) const struct rvp_known_path *rvp_shape_path(
    const struct rvp_shapes *shapes, const struct rvp_shape *shape, const struct rvp_memo *memo, struct rvp_caller caller)
{
	uint64_t hash = rvp_shape_hash(shape, caller);
	const struct rvp_known_path *path = rvp_path_cache_place(&shapes->paths, hash);
	uint64_t difference = path->hash ^ hash;

	if (shape->outer_words)
		difference |= rvp_memo_difference(memo, shape->outer_words);
	return __builtin_expect(difference != 0, 0) ? NULL : path;
}

/* The path of a caller on the thread's own stack by the first shape of its set, where that is of `key` and fits; NULL: not
 * known so. */
static inline __attribute__((always_inline)) const struct rvp_known_path *rvp_shapes_find_first(
    const struct rvp_shapes *shapes, const struct rvp_memo *memo, struct rvp_caller caller, uint64_t key)
{
	const struct rvp_shape *shape = rvp_shapes_set(shapes, caller.pc, caller.sp);

	if (__builtin_expect(shape->sp != caller.sp || shape->pc != (caller.pc ^ key) ||
				 (shape->outer_words && shape->version != memo->version),
			     0))
		return NULL;
	return rvp_shape_path(shapes, shape, memo, caller);
}

/* The same by all others. */
const struct rvp_known_path *rvp_shapes_find_further(struct rvp_shapes *shapes, const struct rvp_memo *memo,
						     struct rvp_caller caller);

/* The same by all. */
static inline const struct rvp_known_path *rvp_shapes_find(struct rvp_shapes *shapes, const struct rvp_memo *memo,
							   struct rvp_caller caller)
{
	const struct rvp_known_path *path = rvp_shapes_find_first(shapes, memo, caller, shapes->key);

	return __builtin_expect(path != NULL, 1) ? path : rvp_shapes_find_further(shapes, memo, caller);
}

/* Enters the memo's walk, which was from this caller and found the whole path `number`. */
void rvp_shapes_enter(struct rvp_shapes *shapes, const struct rvp_memo *memo, struct rvp_caller caller,
		      uint32_t number);

/* The same of a straight walk. False: it read more words than a window holds, or frame pointers, and nothing was entered. */
bool rvp_shapes_enter_straight(struct rvp_shapes *shapes, const struct rvp_straight *walk, struct rvp_caller caller,
			       uint32_t number);

/* From here on for another key; false: no memory. */
bool rvp_shapes_start(struct rvp_shapes *shapes, uint64_t key);

#endif
