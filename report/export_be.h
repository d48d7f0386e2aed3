/* SPDX-License-Identifier: MIT */
/* export_be.h: a run as RAF's profiler writes it: a begin ("B") and an end ("E") of each operator, with RAF's keys, their order
 * and its spaces. Unlike there, texts are escaped, and begins and ends stand in the order in which they happened.
 *
 *   level 1   operators, and what ran on devices (cat kernel, gpu_memcpy, gpu_memset)
 *   level 2   also scopes, steps, Python functions, calls of BLAS and CUDA
 *
 *   - ts: UNIX microseconds, whole. args_string: the args; of a kernel grid, block and stream. cat: the category, where there is
 * none "operator", "scope".
 *   - tid is the category, as there. Begins and ends of a tid nest, so where several threads, or two speakers on one thread, have
 * a category, the first has its name, and the others "CATEGORY (thread 17)".
 *   - What nobody ended lasts to the end of its thread's records. What ran on a device without a usable time is not there.
 */
#ifndef RVP_REPORT_EXPORT_BE_H
#define RVP_REPORT_EXPORT_BE_H

#include "record/status.h"

#include <stdio.h>

struct rvp_run;

struct rvp_status rvp_export_be(struct rvp_run *run, int level, FILE *out);

#endif
