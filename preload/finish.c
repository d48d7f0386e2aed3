/* SPDX-License-Identifier: MIT */
/* finish.c: see finish.h. */
#include "preload/finish.h"

#include "preload/device.h"
#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/finalizer.h"
#include "preload/modules.h"
#include "preload/recorder.h"
#include "preload/snapshot.h"
#include "preload/sys.h"
#include "preload/window.h"
#include "preload/writes.h"

#include <stdlib.h>

static _Atomic uint64_t finished_pid;

extern int __cxa_at_quick_exit(void (*handler)(void *), void *argument);

static void at_exit(int status, void *argument)
{
	(void)argument;
	rvp_finish(RVP_ENDING_EXIT, status);
}

static void at_quick(void *argument)
{
	(void)argument;
	rvp_finish(RVP_ENDING_QUICK_EXIT, 0);
}

void rvp_finish_prepare(void)
{
	on_exit(at_exit, NULL);
	__cxa_at_quick_exit(at_quick, NULL);
}

static void tell_exit(struct rvp_thread *thread, enum rvp_ending how, int status)
{
	if (!rvp_process.buffers)
		return;
	rvp_writes_end(thread, "the process ended");
	rvp_window_end(thread);
	rvp_snapshot_with_map(thread);
	if (thread->slot)
		rvp_modules_meet_rest(thread);
	if (thread->slot)
		RVP_EMIT(thread, EXIT, 0, .stamp = rvp_event_stamp(thread), .how = how, .status = (uint64_t)status);
}

static void mark_entry(enum rvp_ending how, int status)
{
	struct rvp_tree_entry *entry = rvp_process.entry;

	rvp_process_note_rss(false);
	entry->exit_how = how;
	entry->exit_status = (uint32_t)status;
	atomic_store(&entry->end_realtime_ns, rvp_realtime_ns());
	atomic_store_explicit(&entry->state, RVP_ENTRY_EXITED, memory_order_release);
}

/* Each process once; a signal handler that calls _exit inside our exit handler finds it done. */
static bool is_first_time(void)
{
	uint64_t self = rvp_process.number << 32 | rvp_process.pid, last = atomic_load(&finished_pid);

	return last != self && atomic_compare_exchange_strong(&finished_pid, &last, self);
}

/* False in a child by fork that has no entry of its own (it is not followed, the table is full, a signal handler
 * forked it inside a hook): what it has is its parent's. */
static bool is_ours(void)
{
	return rvp_process.entry && (uint32_t)rvp_sys_getpid() == rvp_process.pid;
}

void rvp_finish(enum rvp_ending how, int status)
{
	uint32_t state = atomic_load(&rvp_process.state);
	struct rvp_thread *thread;

	if (!rvp_process.tree || !rvp_process.entry || rvp_process_is_vfork_child() || atomic_load(&rvp_process.locked))
		return;
	if (state == RVP_READY && is_ours())
		rvp_device_finish(how);
	thread = state == RVP_READY ? rvp_enter() : NULL; /* a child by fork makes itself at home here */
	if (is_ours() && is_first_time()) {
		if (thread)
			tell_exit(thread, how, status);
		mark_entry(how, status);
		if (thread)
			rvp_leave(thread);
		rvp_finalizer_at_end();
		return;
	}
	if (thread)
		rvp_leave(thread);
}

void rvp_finish_replaced(bool replaced)
{
	struct rvp_tree_entry *entry = rvp_process.entry;

	if (replaced) {
		rvp_process_note_rss(false);
		atomic_store(&entry->end_realtime_ns, rvp_realtime_ns());
	}
	atomic_store_explicit(&entry->state, replaced ? RVP_ENTRY_REPLACED : RVP_ENTRY_RUNNING, memory_order_release);
}
