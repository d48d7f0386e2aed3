/* SPDX-License-Identifier: MIT */
/* reads.c: see reads.h. What a descriptor is, is remembered for a few reads: asking costs as much as a small
 * read itself. The table is shared by all threads without a lock: two that look at one descriptor at the same
 * time both write what is true, and a number torn from two files names no file that the log knows. */
#include "preload/reads.h"

#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/folder.h"
#include "preload/own.h"
#include "preload/recorder.h"
#include "preload/stack_room.h"
#include "preload/sys.h"
#include "preload/told_files.h"

enum {
	FILE_FLOOR_BYTES =
	    65536,           /* weights that matter are larger; most scripts, headers, settings are not */
	LARGE_BYTES = 16384, /* from here a look at the descriptor is cheap beside the read */
	TRUSTED = 64,        /* reads for which a look holds */
	LARGE_WEIGHT = 16,   /* of a large read of what is no file that matters */
	DESCRIPTORS = 1024,  /* remembered; higher ones are asked each time */
	RECORD_BYTES = 16,   /* of a FILL, about */
	KNOWN_FILLS = 3,     /* of one place: then it is known to be a buffer */
	HIGHEST_FLOOR_BITS = 20,
};

static struct known {
	_Atomic int32_t trust; /* reads left; 0: not known. Negative: the same of no file that matters */
	_Atomic uint64_t device, inode;
} known[DESCRIPTORS];

static _Atomic uint64_t fill_count;

struct source {
	uint64_t device, inode;
};

static bool matters(const struct stat *file)
{
	return S_ISREG(file->st_mode) && file->st_size >= FILE_FLOOR_BYTES;
}

static void remember(int fd, const struct stat *file)
{
	if (fd >= DESCRIPTORS)
		return;
	atomic_store_explicit(&known[fd].device, file->st_dev, memory_order_relaxed);
	atomic_store_explicit(&known[fd].inode, file->st_ino, memory_order_relaxed);
	atomic_store_explicit(&known[fd].trust, matters(file) ? TRUSTED : -TRUSTED, memory_order_relaxed);
}

/* 1, 0: it matters or not, as far as remembered; -1: to be asked. */
static int recall(int fd, uint64_t bytes, struct source *source)
{
	int32_t trust = fd < DESCRIPTORS ? atomic_load_explicit(&known[fd].trust, memory_order_relaxed) : 0;
	int32_t weight = bytes >= LARGE_BYTES ? LARGE_WEIGHT : 1;

	if (trust < 0) {
		atomic_store_explicit(&known[fd].trust, trust + weight < 0 ? trust + weight : 0,
				      memory_order_relaxed);
		return 0;
	}
	if (trust == 0 || bytes >= LARGE_BYTES)
		return -1;
	atomic_store_explicit(&known[fd].trust, trust - 1, memory_order_relaxed);
	source->device = atomic_load_explicit(&known[fd].device, memory_order_relaxed);
	source->inode = atomic_load_explicit(&known[fd].inode, memory_order_relaxed);
	return 1;
}

/* `thread` NULL: without telling the path. */
static bool ask(int fd, struct rvp_thread *thread, struct source *source)
{
	struct stat file;

	if (fd < 0 || rvp_sys_fstat(fd, &file) != 0)
		return false;
	remember(fd, &file);
	if (!matters(&file))
		return false;
	*source = (struct source){file.st_dev, file.st_ino};
	if (thread && rvp_stack_has_room(thread))
		rvp_tell_file(thread, fd, &file);
	return true;
}

static bool is_from_file(int fd, uint64_t bytes, struct rvp_thread *thread, struct source *source)
{
	int recalled = fd < 0 ? 0 : recall(fd, bytes, source);

	return recalled >= 0 ? recalled : ask(fd, thread, source);
}

/* Changes with every record. */
static uint64_t word_of(const struct rvp_thread *thread)
{
	return atomic_load_explicit(&thread->slot->word, memory_order_relaxed);
}

/* Anything else that the thread records begins a new epoch. Only with a slot. */
static struct rvp_filled *place_of(struct rvp_thread *thread, uint64_t address)
{
	struct rvp_fills *fills = &thread->fills;
	struct rvp_filled *place =
	    &fills->places[(address >> 4 ^ address >> 12 ^ address >> 20) % RVP_FILLED_PLACES];

	uint64_t word = word_of(thread);

	if (fills->last_word != word) {
		fills->epoch++;
		fills->last_word = word;
	}
	if (place->address != address || place->epoch != fills->epoch)
		*place = (struct rvp_filled){.address = address, .epoch = fills->epoch};
	return place;
}

static bool is_known_buffer(struct rvp_thread *thread, uint64_t address, uint64_t bytes)
{
	const struct rvp_filled *place = place_of(thread, address);

	return place->count >= KNOWN_FILLS && bytes <= place->bytes;
}

