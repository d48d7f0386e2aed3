/* SPDX-License-Identifier: MIT */
/* captures.h: whether any stream of the process is being captured: then nothing is asked of a device's memory, for a capture does
 * not survive that, and memory that is asked for belongs to the graph.
 *
 * A capture ends by cuStreamEndCapture, by the end of its stream or by that of its context. CAPTURES_MAX are known one by one;
 * of what is beyond only the ends that are told count. */
#ifndef RVP_CUPTI_CAPTURES_H
#define RVP_CUPTI_CAPTURES_H

#include <stdbool.h>

void rvp_capture_begins(void *context, void *stream);
void rvp_capture_ends(void *stream);
void rvp_capture_stream_ends(void *stream);
void rvp_capture_context_ends(void *context);

bool rvp_is_capturing(void);

#endif
