/* SPDX-License-Identifier: MIT */
/* end.h: the end of a process, as far as the device goes.
 *
 * What CUPTI holds is asked for once, by force. That may wait for a lock that the ending thread holds (a signal handler
 * calls _exit in the middle of a launch), so a thread of our own does it, which is there from the start and sleeps; who
 * ends the process waits for it a bounded time. It runs at exit before the driver's own end where that can be had (a
 * handler registered by us after the driver's), else when the recorder says that the process ends.
 */
#ifndef RVP_CUPTI_END_H
#define RVP_CUPTI_END_H

#include <stdint.h>

/* Makes the thread, registers the handler. */
void rvp_end_prepare(void);

/* Again, once the driver is up: exit runs what was registered last first. */
void rvp_end_prepare_again(void);

/* The recorder's word (struct rvp_device_api, listen). */
void rvp_end_now(uint64_t most_ns);

#endif
