/* SPDX-License-Identifier: MIT */
/* run_maker.h: makes run folders with known contents: processes, threads (slots), records, counters.
 *
 *     struct maker maker = maker_open();
 *     struct maker_process *process = maker_add(&maker, 100);              // PROCESS and ANCHORs are written
 *     struct maker_thread *thread = maker_thread(process);
 *     MAKE(thread, ALLOC, 0, .stamp = 2000, .address = 0x1000, .bytes = 64);
 *     maker_close(&maker);                                                 // what is not sealed stays in the
 * buffers
 *     ... maker.folder ...
 *     maker_remove(&maker);
 *
 * Stamps are CLOCK_MONOTONIC ns; stamp s is UNIX ns MAKER_EPOCH_NS + s.
 */
#ifndef RVP_TESTS_RUN_MAKER_H
#define RVP_TESTS_RUN_MAKER_H

#include "record/encode.h"
#include "record/slot.h"
#include "record/tree.h"

#include <stddef.h>

#define MAKER_EPOCH_NS 1700000000000000000u
#define MAKER_END_NS   10000000000u /* the last anchor, and when processes that end do end */

enum { MAKER_THREADS_MAX = 8, MAKER_PROCESSES_MAX = 16 };

struct maker_thread {
	struct maker_process *process;
	struct rvp_slot *slot; /* in process->buffers */
	uint32_t number;
	struct rvp_delta delta;
};

struct maker_process {
	struct maker *maker;
	uint32_t pid;
	struct rvp_tree_entry entry;
	struct rvp_buffers *buffers;
	char *log;
	size_t log_bytes;
	struct maker_thread threads[MAKER_THREADS_MAX];
	uint32_t thread_count;
	char folder[128];
};

struct maker {
	char folder[64];
	struct rvp_tree tree;
	struct maker_process *processes[MAKER_PROCESSES_MAX];
	uint32_t process_count;
};

struct maker maker_open(void);

/* A process in full mode that has exited. Change ->entry before maker_close for anything else. */
struct maker_process *maker_add(struct maker *maker, uint32_t pid);

/* The same, and its PROCESS record is this one (pid and clock are filled in). */
struct maker_process *maker_add_with(struct maker *maker, uint32_t pid, struct rvp_record_PROCESS record);

/* A further thread; the first is there already: &process->threads[0]. */
struct maker_thread *maker_thread(struct maker_process *process);

uint8_t *maker_room(struct maker_thread *thread, uint64_t bytes);
void maker_commit(struct maker_thread *thread, const uint8_t *end, int kind, uint64_t bytes);

/* Moves what is open to the log. */
void maker_seal(struct maker_thread *thread);

void maker_close(struct maker *maker);
void maker_remove(struct maker *maker);

/* Counts as the library would: allocs, frees, bytes, records. */
/* An ALLOC or a FREE as the compact event that full mode writes, where RVP_MAKE_EVENTS=1 is set: what is true of a log must be
 * true of it either way. NULL: it is to be a record. */
uint8_t *maker_put_event(struct maker_thread *thread, uint8_t *at, int kind, const void *record);

#define MAKE(thread, ID, texts, ...)                                                          \
	do {                                                                                  \
		struct rvp_record_##ID record_ = {__VA_ARGS__};                               \
		uint8_t *at_ = maker_room(thread, 64 + rvp_record_max_bytes(texts));          \
		uint8_t *end_ = maker_put_event(thread, at_, RVP_##ID, &record_);             \
		maker_commit(thread, end_ ? end_ : rvp_put_##ID(at_, &(thread)->delta, &record_), RVP_##ID, \
			     RVP_##ID == RVP_ALLOC || RVP_##ID == RVP_SAMPLE                  \
				 ? ((const uint64_t *)(const void *)&record_)[2]              \
				 : 0);                                                        \
	} while (0)

#endif
