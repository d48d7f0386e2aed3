/* SPDX-License-Identifier: MIT */
/* steps_said.h: steps that somebody told of, by STEP records and by NVTX ranges with a step's name, before it
 * is decided whose steps are the run's. One entry is one outermost step of a thread (a NEXT: of a process).
 */
#ifndef RVP_REPORT_STEPS_SAID_H
#define RVP_REPORT_STEPS_SAID_H

#include "report/arena.h"
#include "report/steps.h"
#include "report/timeline.h"

struct rvp_said_step {
	struct rvp_step step;
	uint32_t source; /* enum rvp_source */
	uint16_t rank;   /* of a known function; 0: none */
	bool is_next;    /* lasts to the next NEXT */
	bool is_void;    /* ended as failed */
};

/* The phase changes within a step. */
struct rvp_said_phase {
	size_t step; /* in steps */
	uint64_t ns;
	uint32_t phase;
};

enum { RVP_SAID_NAMES = 64 };

struct rvp_said {
	const struct rvp_run *run;
	struct rvp_arena *arena; /* of the names */
	const char *names[RVP_SAID_NAMES]; /* the last ones, by hash */
	struct rvp_said_step *steps;
	size_t count, room;
	struct rvp_said_phase *phases;
	size_t phase_count, phase_room;
	struct rvp_said_lane *lanes;
	uint32_t lane_count;
	bool has_failed; /* without memory */
};

bool rvp_said_open(struct rvp_said *said, const struct rvp_run *run, struct rvp_arena *arena);
void rvp_said_take(struct rvp_said *said, const struct rvp_moment *moment);

/* Behind the last moment: what is open ends where its process did. */
void rvp_said_close(struct rvp_said *said);
void rvp_said_free(struct rvp_said *said);

/* The phase that a step's name says; RVP_STEP_PHASE_NONE: it says none. */
uint32_t rvp_phase_of_name(const char *name);

/* Whether an NVTX range of this name is a step: "step 12", "ProfilerStep#3", "decode_step". */
bool rvp_is_step_name(const char *text, size_t length);

#endif
