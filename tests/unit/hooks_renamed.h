/* SPDX-License-Identifier: MIT */
/* hooks_renamed.h: the hooks of the malloc family under other names, over a double of the recorder that only
 * counts and real functions that are libc's. */
#ifndef RVP_HOOKS_RENAMED_H
#define RVP_HOOKS_RENAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *renamed_malloc(size_t bytes);
void *renamed_calloc(size_t count, size_t each);
void *renamed_realloc(void *block, size_t bytes);
void *renamed_reallocarray(void *block, size_t count, size_t each);
void *renamed_aligned_alloc(size_t alignment, size_t bytes);
void *renamed_memalign(size_t alignment, size_t bytes);
void *renamed_valloc(size_t bytes);
void *renamed_pvalloc(size_t bytes);
int renamed_posix_memalign(void **out, size_t alignment, size_t bytes);
void renamed_free(void *block);

enum { REAL_FENCE = 0x5a, REAL_FENCE_BYTES = 256 }; /* stands behind each block of the real malloc */
extern bool reals_are_known;                        /* false: as before the look-up */
extern bool reals_fail;
extern unsigned real_calls, long_ways;
extern uint64_t counted_allocs, counted_frees, counted_bytes;

#endif
