/* SPDX-License-Identifier: MIT */
/* steps_holes.c: see steps_holes.h.
 *
 * In sampled mode a thread's aligned requests are recorded each only while it makes not too many a second.
 * Beyond, for a thousand of them or more, none is but those of threshold_bytes and more, and samples: the
 * turns in such a hole seem one, which has far fewer allocations than so many turns have. How many it is is
 * seen by a large block that the turn before had too: all of these are there. Without such a block it cannot
 * be known; then a hole anywhere, or with one more than a few turns (2 of 100) that do not add up, and the
 * others are not believed either. */
#include "report/steps_holes.h"

#include <stdlib.h>
#include <string.h>

struct mending {
	const struct rvp_step_events *events;
	const struct rvp_step_loop *loop;
	uint64_t usual_count; /* of allocations of a turn */
	uint32_t *begins;     /* the new ones */
	size_t count, bad_count;
};

static size_t end_of(const struct rvp_step_loop *loop, size_t turn)
{
	return turn + 1 < loop->count ? loop->begins[turn + 1] : loop->end + 1;
}

static uint64_t count_of(const struct rvp_step_loop *loop, size_t turn)
{
	return end_of(loop, turn) - loop->begins[turn];
}

static int compare_numbers(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

static void find_usual_count(struct mending *mending)
{
	for (size_t i = 0; i < mending->loop->count; i++)
		mending->begins[i] = (uint32_t)count_of(mending->loop, i);
	qsort(mending->begins, mending->loop->count, sizeof *mending->begins, compare_numbers);
	mending->usual_count = mending->begins[mending->loop->count / 2];
}

static bool is_usual(const struct mending *mending, size_t turn)
{
	uint64_t count = count_of(mending->loop, turn);

	return count * 5 >= mending->usual_count * 4 && count * 4 <= mending->usual_count * 5;
}

/* The first event of the turn with a large block; its end: there is none. */
static size_t first_large(const struct mending *mending, size_t turn)
{
	size_t at = mending->loop->begins[turn], end = end_of(mending->loop, turn);

	while (at < end && mending->events->events[at].bytes < mending->events->sure_bytes)
		at++;
	return at;
}

static size_t count_path(const struct mending *mending, size_t turn, uint32_t path)
{
	size_t count = 0;

	for (size_t i = mending->loop->begins[turn]; i < end_of(mending->loop, turn); i++)
		count += mending->events->events[i].path == path &&
			 mending->events->events[i].bytes >= mending->events->sure_bytes;
	return count;
}

static void put_part(struct mending *mending, size_t turn, uint32_t path, size_t per_turn)
{
	size_t seen = 0;

	for (size_t i = mending->loop->begins[turn]; i < end_of(mending->loop, turn); i++) {
		const struct rvp_step_event *event = &mending->events->events[i];

		if (event->path != path || event->bytes < mending->events->sure_bytes)
			continue;
		if (seen && seen % per_turn == 0)
			mending->begins[mending->count++] = (uint32_t)i;
		seen++;
	}
}

/* `like`: the last turn before that is usual. */
static void mend(struct mending *mending, size_t turn, size_t like)
{
	size_t first = first_large(mending, like), found, per_turn;
	uint32_t path;

	mending->begins[mending->count++] = mending->loop->begins[turn];
	if (first == end_of(mending->loop, like)) {
		mending->bad_count += mending->events->has_holes || !is_usual(mending, turn);
		return;
	}
	path = mending->events->events[first].path;
	per_turn = count_path(mending, like, path);
	found = count_path(mending, turn, path);
	if (count_of(mending->loop, turn) * 10 >= found / per_turn * mending->usual_count * 9)
		return; /* it is all there: a turn that does more */
	if (found % per_turn)
		mending->bad_count++;
	else
		put_part(mending, turn, path, per_turn);
}

static void mend_all(struct mending *mending)
{
	size_t like = 0, before;

	find_usual_count(mending);
	while (like + 1 < mending->loop->count && !is_usual(mending, like))
		like++;
	for (size_t i = 0; i < mending->loop->count; i++) {
		before = mending->count;
		mend(mending, i, like);
		if (is_usual(mending, i) && mending->count == before + 1)
			like = i;
	}
}

const char *rvp_step_holes_mend(const struct rvp_step_events *events, struct rvp_step_loop *loop)
{
	struct mending mending = {.events = events, .loop = loop};

	if (!events->sure_bytes)
		return "";
	mending.begins = malloc((events->count + loop->count) * sizeof *mending.begins);
	if (!mending.begins)
		return "there was too little memory to look";
	mend_all(&mending);
	free(loop->begins);
	loop->begins = mending.begins;
	loop->count = mending.count;
	return mending.bad_count * 50 > mending.count ? "what repeats came too fast to be recorded each time"
						      : "";
}
