/* SPDX-License-Identifier: MIT */
/* retained.h: handles of physical memory that were retained again (cuMemRetainAllocationHandle): each such handle is
 * released once more than it was created, and only the last of its releases gives anything back. */
#ifndef RVP_CUPTI_RETAINED_H
#define RVP_CUPTI_RETAINED_H

#include <stdbool.h>
#include <stdint.h>

void rvp_retained_add(uint64_t handle);

/* True: this release is of one that was retained. */
bool rvp_retained_release(uint64_t handle);

#endif
