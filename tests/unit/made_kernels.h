/* SPDX-License-Identifier: MIT */
/* made_kernels.h: a run whose device's work is known to the nanosecond, for the tests of kernels and of what
 * is written of them.
 *
 * Process 100, one thread; the tracer's clock is UNIX time plus KERNELS_AHEAD_NS. Times below are stamps
 * (UNIX time is MAKER_EPOCH_NS more); ms. Two steps: 0 is [10, 20), 1 is [20, 30), both of the thread.
 *
 *     correlation  launch   what                                             stream  start    end
 *     1            11       copy from pageable host memory, 4096 bytes       9       12       13.25
 *     2            12.5     sgemm<128> (grid 8x4x1, block 256)               7       13       15
 *     3            12.6     softmax (grid 32x1x1, block 128)                 8       14       16
 *     4            19       graph 5: nodes 51 sgemm, 52 softmax              7       21, 22   22, 24
 *     5            24.05    memset of 64 bytes, behind a wait [17, 24.02)    7       25       25.5
 *     6            no one   layer_norm                                       7       27       28
 *     7            no one   a kernel without times                           8       -        -
 *     8            no one   a kernel that ends before it begins              8       29       -
 */
#ifndef RVP_TESTS_MADE_KERNELS_H
#define RVP_TESTS_MADE_KERNELS_H

#include "tests/unit/run_maker.h"

enum { KERNELS_MS = 1000000, KERNELS_AHEAD_NS = 5000000 };

/* UNIX ns of a stamp in microseconds, on the tracer's clock. */
#define KERNELS_AT(us) (MAKER_EPOCH_NS + (uint64_t)(us)*1000 + KERNELS_AHEAD_NS)

/* What the tracer says first: clock, device, names, shapes 1 (sgemm), 2 (softmax), 3 (layer_norm). */
void put_device(struct maker_thread *thread);

/* The run above; maker_close is the caller's. */
struct maker made_kernels(void);

#endif
