/* SPDX-License-Identifier: MIT */
/* read_ahead.h: a second thread that decodes what a timeline will want next (stream.h), while the first one
 * matches.
 *
 * Long streams have a lane each, 31 at most: a ring of batches, filled in order, mostly by the second thread. The
 * first one never waits for it: where no batch is ready it decodes one itself. So what comes out is what one
 * thread would have decoded, batch for batch, and a machine that has no processor to spare loses little.
 *
 * Rules
 *   - The thread lives as long as its timeline, and is not begun for what is read sooner than that is worth.
 *   - It sleeps while half of each ring is full: it is woken for some thousands of events at a time.
 *   - It touches lanes, logs, and tables that do not change while a timeline is read; nothing of the matching.
 */
#ifndef RVP_REPORT_READ_AHEAD_H
#define RVP_REPORT_READ_AHEAD_H

#include "report/stream.h"

struct rvp_read_ahead;

/* How many threads read a run from now on, 1 or 2; 0, as it is from the start: two where it is worth it and
 * the process may run on two processors. Not while one is read. */
void rvp_set_reading_threads(unsigned count);

/* Begins to decode ahead for those of the streams that are worth it. NULL: for none. The streams must not
 * move. */
struct rvp_read_ahead *rvp_read_ahead_open(const struct rvp_run *run, struct rvp_stream *streams,
					   uint32_t count);
void rvp_read_ahead_close(struct rvp_read_ahead *ahead);

/* For stream.c: the next batch of a stream with a lane is at hand in it. False at the end. */
bool rvp_read_ahead_take(struct rvp_ahead_lane *lane, struct rvp_stream *stream);

#endif
