/* SPDX-License-Identifier: MIT */
/* full.c: see full.h. The four hooks' short ways, each one function from its begin to its end: what they call beside
 * the real functions is rare. */
#include "preload/full.h"

#include "preload/enter.h"
#include "preload/events.h"
#include "preload/events_plain.h"
#include "preload/pause.h"
#include "preload/quick.h"
#include "preload/walker.h"

#include <errno.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Bits of the word in front of a block that goes the long way: mapped by itself, or not small. */
static const uint64_t long_way_bits = RVP_WORD_MAPPED | ~(uint64_t)(RVP_FULL_BELOW_BYTES - 1);

static bool is_possible(void)
{
	return rvp_is_full_mode() && !rvp_process.is_windowed && !rvp_process.options.writes && rvp_real.is_libcs && !rvp_real.is_shadowed &&
	       rvp_local.counters && rvp_events_have_lzcnt;
}

void rvp_full_learn(struct rvp_thread *thread, const void *block, uint64_t usable)
{
	if (__builtin_expect(rvp_local.full != NULL, 1) || !is_possible())
		return;
	if (rvp_word_is_confirmed(thread, block, usable) && thread->slot && rvp_walker_meet(thread)) {
		thread->short_given = 0;
		thread->short_moved = rvp_full_moved();
		rvp_local.full = thread;
	}
}

void rvp_full_leave_parent(void)
{
	rvp_local.full_left = 0;
	rvp_local.full = NULL;
}

/* NULL: go the long way. A signal handler may fork before the phase is ours, and then makes the child at home, which closes
 * its short way: so whose it is, is asked behind that. */
static ALWAYS_INLINE struct rvp_thread *enter(enum rvp_phase phase)
{
	struct rvp_thread *thread;

	if (__builtin_expect(rvp_local.phase != RVP_OUTSIDE ||
				 atomic_load_explicit(rvp_alive, memory_order_relaxed) != RVP_ALIVE || /* (Z3) */
				 !rvp_machine_take(&rvp_local.full_left, 1),
			     0))
		return NULL;
	rvp_local.phase = phase;
	atomic_signal_fence(memory_order_seq_cst);
	thread = rvp_local.full;
	if (__builtin_expect(!thread, 0)) {
		rvp_local.phase = RVP_OUTSIDE;
		return NULL;
	}
	if (!thread->slot || !rvp_local.counters) /* (W1) */
		__builtin_unreachable();
	return thread;
}

/* (W4) */
static ALWAYS_INLINE void leave(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	rvp_local.phase = RVP_OUTSIDE;
}

/* (W3) It is no event of the short way's. */
static ALWAYS_INLINE void leave_for_long_way(void)
{
	rvp_machine_add((uint64_t *)&rvp_local.full_left, 1);
	leave();
}

static ALWAYS_INLINE void put(struct rvp_thread *thread, void *block, uint64_t bytes, enum rvp_family family,
			       struct rvp_path path)
{
	uint64_t word = rvp_event_word(thread);

	if (__builtin_expect(rvp_event_is_plain(thread, (uint64_t)block, word), 1))
		rvp_event_put_plain_alloc(thread, word, (uint64_t)block, bytes, path.stack, path.python, family);
	else
		rvp_event_alloc_of_path(thread, RVP_ALLOC, block, bytes, family, path);
	leave();
}

/* What follows ends a hook in place of its usual end, as a jump: it keeps errno, and RVP_CALLER finds what it would find in
 * the hook. So no call but the real function's is in the usual way, and hardly a register has to be saved. Those that walk
 * are there for each hook, with its name in theirs: the referee of walks goes by it. */
static __attribute__((noinline)) void *end_with_path(struct rvp_thread *thread, void *block, uint64_t bytes,
						     enum rvp_family family, uint32_t stack)
{
	int error = errno;

	put(thread, block, bytes, family, (struct rvp_path){stack, 0});
	errno = error;
	return block;
}

static ALWAYS_INLINE void *end_with_python(struct rvp_thread *thread, void *block, uint64_t bytes, enum rvp_family family,
					   const struct rvp_known_path *known)
{
	int error = errno;
	struct rvp_path path = {known->number, rvp_walk_python(thread)};

	rvp_walk_check(thread, RVP_CALLER(), path, known);
	put(thread, block, bytes, family, path);
	errno = error;
	return block;
}

