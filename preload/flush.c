/* SPDX-License-Identifier: MIT */
/* flush.c: see flush.h and the protocol in record/slot.h. */
#include "preload/flush.h"

#include "preload/count.h"
#include "preload/descriptor.h"
#include "preload/emit.h"
#include "preload/folder.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/snapshot.h"
#include "preload/stamp.h"
#include "preload/sys.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

void rvp_block_signals(uint64_t *mask)
{
	uint64_t all = ~0ull;

	if (!atomic_load(&rvp_process.locked))
		rvp_sys_sigmask(&all, mask);
}

void rvp_unblock_signals(uint64_t mask)
{
	if (!atomic_load(&rvp_process.locked))
		rvp_sys_sigmask(&mask, NULL);
}

static long write_whole(int fd, const char *from, size_t bytes, uint64_t at)
{
	while (bytes) {
		long put = rvp_sys_pwrite(fd, from, bytes, at);

		if (put == -EINTR)
			continue;
		if (put <= 0)
			return put ? put : -ENOSPC;
		from += put;
		at += (uint64_t)put;
		bytes -= (size_t)put;
	}
	return 0;
}

/* Bytes in the log of the whole tree, bounded by --max-log. */
static bool log_has_room(size_t bytes)
{
	struct rvp_tree *tree = rvp_process.tree;

	uint64_t sum;

	if (atomic_load_explicit(&tree->log_bytes, memory_order_relaxed) + bytes > tree->max_log_bytes)
		return false;
	sum = atomic_fetch_add(&tree->log_bytes, bytes) + bytes;
	/* The last sixteenth is kept for nodes, modules and snapshots. */
	if (sum > tree->max_log_bytes - tree->max_log_bytes / 16)
		atomic_store_explicit(&tree->folded, 1, memory_order_relaxed);
	return sum <= tree->max_log_bytes;
}

/* 0, or -errno; -EFBIG also where the write would raise SIGXFSZ. */
static long append(const void *chunk, size_t bytes)
{
	static const uint64_t too_large = 1ull << (SIGXFSZ - 1);
	uint64_t limit[2] = {UINT64_MAX, 0}, at;
	int fd = rvp_descriptor_use(RVP_DESCRIPTOR_LOG);
	long error;

	if (fd < 0)
		return -EBADF;
	if (!log_has_room(rvp_chunk_room(bytes)))
		return -EDQUOT;
	at = atomic_fetch_add(&rvp_process.buffers->log_tail, rvp_chunk_room(bytes));
	rvp_sys_getrlimit(RLIMIT_FSIZE, limit);
	if (at + bytes > limit[0])
		return -EFBIG;
	error = write_whole(fd, chunk, bytes, at);
	if (error == -EFBIG)
		rvp_sys_sigtake(&too_large);
	return error;
}

static void lose_chunk(struct rvp_thread *thread, long error)
{
	enum rvp_loss reason = error == -ENOSPC ? RVP_LOSS_DISK_FULL
			       : error == -EFBIG ? RVP_LOSS_FILE_LIMIT
			       : error == -EDQUOT ? RVP_LOSS_LOG_BOUND
			       : error == -EPERM ? RVP_LOSS_SECCOMP
						 : RVP_LOSS_WRITE_ERROR;

	rvp_lose(reason, thread->slot->record_count);
	rvp_slot_drop(thread->slot);
	if (reason == RVP_LOSS_DISK_FULL)
		rvp_process_stop("the disk is full", "totals go on, records are lost until there is room");
	else if (reason == RVP_LOSS_FILE_LIMIT)
		rvp_process_stop("the program's file size limit (ulimit -f) is met", "totals go on, records are lost");
}

void rvp_flush(struct rvp_thread *thread)
{
	struct rvp_slot *slot = thread->slot;
	uint64_t mask = 0, begin, records = slot->record_count;
	size_t bytes;
	long error = -EPERM;

	if (rvp_slot_length(slot) == 0)
		return;
	rvp_block_signals(&mask);
	if (!atomic_load(&rvp_process.locked)) {
		begin = rvp_monotonic_ns();
		bytes = rvp_slot_seal(slot, thread->slot_number, thread->last_stamp);
		error = append(rvp_slot_chunk(slot), bytes);
		RVP_COUNT(flush_count, 1);
		RVP_COUNT(flush_ns, rvp_monotonic_ns() - begin);
	}
	if (error)
		lose_chunk(thread, error);
	else
		rvp_slot_restart(slot);
	/* Behind the restart: what is in a slot is counted by the reader. */
	RVP_COUNT(record_count, records);
	RVP_COUNT(recorded_count, records - thread->other_records);
	rvp_thread_begin_chunk(thread);
	rvp_unblock_signals(mask);
}

uint8_t *rvp_emit_flush(struct rvp_thread *thread, uint64_t bytes)
{
	if (!thread->slot && !rvp_folder_give_slot(thread)) {
		rvp_lose(atomic_load(&rvp_process.locked) ? RVP_LOSS_SECCOMP : RVP_LOSS_NO_BUFFER, 1);
		return NULL;
	}

	uint8_t *room = rvp_slot_room(thread->slot, RVP_SLOT_BYTES, bytes);

	if (room)
		return room;
	rvp_flush(thread);
	rvp_snapshot_at_flush(thread);
	return rvp_slot_room(thread->slot, RVP_SLOT_BYTES, bytes);
}
