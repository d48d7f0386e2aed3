/* SPDX-License-Identifier: MIT */
/* buffers.h: the memory that CUPTI writes its records to.
 *
 * A buffer is pages of the profiler's own, handed out as zeros (CUPTI need not clear them). They come back in any
 * thread, when full or at a flush, and are walked there. RVP_BUFFERS_MAX are out at most: beyond that a library of 12.9
 * Update 1 and newer is told that there is none, and drops and counts; an older one, which may not be told so, gets a buffer
 * whose records are only counted.
 */
#ifndef RVP_CUPTI_BUFFERS_H
#define RVP_CUPTI_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_BUFFER_BYTES = 1 << 20, RVP_BUFFERS_MAX = 128 };

/* CUPTI's two callbacks. */
void rvp_buffer_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void rvp_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

/* At the end, and when CUPTI is given up: from here on what is incomplete is UNFINISHED. */
void rvp_buffers_last(bool are_last);

/* Buffers that hold records and have not come back: their first word is not what they were handed out with. */
unsigned rvp_buffers_unreturned(void);

/* Records walked so far, and the ns that took. */
void rvp_buffers_cost(uint64_t *records, uint64_t *ns);

#endif