/* Also of a block that is mapped by itself: its size is not in front of it. */
static ALWAYS_INLINE void *end_by_walk(struct rvp_thread *thread, void *block, uint64_t bytes, enum rvp_family family)
{
	struct rvp_caller caller = RVP_CALLER();
	struct rvp_counters *counters = rvp_local.counters;
	int error = errno;
	struct rvp_path path;

	if (__builtin_expect(rvp_word_of(block) & RVP_WORD_MAPPED, 0))
		rvp_machine_add(&counters->alloc_usable_bytes, rvp_real.malloc_usable_size(block));
	if (rvp_walk_is_easy(thread, caller)) {
		rvp_machine_add(&counters->walk_count, 1);
		path = rvp_walk_new(thread, caller);
	} else {
		path = rvp_event_path(thread, caller);
	}
	put(thread, block, bytes, family, path);
	errno = error;
	return block;
}

struct ends {
	enum rvp_family family;
	void *(*by_walk)(struct rvp_thread *, void *, uint64_t);
	void *(*with_python)(struct rvp_thread *, void *, uint64_t, const struct rvp_known_path *);
};

#define ENDS(name, name_family)                                                                              \
	static __attribute__((noinline)) void *rvp_full_##name##_by_walk(struct rvp_thread *thread, void *block,   \
									 uint64_t bytes)                     \
	{                                                                                                    \
		return end_by_walk(thread, block, bytes, name_family);                                       \
	}                                                                                                    \
	static __attribute__((noinline)) void *rvp_full_##name##_with_python(                                \
	    struct rvp_thread *thread, void *block, uint64_t bytes, const struct rvp_known_path *known)      \
	{                                                                                                    \
		return end_with_python(thread, block, bytes, name_family, known);                            \
	}                                                                                                    \
	static const struct ends name##_ends = {name_family, rvp_full_##name##_by_walk, rvp_full_##name##_with_python}

ENDS(malloc, RVP_FAMILY_MALLOC);
ENDS(calloc, RVP_FAMILY_CALLOC);
ENDS(realloc, RVP_FAMILY_REALLOC);

/* The end of a hook that entered and called the real function; inline in it, as RVP_CALLER has to be. */
static ALWAYS_INLINE void *given(struct rvp_thread *thread, void *block, uint64_t bytes, const struct ends *ends)
{
	struct rvp_counters *counters;
	const struct rvp_known_path *known;
	uint64_t size_word, word;

	rvp_local.phase = RVP_OURS;
	if (__builtin_expect(!block, 0)) {
		leave();
		return NULL;
	}
	known = rvp_walk_known(thread, RVP_CALLER());
	counters = rvp_local.counters;
	rvp_machine_add(&counters->alloc_count, 1);
	rvp_machine_add(&counters->alloc_bytes, bytes);
	size_word = rvp_word_of(block);
	if (__builtin_expect(size_word & RVP_WORD_MAPPED, 0))
		return ends->by_walk(thread, block, bytes);
	rvp_machine_add(&counters->alloc_usable_bytes, rvp_word_usable(size_word));
	if (__builtin_expect(!known, 0))
		return ends->by_walk(thread, block, bytes);
	rvp_machine_add(&counters->walk_count, 1);
	if (__builtin_expect(rvp_python_current() != NULL, 0))
		return ends->with_python(thread, block, bytes, known);
	rvp_walk_check(thread, RVP_CALLER(), (struct rvp_path){known->number, 0}, known);
	word = rvp_event_word(thread);
	if (__builtin_expect(!rvp_event_is_plain(thread, (uint64_t)block, word) || thread->delta.event_python, 0))
		return end_with_path(thread, block, bytes, ends->family, known->number);
	rvp_event_put_plain_alloc(thread, word, (uint64_t)block, bytes, known->number, 0, ends->family);
	leave();
	return block;
}

void *rvp_full_malloc(size_t bytes)
{
	struct rvp_thread *thread = bytes < RVP_FULL_BELOW_BYTES ? enter(RVP_REAL) : NULL;
	void *block;

	if (__builtin_expect(!thread, 0))
		return rvp_malloc_long_way(bytes);
	block = rvp_real.malloc(bytes);
	return given(thread, block, bytes, &malloc_ends);
}

