/* SPDX-License-Identifier: MIT */
/* told_run.c: see told_run.h. */
#include "tests/unit/told_run.h"

#include <check.h>
#include <string.h>

struct told_run told;

void told_open_log(void)
{
	told.maker = maker_open();
	told.thread = &maker_add(&told.maker, 100)->threads[0];
}

void told_open_run(void)
{
	maker_close(&told.maker);
	ck_assert(!rvp_failed(rvp_run_open(&told.run, told.maker.folder)));
	ck_assert(!rvp_failed(rvp_attribute(told.run, NULL, &told.attribution)));
}

void told_close_log(void)
{
	rvp_attribution_close(told.attribution);
	rvp_run_close(told.run);
	maker_remove(&told.maker);
}

struct rvp_text told_text(const char *bytes)
{
	return (struct rvp_text){bytes, strlen(bytes)};
}

void told_get(uint64_t stamp, uint64_t address, uint64_t bytes, uint64_t stack)
{
	MAKE(told.thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = stack);
}

void told_give(uint64_t stamp, uint64_t address)
{
	MAKE(told.thread, FREE, 0, .stamp = stamp, .address = address);
}

void told_tag(uint64_t stamp, uint64_t address, const char *category)
{
	MAKE(told.thread, TAG, 200, .stamp = stamp, .address = address, .category = told_text(category),
	     .name = told_text("a name"));
}

void told_step(uint64_t stamp, int kind, uint64_t seq_len)
{
	MAKE(told.thread, STEP, 64, .stamp = stamp, .kind = (uint64_t)kind, .source = RVP_SOURCE_API,
	     .phase = RVP_STEP_PHASE_NONE, .seq_len = seq_len);
}

void told_ask(struct rvp_observer *observer)
{
	struct rvp_observer *observers[] = {observer, NULL};

	ck_assert(!rvp_failed(rvp_analyse(
	    told.run, &(struct rvp_question){.observers = observers, .attribution = told.attribution}, &told.answer)));
}

void told_grow(uint64_t bytes, int growing, const char *category)
{
	for (int i = 0; i < STEPS; i++) {
		uint64_t begin = (uint64_t)(i + 1) * SPACE, address = 0x10000000u * (uint64_t)(i + 1);

		told_step(begin, RVP_STEP_BEGIN, 10 + (uint64_t)i);
		if (i < growing)
			told_get(begin + 1000, address, bytes, 0);
		if (i < growing && category)
			told_tag(begin + 2000, address, category);
		told_step(begin + SPACE / 2, RVP_STEP_END, 10 + (uint64_t)i);
	}
}
