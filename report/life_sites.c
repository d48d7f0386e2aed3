/* SPDX-License-Identifier: MIT */
/* life_sites.c: see life_sites.h. */
#include "report/life_sites.h"

#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t least_crosser_bytes = 4096;
enum { CROSSERS_MAX = 1 << 16 };

void rvp_life_open(struct rvp_life *life, const struct rvp_steps *steps)
{
	*life = (struct rvp_life){.steps = steps, .present = -1};
}

struct rvp_life_path *rvp_life_path_of(struct rvp_life *life, uint32_t number)
{
	if (rvp_grow((void **)&life->paths, &life->path_count, (size_t)number + 1, sizeof *life->paths))
		return &life->paths[number];
	life->no_memory = true;
	return NULL;
}

struct rvp_life_site *rvp_life_site_of(const struct rvp_life *life, uint32_t number)
{
	return &life->sites[life->paths[number].row - 1];
}

static struct rvp_life_site *add_site(struct rvp_life *life, struct rvp_life_path *path, uint32_t number)
{
	if (!rvp_grow((void **)&life->sites, &life->room, life->count + 1, sizeof *life->sites)) {
		life->no_memory = true;
		return NULL;
	}
	life->sites[life->count] = (struct rvp_life_site){.number = number,
							  .live_bytes = path->live_bytes,
							  .last_step = -1,
							  .first_growth_step = -1,
							  .crossing_step = -1,
							  .last_crossing_step = -1};
	path->row = (uint32_t)++life->count;
	return &life->sites[life->count - 1];
}

/* What is live now is what was live at the border behind last_step, and at all borders since. */
static void note_border(struct rvp_life_site *site)
{
	uint64_t now = site->live_bytes, before = site->border_bytes;

	if (now > before) {
		site->increases++;
		site->equal_increases += now - before == site->last_increase_bytes;
		site->last_increase_bytes = now - before;
		site->grown_bytes += now - before;
		if (site->first_growth_step < 0)
			site->first_growth_step = site->last_step;
	}
	site->decreases += now < before;
	site->border_bytes = now;
	if (now > site->most_border_bytes)
		site->most_border_bytes = now;
}

/* Up to an event in `step`. The border before step 0 is where growth is counted from. */
static void come_to(struct rvp_life_site *site, int64_t step)
{
	if (step <= site->last_step)
		return;
	if (site->last_step >= 0)
		note_border(site);
	else
		site->border_bytes = site->most_border_bytes = site->live_bytes;
	site->last_step = step;
}

static void see_birth(struct rvp_life_site *site, const struct rvp_block *block, int64_t step)
{
	bool is_new_step = step > site->last_step;

	come_to(site, step);
	site->live_bytes += block->bytes;
	if (step < 0)
		return;
	site->born_bytes += block->bytes;
	site->born_count++;
	site->same_size_run =
	    !is_new_step && site->last_born_bytes == block->bytes ? site->same_size_run + 1 : 1;
	site->last_born_bytes = block->bytes;
	if (site->same_size_run > site->most_siblings)
		site->most_siblings = site->same_size_run;
}

static void note_size(struct rvp_life_site *site, uint64_t bytes)
{
	if (!site->least_bytes || bytes < site->least_bytes)
		site->least_bytes = bytes;
	if (bytes > site->most_bytes)
		site->most_bytes = bytes;
}

static void add_crosser(struct rvp_life *life, const struct rvp_event *event, int64_t step)
{
	if (life->crosser_count == CROSSERS_MAX ||
	    !rvp_grow((void **)&life->crossers, &life->crosser_room, life->crosser_count + 1,
		      sizeof *life->crossers))
		return; /* one fewer to look at: it stays without a name */
	life->crossers[life->crosser_count++] =
	    (struct rvp_life_crosser){rvp_key_of(event), event->block.site, step};
}

static void note_last_crossing(struct rvp_life_site *site, uint64_t bytes, int64_t step)
{
	if (site->last_crossing_step != step) {
		site->last_crossing_step = step;
		site->last_crossing_bytes = site->last_crossing_count = 0;
	}
	site->last_crossing_bytes += bytes;
	site->last_crossing_count++;
}

