/* SPDX-License-Identifier: MIT */
/* device_time.h: the tracer's clock beside the recorder's stamps and the monotonic clock. */
#ifndef RVP_CUPTI_DEVICE_TIME_H
#define RVP_CUPTI_DEVICE_TIME_H

#include <stdint.h>

/* Writes a DEVICE_CLOCK: the narrowest of a few brackets. */
void rvp_device_time_tell(void);

/* The tracer's clock now; 0: it can't be told. */
uint64_t rvp_device_time_now(void);

/* When the first DEVICE_CLOCK was: nothing on the device that is recorded began before. 0: none was. */
uint64_t rvp_device_time_begin(void);

/* Ticks of the recorder's stamps as ns; 0 while too little time has passed to know their rate. */
uint64_t rvp_device_time_of_ticks(uint64_t ticks);

#endif
