/* SPDX-License-Identifier: MIT */
/* kinds.h: which kinds of records are on: bits 1 << enum rvp_device_kind_bit, and what of CUPTI's makes them. */
#ifndef RVP_CUPTI_KINDS_H
#define RVP_CUPTI_KINDS_H

#include "record/schema.h"

#include <stdbool.h>

uint32_t rvp_kinds_of(enum rvp_device_tier tier);

/* Turns on and off until these are on. 0, or the first result of what could not be turned on: then its bit is not on. */
int rvp_kinds_set(uint32_t wanted, void *subscriber);

uint32_t rvp_kinds_on(void);

/* False: turning off what is on may hang (CUPTI 13.0.0 and kernels: NVIDIA's notes on 13.0 Update 1). Then kernels stay on once
 * they are. */
bool rvp_kinds_can_be_left(void);

/* Whether CUPTI writes records to buffers. */
bool rvp_kinds_has_activity(void);

#endif
