/* SPDX-License-Identifier: MIT */
/* snapshot.c: see snapshot.h. One read of /proc/self/statm takes two microseconds; at most every 10 ms. */
#include "preload/snapshot.h"

#include "preload/adapter.h"
#include "preload/blocks.h"
#include "preload/cost.h"
#include "preload/descriptor.h"
#include "preload/emit.h"
#include "preload/events.h"
#include "preload/flush.h"
#include "preload/folder.h"
#include "preload/imports.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/procfs.h"
#include "preload/resident.h"
#include "preload/stack_room.h"
#include "preload/stamp.h"
#include "preload/sys.h"
#include "preload/window.h"
#include "preload/writes.h"

#include <string.h>
#include <sys/resource.h>

enum { EVERY_NS = 10 * 1000 * 1000, FALL_EVERY_NS = 1000 * 1000, TOLD_WITHIN_BYTES = 256 * 1024, FALL_PARTS = 32 };

/* Which snapshots come with the map. */
enum with_map { WHEN_DUE, BEFORE_FALL, BEFORE_CHILD, ALWAYS };

static _Atomic uint64_t last_ns, fall_ns, told_rss_bytes;
static _Atomic uint64_t fallen_bytes; /* given back in large pieces since the last look at the map */
static _Atomic uint32_t statm_tried;

static uint64_t peak_rss_bytes(void)
{
	struct rusage usage;

	memset(&usage, 0, sizeof usage);
	rvp_syscall6(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0, 0, 0, 0);
	return (uint64_t)usage.ru_maxrss * 1024;
}

