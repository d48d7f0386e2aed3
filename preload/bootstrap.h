/* SPDX-License-Identifier: MIT */
/* bootstrap.h: memory for those who ask before the real allocator is known (dlsym inside our look-up).
 *
 * A bump allocator over a static arena. Blocks are never given back; `free` and `realloc` recognise them.
 */
#ifndef RVP_BOOTSTRAP_H
#define RVP_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

enum { RVP_BOOTSTRAP_BYTES = 64 * 1024 };

/* Zeroed, aligned to `alignment` (a power of two; less than 16 means 16). NULL with errno ENOMEM when the arena is
 * used up or the size overflows, EINVAL for a bad alignment. */
void *rvp_bootstrap_alloc(size_t alignment, size_t bytes);

/* Whether `block` came from here. */
bool rvp_bootstrap_owns(const void *block);

/* Bytes asked for with that block. Only for a block that rvp_bootstrap_owns. */
size_t rvp_bootstrap_size(const void *block);

#endif
