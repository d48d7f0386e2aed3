/* SPDX-License-Identifier: MIT */
/* own.h: memory and losses of the library's own.
 *
 * Everything we hold comes from mmap by a raw system call: it never counts as the program's, and is never freed to
 * somebody else's allocator. What we hold is summed for `cost.own_bytes`.
 */
#ifndef RVP_OWN_H
#define RVP_OWN_H

#include "record/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed pages, rounded up; NULL when there are none (counted as NO_MEMORY by the caller where it loses something).
 * They appear in the map as anonymous memory; untouched pages cost nothing. */
void *rvp_own_map(size_t bytes);
void rvp_own_unmap(void *address, size_t bytes);
uint64_t rvp_own_bytes(void);

/* Range `number` of what is held, 0 to RVP_OWN_RANGES_MAX - 1; false: none there (now). */
enum { RVP_OWN_RANGES_MAX = 1024 };
bool rvp_own_range(unsigned number, uint64_t *address, uint64_t *bytes);

/* Adds to the process's loss counters, in shared memory once there is a buffer file. Safe in any context. */
void rvp_lose(enum rvp_loss reason, uint64_t count);

#endif
