/* SPDX-License-Identifier: MIT */
/* hooks_alloc.c: malloc and its kin. Each hook: enter, real call with phase REAL, tell the recorder, leave.
 *
 * Rules: errno is as the real call left it; a size, alignment or failure is never changed; a block of the
 * bootstrap arena is recognised wherever a pointer comes in.
 *
 * malloc, calloc, realloc and free begin with the short way (quick.h), which needs no frame. Each ends by a jump to the
 * short way of full mode (full.h), that to the hook's long way, so that RVP_CALLER finds there what it would find in the
 * hook. (Optimized as this library always is, gcc and clang make a jump of it; tests of stacks would see a call.)
 */
#include "preload/bootstrap.h"
#include "preload/fronts.h"
#include "preload/full.h"
#include "preload/quick.h"
#include "preload/real.h"
#include "preload/recorder.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default) /* what this file defines and exports.map names is the library's face \
				      */

#define HERE() ((uint64_t)__builtin_return_address(0))

/* The prototypes of the C23 names that this libc does not declare. */
void free_sized(void *block, size_t bytes);
void free_aligned_sized(void *block, size_t alignment, size_t bytes);

/* The end of every hook that gives out a block. */
static inline void *given(struct rvp_thread *thread, void *block, uint64_t bytes, enum rvp_family family,
			  struct rvp_caller caller)
{
	int error = errno;

	rvp_local.phase = RVP_OURS;
	if (block)
		rvp_on_alloc(thread, block, bytes, family, caller);
	rvp_leave(thread);
	errno = error;
	return block;
}

/* Nothing is recorded in this process, now or ever. */
static inline bool is_off(void)
{
	return atomic_load_explicit(&rvp_process.state, memory_order_relaxed) == RVP_OFF;
}

static void *beside(void *block, uint64_t bytes, enum rvp_family family, uint64_t pc)
{
	int error;

	if (is_off())
		return block;
	error = errno;
	if (block && !rvp_bootstrap_owns(block))
		rvp_beside_alloc(block, bytes, family, pc);
	errno = error;
	return block;
}

#define GIVE(call, bytes, family, bootstrap_alignment)                            \
	do {                                                                      \
		struct rvp_thread *thread = rvp_enter();                          \
		if (__builtin_expect(thread != NULL, 1)) {                        \
			rvp_local.phase = RVP_REAL;                               \
			void *block = call;                                       \
			return given(thread, block, bytes, family, RVP_CALLER()); \
		}                                                                 \
		if (!rvp_real_ready())                                            \
			return rvp_bootstrap_alloc(bootstrap_alignment, bytes);   \
		return beside(call, bytes, family, HERE());                       \
	} while (0)

void *rvp_malloc_long_way(size_t bytes)
{
	GIVE(rvp_real_for(HERE())->malloc(bytes), bytes, RVP_FAMILY_MALLOC, 16);
}

void *malloc(size_t bytes)
{
	if (__builtin_expect(rvp_quick_alloc(bytes), 1))
		return rvp_quick_given(rvp_real.malloc(bytes), bytes);
	return rvp_full_malloc(bytes);
}

void *rvp_calloc_long_way(size_t count, size_t each)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, each, &bytes))
		bytes = SIZE_MAX; /* the real one refuses */
	GIVE(rvp_real_for(HERE())->calloc(count, each), bytes, RVP_FAMILY_CALLOC, 16);
}

void *calloc(size_t count, size_t each)
{
	size_t bytes;

	if (__builtin_expect(!__builtin_mul_overflow(count, each, &bytes) && rvp_quick_alloc(bytes), 1))
		return rvp_quick_given(rvp_real.calloc(count, each), bytes);
	return rvp_full_calloc(count, each);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	if (rvp_quick_is_closed() && rvp_quick_alloc(bytes))
		return rvp_quick_given(rvp_real.aligned_alloc(alignment, bytes), bytes);
	GIVE(rvp_real_for(HERE())->aligned_alloc(alignment, bytes), bytes, RVP_FAMILY_ALIGNED_ALLOC, alignment);
}

void *memalign(size_t alignment, size_t bytes)
{
	if (rvp_quick_is_closed() && rvp_quick_alloc(bytes))
		return rvp_quick_given(rvp_real.memalign(alignment, bytes), bytes);
	GIVE(rvp_real_for(HERE())->memalign(alignment, bytes), bytes, RVP_FAMILY_MEMALIGN, alignment);
}

void *valloc(size_t bytes)
{
	GIVE(rvp_real_for(HERE())->valloc(bytes), bytes, RVP_FAMILY_VALLOC, 4096);
}

void *pvalloc(size_t bytes)
{
	GIVE(rvp_real_for(HERE())->pvalloc(bytes), bytes, RVP_FAMILY_PVALLOC, 4096);
}

static int bootstrap_memalign(void **out, size_t alignment, size_t bytes)
{
	int error = errno, result = EINVAL;
	void *block;

	if (alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0) {
		block = rvp_bootstrap_alloc(alignment, bytes);
		result = block ? 0 : ENOMEM;
		if (block)
			*out = block;
	}
	errno = error;
	return result;
}

static int posix_memalign_quickly(void **out, size_t alignment, size_t bytes)
{
	int result = rvp_real.posix_memalign(out, alignment, bytes);

	if (result == 0)
		rvp_quick_given(*out, bytes);
	return result;
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	struct rvp_thread *thread;
	int result;

	if (rvp_quick_is_closed() && rvp_quick_alloc(bytes))
		return posix_memalign_quickly(out, alignment, bytes);
	thread = rvp_enter();
	if (!thread && !rvp_real_ready())
		return bootstrap_memalign(out, alignment, bytes);
	if (thread)
		rvp_local.phase = RVP_REAL;
	result = rvp_real_for(HERE())->posix_memalign(out, alignment, bytes);
	if (thread)
		given(thread, result == 0 ? *out : NULL, bytes, RVP_FAMILY_POSIX_MEMALIGN, RVP_CALLER());
	else
		beside(result == 0 ? *out : NULL, bytes, RVP_FAMILY_POSIX_MEMALIGN, HERE());
	return result;
}

