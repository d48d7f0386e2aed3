/* SPDX-License-Identifier: MIT */
/* window.c: who holds the recording back, what is written when that changes, times, and orders from outside. See
 * window.h; the counting of steps is window_steps.c's. */
#define RVPROF_ABSENT /* its labels alone */
#include "rvprof.h"
#include "preload/window.h"

#include "preload/device.h"
#include "preload/emit.h"
#include "preload/events.h"
#include "preload/folder.h"
#include "preload/mark_stamp.h"
#include "preload/pause.h"
#include "preload/quick.h"
#include "preload/rows.h"
#include "preload/snapshot.h"
#include "preload/stack_room.h"
#include "preload/stamp.h"
#include "preload/window_hold.h"

#include <errno.h>
#include <string.h>

enum { LABEL_BYTES = 48 };
_Atomic uint32_t rvp_window_due;

static _Atomic uint64_t opens_ns, closes_ns; /* CLOCK_MONOTONIC; 0: has come, or never will */
static _Atomic uint64_t taken;               /* number of the last order that a thread took */
static _Atomic uint64_t clear_count;
static _Atomic uint32_t level = 1;

/* ---- what is written ---- */

static void put_label(struct rvp_thread *thread, const char *text)
{
	RVP_EMIT(thread, MARK, strlen(text), .stamp = rvp_event_stamp(thread), .kind = RVP_MARK_LABEL,
		 .label = {text, strlen(text)});
}

/* "before number after" */
static void put_numbered_label(struct rvp_thread *thread, const char *before, uint64_t number, const char *after)
{
	char text[LABEL_BYTES], *at = text + strlen(before);
	uint64_t rest = number;

	strcpy(text, before);
	do
		at++;
	while (rest /= 10);
	strcpy(at, after);
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	put_label(thread, text);
}

static void tell(struct rvp_thread *thread, bool is_open, uint64_t number, struct rvp_window_edge edge)
{
	struct rvp_counters counters;

	if (!thread)
		return;
	rvp_folder_counters(&counters);
	RVP_EMIT(thread, RECORD_WINDOW, 0, .stamp = rvp_event_stamp(thread), .is_open = is_open, .number = number,
		 .cause = edge.cause, .step = edge.step, .is_finished = edge.is_finished,
		 .level = atomic_load(&level), .alloc_count = counters.alloc_count,
		 .alloc_bytes = counters.alloc_bytes, .free_count = counters.free_count);
	put_numbered_label(thread, "window ", number, is_open ? " begins" : " ends");
}

static void tell_open(struct rvp_thread *thread, struct rvp_window_edge edge)
{
	tell(thread, true, atomic_fetch_add(&rvp_process.entry->windows_opened, 1) + 1, edge);
}

static void tell_closed(struct rvp_thread *thread, struct rvp_window_edge edge)
{
	if (edge.is_finished)
		atomic_fetch_add(&rvp_process.entry->windows_finished, 1);
	tell(thread, false, atomic_load(&rvp_process.entry->windows_opened), edge);
}

/* ---- who holds ---- */

uint64_t rvp_window_alive(void)
{
	bool is_long = rvp_process.is_windowed && rvp_is_full_mode() && !atomic_load(&rvp_process.entry->held);

	return is_long ? RVP_ALIVE_LONG_WAY : rvp_pause_matters() ? RVP_ALIVE_PAUSES : RVP_ALIVE;
}

/* In a child by fork that is not at home yet the word is 0, and stays it. */
static void set_alive(void)
{
	uint64_t before = atomic_load(rvp_alive);

	/* Asked anew at each try: who changed the word meanwhile changed what it says before. */
	while (before && !atomic_compare_exchange_weak(rvp_alive, &before, rvp_window_alive()))
		;
}

/* Makes it so; another thread may change its mind meanwhile. */
static void settle(void)
{
	bool is_held;

	do {
		is_held = atomic_load(&rvp_process.entry->held) != 0;
		if (is_held)
			rvp_pause_begin();
		else
			rvp_pause_end();
		set_alive();
		if (rvp_process.is_windowed)
			rvp_quick_set_closed(is_held);
		if (rvp_process.options.rows)
			rvp_rows_ask(is_held ? 0 : RVP_ROWS_ALL);
	} while (is_held != (atomic_load(&rvp_process.entry->held) != 0));
	if (rvp_process.is_windowed)
		atomic_store(&rvp_window_due, 1);
}

