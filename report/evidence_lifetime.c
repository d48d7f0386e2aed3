/* SPDX-License-Identifier: MIT */
/* evidence_lifetime.c: what blocks are for by how long they live, for programs that have no names at all.
 *
 * Growing: live bytes of a call path at the borders between steps go up, again and again, and hardly ever
 * down: a store that is kept for later steps. It is called kv_cache only where it has siblings (keys and
 * values, layers: two and more blocks of one size in one step, or another call path that grows by the same
 * bytes at the same steps) or grows by the same bytes each time; a lone store that grows unevenly is a list
 * or a log.
 *
 * A store that doubles does so seldom, and the prompt's share of it is asked for by another caller. So what a
 * grower took over counts as growth too: as many blocks of another call path as it has siblings all went in the
 * step of its first growth, none is left there, and they were smaller.
 *
 * Replaced: blocks of another call path that lived until the growing ones took over, and were about as large,
 * are the cache of the prompt. Joined: so are those that came in steps and stay, are as large as the growing
 * ones, and were asked for at the same place of the program by another caller.
 *
 * Passing: nearly all blocks go in the step of their birth, or in the next where the border lies inside a
 * step. They are temp where they go before their operator is done (life_trials.h), else activation. In
 * training, what goes from the forward into the backward phase is activation, and what is born and dies in
 * one of them is temp. What came too seldom to say so, and went like these, is what the same place of the
 * program, called by another caller, says: the prompt goes through the model once.
 *
 * Staying: everything else was there from the start or never went, and nothing is said. A weight cannot be
 * told from a preallocated cache by its life; saying so would be a guess.
 *
 * Thresholds, each with its reason, are the constants below. Without steps nothing is said.
 */
#include "report/attribution.h"
#include "report/life_sites.h"
#include "report/life_trials.h"

#include <stdlib.h>
#include <string.h>

/* Two borders prove nothing, and a rhythm of fewer steps than this was not seen often enough to be one. */
enum { LEAST_STEPS = 4, LEAST_INCREASES = 3 };
/* A cache that does not matter to anybody: below this share of the peak, and below this many bytes. */
static const uint64_t least_growth_bytes = 16384;
enum { LEAST_GROWTH_SHARE = 500 };
/* Decreases: a new sequence may begin; a pool that breathes goes down as often as up. */
enum { INCREASES_A_DECREASE = 4 };
/* "Nearly all": the last blocks of a run, and those around a border, may do otherwise. */
enum { NEARLY_PERCENT = 95 };
enum { GROWTH_CONFIDENCE = 80, LONE_CONFIDENCE = 60, REPLACED_CONFIDENCE = 70, PASSING_CONFIDENCE = 70 };

struct lifetime {
	struct rvp_evidence_source source; /* first */
	struct rvp_life life;
	struct rvp_trials *trials;
	uint64_t peak_bytes; /* of what is tracked */
	bool is_open;
	bool has_backward; /* training: some step has a backward phase */
};

/* Who says what a step is knows where each one ends; a rhythm must have been seen. */
static size_t least_steps(const struct rvp_steps *steps)
{
	return strcmp(steps->source, "detected") == 0 ? LEAST_STEPS : 1;
}

static void open_life(struct lifetime *lifetime)
{
	const struct rvp_steps *steps = rvp_attribution_steps(lifetime->source.attribution);

	rvp_life_open(&lifetime->life, steps);
	lifetime->is_open = true;
	for (size_t i = 0; i < steps->span_count; i++)
		lifetime->has_backward |= steps->spans[i].phase == RVP_STEP_PHASE_BACKWARD;
}

static void survey(struct rvp_evidence_source *source, const struct rvp_event *event,
		   const struct rvp_state *state)
{
	struct lifetime *lifetime = (struct lifetime *)source;

	if (!lifetime->is_open)
		open_life(lifetime);
	if (lifetime->life.steps->count < least_steps(lifetime->life.steps))
		return;
	if (event->kind <= RVP_EVENT_RESTORED && event->block.flags & RVP_BLOCK_POOL)
		return;
	if (state->tracked.amount.bytes > lifetime->peak_bytes)
		lifetime->peak_bytes = state->tracked.amount.bytes;
	rvp_life_see(&lifetime->life, event);
	rvp_trials_see(lifetime->trials, &lifetime->life, event, state);
}

static bool minds(struct rvp_evidence_source *source)
{
	const struct rvp_steps *steps = rvp_attribution_steps(source->attribution);

	return steps->count >= least_steps(steps);
}

/* ---- growth ---- */

