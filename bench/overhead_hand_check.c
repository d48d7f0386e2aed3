/* SPDX-License-Identifier: MIT */
/* overhead_hand_check.c: how many hand-overs of overhead_hand the reader matched wrongly.
 *
 *     overhead_hand_check RUN_FOLDER BLOCKS      prints: mismatched pairs, repaired inversions, matched pairs
 *
 * A thread gives back the other's blocks in the order in which they were made. So deaths by a FREE record
 * come in that order; a death that the matching inferred from the next alloc at the address may come early,
 * but once.
 */
#include "report/analysis.h"
#include "report/observer.h"

#include <stdio.h>
#include <stdlib.h>

enum { CYCLE = 4096, LEAST_BYTES = 2000 };

struct maker {
	uint64_t last;          /* number of the block that died last by a FREE, plus 1 */
	unsigned char *is_dead; /* by number */
};

struct check {
	struct rvp_observer observer;
	struct maker makers[2];
	uint64_t blocks, deaths, wrong;
};

/* The number of the block of so many bytes that is nearest to `about`. */
static uint64_t number_of(uint64_t bytes, uint64_t about)
{
	uint64_t in_cycle = (bytes - LEAST_BYTES) / 2, number = about / CYCLE * CYCLE + in_cycle;

	if (number > about + CYCLE / 2 && number >= CYCLE)
		return number - CYCLE;
	return number + CYCLE / 2 < about ? number + CYCLE : number;
}

static void died(struct check *check, const struct rvp_event *event)
{
	uint64_t bytes = event->block.bytes;
	struct maker *maker = &check->makers[bytes & 1];
	uint64_t number = number_of(bytes, maker->last);

	check->deaths++;
	if (number >= check->blocks || maker->is_dead[number]) {
		check->wrong++;
		return;
	}
	maker->is_dead[number] = 1;
	if (event->moment->record->kind != RVP_FREE)
		return;
	check->wrong += number + 1 <= maker->last;
	maker->last = number + 1 > maker->last ? number + 1 : maker->last;
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct check *check = (struct check *)observer;

	(void)state;
	if (event->kind == RVP_EVENT_DIED && event->block.bytes >= LEAST_BYTES &&
	    event->block.bytes < LEAST_BYTES + 2 * CYCLE)
		died(check, event);
}

static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	(void)observer, (void)state;
}

int main(int count, char **words)
{
	static struct check check = {.observer = {see, finish}};
	struct rvp_observer *observers[] = {&check.observer, NULL};
	struct rvp_analysis answer;
	struct rvp_run *run;

	check.blocks = count == 3 ? strtoull(words[2], NULL, 10) : 0;
	if (!check.blocks || rvp_failed(rvp_run_open(&run, words[1])))
		return 2;
	for (int i = 0; i < 2; i++)
		if (!(check.makers[i].is_dead = calloc(check.blocks, 1)))
			return 2;
	if (rvp_failed(rvp_analyse(run, &(struct rvp_question){.observers = observers}, &answer)))
		return 2;
	/* A few others are of such a size: libc's own for the thread. A block that never died is wrong. */
	for (int i = 0; i < 2; i++)
		for (uint64_t n = 0; n < check.blocks; n++)
			check.wrong += !check.makers[i].is_dead[n];
	printf("%lu %lu %lu\n", check.wrong, answer.totals.loss[RVP_LOSS_INVERSION], check.deaths);
	rvp_analysis_free(&answer);
	rvp_run_close(run);
	return 0;
}
