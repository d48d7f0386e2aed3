/* SPDX-License-Identifier: MIT */
/* log_reader.h: finds the chunks of one process: in its log, and those that were still in its buffers.
 *
 * Works on a living process too: buffers are copied before the log is looked at, so that a chunk which moves in
 * between is seen at least once, and (slot, sequence) makes that exactly once.
 */
#ifndef RVP_LOG_READER_H
#define RVP_LOG_READER_H

#include "record/fold.h"
#include "record/slot.h"
#include "record/status.h"

struct rvp_chunk {
	const uint8_t *payload;
	uint32_t payload_bytes;
	uint32_t slot;
	uint32_t tid;
	uint32_t is_open; /* 1: it was still in a buffer; its payload may be empty */
	uint64_t thread_serial;
	uint64_t sequence;
};

struct rvp_log {
	struct rvp_chunk *chunks; /* by slot, then sequence; each (slot, sequence) once */
	size_t chunk_count;
	struct rvp_file_header file;    /* of the log, or of the buffers where there is no log yet */
	struct rvp_counters counters;   /* sum over the slots, records of open chunks counted in */
	uint64_t loss[RVP_LOSS_COUNT];  /* what the process itself counted */
	uint64_t own_bytes, node_count, python_node_count, recorded_blocks;
	uint32_t tree_entry;
	uint32_t has_buffers;           /* 0: a log alone (the watcher's), counters are zero */
	struct rvp_deferred *deferred;  /* events of signal handlers that no hook had yet turned into records, by slot */
	uint32_t *deferred_tid;
	size_t deferred_count;
	struct rvp_fold *folds; /* sums by call path of a log that met its bound; entries with a key, and the rest */
	size_t fold_count;
	uint64_t folds_damaged; /* 1: there is a table of sums that can't be read */

	/* What was found damaged. */
	uint64_t torn_chunks;    /* a good header, but the payload is cut or changed, and no buffer has it */
	uint64_t missing_chunks; /* a sequence number that is nowhere */
	uint64_t doubled_chunks; /* in log and buffer, or twice in the log: harmless, taken once */
	uint64_t skipped_bytes;  /* neither chunk nor zeros */
	uint64_t log_bytes; /* of the log as it was recorded */
	uint64_t packed_bytes; /* of the packed log that it was read from; 0: of none */
	uint64_t damaged_pieces; /* of that */

	bool is_of_file; /* its pages can be had again from a file */

	/* The reader's own. */
	void *log_map, *buffers_copy;
	size_t log_map_bytes, buffers_bytes;
};

/* Reads the chunks of `log_path` (may be absent when there are buffers) and `buffers_path` (may be NULL).
 * Errors: a file that cannot be read, that is no log, or of another format version. Damage is no error. */
struct rvp_status rvp_log_open(struct rvp_log *log, const char *log_path, const char *buffers_path);

/* The same for RVP_LOG_FILE, or RVP_PACKED_FILE where there is none, and RVP_BUFFER_FILE in `folder`. */
struct rvp_status rvp_log_open_folder(struct rvp_log *log, const char *folder);

/* Gives the pages of a large log's bytes back that were gone through; they are there again when somebody looks. Any thread
 * may, while others read. */
enum { RVP_LET_GO_LEAST_BYTES = 64 << 20 };
void rvp_log_let_go(const struct rvp_log *log, const uint8_t *begin, const uint8_t *end);

/* The same of a chunk, unless it is a buffer's. */
static inline void rvp_chunk_let_go(const struct rvp_log *log, const struct rvp_chunk *chunk)
{
	if (!chunk->is_open)
		rvp_log_let_go(log, chunk->payload, chunk->payload + chunk->payload_bytes);
}

void rvp_log_close(struct rvp_log *log);

/* A file header as it must be: magic, checksum, version. `path` is for the message. */
struct rvp_status rvp_file_header_check(const struct rvp_file_header *header, const char *magic, const char *path);

#endif
