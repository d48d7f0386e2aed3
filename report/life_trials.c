/* SPDX-License-Identifier: MIT */
/* life_trials.c: see life_trials.h. A few blocks are on trial at a time; a block that finds no place is not
 * tried. Most deaths are of none of them, which a sieve tells by one bit. */
#include "report/life_trials.h"

#include "report/path_spans.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 64, TRIALS_A_SITE = 64, CALLERS = 1 << 14, WRAPPER_CALLERS = 4, SIEVE_BITS = 1024 };

struct trial {
	uint64_t address;
	uint32_t process, stream, site, device;
	uint32_t scope;  /* native node that the thread must stay under; 0 with Python */
	uint32_t python; /* Python node that it must stay in; 0: native */
	bool is_open;
};

/* Return addresses out of malloc's callers, and from how many call paths they were seen (up to
 * WRAPPER_CALLERS). */
struct caller {
	uint64_t pc;
	uint32_t process;
	uint32_t last_parent;
	uint32_t count;
};

struct rvp_trials {
	struct rvp_path_spans *spans; /* by process; made at its first trial */
	size_t process_count;
	struct trial places[PLACES];
	unsigned open_count;
	uint64_t sieve[SIEVE_BITS / 64]; /* a bit an address on trial, and of some that were */
	unsigned ended_count;            /* since the sieve was made anew */
	struct caller callers[CALLERS];
};

struct rvp_trials *rvp_trials_open(size_t process_count)
{
	struct rvp_trials *trials = calloc(1, sizeof *trials);

	if (!trials)
		return NULL;
	trials->process_count = process_count;
	trials->spans = calloc(process_count + 1, sizeof *trials->spans);
	if (trials->spans)
		return trials;
	free(trials);
	return NULL;
}

/* Whether `pc` asks on behalf of many; a full table forgets, and then nothing is looked through. */
static bool is_wrapper(struct rvp_trials *trials, uint32_t process, uint64_t pc, uint32_t parent)
{
	size_t at = (size_t)((pc ^ process) * 0x9e3779b97f4a7c15u >> 50) % CALLERS;

	for (int i = 0; i < 8; i++, at = (at + 1) % CALLERS) {
		struct caller *caller = &trials->callers[at];

		if (caller->count && (caller->pc != pc || caller->process != process))
			continue;
		if (!caller->count)
			*caller = (struct caller){.pc = pc, .process = process};
		if ((!caller->count || caller->last_parent != parent) && caller->count < WRAPPER_CALLERS)
			caller->count++;
		caller->last_parent = parent;
		return caller->count >= WRAPPER_CALLERS;
	}
	return false;
}

/* The call path that everything in the block's operator is under; 0: cannot be told. */
static uint32_t scope_of(struct rvp_trials *trials, const struct rvp_process *process,
			 const struct rvp_site *site)
{
	const struct rvp_node *node = rvp_node_at(process, site->stack);
	uint32_t scope = node ? node->parent : 0;

	for (int i = 0; i < 4 && node && scope; i++) {
		if (!is_wrapper(trials, site->process, node->pc, scope))
			break;
		node = rvp_node_at(process, scope);
		scope = node ? node->parent : 0;
	}
	return scope;
}

static void put_into_sieve(struct rvp_trials *trials, uint64_t address)
{
	uint64_t bit = (address * 0x9e3779b97f4a7c15u >> 40) % SIEVE_BITS;

	trials->sieve[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool may_be_tried(const struct rvp_trials *trials, uint64_t address)
{
	uint64_t bit = (address * 0x9e3779b97f4a7c15u >> 40) % SIEVE_BITS;

	return trials->sieve[bit / 64] >> bit % 64 & 1;
}

static void renew_sieve(struct rvp_trials *trials)
{
	trials->ended_count = 0;
	memset(trials->sieve, 0, sizeof trials->sieve);
	for (int i = 0; i < PLACES; i++)
		if (trials->places[i].is_open)
			put_into_sieve(trials, trials->places[i].address);
}

static void end_trial(struct rvp_trials *trials, struct rvp_life *life, struct trial *trial, bool stayed)
{
	struct rvp_life_path *path;

	trial->is_open = false;
	trials->open_count--;
	if (++trials->ended_count == PLACES)
		renew_sieve(trials);
	path = rvp_life_path_of(life, trial->site);
	if (path && stayed)
		path->stayed++;
	else if (path)
		path->left++;
}

static bool stays(const struct rvp_trials *trials, const struct trial *trial, const struct rvp_site *site)
{
	if (trial->python)
		return site->python == trial->python;
	return site->stack && rvp_is_under(&trials->spans[trial->process], site->stack, trial->scope);
}

/* The thread asks again: is it still inside? */
static void see_others(struct rvp_trials *trials, struct rvp_life *life, const struct rvp_event *event,
		       const struct rvp_state *state)
{
	const struct rvp_site *site = &state->sites[event->block.site];

	for (int i = 0; i < PLACES && trials->open_count; i++) {
		struct trial *trial = &trials->places[i];

		if (trial->is_open && trial->process == event->moment->process &&
		    trial->device == rvp_block_device(&event->block) &&
		    trial->stream == event->block.stream && !stays(trials, trial, site))
			end_trial(trials, life, trial, false);
	}
}

static void begin_trial(struct rvp_trials *trials, const struct rvp_event *event,
			const struct rvp_state *state)
{
	const struct rvp_site *site = &state->sites[event->block.site];
	struct trial trial = {.address = event->block.address,
			      .process = event->moment->process,
			      .stream = event->block.stream,
			      .site = event->block.site,
			      .device = rvp_block_device(&event->block),
			      .python = site->python,
			      .is_open = true};

	trial.scope = scope_of(trials, &state->run->processes[trial.process], site);
	if (!trial.python && !trial.scope)
		return;
	if (!trial.python && !trials->spans[trial.process].spans &&
	    !rvp_path_spans_make(&trials->spans[trial.process], &state->run->processes[trial.process]))
		return;
	for (int i = 0; i < PLACES; i++)
		if (!trials->places[i].is_open) {
			trials->places[i] = trial;
			trials->open_count++;
			put_into_sieve(trials, trial.address);
			return;
		}
}

static bool is_tried_enough(struct rvp_life *life, uint32_t site)
{
	const struct rvp_life_path *path = rvp_life_path_of(life, site);

	return !path || path->stayed + path->left >= TRIALS_A_SITE;
}

static void see_death(struct rvp_trials *trials, struct rvp_life *life, const struct rvp_event *event)
{
	if (!may_be_tried(trials, event->block.address))
		return;
	for (int i = 0; i < PLACES && trials->open_count; i++) {
		struct trial *trial = &trials->places[i];

		if (trial->is_open && trial->address == event->block.address &&
		    trial->process == event->moment->process)
			end_trial(trials, life, trial, event->moment->stream == trial->stream);
	}
}

void rvp_trials_see(struct rvp_trials *trials, struct rvp_life *life, const struct rvp_event *event,
		    const struct rvp_state *state)
{
	if (event->kind > RVP_EVENT_RESTORED || event->block.flags & RVP_BLOCK_SAMPLED)
		return;
	if (event->kind == RVP_EVENT_DIED) {
		see_death(trials, life, event);
		return;
	}
	see_others(trials, life, event, state);
	if (!is_tried_enough(life, event->block.site))
		begin_trial(trials, event, state);
}

void rvp_trials_free(struct rvp_trials *trials)
{
	for (size_t i = 0; trials && i < trials->process_count; i++)
		rvp_path_spans_free(&trials->spans[i]);
	if (trials)
		free(trials->spans);
	free(trials);
}
