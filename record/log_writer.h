/* SPDX-License-Identifier: MIT */
/* log_writer.h: writes a log from ordinary code: one slot in our own memory, chunks appended to a file.
 *
 * For the outside watcher, tests and tools; the library inside the program has its own way (preload/) over the same
 * slot.h. What is not flushed when the writer is killed is lost.
 */
#ifndef RVP_LOG_WRITER_H
#define RVP_LOG_WRITER_H

#include "record/encode.h"
#include "record/slot.h"
#include "record/status.h"

struct rvp_log_writer {
	int fd;
	uint64_t tail;
	struct rvp_slot *slot;
	struct rvp_delta delta;
	struct rvp_status status; /* the first failure; later calls do nothing */
	char path[RVP_STATUS_PATH_BYTES];
};

/* Makes `path` (which must not exist) with a file header. */
struct rvp_status rvp_log_writer_open(struct rvp_log_writer *writer, const char *path, uint64_t pid,
				      uint64_t start_ticks);

/* Room for a record; flushes when the slot is full. Never NULL. */
uint8_t *rvp_log_writer_room(struct rvp_log_writer *writer, uint64_t bytes);

/* Moves what is in the slot to the file. */
struct rvp_status rvp_log_writer_flush(struct rvp_log_writer *writer);

/* Flushes, closes; the first failure of all. */
struct rvp_status rvp_log_writer_close(struct rvp_log_writer *writer);

/* RVP_WRITE(&writer, ALLOC, 0, .stamp = .., .address = ..): `texts` is the length of its texts together. */
#define RVP_WRITE(writer, ID, texts, ...)                                                                    \
	do {                                                                                                 \
		uint8_t *rvp_at_ = rvp_log_writer_room(writer, rvp_record_max_bytes(texts));                 \
		rvp_slot_commit((writer)->slot, rvp_put_##ID(rvp_at_, &(writer)->delta,                      \
							     &(struct rvp_record_##ID){__VA_ARGS__}));       \
	} while (0)

#endif
