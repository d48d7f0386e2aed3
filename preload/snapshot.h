/* SPDX-License-Identifier: MIT */
/* snapshot.h: the process's memory as seen from inside, now and then, on the slow path. */
#ifndef RVP_SNAPSHOT_H
#define RVP_SNAPSHOT_H

#include "preload/thread.h"

enum {
	RVP_LOOK_EVERY_BYTES = 1 << 20, /* a thread looks at the clock when it moved so much, */
	RVP_LOOK_EVERY_EVENTS = 2048,   /* or made so many calls */
	RVP_FALL_BYTES = 128 * 1024,    /* who gives back so much at once may end a peak */
};

/* Emits ANCHOR, SNAPSHOT and OWN_COST, and EVENT_COST if an event was timed; always. */
void rvp_snapshot(struct rvp_thread *thread);

/* The same, and the map (resident.h) whether RSS is a new peak or not. */
void rvp_snapshot_with_map(struct rvp_thread *thread);

/* After a flush: an anchor, and a snapshot if 10 ms have gone by since the last one of the process. */
void rvp_snapshot_at_flush(struct rvp_thread *thread);

/* At a hook, when the thread has moved RVP_LOOK_EVERY_BYTES or made RVP_LOOK_EVERY_EVENTS calls: the same. */
void rvp_snapshot_look(struct rvp_thread *thread);

/* At a hook that gives so many `bytes` back, RVP_FALL_BYTES and more, before anything of it is counted or recorded: a
 * snapshot with the map when RSS is a new peak; it looks at most every millisecond. */
void rvp_snapshot_before_fall(struct rvp_thread *thread, uint64_t bytes);

/* Before a fork or spawn: one with the map when RSS has moved since the last, within 1 % of the time; else one without the map when RSS is not what the last one told. */
void rvp_snapshot_before_child(struct rvp_thread *thread);

/* In a child of vfork, which has its parent's memory: one without the map, likewise. It leaves no descriptor behind. */
void rvp_snapshot_from_vfork_child(struct rvp_thread *thread);

void rvp_snapshot_after_fork(void);

#endif
