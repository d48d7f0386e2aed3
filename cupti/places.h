/* SPDX-License-Identifier: MIT */
/* places.h: devices, contexts and streams: met, told of once, looked up by what a call gives.
 *
 * A context is met at the exit of the first call that is followed in it: then the driver is up and the context current.
 */
#ifndef RVP_CUPTI_PLACES_H
#define RVP_CUPTI_PLACES_H

#include <stdbool.h>
#include <stdint.h>

enum { RVP_PLACES_NON_BLOCKING = 1, RVP_PLACES_DEFAULT = 2 }; /* DEVICE_STREAM's flags */

struct rvp_place_context {
	void *context;
	uint32_t number, device;
};

/* The context of a call (CUcontext and its number), told of when it is new; false: none. */
bool rvp_places_meet(void *context, uint32_t number, struct rvp_place_context *found);

/* The first look at a context's memory, once. Behind the record of the call that it was met in: what that call was given is
 * in the driver's figure, and so is it in the log before it. */
void rvp_places_look(const struct rvp_place_context *context);

/* It is about to be destroyed. */
void rvp_places_end_context(void *context, uint32_t number);

void rvp_places_stream(uint32_t context, uint32_t stream, int32_t priority, uint32_t flags);
void rvp_places_stream_made(void *context, void *stream);
void rvp_places_stream_ends(void *context, void *stream);

/* The tracer's number of a stream; 0: not known. */
uint32_t rvp_places_stream_number(void *context, void *stream, bool is_per_thread);

/* Context `i` of those that live, from 0; false: no more. */
bool rvp_places_context(unsigned i, struct rvp_place_context *found);
unsigned rvp_places_context_count(void);

#endif
