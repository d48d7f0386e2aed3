/* SPDX-License-Identifier: MIT */
/* window_steps.c: which step it is, and what the schedule says of it. See window.h.
 *
 * Invariants
 *   (Y1) `leader` only grows: it is how much the most explicit speaker that was heard is believed, in the order that the
 *        reader believes them (report/steps.c).
 *   (Y2) What the schedule says of a step is applied once, and never behind that of a later one.
 */
#include "preload/window_hold.h"
#include "record/step_name.h"

#include <string.h>

static _Atomic uint32_t leader;
static _Atomic uint64_t applied; /* 1 + the last step whose action was taken; 0: none */
/* Ranges of NVTX that this thread is in; which of them is a step, from 1. */
static __thread uint32_t range_depth __attribute__((tls_model("initial-exec")));
static __thread uint32_t range_step __attribute__((tls_model("initial-exec")));

static const struct rvp_schedule *schedule(void)
{
	return &rvp_process.options.schedule;
}

static bool counts(void)
{
	return rvp_process.is_windowed;
}

static uint32_t belief(enum rvp_source source, unsigned function_rank)
{
	switch (source) {
	case RVP_SOURCE_API: return 104;
	case RVP_SOURCE_PYTHON: return 103;
	case RVP_SOURCE_NVTX: return 102;
	case RVP_SOURCE_ADAPTER: return 101;
	default: return function_rank < 99 ? 100 - function_rank : 1;
	}
}

uint64_t rvp_window_steps(void)
{
	return atomic_load(&rvp_process.entry->steps_seen);
}

void rvp_window_begin_steps(void)
{
	atomic_store(&leader, 0);
	atomic_store(&applied, 0);
}

/* False: a more explicit speaker was heard before. */
static bool leads(uint32_t belief)
{
	uint32_t now = atomic_load(&leader);

	while (belief > now)
		if (atomic_compare_exchange_strong(&leader, &now, belief)) {
			atomic_store(&rvp_process.entry->steps_seen, 0);
			atomic_store(&applied, 0);
			return true;
		}
	return belief == now;
}

static enum rvp_action action_of(uint64_t step)
{
	return rvp_schedule_action(schedule(), step);
}

bool rvp_window_is_last_step(void)
{
	uint64_t seen = rvp_window_steps();

	return schedule()->active && seen && action_of(seen - 1) == RVP_ACTION_RECORD_AND_SAVE;
}

static bool is_mine(uint64_t step)
{
	uint64_t last = atomic_load(&applied);

	while (step + 1 > last)
		if (atomic_compare_exchange_strong(&applied, &last, step + 1))
			return true;
	return false;
}

static void begin_step(struct rvp_thread *thread, uint64_t step)
{
	bool was_last = step && action_of(step - 1) == RVP_ACTION_RECORD_AND_SAVE;
	struct rvp_window_edge first = {RVP_WINDOW_SCHEDULE, step + 1, false};
	struct rvp_window_edge last = {RVP_WINDOW_SCHEDULE, step, was_last};

	if (!is_mine(step))
		return;
	if (!rvp_action_records(action_of(step)))
		rvp_window_hold(thread, RVP_HELD_BY_SCHEDULE, last);
	else if (!rvp_window_let_go(thread, RVP_HELD_BY_SCHEDULE, first) && was_last)
		rvp_window_next_cycle(thread, last, first);
}

/* What comes between two steps that are recorded is recorded too. */
static void end_step(struct rvp_thread *thread, uint64_t step)
{
	struct rvp_window_edge last = {RVP_WINDOW_SCHEDULE, step + 1, action_of(step) == RVP_ACTION_RECORD_AND_SAVE};

	if (rvp_action_records(action_of(step)) && !rvp_action_records(action_of(step + 1)))
		rvp_window_hold(thread, RVP_HELD_BY_SCHEDULE, last);
}

void rvp_window_before_mark(struct rvp_thread *thread, enum rvp_source source, unsigned function_rank,
			    enum rvp_step_kind kind)
{
	uint64_t step;

	rvp_window_look(thread);
	if (!counts() || (kind != RVP_STEP_BEGIN && kind != RVP_STEP_NEXT) || rvp_process_is_vfork_child() ||
	    !leads(belief(source, function_rank)))
		return;
	step = atomic_fetch_add(&rvp_process.entry->steps_seen, 1);
	if (schedule()->active)
		begin_step(thread, step);
}

/* A step that failed was none: the next one has its number. */
void rvp_window_after_mark(struct rvp_thread *thread, enum rvp_source source, unsigned function_rank,
			   enum rvp_step_kind kind, const struct rvp_text *name)
{
	uint64_t seen;

	if (!counts() || kind != RVP_STEP_END || rvp_process_is_vfork_child() ||
	    atomic_load(&leader) != belief(source, function_rank))
		return;
	seen = atomic_load(&rvp_process.entry->steps_seen);
	if (!seen)
		return;
	if (name->length == strlen(RVP_STEP_FAILED) && memcmp(name->bytes, RVP_STEP_FAILED, name->length) == 0) {
		atomic_compare_exchange_strong(&rvp_process.entry->steps_seen, &seen, seen - 1);
		atomic_store(&applied, seen - 1);
	} else if (schedule()->active) {
		end_step(thread, seen - 1);
	}
}

void rvp_window_before_range(struct rvp_thread *thread, enum rvp_scope_kind kind, const char *name)
{
	if (!counts() || kind != RVP_SCOPE_BEGIN)
		return;
	range_depth++;
	if (range_step || !name || !rvp_is_step_name(name, strnlen(name, 64)))
		return;
	range_step = range_depth;
	rvp_window_before_mark(thread, RVP_SOURCE_NVTX, 0, RVP_STEP_BEGIN);
}

void rvp_window_after_range(struct rvp_thread *thread, enum rvp_scope_kind kind)
{
	static const struct rvp_text no_name = {"", 0};

	if (!counts() || kind != RVP_SCOPE_END || !range_depth)
		return;
	if (range_step == range_depth) {
		range_step = 0;
		rvp_window_after_mark(thread, RVP_SOURCE_NVTX, 0, RVP_STEP_END, &no_name);
	}
	range_depth--;
}