/* free and the C23 ones: `real` is called with phase REAL, after the record. */
static inline void give_back(void *block, enum rvp_family family, uint64_t pc)
{
	struct rvp_thread *thread;
	int error = errno;

	if (!block || rvp_bootstrap_owns(block))
		return;
	thread = rvp_enter();
	if (thread) {
		rvp_on_free(thread, block, rvp_real.malloc_usable_size(block), family);
		errno = error;
		rvp_local.phase = RVP_REAL;
		rvp_real_for(pc)->free(block);
		rvp_local.phase = RVP_OURS;
		error = errno;
		rvp_leave(thread);
	} else if (is_off()) {
		rvp_real_for(pc)->free(block);
		return;
	} else if (rvp_real_ready()) {
		rvp_beside_free(block, rvp_real.malloc_usable_size(block), family, pc);
		errno = error;
		rvp_real_for(pc)->free(block);
		return;
	}
	errno = error;
}

void rvp_free_long_way(void *block)
{
	give_back(block, RVP_FAMILY_FREE, HERE());
}

void free(void *block)
{
	if (__builtin_expect(!block, 0))
		return;
	if (__builtin_expect(rvp_quick_free(block), 1))
		rvp_real.free(block);
	else
		rvp_full_free(block);
}

void free_sized(void *block, size_t bytes)
{
	(void)bytes; /* glibc 2.36 has none; its meaning is free's */
	give_back(block, RVP_FAMILY_FREE_SIZED, HERE());
}

void free_aligned_sized(void *block, size_t alignment, size_t bytes)
{
	(void)alignment;
	(void)bytes;
	give_back(block, RVP_FAMILY_FREE_ALIGNED_SIZED, HERE());
}

/* A block that the bootstrap arena gave out moves to the real allocator; its free is nobody's event. */
static void *leave_bootstrap(void *block, size_t bytes, enum rvp_family family, uint64_t pc)
{
	size_t old = rvp_bootstrap_size(block);
	void *to = rvp_real_ready() ? rvp_real_for(pc)->malloc(bytes) : rvp_bootstrap_alloc(16, bytes);

	if (to)
		memcpy(to, block, old < bytes ? old : bytes);
	return beside(to, bytes, family, pc);
}

static void *move_beside(void *block, size_t bytes, enum rvp_family family, uint64_t pc)
{
	size_t usable = rvp_real.malloc_usable_size(block);
	void *to = rvp_real_for(pc)->realloc(block, bytes);
	int error = errno;

	if (to || bytes == 0)
		rvp_beside_free(block, usable, RVP_FAMILY_REALLOC, pc);
	errno = error;
	return beside(to, bytes, family, pc);
}

static void *move(struct rvp_thread *thread, void *block, size_t bytes, enum rvp_family family,
		  struct rvp_caller caller)
{
	int error = errno;
	struct rvp_move state = rvp_on_move_begin(thread, block, rvp_real.malloc_usable_size(block));
	void *to;

	errno = error;
	rvp_local.phase = RVP_REAL;
	to = rvp_real_for(caller.pc)->realloc(block, bytes);
	rvp_local.phase = RVP_OURS;
	error = errno;
	if (to || bytes == 0) /* glibc gives a block back that is resized to nothing */
		rvp_on_move_done(thread, state, to, bytes, family, caller);
	else
		rvp_on_move_failed(thread, state);
	rvp_leave(thread);
	errno = error;
	return to;
}

static inline void *resize(void *block, size_t bytes, enum rvp_family family, struct rvp_caller caller)
{
	struct rvp_thread *thread;

	if (block && rvp_bootstrap_owns(block))
		return leave_bootstrap(block, bytes, family, caller.pc);
	thread = rvp_enter();
	if (!thread && !rvp_real_ready())
		return rvp_bootstrap_alloc(16, bytes); /* block is NULL: nothing real was given out yet */
	if (thread && block)
		return move(thread, block, bytes, family, caller);
	if (block)
		return move_beside(block, bytes, family, caller.pc);
	if (thread)
		rvp_local.phase = RVP_REAL;
	void *to = rvp_real_for(caller.pc)->realloc(NULL, bytes);

	return thread ? given(thread, to, bytes, family, caller) : beside(to, bytes, family, caller.pc);
}

void *rvp_realloc_long_way(void *block, size_t bytes)
{
	return resize(block, bytes, RVP_FAMILY_REALLOC, RVP_CALLER());
}

void *realloc(void *block, size_t bytes)
{
	uint64_t word;

	if (!block && rvp_quick_alloc(bytes))
		return rvp_quick_given(rvp_real.realloc(NULL, bytes), bytes);
	if (rvp_quick_move(block, bytes, &word))
		return rvp_quick_moved(word, rvp_real.realloc(block, bytes), bytes);
	return rvp_full_realloc(block, bytes);
}

void *reallocarray(void *block, size_t count, size_t each)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, each, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(block, bytes, RVP_FAMILY_REALLOCARRAY, RVP_CALLER());
}

/* By the assembler: an alias in C would have to repeat libc's attributes, which gcc and clang spell
 * differently. */
#define RVP_FRONT(name)                                                                              \
	__asm__(".hidden rvp_front_" #name "\n\t.globl rvp_front_" #name "\n\t.set rvp_front_" #name \
		", " #name);
RVP_FRONTS(RVP_FRONT)