static void see_crossing(struct rvp_life *life, struct rvp_life_site *site, const struct rvp_event *event,
			 int64_t step)
{
	if (site->crossing_step < 0) {
		site->crossing_step = step;
		site->crossed_once = true;
	}
	site->crossed_once &= site->crossing_step == step;
	site->crossing_bytes += event->block.bytes;
	site->crossing_count++;
	note_last_crossing(site, event->block.bytes, step);
	if (site->crossed_once && event->block.bytes >= least_crosser_bytes &&
	    site->crossing_count <= RVP_LIFE_CROSSERS)
		add_crosser(life, event, step);
}

static void see_phases(struct rvp_life *life, struct rvp_life_site *site, const struct rvp_event *event)
{
	uint32_t born = rvp_phase_at(life->steps, event->block.birth_ns);
	uint32_t died = rvp_phase_at(life->steps, event->moment->ns);

	if (born != died)
		site->other_phase_bytes += event->block.bytes;
	else if (born == RVP_STEP_PHASE_BACKWARD)
		site->backward_bytes += event->block.bytes;
	else if (born == RVP_STEP_PHASE_FORWARD)
		site->forward_bytes += event->block.bytes;
}

/* Most events, and most births of what dies, are in the step of the event before. */
static bool is_present(const struct rvp_life *life, uint64_t ns)
{
	const struct rvp_steps *steps = life->steps;

	return life->present >= 0 && life->present + 1 < (int64_t)steps->count &&
	       ns >= steps->steps[life->present].begin_ns && ns < steps->steps[life->present + 1].begin_ns;
}

/* Behind the last step nothing belongs to it any more: what goes there went later than in the step of its
 * birth. */
static int64_t step_at(const struct rvp_life *life, uint64_t ns)
{
	int64_t step = is_present(life, ns) ? life->present : rvp_step_at(life->steps, ns);

	return step >= 0 && step + 1 == (int64_t)life->steps->count && ns > life->steps->steps[step].end_ns
		   ? step + 1
		   : step;
}

static void see_death(struct rvp_life *life, struct rvp_life_site *site, const struct rvp_event *event,
		      int64_t step)
{
	int64_t birth = step_at(life, event->block.birth_ns);
	uint64_t bytes = event->block.bytes;

	come_to(site, step);
	site->live_bytes -= bytes < site->live_bytes ? bytes : site->live_bytes;
	if (step > birth)
		see_crossing(life, site, event, step);
	if (birth < 0)
		return;
	if (step - birth <= 1)
		note_size(site, bytes);
	if (step == birth + 1)
		site->next_step_bytes += bytes;
	if (step != birth || step >= (int64_t)life->steps->count)
		return;
	site->within_step_bytes += bytes;
	site->within_step_count++;
	site->span_ns += event->moment->ns - event->block.birth_ns;
	site->step_ns += life->steps->steps[step].end_ns - life->steps->steps[step].begin_ns;
	see_phases(life, site, event);
}

static void see_before_steps(struct rvp_life_path *path, const struct rvp_event *event)
{
	uint64_t bytes = event->block.bytes;

	if (event->kind == RVP_EVENT_DIED)
		path->live_bytes -= bytes < path->live_bytes ? bytes : path->live_bytes;
	else
		path->live_bytes += bytes;
}

void rvp_life_see(struct rvp_life *life, const struct rvp_event *event)
{
	struct rvp_life_path *path;
	struct rvp_life_site *site;
	int64_t step;

	if (event->kind > RVP_EVENT_RESTORED || event->block.flags & RVP_BLOCK_SAMPLED)
		return;
	path = rvp_life_path_of(life, event->block.site);
	if (!path)
		return;
	step = life->present = step_at(life, event->moment->ns);
	if (step < 0 && !path->row) {
		see_before_steps(path, event);
		return;
	}
	site = path->row ? &life->sites[path->row - 1] : add_site(life, path, event->block.site);
	if (site && event->kind == RVP_EVENT_DIED)
		see_death(life, site, event, step);
	else if (site)
		see_birth(site, &event->block, step);
}

static int compare_numbers(const void *left, const void *right)
{
	const struct rvp_life_site *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

void rvp_life_settle(struct rvp_life *life)
{
	if (life->count)
		qsort(life->sites, life->count, sizeof *life->sites, compare_numbers);
	for (size_t i = 0; i < life->count; i++) {
		life->paths[life->sites[i].number].row = (uint32_t)i + 1;
		if (life->sites[i].last_step >= 0 && life->sites[i].last_step < (int64_t)life->steps->count)
			note_border(&life->sites[i]);
	}
}

void rvp_life_free(struct rvp_life *life)
{
	free(life->paths);
	free(life->sites);
	free(life->crossers);
	memset(life, 0, sizeof *life);
}
