/* SPDX-License-Identifier: MIT */
/* rows.c: see rows.h. */
#include "preload/rows.h"

#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/imports.h"
#include "preload/mark_stamp.h"
#include "preload/own.h"
#include "preload/pause.h"
#include "preload/python_rows.h"
#include "preload/torch_rows.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { RECORD_BYTES = 8, TAKEN_AT_ONCE = 256 };

_Atomic uint32_t rvp_rows_asked;
static _Atomic uint64_t asker; /* number of the process */
static _Atomic bool is_queued;
static _Atomic uint32_t open_kinds, window, wanted_kinds;
static _Atomic uint64_t taken;
static _Atomic uint64_t owner;    /* number of the process that opened it: a child by fork has another */
static _Atomic uint64_t changing; /* likewise, of one in which a thread opens or closes just now */

uint32_t rvp_rows_kinds(void)
{
	uint32_t kinds = atomic_load_explicit(&open_kinds, memory_order_relaxed);

	if (__builtin_expect(!kinds, 1))
		return 0;
	return rvp_rows_is_ours() ? kinds : 0;
}

bool rvp_rows_is_ours(void)
{
	return atomic_load_explicit(&owner, memory_order_relaxed) == rvp_process.number;
}

uint32_t rvp_rows_window(void)
{
	return atomic_load_explicit(&window, memory_order_relaxed);
}

bool rvp_rows_has_room(struct rvp_thread *thread)
{
	uint64_t most = rvp_process.options.max_log_bytes / RVP_ROWS_LOG_SHARE / RECORD_BYTES;

	if (atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed)) {
		rvp_lose(RVP_LOSS_LOG_BOUND, 1);
		return false;
	}
	if (__builtin_expect(thread->rows_left == 0, 0)) {
		if (atomic_load_explicit(&taken, memory_order_relaxed) + TAKEN_AT_ONCE > most) {
			rvp_lose(RVP_LOSS_ROWS_BOUND, 1);
			return false;
		}
		atomic_fetch_add_explicit(&taken, TAKEN_AT_ONCE, memory_order_relaxed);
		thread->rows_left = TAKEN_AT_ONCE;
	}
	thread->rows_left--;
	return true;
}

static void tell(uint32_t kinds, uint32_t wanted, const char *why)
{
	struct rvp_thread *thread = rvp_enter();

	if (!thread)
		return;
	RVP_EMIT(thread, ROWS, strlen(why), .stamp = rvp_mark_stamp(thread, true), .kinds = kinds,
		 .wanted = wanted, .why = {why, strlen(why)});
	rvp_leave(thread);
}

/* Each half closes before it opens: what is on is never on twice. */
static uint32_t change(uint32_t wanted, const char **why)
{
	uint32_t kinds = wanted;

	rvp_torch_rows_close();
	rvp_python_rows_close();
	if (!wanted)
		return 0;
	if (wanted & RVP_ROWS_OPERATORS)
		rvp_torch_rows_open(&kinds, why);
	if (kinds & RVP_ROWS_PYTHON)
		rvp_python_rows_open(&kinds, why);
	return kinds;
}

/* What --rows wants, whoever else closes a window. */
static uint32_t at_least(void)
{
	bool is_paused = atomic_load_explicit(&rvp_pause_state, memory_order_relaxed) == RVP_PAUSE_ON;

	return rvp_process.options.rows && !is_paused ? RVP_ROWS_ALL : 0;
}

/* False: another thread does, or this one below: its text is Python, between whose instructions others are called. */
static bool begin_change(void)
{
	uint64_t there = atomic_load(&changing);

	while (there != rvp_process.number)
		if (atomic_compare_exchange_strong(&changing, &there, rvp_process.number))
			return true;
	return false;
}

static void want(uint32_t kinds)
{
	atomic_store(&asker, rvp_process.number);
	atomic_store(&rvp_rows_asked, 1 + kinds);
}

uint32_t rvp_rows_open(uint32_t wanted)
{
	const char *why = "";
	int error = errno;
	uint32_t kinds;

	wanted |= at_least();
	if (atomic_load(&rvp_process.state) != RVP_READY || (!wanted && !rvp_rows_kinds()))
		return 0;
	if (rvp_python_rows_where() == RVP_PYTHON_ELSEWHERE) {
		rvp_rows_ask(wanted);
		return wanted;
	}
	if (!begin_change()) {
		want(wanted);
		return wanted;
	}
	atomic_store(&wanted_kinds, wanted);
	atomic_store(&open_kinds, 0);
	if (wanted) {
		rvp_imports_look();
		atomic_store(&owner, rvp_process.number);
		atomic_fetch_add(&window, 1);
	}
	kinds = change(wanted, &why);
	tell(kinds, wanted, why);
	atomic_store(&open_kinds, kinds);
	atomic_store(&changing, 0);
	errno = error;
	return kinds;
}

/* ---- asking ---- */

/* By the interpreter, with its lock. A child by fork has its parent's queue. */
static int answer(void *nothing)
{
	uint32_t asked;

	(void)nothing;
	atomic_store(&is_queued, false);
	if (!rvp_python_rows_is_ready())
		return 0; /* the next look asks again */
	asked = atomic_exchange(&rvp_rows_asked, 0);
	if (asked && atomic_load(&asker) == rvp_process.number)
		rvp_rows_open(asked - 1);
	return 0;
}

void rvp_rows_look(void)
{
	bool expected = false;

	if (__builtin_expect(!atomic_load_explicit(&rvp_rows_asked, memory_order_relaxed), 1) ||
	    atomic_load(&rvp_process.locked) || !atomic_compare_exchange_strong(&is_queued, &expected, true))
		return;
	if (!rvp_python_rows_call_soon(answer))
		atomic_store(&is_queued, false);
}

void rvp_rows_ask(uint32_t kinds)
{
	bool is_so;

	kinds |= at_least();
	is_so = kinds ? kinds == atomic_load(&wanted_kinds) && rvp_rows_kinds() : !rvp_rows_kinds();
	if (is_so && atomic_load(&changing) != rvp_process.number)
		atomic_store(&rvp_rows_asked, 0);
	else
		want(kinds);
	rvp_rows_look();
}

void rvp_rows_after_fork(bool is_open)
{
	atomic_store(&taken, 0);
	if (is_open && rvp_process.options.rows)
		rvp_rows_ask(RVP_ROWS_ALL);
}

void rvp_rows_at_mark_slow(void)
{
	uint32_t asked;

	if (rvp_local.phase != RVP_OUTSIDE || rvp_python_rows_where() != RVP_PYTHON_NOWHERE)
		return;
	asked = atomic_exchange(&rvp_rows_asked, 0);
	if (asked)
		rvp_rows_open(asked - 1);
}