static uint64_t least_bytes(const struct lifetime *lifetime)
{
	uint64_t share = lifetime->peak_bytes / LEAST_GROWTH_SHARE;

	return share > least_growth_bytes ? share : least_growth_bytes;
}

/* What went when `site` began to grow, and was the same store before. */
static bool went_on_as(const struct rvp_life_site *old, const struct rvp_life_site *site, const struct rvp_state *state)
{
	return old != site && old->last_crossing_step == site->first_growth_step && !old->border_bytes &&
	       old->last_crossing_count == site->most_siblings &&
	       old->last_crossing_bytes < site->most_border_bytes &&
	       state->sites[old->number].device == state->sites[site->number].device;
}

static uint32_t count_increases(const struct rvp_life *life, const struct rvp_life_site *site,
				const struct rvp_state *state)
{
	uint32_t before = 0;

	if (site->increases >= LEAST_INCREASES || !site->increases || site->most_siblings < 2)
		return site->increases;
	for (size_t i = 0; i < life->count; i++) {
		uint32_t increases = life->sites[i].increases ? life->sites[i].increases : 1;

		if (increases > before && went_on_as(&life->sites[i], site, state))
			before = increases;
	}
	return site->increases + before;
}

static bool grows(const struct rvp_life *life, const struct rvp_life_site *site, uint64_t least,
		  const struct rvp_state *state)
{
	return site->decreases * INCREASES_A_DECREASE <= site->increases && site->most_border_bytes >= least &&
	       site->grown_bytes * 2 >= site->most_border_bytes &&
	       count_increases(life, site, state) >= LEAST_INCREASES;
}

static bool grows_evenly(const struct rvp_life_site *site)
{
	return site->equal_increases + 1 >= site->increases / 100 * NEARLY_PERCENT &&
	       (site->equal_increases + 1) * 100 >= site->increases * NEARLY_PERCENT;
}

/* Another call path that does the same at the same time: keys and values on two lines of the program. */
static bool has_twin(const struct rvp_life *life, const struct rvp_life_site *site, uint64_t least,
		     const struct rvp_state *state)
{
	for (size_t i = 0; i < life->count; i++) {
		const struct rvp_life_site *other = &life->sites[i];

		if (other != site && other->increases == site->increases &&
		    other->grown_bytes == site->grown_bytes &&
		    other->first_growth_step == site->first_growth_step &&
		    grows(life, other, least, state))
			return true;
	}
	return false;
}

static struct rvp_verdict verdict_of(enum rvp_category category, uint8_t confidence, uint32_t reason)
{
	return (struct rvp_verdict){.purpose = (uint16_t)category,
				    .evidence = RVP_EVIDENCE_LIFETIME,
				    .confidence = confidence,
				    .reason = reason};
}

static void claim_grower(struct lifetime *lifetime, const struct rvp_life_site *site, uint8_t confidence)
{
	struct rvp_attribution *attribution = lifetime->source.attribution;
	uint32_t reason =
	    rvp_reason(attribution, "grew at %u borders between steps, by %llu bytes in all, shrank at %u",
		       site->increases, (unsigned long long)site->grown_bytes, site->decreases);

	rvp_claim_site(attribution, site->number, verdict_of(RVP_CATEGORY_KV_CACHE, confidence, reason), 0,
		       UINT64_MAX);
}

static bool is_replaced_by(const struct rvp_life_site *old, const struct rvp_life_site *grower)
{
	return old->crossed_once && old->crossing_step == grower->first_growth_step &&
	       old->crossing_count >= 2 && old->crossing_bytes <= grower->most_border_bytes &&
	       old->crossing_bytes * 2 >= grower->grown_bytes / (grower->increases ? grower->increases : 1);
}

static void claim_replaced(struct lifetime *lifetime, const struct rvp_life_site *grower, const struct rvp_state *state)
{
	struct rvp_attribution *attribution = lifetime->source.attribution;

	for (size_t i = 0; i < lifetime->life.crosser_count; i++) {
		const struct rvp_life_crosser *crosser = &lifetime->life.crossers[i];
		const struct rvp_life_site *old = rvp_life_site_of(&lifetime->life, crosser->site);

		if (old == grower || !is_replaced_by(old, grower) ||
		    state->sites[crosser->site].device != state->sites[grower->number].device)
			continue;
		rvp_claim_block(
		    attribution, crosser->key,
		    verdict_of(RVP_CATEGORY_KV_CACHE, REPLACED_CONFIDENCE,
			       rvp_reason(attribution, "lived until a growing store took its place")),
		    0);
	}
}

