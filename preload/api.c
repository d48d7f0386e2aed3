/* SPDX-License-Identifier: MIT */
/* api.c: what a program says by itself (include/rvprof.h, rvprof.py, NVTX, adapters) becomes records.
 *
 * One data symbol is shown, rvprof_api_1, and found by dlsym: a function of that name could be bound by a
 * program that is linked without us, and then miss.
 *
 * Rules
 *   - A call is one record: a stamp, the texts (each once a chunk: text_places.h), no stack. Nothing is remembered
 * here: what belongs together (the begin and the end of a scope, a step and the next) is found by the reader, per
 * thread.
 *   - A text is cut at RVPROF_TEXT_BYTES, at the begin of a character, and that is counted (text_cut).
 *   - A call out of a signal handler that interrupted the library's own work has no record, and is counted
 * (mark_reentrant); one that interrupted the real malloc below a hook has.
 *   - Once the log is folded (--max-log) there are no blocks to speak of any more: scopes, operators and tags
 * are dropped and counted (log_bound); steps, labels and metrics are still written.
 */
#define RVPROF_ABSENT /* the table alone: the library has nobody to look for */
#include "rvprof.h"
#include "preload/device.h"
#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/finalizer.h"
#include "preload/mark_stamp.h"
#include "preload/own.h"
#include "preload/recorder.h"
#include "preload/rows.h"
#include "preload/snapshot.h"
#include "preload/text_places.h"
#include "preload/window.h"
#include "preload/writes.h"

#include <errno.h>
#include <string.h>

_Static_assert((int)RVPROF_SOURCE_ADAPTER == (int)RVP_SOURCE_ADAPTER,
	       "rvprof.h numbers sources as the log does");
_Static_assert((int)RVPROF_SCOPE_RANGE_END == (int)RVP_SCOPE_RANGE_END, "... and kinds of scopes");
_Static_assert((int)RVPROF_ROWS_SHAPES == (int)RVP_ROWS_SHAPES, "... and kinds of rows");
_Static_assert((int)RVPROF_TIMER_EVENTS == (int)RVP_TIMER_EVENTS, "... and sources of timers");
_Static_assert((int)RVPROF_STEP_PHASE == (int)RVP_STEP_PHASE, "... and kinds of step marks");
_Static_assert((int)RVPROF_PHASE_UPDATE == (int)RVP_STEP_PHASE_UPDATE, "... and phases");
_Static_assert((int)RVPROF_ADAPTER_FAILED == (int)RVP_ADAPTER_FAILED, "... and states of adapters");

/* A call's stay in the library; `thread` NULL: there is nobody to tell, or it can't be told now. */
struct stay {
	struct rvp_thread *thread;
	uint32_t outer; /* the phase to go back to */
};

/* A signal handler's call while the interrupted hook is in the real malloc: nothing of ours is half done. */
static bool is_between(void)
{
	return rvp_local.phase == RVP_REAL && rvp_local.thread &&
	       atomic_load_explicit(rvp_alive, memory_order_relaxed);
}

static struct stay enter(void)
{
	struct stay stay = {rvp_enter(), RVP_OUTSIDE};

	if (__builtin_expect(stay.thread != NULL, 1))
		return stay;
	if (is_between()) {
		rvp_local.phase = RVP_OURS;
		return (struct stay){rvp_local.thread, RVP_REAL};
	}
	if (atomic_load(&rvp_process.state) == RVP_READY &&
	    atomic_load_explicit(rvp_alive, memory_order_relaxed))
		rvp_lose(rvp_local.phase == RVP_OUTSIDE ? RVP_LOSS_NO_BUFFER : RVP_LOSS_MARK_REENTRANT, 1);
	return stay;
}

static void leave(struct stay stay)
{
	rvp_leave(stay.thread);
	rvp_local.phase = stay.outer;
}

/* The same, for what is of no use once blocks are not recorded one by one. */
static struct stay enter_for_blocks(void)
{
	struct stay stay = enter();

	if (!stay.thread || !atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed))
		return stay;
	rvp_lose(RVP_LOSS_LOG_BOUND, 1);
	leave(stay);
	return (struct stay){NULL, RVP_OUTSIDE};
}

