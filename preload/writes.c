/* SPDX-License-Identifier: MIT */
/* writes.c: see writes.h. When a window begins, when it is looked at, and when it ends.
 *
 * With marks: after a few steps, once the last ones took about the same time. Without: when the large blocks
 * have been about as many bytes for a while, which is when a program has been set up; ticks are then further
 * apart each time that they prove faster than the program's own step. More windows follow, within bounds,
 * while none of them found a block that is only appended to.
 *
 * Invariants
 *   (W5) All but `busy`, `state` and rvp_writes_floor belongs to the thread that holds `busy`.
 *   (W6) A window is open exactly while `state` is OPEN.
 */
#include "preload/writes.h"

#include "preload/emit.h"
#include "preload/folder.h"
#include "preload/process.h"
#include "preload/recorder.h"
#include "preload/stamp.h"
#include "preload/writes_kernel.h"
#include "preload/writes_pages.h"
#include "preload/writes_places.h"

#include <string.h>

enum {
	FLOOR_BYTES = 32 * 1024,
	STEPS = 16,
	FIRST_MARK = 5, /* warm-up, prefill, and two to compare */
	MARKS_APART = 64,
	LAST_UNSTEADY_MARK = 16, /* from there on whatever the rhythm is */
	STEADY_FACTOR = 4,
	TOO_SELDOM = 2, /* scans of the first STEPS in which a store was written: the tick is too fast */
	WINDOWS_MAX = 24,
	MARKED_WINDOWS_MAX = 4,
	BROKEN_MAX = 32,  /* windows that the program's setting up ended */
	STORES_LEAST = 2, /* of which it is enough; one alone may be a log */
	COST_SHARE = 20,  /* windows that find nothing take 5 % of the time at most */
};
static const uint64_t first_tick_ns = 5000000, longest_tick_ns = 1280000000, quiet_ns = 40000000,
		      silence_ns = 5000000000, retry_ns = 100000000,
		      long_ns = 1000000000; /* of a shorter process nobody expects it */
static const uint64_t small_growth_bytes = 256 * 1024, breaking_growth_bytes = 1 << 20;

enum state { OFF = 0, WAITING, OPEN };

uint64_t rvp_writes_floor = UINT64_MAX;

static _Atomic uint32_t busy, state;

static struct {
	/* the marks */
	uint64_t marks, next_mark, last_mark_ns, intervals[3];
	/* the program's size */
	uint64_t most_bytes, grown_ns, judged_bytes, first_ns;
	/* the window */
	uint64_t number, opened_bytes, tick_ns, next_ns, cost_ns, next_growth_ns, next_window_ns;
	enum rvp_write_beat beat;
	uint64_t source;
	unsigned scans;
	unsigned whole, broken, by_marks;
	bool has_enough_ticks, has_enough_marks;
	struct rvp_followed_sum sum;
} now;

static bool take(void)
{
	uint32_t no = 0;

	return !atomic_load_explicit(&rvp_process.locked, memory_order_relaxed) &&
	       atomic_compare_exchange_strong(&busy, &no, 1);
}

static void let_go(void)
{
	atomic_store_explicit(&busy, 0, memory_order_release);
}

void rvp_writes_start(void)
{
	if (!rvp_process.options.writes)
		return;
	atomic_store(&state, WAITING);
	now.next_mark = FIRST_MARK;
	rvp_writes_floor = FLOOR_BYTES;
}

static void stop(void)
{
	atomic_store(&state, OFF);
	rvp_writes_floor = UINT64_MAX;
}

/* ---- a window ---- */

static void tell(struct rvp_thread *thread, enum rvp_write_window kind, const char *reason)
{
	struct rvp_text text = {reason, strlen(reason)};

	if (!rvp_folder_give_slot(thread))
		return;
	RVP_EMIT(thread, WRITE_WINDOW, text.length, .stamp = rvp_event_stamp(thread), .kind = kind,
		 .number = now.number, .beat = now.beat, .source = now.source, .beat_ns = now.tick_ns,
		 .scans = now.scans, .block_count = now.sum.block_count, .block_bytes = now.sum.block_bytes,
		 .left_out = now.sum.left_out, .cost_ns = now.cost_ns, .reason = text);
}

