/* SPDX-License-Identifier: MIT */
/* device.h: the recorder's side of record/device.h, where the rest of the recorder calls it. */
#ifndef RVP_PRELOAD_DEVICE_H
#define RVP_PRELOAD_DEVICE_H

#include "record/schema.h"

/* The process is about to end or to be replaced: whoever follows the device writes what is left, once. Outside of
 * rvp_enter; `how` decides on how long that may take. Nothing in a signal handler inside a hook. */
void rvp_device_finish(enum rvp_ending how);

/* It was not, after all (an exec that failed): who followed the device has gone; memory and launches are told of by the
 * driver's fronts from here on. */
void rvp_device_goes_on(void);

/* Another client of CUPTI's is about to begin (client_fronts.h). */
void rvp_device_make_way(void);

/* A step is about to begin, said by this thread. Outside of rvp_enter. */
void rvp_device_mark(void);

/* A window opened or closed. Outside of rvp_enter. */
void rvp_device_window(void);

#endif