/* What grew itself, and went on as this one: its decrease is no end of it. */
static void claim_forerunners(struct lifetime *lifetime, const struct rvp_life_site *grower,
			      const struct rvp_state *state)
{
	struct rvp_attribution *attribution = lifetime->source.attribution;

	for (uint32_t i = 0; grower->most_siblings >= 2 && i < lifetime->life.count; i++) {
		const struct rvp_life_site *old = &lifetime->life.sites[i];

		if (old->increases >= 2 && old->decreases <= 1 && went_on_as(old, grower, state))
			rvp_claim_site(attribution, old->number,
				       verdict_of(RVP_CATEGORY_KV_CACHE, REPLACED_CONFIDENCE,
						  rvp_reason(attribution, "grew, and a growing store went on from it")),
				       0, UINT64_MAX);
	}
}

static uint64_t place_of(const struct rvp_state *state, uint32_t number)
{
	const struct rvp_site *site = &state->sites[number];
	const struct rvp_node *node = rvp_node_at(&state->run->processes[site->process], site->stack);

	return node ? node->pc : 0;
}

/* Came in steps, stays, and is asked for at the same place in the same size. */
static bool joins(const struct rvp_life_site *site, const struct rvp_life_site *grower)
{
	return site != grower && site->born_count >= 2 && site->border_bytes == site->born_bytes &&
	       site->last_born_bytes == grower->last_born_bytes;
}

static void claim_joined(struct lifetime *lifetime, const struct rvp_life_site *grower, const struct rvp_state *state)
{
	struct rvp_life *life = &lifetime->life;
	struct rvp_attribution *attribution = lifetime->source.attribution;
	uint64_t place = place_of(state, grower->number);

	for (const struct rvp_life_site *site = life->sites; place && site < life->sites + life->count; site++)
		if (joins(site, grower) && place_of(state, site->number) == place &&
		    state->sites[site->number].device == state->sites[grower->number].device)
			rvp_claim_site(
			    attribution, site->number,
			    verdict_of(RVP_CATEGORY_KV_CACHE, REPLACED_CONFIDENCE,
				       rvp_reason(attribution, "stays, as large as what a growing store "
							       "asks for at the same place")),
			    0, UINT64_MAX);
}

/* ---- what passes ---- */

static bool passes(const struct lifetime *lifetime, const struct rvp_life_site *site)
{
	uint64_t passed = site->within_step_bytes + site->next_step_bytes;

	return site->born_count >= least_steps(lifetime->life.steps) &&
	       passed >= site->born_bytes / 100 * NEARLY_PERCENT &&
	       passed * 100 >= site->born_bytes * NEARLY_PERCENT;
}

static bool is_within(const struct rvp_life_site *site)
{
	return site->within_step_bytes * 100 >= site->born_bytes * NEARLY_PERCENT;
}

static bool is_temp(const struct lifetime *lifetime, const struct rvp_life_site *site)
{
	const struct rvp_life_path *path = &lifetime->life.paths[site->number];
	uint64_t one_phase_bytes = site->backward_bytes + site->forward_bytes;

	if (site->other_phase_bytes * 2 >= site->born_bytes || !is_within(site))
		return false;
	if (lifetime->has_backward && one_phase_bytes * 2 >= site->born_bytes)
		return true;
	return path->stayed > path->left && site->span_ns * 2 < site->step_ns;
}

static void claim_passing(struct lifetime *lifetime, uint32_t number, bool temp)
{
	struct rvp_attribution *attribution = lifetime->source.attribution;
	uint32_t reason = rvp_reason(attribution, temp ? "goes within its step, before its operator is done"
						       : "goes within its step or the next");

	rvp_claim_site(
	    attribution, number,
	    verdict_of(temp ? RVP_CATEGORY_TEMP : RVP_CATEGORY_ACTIVATION, PASSING_CONFIDENCE, reason), 0,
	    UINT64_MAX);
}

/* A call path without its callers: in Python the instruction of the innermost frame and the native frames
 * (since 3.11 they do not tell Python's callers apart), else the innermost two native frames. */
struct place {
	uint64_t process, inner, outer;
	uint32_t site;
	bool is_temp;
};

static bool find_place(const struct rvp_state *state, uint32_t number, struct place *place)
{
	const struct rvp_site *site = &state->sites[number];
	const struct rvp_process *process = &state->run->processes[site->process];
	const struct rvp_node *node = rvp_node_at(process, site->stack);
	const struct rvp_node *parent = node ? rvp_node_at(process, node->parent) : NULL;
	const struct rvp_python_node *frame = rvp_python_node_at(process, site->python);

	*place = (struct place){.process = site->process, .site = number};
	if (!parent)
		return false;
	place->inner = frame ? site->stack : node->pc;
	place->outer = frame ? ~((uint64_t)frame->code << 32 | frame->instruction) : parent->pc;
	return true;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->inner != b->inner)
		return a->inner < b->inner ? -1 : 1;
	return a->outer < b->outer ? -1 : a->outer > b->outer;
}

