/* SPDX-License-Identifier: MIT */
/* threads.h: the pool of struct rvp_thread, as other parts see it. */
#ifndef RVP_THREADS_H
#define RVP_THREADS_H

#include <stdint.h>

/* In a child by fork: the parent's threads are not here. */
void rvp_threads_leave_parent(void);

/* The same while the interrupted hook of a signal handler's fork goes on: it keeps its thread, and counts for nobody. */
void rvp_threads_part_from_parent(void);

/* tid of the thread with this pthread_self, if it ever called a hook; 0 otherwise. */
uint32_t rvp_threads_tid(uint64_t self);

#endif
