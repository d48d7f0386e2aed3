/* SPDX-License-Identifier: MIT */
/* device_memory.h: what the driver says of a device's memory and its pools, now and then. */
#ifndef RVP_CUPTI_DEVICE_MEMORY_H
#define RVP_CUPTI_DEVICE_MEMORY_H

#include "record/schema.h"

#include <stdbool.h>

struct rvp_device_room {
	uint64_t total_bytes, free_bytes; /* 0, 0: not told now */
};

/* cuMemGetInfo of the current context's device. Nothing is asked while a stream is being captured: a capture may not
 * survive that. */
struct rvp_device_room rvp_device_memory_room(void);

/* A DEVICE_MEMORY of the current context's device, which is `device`, and its pools. */
void rvp_device_memory_look(uint32_t device, enum rvp_device_occasion occasion);

/* The same for every device, by pushing its contexts. Outside of any call of the program's. */
void rvp_device_memory_look_at_all(enum rvp_device_occasion occasion);

/* So many bytes were given out: a look when that sums up to 5 % of the device since the last. In a callback. How many a
 * free gives back its call does not say: 0 here, and the next rvp_device_memory_now_and_then looks. */
void rvp_device_memory_moved(uint32_t device, uint64_t bytes);
/* A look at the current context's device, if anything moved since the last and that is a second ago. In a callback. */
void rvp_device_memory_now_and_then(uint32_t device);

/* A pool was met: told of with its figures, again at each look. */
void rvp_device_memory_pool(uint32_t device, void *pool, enum rvp_device_pool change);

/* The tracer's buffers on a device are there from now on, as far as known. */
void rvp_device_memory_tracer_has_buffers(void);

#endif
