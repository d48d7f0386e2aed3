/* SPDX-License-Identifier: MIT */
/* events.h: the records of allocs and frees. Between rvp_enter and rvp_leave, but for rvp_event_defer. */
#ifndef RVP_EVENTS_H
#define RVP_EVENTS_H

#include "preload/enter.h"

static inline bool rvp_is_full_mode(void)
{
	return rvp_process.options.mode == RVP_MODE_FULL;
}

/* Whether the table of blocks.h holds what is recorded; else, in full mode, what a pause passed over. */
static inline bool rvp_table_is_of_recorded(void)
{
	return !rvp_is_full_mode() || rvp_process.is_windowed;
}

/* Once, by the constructor. */
void rvp_events_start(void);

/* A block was given out and gets a record of `kind`, RVP_ALLOC or RVP_SAMPLE. */
void rvp_event_alloc(struct rvp_thread *thread, enum rvp_kind kind, void *block, uint64_t bytes,
		     enum rvp_family family, struct rvp_caller caller);

/* A block of `usable` bytes is about to be given back. True when a FREE record was written. */
bool rvp_event_free(struct rvp_thread *thread, void *block, uint64_t usable, enum rvp_family family);

/* The block whose free was just recorded lives on: the realloc failed. */
void rvp_event_unfree(struct rvp_thread *thread, void *block);

/* Leaves the event of a hook inside a hook where the interrupted one finds it (rvp_drain_deferred). */
void rvp_event_defer(enum rvp_kind kind, void *block, uint64_t bytes, enum rvp_family family);

/* A stamp that is later than every record of this thread so far, with all deferred events written. */
uint64_t rvp_event_stamp(struct rvp_thread *thread);

/* The call path, or none when there is little stack left. */
struct rvp_path;
struct rvp_path rvp_event_path(struct rvp_thread *thread, struct rvp_caller caller);

/* The same as rvp_event_alloc of a path that is known, for a thread that has a slot. */
void rvp_event_alloc_of_path(struct rvp_thread *thread, enum rvp_kind kind, void *block, uint64_t bytes,
			     enum rvp_family family, struct rvp_path path);

#endif
