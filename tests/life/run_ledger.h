/* SPDX-License-Identifier: MIT */
/* run_ledger.h: what the raw files of a run say was counted and recorded, read with record/ alone, so that
 * the tests of recording do not stand on the code that reports.
 */
#ifndef RVP_TESTS_RUN_LEDGER_H
#define RVP_TESTS_RUN_LEDGER_H

#include "record/counters.h"
#include "record/names.h"
#include "record/status.h"

#include <stddef.h>
#include <stdint.h>

/* Records, or deferred events that are in a slot still. */
struct ledger_events {
	uint64_t allocs, frees, alloc_bytes;
	uint64_t unknown_frees; /* frees of an address that no ALLOC of this process gave out before */
	uint64_t samples, maps, unmaps, forks, execs, exits;
};

struct ledger_thread {
	uint32_t tid;
	struct ledger_events events;
	struct rvp_counters counters; /* of its slots; the first thread's are in the entry */
};

struct ledger_process {
	uint32_t entry, pid, state, exit_how, exit_status;
	uint32_t has_folder, is_fork, mode;
	struct rvp_counters counters; /* all of the process */
	struct ledger_events events;
	struct ledger_thread *threads;
	size_t thread_count;
	/* OWN_COST records; what the last one says is in the table of recorded blocks; events stamped after
	 * it. */
	uint64_t own_cost_count, own_cost_stamp, recorded_blocks, late_events;
	uint64_t timed_count, timed_ticks; /* of the last EVENT_COST */
	uint64_t loss[RVP_LOSS_COUNT];
	uint64_t lost_records; /* reasons that stand for whole records, and what the reader missed */
	uint64_t torn_chunks, missing_chunks, broken_chunks, log_bytes;
};

struct ledger {
	struct ledger_process *processes;
	size_t count;
	uint32_t mode;
	uint32_t is_folded;
	uint64_t log_bytes, max_log_bytes, unfollowed;
	uint64_t loss[RVP_LOSS_COUNT]; /* of processes without a folder */
};

struct rvp_status ledger_read(struct ledger *ledger, const char *run_folder);
void ledger_free(struct ledger *ledger);

/* The process with this pid that came `image`-th (from 0) in the tree; NULL: none. */
const struct ledger_process *ledger_find(const struct ledger *ledger, uint32_t pid, unsigned image);

const struct ledger_thread *ledger_thread(const struct ledger_process *process, uint32_t tid);

#endif