static int active(void)
{
	return atomic_load(&rvp_process.state) == RVP_READY;
}

/* A range of NVTX's may be a step, and what other threads do belongs to a step too. */
static bool is_of_any_thread(int kind, int source)
{
	return kind == RVP_SCOPE_RANGE_BEGIN || kind == RVP_SCOPE_RANGE_END || source == RVPROF_SOURCE_NVTX;
}

static void scope(int kind, int source, const char *category, const char *name, const char *args)
{
	struct stay stay = enter_for_blocks();
	struct rvp_told told[3] = {{.from = category}, {.from = name}, {.from = args}};
	uint64_t stamp;

	if (!stay.thread)
		return;
	if (source == RVPROF_SOURCE_NVTX)
		rvp_window_before_range(stay.thread, kind, name);
	stamp = rvp_mark_stamp(stay.thread, is_of_any_thread(kind, source));
	RVP_EMIT_TOLD(stay.thread, SCOPE_REF, told, 3, .stamp = stamp, .kind = (uint64_t)kind,
		      .source = (uint64_t)source, .category = told[0].text, .name = told[1].text,
		      .args = told[2].text);
	if (source == RVPROF_SOURCE_NVTX)
		rvp_window_after_range(stay.thread, kind);
	leave(stay);
	if (source == RVPROF_SOURCE_NVTX)
		rvp_window_outside();
}

static void scope_begin(int source, const char *category, const char *name)
{
	scope(RVP_SCOPE_BEGIN, source, category, name, NULL);
}

static void scope_end(int source)
{
	scope(RVP_SCOPE_END, source, NULL, NULL, NULL);
}

static void op_begin(int source, const char *name, const char *category, const char *args)
{
	scope(RVP_SCOPE_OPERATOR_BEGIN, source, category, name, args);
}

static void op_end(int source)
{
	scope(RVP_SCOPE_OPERATOR_END, source, NULL, NULL, NULL);
}

/* A range is known by its number, in `args` of both ends. */
static const char *number_text(uint64_t number, char text[20])
{
	char *at = text + 19;

	*at = '\0';
	do
		*--at = "0123456789abcdef"[number % 16];
	while (number /= 16);
	return at;
}

static void range_begin(int source, uint64_t id, const char *category, const char *name)
{
	char text[20];

	scope(RVP_SCOPE_RANGE_BEGIN, source, category, name, number_text(id, text));
}

static void range_end(int source, uint64_t id)
{
	char text[20];

	scope(RVP_SCOPE_RANGE_END, source, NULL, NULL, number_text(id, text));
}

static void tag(int source, const void *address, size_t bytes, const char *category, const char *name)
{
	struct stay stay = enter_for_blocks();
	struct rvp_told told[2] = {{.from = category}, {.from = name}};
	uint64_t stamp;

	if (!stay.thread)
		return;
	stamp = rvp_mark_stamp(stay.thread, true);
	RVP_EMIT_TOLD(stay.thread, TAG_REF, told, 2, .stamp = stamp, .address = (uint64_t)address,
		      .bytes = bytes, .source = (uint64_t)source, .category = told[0].text,
		      .name = told[1].text);
	leave(stay);
}

static void step(int source, int kind, int phase, uint64_t seq_len, uint64_t tokens, const char *name)
{
	struct stay stay;
	struct rvp_text text;

	rvp_rows_at_mark();
	if (kind != RVP_STEP_PHASE)
		rvp_device_mark();
	stay = enter();
	if (!stay.thread)
		return;
	text = rvp_text_of(name);
	rvp_window_before_mark(stay.thread, source, 0, kind);
	RVP_EMIT(stay.thread, STEP, text.length, .stamp = rvp_mark_stamp(stay.thread, true),
		 .kind = (uint64_t)kind, .source = (uint64_t)source, .phase = (uint64_t)phase,
		 .seq_len = seq_len, .tokens = tokens, .name = text);
	rvp_writes_mark(stay.thread, (uint64_t)source, (uint64_t)kind);
	rvp_window_after_mark(stay.thread, source, 0, kind, &text);
	leave(stay);
	rvp_window_outside();
}