static void refuse(struct rvp_thread *thread, const char *why)
{
	now.beat = RVP_WRITE_BEAT_NONE;
	tell(thread, RVP_WRITE_WINDOW_UNAVAILABLE, why);
	stop();
}

static void open_window(struct rvp_thread *thread, enum rvp_write_beat beat, uint64_t source)
{
	uint64_t begin_ns = rvp_monotonic_ns();
	const char *why = rvp_writes_turn_on();

	if (why) {
		refuse(thread, why);
		return;
	}
	now.number++;
	now.beat = beat;
	now.source = source;
	now.tick_ns = beat == RVP_WRITE_BEAT_TICKS ? first_tick_ns : 0;
	now.scans = 0;
	now.opened_bytes = now.most_bytes;
	if (!rvp_followed_open(&now.sum)) {
		rvp_followed_close();
		rvp_writes_turn_off();
		refuse(thread, "there is no memory for it");
		return;
	}
	now.next_ns = rvp_monotonic_ns() + now.tick_ns;
	now.cost_ns = rvp_monotonic_ns() - begin_ns;
	atomic_store(&state, OPEN);
	tell(thread, RVP_WRITE_WINDOW_BEGIN, "");
}

static unsigned scans_wanted(void)
{
	return now.beat == RVP_WRITE_BEAT_MARKS ? STEPS : RVP_WRITES_SCANS_MAX;
}

/* What was found by ticks is no reason not to look once the program marks its steps. */
static void note_result(bool is_whole)
{
	bool by_marks = now.beat == RVP_WRITE_BEAT_MARKS;
	unsigned least = by_marks ? 1 : STORES_LEAST;

	now.whole += is_whole;
	now.broken += !is_whole;
	if (is_whole && rvp_followed_count_stores(now.scans) >= least) {
		now.has_enough_ticks = true;
		now.has_enough_marks |= by_marks;
	}
	if (by_marks && ++now.by_marks >= MARKED_WINDOWS_MAX)
		now.has_enough_marks = true;
	if (now.whole >= WINDOWS_MAX || now.broken >= BROKEN_MAX)
		now.has_enough_ticks = true;
}

static void wait_for_next(void)
{
	atomic_store(&state, WAITING);
	now.judged_bytes = now.most_bytes;
	if (now.beat == RVP_WRITE_BEAT_MARKS)
		now.next_mark = now.marks + MARKS_APART;
	now.next_growth_ns = rvp_monotonic_ns() + now.cost_ns * COST_SHARE;
	now.next_window_ns = now.next_growth_ns + retry_ns * now.whole;
	if (now.has_enough_marks)
		stop();
}

/* What was seen while a program was being set up is no rhythm: interpreters that load code only append. */
static void close_window(struct rvp_thread *thread, const char *reason, bool is_cut)
{
	uint64_t begin_ns = rvp_monotonic_ns();

	note_result(!is_cut);
	if (!is_cut && rvp_folder_give_slot(thread))
		rvp_followed_emit(thread, rvp_event_stamp(thread), now.number, now.scans);
	rvp_followed_close();
	rvp_writes_turn_off();
	now.cost_ns += rvp_monotonic_ns() - begin_ns;
	tell(thread, RVP_WRITE_WINDOW_END, reason);
	wait_for_next();
}

/* A store that is appended to so seldom that there is no telling whether it is steadily: slower, and again.
 */
static bool is_too_fast(void)
{
	return now.beat == RVP_WRITE_BEAT_TICKS && now.scans == STEPS && now.tick_ns < longest_tick_ns &&
	       rvp_followed_is_seldom(TOO_SELDOM);
}

static void scan(struct rvp_thread *thread)
{
	uint64_t begin_ns = rvp_monotonic_ns();
	bool good = rvp_followed_scan(now.scans, scans_wanted() / 2);

	now.scans++;
	if (is_too_fast()) {
		now.tick_ns *= 4;
		now.scans = 0;
		rvp_followed_restart();
	}
	now.next_ns = rvp_monotonic_ns();
	now.cost_ns += now.next_ns - begin_ns;
	now.next_ns += now.tick_ns;
	if (!good)
		close_window(thread, "the kernel does not tell any more: its descriptor is gone", false);
	else if (now.scans == scans_wanted())
		close_window(thread, "", false);
}

/* ---- the beat ---- */