static void count_fill(struct rvp_thread *thread, uint64_t address, uint64_t bytes)
{
	struct rvp_filled *place = place_of(thread, address);

	place->count++;
	if (bytes > place->bytes)
		place->bytes = bytes;
}

static uint64_t floor_bytes(void)
{
	uint64_t share = rvp_process.options.max_log_bytes / 64 / RECORD_BYTES + 1;
	uint64_t steps = atomic_load_explicit(&fill_count, memory_order_relaxed) / share;
	uint64_t floor_bits = 6 + 2 * steps;

	return 1ull << (floor_bits < HIGHEST_FLOOR_BITS ? floor_bits : HIGHEST_FLOOR_BITS);
}

static bool can_record(struct rvp_thread *thread)
{
	return rvp_process.buffers && !atomic_load(&rvp_process.locked) &&
	       !atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed) &&
	       rvp_folder_give_slot(thread);
}

static uint64_t offset_of(struct rvp_read read, uint64_t got)
{
	long now;

	if (read.offset != RVP_FILL_OFFSET_UNKNOWN || got < LARGE_BYTES)
		return read.offset;
	now = rvp_syscall6(SYS_lseek, read.fd, 0, SEEK_CUR, 0, 0, 0);
	if (now < 0 || (uint64_t)now < got + read.ahead_bytes)
		return RVP_FILL_OFFSET_UNKNOWN;
	return (uint64_t)now - got - read.ahead_bytes;
}

static void record(struct rvp_thread *thread, struct rvp_read read, struct source source, const void *to,
		   uint64_t got)
{
	if (got < floor_bytes()) {
		rvp_lose(RVP_LOSS_FILL, 1);
		return;
	}
	count_fill(thread, (uint64_t)to, got);
	atomic_fetch_add_explicit(&fill_count, 1, memory_order_relaxed);
	RVP_EMIT(thread, FILL, 0, .stamp = rvp_event_stamp(thread), .address = (uint64_t)to, .bytes = got,
		 .device = source.device, .inode = source.inode, .offset = read.offset, .how = read.how);
	thread->fills.last_word = word_of(thread);
}

/* A signal handler that reads while its thread is in a hook; rare enough to ask. */
static void read_beside(int fd, uint64_t got)
{
	struct source source;

	if (atomic_load(&rvp_process.state) == RVP_READY && !atomic_load(&rvp_process.locked) &&
	    rvp_local.phase != RVP_OUTSIDE && is_from_file(fd, got, NULL, &source))
		rvp_lose(RVP_LOSS_FILL, 1);
}

void rvp_on_read(struct rvp_read read, const void *to, size_t got)
{
	struct rvp_thread *thread = rvp_enter();
	struct source source;

	if (!thread) {
		read_beside(read.fd, got);
		return;
	}
	if (can_record(thread) && !is_known_buffer(thread, (uint64_t)to, got) &&
	    is_from_file(read.fd, got, thread, &source)) {
		read.offset = offset_of(read, got);
		record(thread, read, source, to, got);
	}
	rvp_leave(thread);
}

static void record_parts(struct rvp_thread *thread, struct rvp_read read, struct source source,
			 const struct iovec *parts, int count, uint64_t got)
{
	for (int i = 0; i < count && got; i++) {
		uint64_t bytes = parts[i].iov_len < got ? parts[i].iov_len : got;

		if (bytes >= RVP_READ_FLOOR_BYTES)
			record(thread, read, source, parts[i].iov_base, bytes);
		if (read.offset != RVP_FILL_OFFSET_UNKNOWN)
			read.offset += bytes;
		got -= bytes;
	}
}

void rvp_on_readv(struct rvp_read read, const struct iovec *parts, int count, size_t got)
{
	struct rvp_thread *thread = rvp_enter();
	struct source source;

	if (!thread) {
		read_beside(read.fd, got);
		return;
	}
	if (can_record(thread) && !is_known_buffer(thread, (uint64_t)parts->iov_base, parts->iov_len) &&
	    is_from_file(read.fd, got, thread, &source)) {
		read.offset = offset_of(read, got);
		record_parts(thread, read, source, parts, count, got);
	}
	rvp_leave(thread);
}

void rvp_reads_forget(int fd)
{
	if (fd >= 0 && fd < DESCRIPTORS)
		atomic_store_explicit(&known[fd].trust, 0, memory_order_relaxed);
}

void rvp_reads_forget_span(unsigned first, unsigned last)
{
	for (unsigned fd = first; fd <= last && fd < DESCRIPTORS; fd++)
		rvp_reads_forget((int)fd);
}

void rvp_reads_after_fork(void)
{
	atomic_store(&fill_count, 0);
	rvp_reads_forget_span(0, DESCRIPTORS);
}