static void mark(struct rvp_thread *thread, uint64_t kind, uint64_t value, const char *label)
{
	struct rvp_text text = rvp_text_of(label);

	RVP_EMIT(thread, MARK, text.length, .stamp = rvp_event_stamp(thread), .kind = kind, .value = value,
		 .label = text);
}

static void label(int source, const char *text)
{
	struct stay stay = enter();

	(void)source; /* a label is the same whoever gives it */
	if (!stay.thread)
		return;
	mark(stay.thread, RVP_MARK_LABEL, 0, text);
	leave(stay);
}

/* The figures come first: at the label the reader finds them. */
static void snapshot(const char *text)
{
	struct stay stay = enter();

	if (!stay.thread)
		return;
	rvp_snapshot_with_map(stay.thread);
	mark(stay.thread, RVP_MARK_LABEL, 0, text);
	leave(stay);
}

static void metric(const char *name, double value)
{
	struct stay stay = enter();
	uint64_t bits;

	if (!stay.thread)
		return;
	memcpy(&bits, &value, sizeof bits);
	mark(stay.thread, RVP_MARK_METRIC, bits, name);
	leave(stay);
}

static void adapter(int state, const char *name, const char *version, const char *what)
{
	struct stay stay = enter();
	struct rvp_text texts[3];

	if (!stay.thread)
		return;
	texts[0] = rvp_text_of(name);
	texts[1] = rvp_text_of(version);
	texts[2] = rvp_text_of(what);
	RVP_EMIT(stay.thread, ADAPTER, texts[0].length + texts[1].length + texts[2].length,
		 .stamp = rvp_event_stamp(stay.thread), .state = (uint64_t)state, .name = texts[0],
		 .version = texts[1], .what = texts[2]);
	leave(stay);
}

/* Also out of a signal handler: without a record then. */
static void record(int level)
{
	struct stay stay;

	rvp_rows_ask(rvp_rows_of_level(level));
	stay = enter();
	if (stay.thread || active())
		rvp_window_program(stay.thread, level, RVP_WINDOW_PROGRAM);
	if (stay.thread)
		leave(stay);
	rvp_window_outside();
}

/* Nothing is taken away: a report can begin here. */
static void clear(void)
{
	struct stay stay = enter();

	if (!stay.thread)
		return;
	rvp_window_clear(stay.thread);
	leave(stay);
}

static int dump(const char *path)
{
	struct stay stay = enter();
	int error = errno;
	bool is_done;

	if (!stay.thread)
		return -1;
	rvp_snapshot_with_map(stay.thread);
	leave(stay);
	is_done = stay.outer == RVP_OUTSIDE && rvp_finalizer_now(path);
	errno = error;
	return is_done ? 0 : -1;
}

static int rows(int kinds)
{
	return (int)rvp_rows_open((uint32_t)kinds & RVP_ROWS_ALL);
}

static void timer(const struct rvprof_timer_value *value)
{
	struct stay stay = enter();
	struct rvp_told told[3] = {{.from = value->name}, {.from = value->category}, {.from = value->args}};
	uint64_t stamp;

	if (!stay.thread)
		return;
	stamp = rvp_mark_stamp(stay.thread, false);
	RVP_EMIT_TOLD(stay.thread, TIMER, told, 3, .stamp = stamp, .source = value->source, .step = value->step,
		      .slot = value->slot, .place = value->place, .ticks = value->ticks, .ns = value->ns,
		      .begin_ns = value->begin_ns, .count = value->count, .name = told[0].text,
		      .category = told[1].text, .args = told[2].text);
	leave(stay);
}

#pragma GCC visibility push(default)
extern const struct rvprof_api rvprof_api_1;
const struct rvprof_api rvprof_api_1 = {
    .version = 1,
    .bytes = sizeof(struct rvprof_api),
    .active = active,
    .scope_begin = scope_begin,
    .scope_end = scope_end,
    .op_begin = op_begin,
    .op_end = op_end,
    .range_begin = range_begin,
    .range_end = range_end,
    .tag = tag,
    .step = step,
    .label = label,
    .snapshot = snapshot,
    .metric = metric,
    .adapter = adapter,
    .scope = scope,
    .record = record,
    .clear = clear,
    .dump = dump,
    .rows = rows,
    .timer = timer,
};
#pragma GCC visibility pop