void rvp_window_do_due(void)
{
	if (rvp_local.phase != RVP_OUTSIDE)
		return;
	if (atomic_exchange(&rvp_window_due, 0))
		rvp_device_window();
}

bool rvp_window_hold(struct rvp_thread *thread, enum rvp_hold hold, struct rvp_window_edge edge)
{
	uint32_t before = atomic_fetch_or(&rvp_process.entry->held, hold);

	atomic_fetch_or(&rvp_process.entry->was_held, hold);
	if (before & hold)
		return false;
	if (!before) {
		settle();
		tell_closed(thread, edge);
	}
	return true;
}

bool rvp_window_let_go(struct rvp_thread *thread, enum rvp_hold hold, struct rvp_window_edge edge)
{
	uint32_t before = atomic_fetch_and(&rvp_process.entry->held, ~(uint32_t)hold);

	if (!(before & hold))
		return false;
	if (before == (uint32_t)hold) {
		tell_open(thread, edge);
		settle();
	}
	return true;
}

void rvp_window_next_cycle(struct rvp_thread *thread, struct rvp_window_edge last, struct rvp_window_edge first)
{
	if (atomic_load(&rvp_process.entry->held))
		return;
	tell_closed(thread, last);
	tell_open(thread, first);
}

/* ---- times ---- */

/* The windows of a tree are at the same time, whenever its processes were born. */
static bool begin_times(void)
{
	const struct rvp_options *options = &rvp_process.options;
	uint64_t now = rvp_monotonic_ns(), unix_ns = rvp_realtime_ns(), begin = rvp_process.tree->file.begin_realtime_ns;
	uint64_t passed = begin && begin < unix_ns ? unix_ns - begin : 0;
	uint64_t end = options->duration_ns ? options->delay_ns + options->duration_ns : UINT64_MAX;

	atomic_store(&opens_ns, 0);
	atomic_store(&closes_ns, 0);
	if (passed >= end)
		return false;
	if (options->duration_ns)
		atomic_store(&closes_ns, now - passed + end);
	if (passed >= options->delay_ns)
		return true;
	atomic_store(&opens_ns, now - passed + options->delay_ns);
	return false;
}

static bool has_come(_Atomic uint64_t *moment_ns, uint64_t now)
{
	uint64_t moment = atomic_load_explicit(moment_ns, memory_order_relaxed);

	return moment && now >= moment && atomic_compare_exchange_strong(moment_ns, &moment, 0);
}

static void look_at_times(struct rvp_thread *thread)
{
	struct rvp_window_edge edge = {.cause = RVP_WINDOW_TIME, .step = rvp_window_steps()};
	uint64_t now;

	if (!atomic_load_explicit(&opens_ns, memory_order_relaxed) &&
	    !atomic_load_explicit(&closes_ns, memory_order_relaxed))
		return;
	now = rvp_monotonic_ns();
	if (has_come(&closes_ns, now)) {
		atomic_store(&opens_ns, 0);
		rvp_window_hold(thread, RVP_HELD_BY_TIME, edge);
	}
	if (has_come(&opens_ns, now))
		rvp_window_let_go(thread, RVP_HELD_BY_TIME, edge);
}

/* ---- the program, and orders from outside ---- */

bool rvp_window_program(struct rvp_thread *thread, int wanted, enum rvp_window_cause cause)
{
	struct rvp_window_edge edge = {.cause = cause, .step = rvp_window_steps()};
	bool is_changed;

	if (wanted > 0)
		atomic_store(&level, (uint32_t)wanted);
	if (wanted > 0)
		is_changed = rvp_window_let_go(thread, RVP_HELD_BY_PROGRAM, edge);
	else
		is_changed = rvp_window_hold(thread, RVP_HELD_BY_PROGRAM, edge);
	if (is_changed && thread)
		put_label(thread, wanted > 0 ? RVPROF_LABEL_STARTED : RVPROF_LABEL_STOPPED);
	return is_changed;
}

void rvp_window_clear(struct rvp_thread *thread)
{
	rvp_snapshot_with_map(thread);
	put_numbered_label(thread, RVPROF_LABEL_CLEAR, atomic_fetch_add(&clear_count, 1) + 1, "");
}

