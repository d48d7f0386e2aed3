/* SPDX-License-Identifier: MIT */
/* compress.h: packs the logs of a run that is over (record/packed_log.h).
 *
 * Rules
 *   - Only when every process of the tree is gone: what runs may write to its log yet, or have forked who does.
 *   - Only logs of RVP_PACK_LEAST_BYTES and more: less is not worth a file.
 *   - It is never waited for: what could not be packed stays a log.
 */
#ifndef RVP_REPORT_COMPRESS_H
#define RVP_REPORT_COMPRESS_H

#include "record/status.h"

#include <stdbool.h>

enum { RVP_PACK_LEAST_BYTES = 1 << 20 };

/* Whether there is something to pack and it may be packed now. */
bool rvp_compress_is_due(const char *folder);

/* Packs what is due. The first failure; the others are tried all the same. */
struct rvp_status rvp_compress_run(const char *folder);

/* The same in a process of its own, with no descriptor of ours, at the lowest priority, if anything is due. */
void rvp_compress_in_background(const char *folder);

#endif
