/* SPDX-License-Identifier: MIT */
/* steps.h: the steps of a run: what the program said, else what a known function said, else the period of the
 * allocation sequence, else none. A wrong step is worse than none.
 *
 * Invariants: steps are in order of begin_ns and do not overlap; phase spans likewise. Step 0 is the first.
 */
#ifndef RVP_REPORT_STEPS_H
#define RVP_REPORT_STEPS_H

#include "report/run.h"

struct rvp_step {
	uint64_t begin_ns, end_ns;
	uint64_t seq_len; /* 0: not known */
	uint64_t tokens;  /* 0: not known */
	uint32_t process;
	uint32_t phase;   /* enum rvp_step_phase */
	uint32_t tid;     /* of the thread that began it */
	bool is_open;     /* nobody ended it: it lasts to what came next, or to the end of its process */
	const char *name; /* never NULL; lives until the run is closed or the steps are freed */
};

/* A stretch of one phase: load before the first step, prefill, forward, backward, ... */
struct rvp_phase_span {
	uint64_t begin_ns, end_ns;
	uint32_t process;
	uint32_t phase;
};

struct rvp_steps {
	struct rvp_step *steps;
	size_t count;
	struct rvp_phase_span *spans;
	size_t span_count;
	const char *source;   /* as in summary.json: api, nvtx, function, python, detected, none */
	double confidence;    /* 1 when said; of a detected period its score; 0 for none */
	const char *why_none; /* one line; "" otherwise */
	uint64_t other_count; /* steps of the same source in other processes or threads: not in the list */
	uint64_t turn_count;  /* where few steps were told of, and the allocations turn many times: how often.
				 0: fine */
	uint64_t followed_count; /* steps in which writes were followed: slower than by themselves */
	void *texts;             /* own */
};

/* One pass over the timeline. Fails only without memory. */
struct rvp_status rvp_steps_find(const struct rvp_run *run, struct rvp_steps *steps);
void rvp_steps_free(struct rvp_steps *steps);

/* The last step that has begun at `ns`; -1: none yet. (It may have ended: see its end_ns.) */
int64_t rvp_step_at(const struct rvp_steps *steps, uint64_t ns);

/* Phase at `ns`, RVP_STEP_PHASE_NONE when none is known. */
uint32_t rvp_phase_at(const struct rvp_steps *steps, uint64_t ns);

#endif
