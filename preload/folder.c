/* SPDX-License-Identifier: MIT */
/* folder.c: see folder.h; the files are told in record/slot.h.
 *
 * The buffer file's header page and its slots (in segments of four) are mapped one by one, so that a new
 * thread costs neither a descriptor that stays open nor address space that is never used. Everything is
 * allocated on disk before it is mapped: a store into a hole of a full disk would be a SIGBUS.
 *
 * Rules: slow path; system calls alone, no libc that allocates; all signals are blocked by the caller's side
 * of rvp_folder_give_slot. A child of vfork may be the one whose event comes first: what it maps and names is
 * its parent's, and a descriptor that it opens its parent opens again by its path.
 */
#include "preload/folder.h"

#include "preload/descriptor.h"
#include "preload/disk.h"
#include "preload/emit.h"
#include "preload/flush.h"
#include "preload/folds.h"
#include "preload/head.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/stamp.h"
#include "preload/sys.h"
#include "preload/threads.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { SEGMENT_SLOTS = 4, SEGMENTS_MAX = 1024, WAIT_NS = 1000000000 };

static const uint64_t NOWHERE = 1ull << 63; /* as a place in a file: the kernel refuses to write there */

static struct {
	char *_Atomic segment[SEGMENTS_MAX];
	_Atomic uint32_t slot_count; /* mapped */
	_Atomic uint32_t next;       /* slots given away */
} slots;

static long add_segment(int fd, struct rvp_buffers *buffers)
{
	uint32_t count = atomic_load(&slots.slot_count);
	uint64_t bytes = (uint64_t)SEGMENT_SLOTS * RVP_SLOT_BYTES;
	uint64_t at = RVP_BUFFER_HEADER_BYTES + (uint64_t)count * RVP_SLOT_BYTES;
	long error = count / SEGMENT_SLOTS < SEGMENTS_MAX ? rvp_disk_allocate(fd, at, bytes) : -EMFILE;
	char *segment;

	if (error)
		return error;
	segment = rvp_disk_map(fd, at, bytes);
	if (!segment)
		return -ENOMEM;
	atomic_store(&slots.segment[count / SEGMENT_SLOTS], segment);
	atomic_store(&buffers->slot_count, count + SEGMENT_SLOTS);
	atomic_store_explicit(&slots.slot_count, count + SEGMENT_SLOTS, memory_order_release);
	return 0;
}

static long make_folder(void)
{
	char *path = rvp_process.proc_folder;
	size_t room = sizeof rvp_process.proc_folder, length, base;
	long error = -EEXIST;

	length = rvp_disk_append(path, room, 0, rvp_process.folder);
	length = rvp_disk_append(path, room, length, "/proc.");
	base = rvp_disk_append_number(path, room, length, rvp_process.pid);
	for (uint32_t n = 0; n < 10000 && error == -EEXIST; n++) {
		length = rvp_disk_append(path, room, base, ".");
		rvp_disk_append_number(path, room, length, n);
		rvp_process.exec_number = n;
		error = rvp_sys_mkdir(path, 0700);
	}
	return error;
}

static long make_log(void)
{
	char path[sizeof rvp_process.proc_folder + 32] = "";
	size_t length = rvp_disk_append(path, sizeof path, 0, rvp_process.proc_folder);
	struct rvp_file_header header = rvp_disk_header(RVP_LOG_MAGIC);
	uint64_t limit[2] = {UINT64_MAX, 0};
	int fd;

	rvp_sys_getrlimit(RLIMIT_FSIZE, limit);
	rvp_disk_append(path, sizeof path, length, "/" RVP_LOG_FILE);
	if (limit[0] < sizeof header ||
	    !rvp_descriptor_open(RVP_DESCRIPTOR_LOG, path, O_WRONLY | O_CREAT | O_EXCL, 0600))
		return -EIO;
	fd = rvp_descriptor_use(RVP_DESCRIPTOR_LOG);
	return rvp_sys_pwrite(fd, &header, sizeof header, 0) == sizeof header ? 0 : -ENOSPC;
}

