/* SPDX-License-Identifier: MIT */
/* folder.h: the process's own folder (proc.<pid>.<n>) with its log and its buffer file, made at the first
 * record. */
#ifndef RVP_FOLDER_H
#define RVP_FOLDER_H

#include "preload/thread.h"

/* Makes folder, log and buffer file and writes the head records; once a process. True when they are there.
 * Another thread that comes meanwhile waits a bounded time (a millisecond is usual). `thread` gets a slot. */
bool rvp_folder_give_slot(struct rvp_thread *thread);

/* In a child by fork: forgets the parent's buffers. */
void rvp_folder_leave_parent(void);

/* In a child that a signal handler forked inside a hook: the interrupted hook goes on in the child, and what it
 * still writes is nobody's. */
void rvp_folder_part_from_parent(void);

/* Bounds of the main thread's stack, for later. */
void rvp_folder_find_stack(void);

/* Of the buffers: header and the slots that were given to threads; what is mapped ahead is not touched yet.
 */
uint64_t rvp_folder_buffer_bytes(void);

/* Sum over all threads of the process. */
void rvp_folder_counters(struct rvp_counters *sum);

/* Of these: usable bytes and blocks given out and not given back. */
void rvp_folder_live(uint64_t *usable_bytes, uint64_t *blocks);

#endif
