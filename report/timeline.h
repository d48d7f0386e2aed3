/* SPDX-License-Identifier: MIT */
/* timeline.h: all records with a time, of all processes and the watcher, one after the other in order of
 * time.
 *
 * A slot is a stream whose records are in order; streams are merged by time, then stamp. Between the records
 * come the begin and the end of each process: a process's records all lie between its two. Memory: a stream a
 * slot. Texts of a record live until the run is closed.
 */
#ifndef RVP_REPORT_TIMELINE_H
#define RVP_REPORT_TIMELINE_H

#include "report/block_table.h"
#include "report/brief.h"
#include "report/run.h"

enum rvp_moment_kind { RVP_MOMENT_RECORD, RVP_MOMENT_BEGIN, RVP_MOMENT_END };

struct rvp_moment {
	enum rvp_moment_kind kind;
	uint64_t ns;
	uint32_t process;                /* RVP_NO_PROCESS: of the watcher */
	uint32_t stream;                 /* of a record: below rvp_timeline_streams */
	uint32_t tid;                    /* of a record: its thread's */
	uint64_t thread_serial;          /* of a record: which of the stream's threads */
	const struct rvp_record *record; /* until the next call */
};

struct rvp_timeline;

/* All processes, or the one named (`only`), whose records come without begin and end. NULL without memory. */
struct rvp_timeline *rvp_timeline_open(const struct rvp_run *run, uint32_t only);
uint32_t rvp_timeline_streams(const struct rvp_timeline *timeline);

/* What comes next: one moment (*briefs is NULL), or a run of allocs and frees of one stream, one after the other: then
 * `moment` says where from, with the time of the first and no record of its own. How many; 0 at the end. They hold
 * until the next call. */
size_t rvp_timeline_take(struct rvp_timeline *timeline, struct rvp_moment *moment,
			 const struct rvp_brief **briefs);

/* By process: in which table the addresses of allocs and frees will be looked for. While they are decoded, a while
 * before they are handed out, their places are fetched. */
void rvp_timeline_expect(struct rvp_timeline *timeline, const struct rvp_block_table *tables);

/* The same one by one, for who does not mind. False at the end. */
bool rvp_timeline_next(struct rvp_timeline *timeline, struct rvp_moment *moment);

void rvp_timeline_close(struct rvp_timeline *timeline);

#endif