static long make_buffers(void)
{
	long error = make_folder(), fd;
	struct rvp_buffers *buffers;

	if (error)
		return error;
	error = make_log();
	if (error)
		return error;
	fd = rvp_disk_open("/" RVP_BUFFER_FILE, O_RDWR | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	error = rvp_disk_allocate((int)fd, 0, RVP_BUFFER_HEADER_BYTES);
	buffers = error ? NULL : rvp_disk_map((int)fd, 0, RVP_BUFFER_HEADER_BYTES);
	if (buffers) {
		buffers->file = rvp_disk_header(RVP_BUFFER_MAGIC);
		buffers->slot_bytes = RVP_SLOT_BYTES;
		buffers->tree_entry = (uint32_t)(((char *)rvp_process.entry - (char *)rvp_process.tree -
						  RVP_TREE_HEADER_BYTES) /
						 RVP_TREE_ENTRY_BYTES);
		atomic_store(&buffers->log_tail, sizeof(struct rvp_file_header));
		atomic_store(&buffers->next_serial, 1);
		error = add_segment((int)fd, buffers);
	}
	rvp_sys_close((int)fd);
	if (!buffers || error)
		return error ? error : -ENOMEM;
	rvp_process.buffers = buffers;
	atomic_store_explicit(&rvp_process.entry->folder, rvp_process.exec_number + 1, memory_order_release);
	return 0;
}

static void give_up(long error)
{
	atomic_store(&rvp_process.buffers_failed, 1);
	rvp_lose(error == -ENOSPC  ? RVP_LOSS_DISK_FULL
		 : error == -EFBIG ? RVP_LOSS_FILE_LIMIT
				   : RVP_LOSS_NO_FOLDER,
		 1);
	rvp_process_stop(strerrordesc_np((int)-error),
			 "no folder for this process's records; only its totals are kept");
}

/* A maker that was put aside on a busy machine takes as long as that lasts; an event without a place would be
 * lost. The bound is for a maker that never comes back. */
static void wait_for(_Atomic uint32_t *making, bool (*done)(void))
{
	uint64_t begin = rvp_monotonic_ns();

	while (atomic_load(making) && !done() && rvp_monotonic_ns() - begin < WAIT_NS)
		rvp_sys_yield();
}

/* One thread makes, the others wait a bounded time. True when `done` became true. */
static bool make_or_wait(_Atomic uint32_t *making, bool (*done)(void), void (*make)(void))
{
	uint32_t nobody = 0;

	if (done())
		return true;
	if (atomic_compare_exchange_strong(making, &nobody, 1)) {
		if (!done())
			make();
		atomic_store(making, 0);
		return done();
	}
	wait_for(making, done);
	return done();
}

static bool buffers_are_there(void)
{
	return __atomic_load_n(&rvp_process.buffers, __ATOMIC_ACQUIRE) ||
	       atomic_load(&rvp_process.buffers_failed);
}

static void make_buffers_once(void)
{
	long error = make_buffers();

	if (error)
		give_up(error);
}

static bool a_slot_is_free(void)
{
	return atomic_load(&slots.next) < atomic_load_explicit(&slots.slot_count, memory_order_acquire);
}

static void make_segment(void)
{
	long fd = rvp_disk_open("/" RVP_BUFFER_FILE, O_RDWR);

	if (fd < 0)
		return;
	add_segment((int)fd, rvp_process.buffers);
	rvp_sys_close((int)fd);
}

static struct rvp_slot *take_slot(uint32_t *number)
{
	uint32_t next = atomic_load(&slots.next);

	while (next < atomic_load_explicit(&slots.slot_count, memory_order_acquire))
		if (atomic_compare_exchange_weak(&slots.next, &next, next + 1)) {
			*number = next;
			return (struct rvp_slot *)(atomic_load(&slots.segment[next / SEGMENT_SLOTS]) +
						   (size_t)(next % SEGMENT_SLOTS) * RVP_SLOT_BYTES);
		}
	return NULL;
}

static void open_slot(struct rvp_thread *thread, struct rvp_slot *slot, uint32_t number)
{
	bool is_first = rvp_local.counters != NULL;

	slot->tid = thread->tid;
	slot->serial = atomic_fetch_add(&rvp_process.buffers->next_serial, 1);
	atomic_store(&slot->word, rvp_word(1, 0));
	atomic_store(&slot->owner, thread->tid);
	thread->slot_number = number;
	rvp_thread_begin_chunk(thread);
	thread->slot = slot;
	if (!is_first)
		rvp_local.counters = &slot->counters;
	if (number == 0)
		rvp_head_emit(thread);
	rvp_head_emit_thread(thread);
}

/* New slots can all be gone to other threads before this one looks: it gives up only when none were made. */
static struct rvp_slot *find_slot(uint32_t *number)
{
	for (;;) {
		uint32_t before = atomic_load(&slots.slot_count);
		struct rvp_slot *slot = take_slot(number);

		if (slot)
			return slot;
		if (!make_or_wait(&rvp_process.making_slots, a_slot_is_free, make_segment) &&
		    atomic_load(&slots.slot_count) == before)
			return NULL;
	}
}

bool rvp_folder_give_slot(struct rvp_thread *thread)
{
	struct rvp_slot *slot;
	uint32_t number = 0;
	uint64_t mask;

	if (thread->slot)
		return true;
	if (atomic_load(&rvp_process.locked) || atomic_load(&rvp_process.buffers_failed))
		return false;
	rvp_block_signals(&mask);
	slot = make_or_wait(&rvp_process.making_buffers, buffers_are_there, make_buffers_once) &&
		       rvp_process.buffers
		   ? find_slot(&number)
		   : NULL;
	if (slot)
		open_slot(thread, slot, number);
	rvp_unblock_signals(mask);
	return slot != NULL;
}

/* Memory of nobody's takes its place: code of the parent's that a signal handler interrupted, and that goes on in
 * the child, may hold the address. */
static void let_go(void *address, size_t bytes)
{
	rvp_sys_mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void rvp_folder_part_from_parent(void)
{
	for (int i = 0; i < SEGMENTS_MAX && slots.segment[i]; i++)
		let_go(slots.segment[i], (size_t)SEGMENT_SLOTS * RVP_SLOT_BYTES);
	if (rvp_process.buffers) {
		let_go(rvp_process.buffers, RVP_BUFFER_HEADER_BYTES);
		atomic_store(&rvp_process.buffers->log_tail, NOWHERE);
	}
}

void rvp_folder_leave_parent(void)
{
	for (int i = 0; i < SEGMENTS_MAX && slots.segment[i]; i++) {
		let_go(slots.segment[i], (size_t)SEGMENT_SLOTS * RVP_SLOT_BYTES);
		atomic_store(&slots.segment[i], NULL);
	}
	if (rvp_process.buffers)
		let_go(rvp_process.buffers, RVP_BUFFER_HEADER_BYTES);
	rvp_process.buffers = NULL;
	atomic_store(&slots.slot_count, 0);
	atomic_store(&slots.next, 0);
	atomic_store(&rvp_process.making_buffers, 0);
	atomic_store(&rvp_process.making_slots, 0);
	atomic_store(&rvp_process.buffers_failed, 0);
	rvp_descriptor_close(RVP_DESCRIPTOR_LOG);
	rvp_folds_leave_parent();
	rvp_threads_leave_parent();
}

uint64_t rvp_folder_buffer_bytes(void)
{
	uint32_t next = atomic_load(&slots.next), count = atomic_load(&slots.slot_count);

	return rvp_process.buffers
		   ? RVP_BUFFER_HEADER_BYTES + (uint64_t)(next < count ? next : count) * RVP_SLOT_BYTES
		   : 0;
}

void rvp_folder_counters(struct rvp_counters *sum)
{
	uint32_t count = atomic_load(&slots.slot_count);

	*sum = rvp_process.entry->counters;
	rvp_counters_sum(sum, &rvp_process.entry->spill);
	for (uint32_t i = 0; i < count; i++) {
		char *segment = atomic_load(&slots.segment[i / SEGMENT_SLOTS]);

		rvp_counters_sum(
		    sum, &((struct rvp_slot *)(segment + (size_t)(i % SEGMENT_SLOTS) * RVP_SLOT_BYTES))->counters);
	}
}

void rvp_folder_live(uint64_t *usable_bytes, uint64_t *blocks)
{
	struct rvp_counters sum;

	rvp_folder_counters(&sum);
	*usable_bytes = sum.alloc_usable_bytes - sum.free_usable_bytes;
	*blocks = sum.alloc_count - sum.free_count;
}

extern void *__libc_stack_end __attribute__((weak));

void rvp_folder_find_stack(void)
{
	uint64_t limit[2] = {8u << 20, 0};

	rvp_sys_getrlimit(RLIMIT_STACK, limit);
	if (limit[0] > 1u << 30)
		limit[0] = 8u << 20; /* unlimited: what is surely there */
	rvp_process.main_thread_pointer = (uint64_t)__builtin_thread_pointer();
	rvp_process.main_stack_high = ((uint64_t)__libc_stack_end + 4095) & ~4095ull;
	/* argv and environ lie above; they count into the limit. */
	rvp_process.main_stack_low = rvp_process.main_stack_high - limit[0] + (256u << 10);
}