void rvp_window_cuda(bool is_start)
{
	struct rvp_thread *thread;
	int error = errno;

	if (rvp_process.options.capture != RVP_CAPTURE_CUDA)
		return;
	thread = rvp_enter_for_mark();
	if (thread || atomic_load(&rvp_process.state) == RVP_READY)
		rvp_window_program(thread, is_start, RVP_WINDOW_CUDA);
	if (thread)
		rvp_leave(thread);
	rvp_window_outside();
	errno = error;
}

static enum rvp_ctl_result obey(struct rvp_thread *thread, uint64_t order)
{
	switch (rvp_ctl_verb_of(order)) {
	case RVP_CTL_START:
	case RVP_CTL_STOP: {
		bool is_start = rvp_ctl_verb_of(order) == RVP_CTL_START;
		int wanted = is_start ? (int)rvp_ctl_level(order) : 0;

		rvp_rows_ask(rvp_rows_of_level(wanted));
		return rvp_window_program(thread, wanted, RVP_WINDOW_ORDER) ? RVP_CTL_DONE : RVP_CTL_WAS_SO;
	}
	case RVP_CTL_CLEAR: rvp_window_clear(thread); return RVP_CTL_DONE;
	case RVP_CTL_SNAPSHOT:
		rvp_snapshot_with_map(thread);
		put_label(thread, "snapshot from outside");
		return RVP_CTL_DONE;
	default: return RVP_CTL_UNKNOWN;
	}
}

static void look_at_order(struct rvp_thread *thread)
{
	struct rvp_tree_entry *entry = rvp_process.entry;
	uint64_t order = atomic_load_explicit(&entry->order, memory_order_relaxed), last = atomic_load(&taken);

	if (__builtin_expect(rvp_ctl_number(order) == last, 1) || rvp_process_is_vfork_child() ||
	    !atomic_compare_exchange_strong(&taken, &last, rvp_ctl_number(order)))
		return;
	atomic_store(&entry->answer, order | obey(thread, order));
}

void rvp_window_look(struct rvp_thread *thread)
{
	look_at_times(thread);
	look_at_order(thread);
	if (atomic_load_explicit(&rvp_rows_asked, memory_order_relaxed) && rvp_stack_has_room(thread))
		rvp_rows_look();
}

/* ---- begin and end ---- */

static void begin(uint32_t held)
{
	struct rvp_tree_entry *entry = rvp_process.entry;

	if (!begin_times())
		held |= RVP_HELD_BY_TIME;
	if (rvp_process.options.schedule.active)
		held |= RVP_HELD_BY_SCHEDULE;
	atomic_store(&entry->held, held);
	atomic_store(&entry->was_held, held);
	if (!held)
		atomic_store(&entry->windows_opened, 1);
	if (held || rvp_process.is_windowed)
		rvp_pause_begin();
	if (!held)
		rvp_pause_end();
	if (rvp_process.is_windowed)
		rvp_quick_set_closed(held != 0);
	rvp_window_begin_steps();
}

void rvp_window_start(void)
{
	rvp_process.is_windowed = rvp_options_have_windows(&rvp_process.options);
	begin(rvp_process.options.capture ? RVP_HELD_BY_PROGRAM : 0);
	if (!atomic_load(&rvp_process.entry->held) && rvp_process.options.rows)
		rvp_rows_ask(RVP_ROWS_ALL);
}

/* `entry` is new; its parent's word on the program's stop is gone with the old one. */
void rvp_window_after_fork(uint32_t parents_held)
{
	atomic_store(&taken, 0);
	begin(parents_held & RVP_HELD_BY_PROGRAM);
	rvp_rows_after_fork(!atomic_load(&rvp_process.entry->held));
}

void rvp_window_end(struct rvp_thread *thread)
{
	struct rvp_tree_entry *entry = rvp_process.entry;
	struct rvp_window_edge edge = {.cause = RVP_WINDOW_END, .step = rvp_window_steps(),
				       .is_finished = rvp_window_is_last_step()};

	if (!atomic_load(&entry->held) && (rvp_process.is_windowed || atomic_load(&entry->was_held)))
		tell_closed(thread, edge);
}
