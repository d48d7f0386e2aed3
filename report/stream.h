/* SPDX-License-Identifier: MIT */
/* stream.h: the records of one slot that happen at a time, in order, decoded a batch of allocs and frees ahead.
 *
 * Rules
 *   - What is at hand is a brief (next < brief_count), else the record.
 *   - A batch never leaves its chunk: `chunk` is that of what is at hand.
 *   - The room for a batch is taken at the second record and given back at the end, so that the many streams that
 *     have not begun, or are over, cost nothing.
 *
 * Invariant (M2): within a stream time never goes back: a record with an older stamp takes the time of the one before.
 */
#ifndef RVP_REPORT_STREAM_H
#define RVP_REPORT_STREAM_H

#include "report/block_table.h"
#include "report/brief.h"
#include "report/run_source.h"

enum { RVP_BRIEFS_MAX = 128 };

struct rvp_ahead_lane; /* read_ahead.h */

struct rvp_stream {
	uint64_t ns, stamp; /* of what is at hand */
	uint32_t next, brief_count;
	struct rvp_brief *briefs;
	const struct rvp_chunk *chunk, *chunks_end; /* chunk: the one at hand */
	const struct rvp_deferred *deferred;        /* not NULL: this one event is all */
	const struct rvp_process_source *source;    /* NULL: the watcher's */
	const struct rvp_block_table *expected_in;  /* addresses will be looked for there; may be NULL */
	struct rvp_ahead_lane *lane;                /* not NULL: batches come from there, briefs and all */
	uint32_t process, clock;
	uint32_t deferred_tid;
	bool has_record;                  /* behind the briefs */
	bool is_over;                     /* of a lane's: all is decoded */
	bool is_renumbered;               /* nodes of briefs have other numbers in the process's tables */
	uint64_t last_ns, last_stamp;     /* of what was decoded last */
	struct rvp_clock_segment segment; /* where that was */
	struct rvp_decoder decoder;
	struct rvp_record record;
};

/* Goes on behind what is at hand, or begins. False at the end. */
bool rvp_stream_advance(struct rvp_stream *stream, const struct rvp_run *run);

/* Decodes the next batch, for who keeps batches. False at the end. */
bool rvp_stream_decode(struct rvp_stream *stream, const struct rvp_run *run);

void rvp_stream_close(struct rvp_stream *stream);

#endif
