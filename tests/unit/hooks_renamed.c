/* SPDX-License-Identifier: MIT */
/* hooks_renamed.c: see hooks_renamed.h. */
#include "preload/blocks.h"
#include "preload/cost.h"
#include "preload/folder.h"
#include "preload/fronts.h"
#include "preload/full.h"
#include "preload/recorder.h"
#include "tests/unit/hooks_renamed.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

bool reals_are_known, reals_fail;
unsigned real_calls, long_ways;
uint64_t counted_allocs, counted_frees, counted_bytes;

/* The recorder's double: every thread stands beside. */
__thread struct rvp_local rvp_local;
struct rvp_process rvp_process; /* before its constructor: not off */
_Atomic uint64_t rvp_alive[1];

_Atomic uint8_t rvp_blocks_filter[1 << RVP_BLOCKS_FILTER_BITS];

bool rvp_folder_give_slot(struct rvp_thread *thread)
{
	(void)thread;
	return false;
}

void rvp_cost_begin_short(struct rvp_thread *thread)
{
	(void)thread;
}

struct rvp_thread *rvp_enter_slow(void)
{
	long_ways++;
	return NULL;
}

void rvp_drain_deferred(struct rvp_thread *thread)
{
	(void)thread;
}

void rvp_beside_alloc(void *block, uint64_t bytes, enum rvp_family family, uint64_t pc)
{
	(void)block, (void)family, (void)pc;
	counted_allocs++;
	counted_bytes += bytes;
}

void rvp_beside_free(void *block, uint64_t usable, enum rvp_family family, uint64_t pc)
{
	(void)block, (void)usable, (void)family, (void)pc;
	counted_frees++;
}

_Atomic uint32_t rvp_pause_state;

/* Full mode's short way: open for nobody. */
void *rvp_full_malloc(size_t bytes)
{
	return rvp_malloc_long_way(bytes);
}

void *rvp_full_calloc(size_t count, size_t each)
{
	return rvp_calloc_long_way(count, each);
}

void *rvp_full_realloc(void *block, size_t bytes)
{
	return rvp_realloc_long_way(block, bytes);
}

void rvp_full_free(void *block)
{
	rvp_free_long_way(block);
}

/* Of a thread that is recorded: nobody here. */
void rvp_on_alloc(struct rvp_thread *thread, void *block, uint64_t bytes, enum rvp_family family,
		  struct rvp_caller caller)
{
	(void)thread, (void)block, (void)bytes, (void)family, (void)caller;
	abort();
}

void rvp_on_free(struct rvp_thread *thread, void *block, uint64_t usable, enum rvp_family family)
{
	(void)thread, (void)block, (void)usable, (void)family;
	abort();
}

struct rvp_move rvp_on_move_begin(struct rvp_thread *thread, void *block, uint64_t usable)
{
	(void)thread, (void)block, (void)usable;
	abort();
}

void rvp_on_move_done(struct rvp_thread *thread, struct rvp_move move, void *to, uint64_t bytes,
		      enum rvp_family family, struct rvp_caller caller)
{
	(void)thread, (void)move, (void)to, (void)bytes, (void)family, (void)caller;
	abort();
}

void rvp_on_move_failed(struct rvp_thread *thread, struct rvp_move move)
{
	(void)thread, (void)move;
	abort();
}

static void *real_malloc(size_t bytes)
{
	char *block = malloc(bytes + REAL_FENCE_BYTES);

	real_calls++;
	if (reals_fail) {
		free(block);
		errno = ENOMEM;
		return NULL;
	}
	memset(block, REAL_FENCE, bytes + REAL_FENCE_BYTES);
	return block;
}

static void *real_realloc(void *block, size_t bytes)
{
	real_calls++;
	if (reals_fail) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}

static void *real_calloc(size_t count, size_t each)
{
	real_calls++;
	return calloc(count, each);
}

static void real_free(void *block)
{
	real_calls++;
	free(block);
}

/* From here on the names mean the hooks. The fronts by the assembler would name libc's functions: left out.
 */
#undef RVP_FRONTS
#define RVP_FRONTS(X)
#define malloc             renamed_malloc
#define calloc             renamed_calloc
#define realloc            renamed_realloc
#define reallocarray       renamed_reallocarray
#define aligned_alloc      renamed_aligned_alloc
#define memalign           renamed_memalign
#define valloc             renamed_valloc
#define pvalloc            renamed_pvalloc
#define posix_memalign     renamed_posix_memalign
#define free               renamed_free
#define free_sized         renamed_free_sized
#define free_aligned_sized renamed_free_aligned_sized
/* The table's fields are renamed alike. */
#include "preload/real.h"

struct rvp_real rvp_real = {.malloc = real_malloc,
			    .calloc = real_calloc,
			    .realloc = real_realloc,
			    .free = real_free,
			    .malloc_usable_size = malloc_usable_size};
struct rvp_real rvp_real_behind;

bool rvp_real_ready(void)
{
	return reals_are_known;
}

#include "preload/hooks_alloc.c"
