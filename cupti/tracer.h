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

/* Another client of CUPTI's is about to begin: what CUPTI has is taken, its settings are put back and the subscription is given
 * up for good; memory and launches go on by the driver's functions. Calls that other threads are in at that moment are not
 * recorded. Where it can't be left (buffers that do not come back, versions that hang) one line says so, and we stay. */
void rvp_tracer_leave(void);

/* The recorder's word: a window opened or closed. */
void rvp_tracer_window(int is_open);

/* Waits for the device, before a step. */
void rvp_tracer_sync(void);

#endif
