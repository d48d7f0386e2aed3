/* SPDX-License-Identifier: MIT */
/* attributed.h: a made run that was read: who says what its blocks are for, and the answers of one pass. */
#ifndef RVP_TESTS_ATTRIBUTED_H
#define RVP_TESTS_ATTRIBUTED_H

#include "report/analysis.h"
#include "report/attribution.h"
#include "tests/unit/run_maker.h"

struct attributed {
	struct rvp_run *run;
	struct rvp_attribution *attribution;
	struct rvp_analysis answer;
};

/* Closes what is being made and reads it. `settings` NULL: as a user has it. */
void attributed_open(struct attributed *it, struct maker *maker,
		     const struct rvp_attribution_settings *settings, const uint64_t *moments_ns,
		     size_t moment_count);
void attributed_close(struct attributed *it, struct maker *maker);

/* Live bytes of a purpose at a moment. */
uint64_t attributed_live(const struct attributed *it, const char *purpose, size_t moment);

bool attributed_has_note(const struct attributed *it, const char *words);

#endif