void *rvp_full_calloc(size_t count, size_t each)
{
	struct rvp_thread *thread = NULL;
	size_t bytes;
	void *block;

	if (!__builtin_mul_overflow(count, each, &bytes) && bytes < RVP_FULL_BELOW_BYTES)
		thread = enter(RVP_REAL);
	if (__builtin_expect(!thread, 0))
		return rvp_calloc_long_way(count, each);
	block = rvp_real.calloc(count, each);
	return given(thread, block, bytes, &calloc_ends);
}

static __attribute__((noinline)) void free_otherwise(struct rvp_thread *thread, void *block, uint64_t usable)
{
	int error = errno;

	rvp_event_free(thread, block, usable, RVP_FAMILY_FREE);
	errno = error;
}

/* A block that came from the bootstrap arena has the bit of a mapped one. None is NULL. */
void rvp_full_free(void *block)
{
	struct rvp_thread *thread;
	struct rvp_counters *counters;
	uint64_t usable, size_word, word;

	thread = enter(RVP_OURS);
	if (__builtin_expect(!thread, 0)) {
		rvp_free_long_way(block);
		return;
	}
	size_word = rvp_word_of(block);
	if (__builtin_expect(size_word & long_way_bits, 0)) {
		leave_for_long_way();
		rvp_free_long_way(block);
		return;
	}
	counters = rvp_local.counters;
	usable = rvp_word_usable(size_word);
	rvp_machine_add(&counters->free_count, 1);
	rvp_machine_add(&counters->free_usable_bytes, usable);
	word = rvp_event_word(thread);
	if (__builtin_expect(rvp_event_is_plain(thread, (uint64_t)block, word), 1))
		rvp_event_put_plain_free(thread, word, (uint64_t)block, RVP_FAMILY_FREE);
	else
		free_otherwise(thread, block, usable);
	rvp_local.phase = RVP_REAL;
	rvp_real.free(block);
	leave();
}

/* The real one failed: the block is as it was. */
static __attribute__((noinline)) void *end_unmoved(struct rvp_thread *thread, void *block, bool was_recorded)
{
	int error = errno;

	rvp_local.phase = RVP_OURS;
	if (was_recorded)
		rvp_event_unfree(thread, block);
	leave();
	errno = error;
	return NULL;
}

static __attribute__((noinline)) bool moved_otherwise(struct rvp_thread *thread, void *block, uint64_t usable)
{
	int error = errno;
	bool is_recorded = rvp_event_free(thread, block, usable, RVP_FAMILY_REALLOC);

	errno = error;
	return is_recorded;
}

/* As the long way: the old block's end before the real call, its count and the new block's behind it. */
static ALWAYS_INLINE void *move(struct rvp_thread *thread, void *block, size_t bytes, uint64_t usable)
{
	uint64_t word = rvp_event_word(thread);
	bool is_recorded = true;
	void *to;

	if (__builtin_expect(rvp_event_is_plain(thread, (uint64_t)block, word), 1))
		rvp_event_put_plain_free(thread, word, (uint64_t)block, RVP_FAMILY_REALLOC);
	else
		is_recorded = moved_otherwise(thread, block, usable);
	rvp_local.phase = RVP_REAL;
	to = rvp_real.realloc(block, bytes);
	if (__builtin_expect(!to, 0))
		return end_unmoved(thread, block, is_recorded);
	rvp_machine_add(&rvp_local.counters->free_count, 1);
	rvp_machine_add(&rvp_local.counters->free_usable_bytes, usable);
	return given(thread, to, bytes, &realloc_ends);
}

/* One of no bytes gives the block back where libc does so: the long way. */
void *rvp_full_realloc(void *block, size_t bytes)
{
	struct rvp_thread *thread = bytes - 1 < RVP_FULL_BELOW_BYTES - 1 ? enter(block ? RVP_OURS : RVP_REAL) : NULL;
	uint64_t size_word;

	if (__builtin_expect(!thread, 0))
		return rvp_realloc_long_way(block, bytes);
	if (!block)
		return given(thread, rvp_real.realloc(NULL, bytes), bytes, &realloc_ends);
	size_word = rvp_word_of(block);
	if (__builtin_expect(size_word & long_way_bits, 0)) {
		leave_for_long_way();
		return rvp_realloc_long_way(block, bytes);
	}
	return move(thread, block, bytes, rvp_word_usable(size_word));
}
