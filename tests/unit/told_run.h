/* SPDX-License-Identifier: MIT */
/* told_run.h: one made run in which the program says what its blocks are for, and is asked about: for the tests of
 * answers. Addresses, stamps and sizes are the test's own. */
#ifndef RVP_TESTS_TOLD_RUN_H
#define RVP_TESTS_TOLD_RUN_H

#include "report/analysis.h"
#include "report/attribution.h"
#include "tests/unit/run_maker.h"

extern struct told_run {
	struct maker maker;
	struct maker_thread *thread;
	struct rvp_run *run;
	struct rvp_attribution *attribution;
	struct rvp_analysis answer;
} told;

/* Begin to make it; read what was made; close it. */
void told_open_log(void);
void told_open_run(void);
void told_close_log(void);

struct rvp_text told_text(const char *bytes);
void told_get(uint64_t stamp, uint64_t address, uint64_t bytes, uint64_t stack);
void told_give(uint64_t stamp, uint64_t address);
void told_tag(uint64_t stamp, uint64_t address, const char *category);
void told_step(uint64_t stamp, int kind, uint64_t seq_len);

/* One pass with this observer, into told.answer. */
void told_ask(struct rvp_observer *observer);

enum { STEPS = 12, SPACE = 100000 };

/* A block a step of the first `growing` ones, of that category (NULL: nobody says). */
void told_grow(uint64_t bytes, int growing, const char *category);

#endif
