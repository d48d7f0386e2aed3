/* SPDX-License-Identifier: MIT */
/* tracer.h: the subscription: what is called back, what is recorded, and when that changes. */
#ifndef RVP_CUPTI_TRACER_H
#define RVP_CUPTI_TRACER_H

#include <stdint.h>

/* By the injection, once; says in a DEVICE_TRACER what came of it. */
void rvp_tracer_start(void);

/* Nothing is followed, for this reason: a DEVICE_TRACER says so. */
void rvp_tracer_none(const char *reason);

/* All that is left is written. Once, by the end's own thread or the last hook. */
void rvp_tracer_end(void);

/* Waits for the device, before a step. */
void rvp_tracer_sync(void);

#endif
