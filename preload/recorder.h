/* SPDX-License-Identifier: MIT */
/* recorder.h: what a hook says happened. Between rvp_enter and rvp_leave, but for rvp_beside_*. */
#ifndef RVP_RECORDER_H
#define RVP_RECORDER_H

#include "preload/events.h"
#include "preload/writes_places.h"

/* A block was given out. `bytes` as requested. */
void rvp_on_alloc(struct rvp_thread *thread, void *block, uint64_t bytes, enum rvp_family family,
		  struct rvp_caller caller);

/* A block is about to be given back. `usable` is its malloc_usable_size. */
void rvp_on_free(struct rvp_thread *thread, void *block, uint64_t usable, enum rvp_family family);

/* realloc: begin before the real call, then exactly one of moved (block given back and, when `to` is not NULL, a new
 * one given out) and failed (nothing happened). */
struct rvp_move {
	void *block;
	uint64_t usable;
	bool recorded;    /* a FREE record was written */
	bool passed_over; /* its birth was in a pause */
	struct rvp_written_place place; /* of those who follow writes */
};
struct rvp_move rvp_on_move_begin(struct rvp_thread *thread, void *block, uint64_t usable);
void rvp_on_move_done(struct rvp_thread *thread, struct rvp_move move, void *to, uint64_t bytes,
		      enum rvp_family family, struct rvp_caller caller);
void rvp_on_move_failed(struct rvp_thread *thread, struct rvp_move move);

/* rvp_enter said NULL: early, off, nested, or no memory for the thread. `pc` is the hook's return address. */
void rvp_beside_alloc(void *block, uint64_t bytes, enum rvp_family family, uint64_t pc);
void rvp_beside_free(void *block, uint64_t usable, enum rvp_family family, uint64_t pc);

#endif