static bool is_steady(void)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (int i = 0; i < 3; i++) {
		least = now.intervals[i] < least ? now.intervals[i] : least;
		most = now.intervals[i] > most ? now.intervals[i] : most;
	}
	return most <= least * STEADY_FACTOR || now.marks >= LAST_UNSTEADY_MARK;
}

static void note_mark(void)
{
	uint64_t ns = rvp_monotonic_ns();

	now.intervals[now.marks++ % 3] = ns - now.last_mark_ns;
	now.last_mark_ns = ns;
}

static void see_mark(struct rvp_thread *thread, uint64_t source)
{
	note_mark();
	if (atomic_load(&state) == OPEN && now.beat == RVP_WRITE_BEAT_TICKS)
		close_window(thread, "the program began to mark its steps", true);
	if (atomic_load(&state) == OPEN && source == now.source)
		scan(thread);
	else if (atomic_load(&state) == WAITING && now.marks >= now.next_mark && is_steady())
		open_window(thread, RVP_WRITE_BEAT_MARKS, source);
}

void rvp_writes_mark(struct rvp_thread *thread, uint64_t source, uint64_t kind)
{
	if (rvp_writes_floor == UINT64_MAX || (kind != RVP_STEP_NEXT && kind != RVP_STEP_BEGIN) || !take())
		return;
	if (!rvp_process_is_vfork_child())
		see_mark(thread, source);
	let_go();
}

static void note_size(uint64_t ns)
{
	uint64_t bytes = rvp_places_bytes();

	if (!now.first_ns)
		now.first_ns = ns;
	if (bytes <= now.most_bytes + now.most_bytes / 32)
		return;
	now.most_bytes = bytes;
	now.grown_ns = ns;
}

static bool is_set_up(uint64_t ns)
{
	bool has_grown = now.most_bytes >= now.judged_bytes + small_growth_bytes;

	return now.most_bytes >= small_growth_bytes && ns - now.grown_ns >= quiet_ns &&
	       ns >= (has_grown ? now.next_growth_ns : now.next_window_ns);
}

static bool is_broken(void)
{
	uint64_t share = now.opened_bytes / 20;

	return now.most_bytes >
	       now.opened_bytes + (share > breaking_growth_bytes ? share : breaking_growth_bytes);
}

static void see_tick(struct rvp_thread *thread, uint64_t ns)
{
	bool is_open = atomic_load(&state) == OPEN;
	bool has_marks = now.last_mark_ns && ns - now.last_mark_ns < silence_ns;

	note_size(ns);
	if (is_open && now.beat == RVP_WRITE_BEAT_MARKS) {
		if (!has_marks)
			close_window(thread, "no step was marked any more", false);
	} else if (is_open && is_broken()) {
		close_window(thread, "the program was still being set up", true);
	} else if (is_open && ns >= now.next_ns) {
		scan(thread);
	} else if (!is_open && !has_marks && !now.has_enough_ticks && is_set_up(ns)) {
		open_window(thread, RVP_WRITE_BEAT_TICKS, 0);
	}
}

bool rvp_writes_look(struct rvp_thread *thread)
{
	uint64_t ns;

	if (rvp_writes_floor == UINT64_MAX)
		return false;
	ns = rvp_monotonic_ns();
	if (take()) {
		if (atomic_load(&state) != OFF && !rvp_process_is_vfork_child())
			see_tick(thread, ns);
		let_go();
	}
	return !now.has_enough_ticks || atomic_load(&state) == OPEN;
}

void rvp_writes_end(struct rvp_thread *thread, const char *why)
{
	if (rvp_writes_floor == UINT64_MAX || rvp_process_is_vfork_child() || !take())
		return;
	if (atomic_load(&state) == OPEN)
		close_window(thread, why, false);
	else if (!now.number && now.most_bytes >= small_growth_bytes &&
		 rvp_monotonic_ns() - now.first_ns >= long_ns)
		refuse(thread, "no step was marked, and no steady time was met at hooked calls");
	stop();
	let_go();
}

/* The parent's window is none of ours; a window of our own may come. */
void rvp_writes_after_fork(void)
{
	atomic_store(&busy, 0);
	if (rvp_writes_floor == UINT64_MAX)
		return;
	rvp_writes_forget();
	rvp_followed_after_fork();
	memset(&now, 0, sizeof now);
	rvp_writes_start();
}