static bool passed_too_seldom(const struct lifetime *lifetime, const struct rvp_life_site *site)
{
	return site->born_count && site->born_count < least_steps(lifetime->life.steps) &&
	       site->within_step_bytes + site->next_step_bytes == site->born_bytes;
}

/* `passing`: the places of what passes. Where their purposes differ nothing is said. */
static void claim_seldom(struct lifetime *lifetime, struct place *passing, size_t count,
			 const struct rvp_state *state)
{
	qsort(passing, count, sizeof *passing, compare_places);
	for (size_t i = 0; i < lifetime->life.count; i++) {
		const struct rvp_life_site *site = &lifetime->life.sites[i];
		const struct place *found;
		struct place place;
		bool differ = false;

		if (!passed_too_seldom(lifetime, site) || !find_place(state, site->number, &place))
			continue;
		found = bsearch(&place, passing, count, sizeof place, compare_places);
		if (!found)
			continue;
		while (found > passing && compare_places(found - 1, &place) == 0)
			found--;
		for (const struct place *next = found + 1;
		     next < passing + count && compare_places(next, &place) == 0; next++)
			differ |= next->is_temp != found->is_temp;
		if (!differ)
			claim_passing(lifetime, site->number, found->is_temp);
	}
}

static void claim_all_passing(struct lifetime *lifetime, const bool *is_claimed,
			      const struct rvp_state *state)
{
	struct rvp_life *life = &lifetime->life;
	struct place *passing = malloc((life->count + 1) * sizeof *passing);
	size_t count = 0;

	for (size_t i = 0; i < life->count; i++) {
		const struct rvp_life_site *site = &life->sites[i];
		struct place place;

		if (is_claimed[i] || !passes(lifetime, site))
			continue;
		claim_passing(lifetime, site->number, is_temp(lifetime, site));
		if (!passing || !find_place(state, site->number, &place))
			continue;
		place.is_temp = is_temp(lifetime, site);
		passing[count++] = place;
	}
	if (passing)
		claim_seldom(lifetime, passing, count, state);
	free(passing);
}

static void survey_end(struct rvp_evidence_source *source, const struct rvp_state *state)
{
	struct lifetime *lifetime = (struct lifetime *)source;
	struct rvp_life *life = &lifetime->life;
	uint64_t least = least_bytes(lifetime);
	bool *is_claimed;

	if (!lifetime->is_open || life->steps->count < least_steps(life->steps))
		return;
	rvp_life_settle(life);
	if (life->steps->count < LEAST_STEPS)
		least = UINT64_MAX; /* nothing can have grown */
	is_claimed = calloc(life->count + 1, sizeof *is_claimed);
	for (size_t i = 0; is_claimed && i < life->count; i++) {
		const struct rvp_life_site *site = &life->sites[i];

		is_claimed[i] = true;
		if (grows(life, site, least, state) &&
		    (site->most_siblings >= 2 || has_twin(life, site, least, state))) {
			claim_grower(lifetime, site, GROWTH_CONFIDENCE);
			claim_replaced(lifetime, site, state);
			claim_forerunners(lifetime, site, state);
			claim_joined(lifetime, site, state);
		} else if (grows(life, site, least, state) && grows_evenly(site)) {
			claim_grower(lifetime, site, LONE_CONFIDENCE);
		} else {
			is_claimed[i] = false;
		}
	}
	if (is_claimed)
		claim_all_passing(lifetime, is_claimed, state);
	free(is_claimed);
}

static void close_lifetime(struct rvp_evidence_source *source)
{
	struct lifetime *lifetime = (struct lifetime *)source;

	rvp_life_free(&lifetime->life);
	rvp_trials_free(lifetime->trials);
	free(lifetime);
}

struct rvp_evidence_source *rvp_evidence_lifetime(struct rvp_attribution *attribution)
{
	struct lifetime *lifetime = calloc(1, sizeof *lifetime);

	if (!lifetime)
		return NULL;
	lifetime->trials = rvp_trials_open(rvp_attribution_run(attribution)->process_count);
	if (!lifetime->trials) {
		free(lifetime);
		return NULL;
	}
	lifetime->source.survey = survey;
	lifetime->source.minds = minds;
	lifetime->source.survey_end = survey_end;
	lifetime->source.close = close_lifetime;
	return &lifetime->source;
}