static uint64_t cpu_ns(void)
{
	struct rusage usage;

	memset(&usage, 0, sizeof usage);
	rvp_syscall6(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0, 0, 0, 0);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

static void open_statm(void)
{
	uint32_t no = 0;

	if (atomic_compare_exchange_strong(&statm_tried, &no, 1))
		rvp_descriptor_open(RVP_DESCRIPTOR_STATM, "/proc/self/statm", O_RDONLY, 0);
}

/* Whether the map is looked at too; its own memory is resident before RSS is read. */
static bool wants_map(struct rvp_thread *thread, uint64_t rss_bytes, enum with_map when)
{
	enum rvp_look_for what = when == WHEN_DUE			   ? RVP_LOOK_FOR_NEWS
				 : when == BEFORE_CHILD			   ? RVP_LOOK_FOR_REST
				 : rss_bytes / FALL_PARTS > fallen_bytes ? RVP_LOOK_FOR_PEAK
									   : RVP_LOOK_FOR_LAST_CHANCE;

	return (when == ALWAYS || rvp_resident_is_due(rss_bytes, what)) && rvp_stack_has_room(thread) &&
	       rvp_resident_prepare();
}

/* BEFORE_FALL, BEFORE_CHILD: with the map or not at all. True: there is a snapshot. */
static bool take(struct rvp_thread *thread, enum with_map when)
{
	bool has_map;
	uint64_t resident = 0, shared = 0, usable, blocks, mask;
	uint64_t own_bytes = rvp_own_bytes() + rvp_folder_buffer_bytes();
	struct rvp_record_ANCHOR anchor;

	if (!rvp_folder_give_slot(thread) || atomic_load(&rvp_process.locked))
		return false;
	rvp_block_signals(&mask);
	open_statm();
	rvp_procfs_statm(&resident, &shared);
	has_map = wants_map(thread, resident, when);
	rvp_unblock_signals(mask);
	if ((when == BEFORE_FALL || when == BEFORE_CHILD) && !has_map)
		return false;
	if (has_map) {
		rvp_procfs_statm(&resident, &shared);
		atomic_store(&fallen_bytes, 0);
	}
	rvp_folder_live(&usable, &blocks);
	atomic_store(&told_rss_bytes, resident);
	anchor = rvp_anchor();
	RVP_EMIT(thread, ANCHOR, 0, .stamp = anchor.stamp, .realtime_ns = anchor.realtime_ns,
		 .monotonic_ns = anchor.monotonic_ns, .boottime_ns = anchor.boottime_ns);
	RVP_EMIT(thread, SNAPSHOT, 0, .stamp = anchor.stamp, .rss_anon_bytes = resident - shared,
		 .rss_file_bytes = shared, .peak_rss_bytes = peak_rss_bytes(), .live_usable_bytes = usable,
		 .live_count = blocks, .source = RVP_SNAPSHOT_STATM);
	rvp_cost_emit(thread, anchor.stamp, cpu_ns());
	if (has_map)
		rvp_resident_look(thread, anchor.stamp, resident);
	/* Behind the look: what comes next may change what it saw. */
	RVP_EMIT(thread, OWN_COST, 0, .stamp = anchor.stamp, .own_bytes = own_bytes,
		 .node_count = atomic_load(&rvp_process.buffers->node_count),
		 .recorded_blocks = rvp_blocks_count());
	atomic_store(&rvp_process.buffers->own_bytes, own_bytes);
	atomic_store(&rvp_process.buffers->recorded_blocks, rvp_blocks_count());
	return true;
}

void rvp_snapshot(struct rvp_thread *thread)
{
	take(thread, WHEN_DUE);
}

void rvp_snapshot_with_map(struct rvp_thread *thread)
{
	take(thread, ALWAYS);
}

/* True for one caller each EVERY_NS; not while a map is written: its records share one stamp. */
static bool is_due(void)
{
	if (rvp_resident_is_looking())
		return false;

	uint64_t last = atomic_load_explicit(&last_ns, memory_order_relaxed), now = rvp_monotonic_ns();

	return now - last >= EVERY_NS && atomic_compare_exchange_strong(&last_ns, &last, now);
}

void rvp_snapshot_at_flush(struct rvp_thread *thread)
{
	if (is_due())
		rvp_snapshot(thread);
}

/* Those who follow writes look more often. True: the rest is not due yet. */
static bool look_at_writes(struct rvp_thread *thread)
{
	if (!rvp_writes_look(thread))
		return false;
	thread->events_left = RVP_WRITES_LOOK_EVENTS;
	thread->writes_looks++;
	return thread->moved_bytes < RVP_LOOK_EVERY_BYTES &&
	       thread->writes_looks % (RVP_LOOK_EVERY_EVENTS / RVP_WRITES_LOOK_EVENTS) != 0;
}

void rvp_snapshot_look(struct rvp_thread *thread)
{
	thread->events_left = RVP_LOOK_EVERY_EVENTS;
	rvp_window_look(thread);
	if (look_at_writes(thread))
		return;
	thread->moved_bytes = 0;
	if (rvp_stack_has_room(thread))
		rvp_imports_refresh();
	rvp_adapter_look();
	if (rvp_process.buffers && is_due())
		rvp_snapshot(thread);
}

void rvp_snapshot_before_fall(struct rvp_thread *thread, uint64_t bytes)
{
	uint64_t last = atomic_load_explicit(&fall_ns, memory_order_relaxed), now;

	if (!rvp_process.buffers || rvp_resident_is_looking())
		return;
	atomic_fetch_add(&fallen_bytes, bytes);
	now = rvp_monotonic_ns();
	if (now - last >= FALL_EVERY_NS && atomic_compare_exchange_strong(&fall_ns, &last, now))
		take(thread, BEFORE_FALL);
}

/* So much more or less is worth a record. */
static bool is_news(uint64_t rss_bytes)
{
	uint64_t told = told_rss_bytes, most = TOLD_WITHIN_BYTES;

	return rss_bytes > told + most || rss_bytes + most < told;
}

static void tell(struct rvp_thread *thread, uint64_t resident_bytes, uint64_t shared_bytes)
{
	uint64_t usable, blocks;

	if (!is_news(resident_bytes))
		return;
	rvp_folder_live(&usable, &blocks);
	atomic_store(&told_rss_bytes, resident_bytes);
	RVP_EMIT(thread, SNAPSHOT, 0, .stamp = rvp_event_stamp(thread),
		 .rss_anon_bytes = resident_bytes - shared_bytes, .rss_file_bytes = shared_bytes,
		 .peak_rss_bytes = peak_rss_bytes(), .live_usable_bytes = usable, .live_count = blocks,
		 .source = RVP_SNAPSHOT_STATM);
}

static bool may_tell(const struct rvp_thread *thread)
{
	return rvp_process.buffers && thread->slot && !atomic_load(&rvp_process.locked) &&
	       !rvp_resident_is_looking();
}

void rvp_snapshot_before_child(struct rvp_thread *thread)
{
	uint64_t resident = 0, shared = 0;

	if (may_tell(thread) && !take(thread, BEFORE_CHILD) && rvp_procfs_statm(&resident, &shared))
		tell(thread, resident, shared);
}

void rvp_snapshot_from_vfork_child(struct rvp_thread *thread)
{
	uint64_t resident = 0, shared = 0;

	if (may_tell(thread) && rvp_procfs_statm_anew(&resident, &shared))
		tell(thread, resident, shared);
}

void rvp_snapshot_after_fork(void)
{
	atomic_store(&told_rss_bytes, 0);
	atomic_store(&fallen_bytes, 0);
	atomic_store(&last_ns, 0);
	atomic_store(&fall_ns, 0);
	atomic_store(&statm_tried, 0);
	rvp_cost_after_fork();
	rvp_resident_after_fork();
}

void rvp_process_note_rss(bool first)
{
	struct rvp_tree_entry *entry = rvp_process.entry;
	uint64_t resident = rvp_procfs_resident_bytes();

	if (first)
		entry->first_rss_bytes = resident;
	else
		entry->last_rss_bytes = resident;
	atomic_store(&entry->peak_rss_bytes, peak_rss_bytes());
}
