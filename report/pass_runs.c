/* SPDX-License-Identifier: MIT */
/* pass_runs.c: see pass.h: runs of allocs and frees of one thread, which nearly all of a full log is.
 *
 * Blocks and sites are met at random, so a run is taken in groups: first the blocks of a group are looked for, then
 * their sites, so that many misses of the cache are under way at once; then the group is gone through.
 *
 * Two ways through it. Where an observer minds every event, each brief becomes one. Where nobody does, all sums of what is
 * live move by the same amounts: they are kept as one distance from where the run began (`drift`) and are brought up to
 * date (settle) before anything else looks. Whatever is not an alloc of a free address or a free of a live block goes the
 * long way (rvp_match), sums brought up to date; so does the first block of a site, and with attribution each block of
 * which it is not known already what it is for (struct rvp_lasting).
 *
 * Invariants
 *   (D1) While drift is not empty, each sum is its value in `pass` plus drift; sites are always up to date, and with
 *        attribution the sums by purpose and category are.
 *   (D2) Both ways, and the long one, end in the same answer (tests/unit/check_report_runs.c).
 */
#include "report/matcher.h"
#include "report/pass.h"

enum { GROUP = 32 };

struct leads {
	uint32_t blocks[GROUP]; /* rvp_block_guess */
	uint32_t sites[GROUP];  /* call paths (rvp_pass.base) + 1, of allocs; 0: not known */
};

struct drift {
	int64_t bytes, count;
	int64_t most_bytes; /* behind an alloc; meaningful with allocs */
	uint64_t most_ns;
	uint64_t allocs, alloc_bytes, frees, freed_bytes;
};

struct desk { /* of one run */
	struct rvp_pass *pass;
	struct rvp_moment *moment;
	struct rvp_block_table *blocks;
	struct rvp_lane *lane;
	struct rvp_site *sites;
	struct rvp_attribution *attribution; /* NULL: everything is unknown */
	bool is_claimed; /* some single blocks are */
	struct drift drift;
	uint64_t tracked_bytes, births; /* where the drift began */
	int64_t quiet_bytes;            /* likewise; no sample comes or goes in a drift */
	uint64_t slow_ns;                    /* from here on something is due */
	uint64_t early_ns;                   /* up to here an alloc may have been freed early */
};

/* ---- looking ahead ---- */

static void look_for_blocks(const struct rvp_block_table *table, const struct rvp_brief *briefs, size_t count,
			    struct leads *leads)
{
	for (size_t i = 0; i < count; i++)
		leads->blocks[i] = rvp_block_guess(table, briefs[i].event.address);
}

__attribute__((always_inline)) static inline void fetch_site(const struct rvp_pass *pass, uint32_t number)
{
	__builtin_prefetch(pass->sites->sites + number, 1);
}

static void look_for_sites(struct rvp_pass *pass, uint32_t process, const struct rvp_brief *briefs, size_t count,
			   struct leads *leads)
{
	const struct rvp_block_table *table = &pass->matcher->tables[process];

	for (size_t i = 0; i < count; i++) {
		uint32_t site = RVP_NOT_COUNTED;

		leads->sites[i] = 0;
		if (briefs[i].event.is_alloc) {
			site = rvp_match_site(pass->matcher, process, briefs[i].event.stack, briefs[i].event.python);
			leads->sites[i] = site + 1;
			if (pass->question->attribution)
				site = site < pass->lasting_count ? pass->lasting[site].split - 1 : RVP_NOT_COUNTED;
		} else if (leads->blocks[i]) {
			site = table->blocks[leads->blocks[i] - 1].split;
		}
		if (site < pass->sites->count)
			fetch_site(pass, site);
	}
}

static void number_sites(struct rvp_pass *pass, uint32_t process, const struct rvp_brief *briefs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (briefs[i].event.is_alloc)
			pass->no_memory |= rvp_match_site(pass->matcher, process, briefs[i].event.stack,
							  briefs[i].event.python) == UINT32_MAX;
}

/* ---- where nobody wants events ---- */

static uint64_t row_begins_ns(const struct rvp_series *series)
{
	if (!series->rows || series->count == series->room)
		return series->rows && !series->count ? 0 : RVP_NEVER;
	return series->count ? series->part_end_ns : 0;
}

static void begin_drift(struct desk *desk)
{
	struct rvp_pass *pass = desk->pass;
	uint64_t row_ns = row_begins_ns(&pass->series);
	uint64_t early_ns = pass->matcher->last_early_ns;

	desk->drift = (struct drift){0};
	desk->tracked_bytes = pass->state.tracked.amount.bytes;
	desk->quiet_bytes = rvp_pass_quiet_bytes(pass);
	desk->births = pass->matcher->counts[desk->moment->process].alloc_count;
	desk->slow_ns = pass->due_ns < row_ns ? pass->due_ns + 1 : row_ns;
	desk->early_ns = early_ns ? early_ns + rvp_match_window_ns : 0;
	desk->sites = pass->sites->sites;
}

static void move(struct rvp_live *live, const struct drift *drift)
{
	live->amount.bytes += (uint64_t)drift->bytes;
	live->amount.count += (uint64_t)drift->count;
}

/* The highest that `live` was, which drift has not moved yet. */
static struct rvp_live at_most(const struct rvp_live *live, const struct drift *drift)
{
	struct rvp_live most = *live;

	most.amount.bytes += (uint64_t)drift->most_bytes;
	return most;
}

static void settle_maxima(struct desk *desk)
{
	struct rvp_pass *pass = desk->pass;
	const struct drift *drift = &desk->drift;
	struct rvp_live own = at_most(&pass->state.live_by_process[desk->moment->process], drift);
	struct rvp_live tree = at_most(&pass->state.live, drift);
	struct rvp_series_row *row = pass->series.count ? &pass->series.rows[pass->series.count - 1] : NULL;

	rvp_tally_see_peak(&pass->tallies[desk->moment->process], &own, drift->most_ns);
	rvp_tally_see_peak(&pass->tree, &tree, drift->most_ns);
	if (row && tree.amount.bytes > row->live_bytes) {
		row->live_bytes = tree.amount.bytes;
		row->ns = drift->most_ns;
	}
}

/* Without attribution all is of one purpose. */
static void settle_unknown(struct rvp_pass *pass, const struct drift *drift)
{
	struct rvp_live *purpose = &pass->state.by_purpose[RVP_CATEGORY_UNKNOWN];
	struct rvp_live *category = &pass->state.by_category[RVP_CATEGORY_UNKNOWN];
	struct rvp_live purpose_most = at_most(purpose, drift), category_most = at_most(category, drift);

	if (drift->allocs) {
		rvp_maximum_see(&pass->answer->max_by_purpose[RVP_CATEGORY_UNKNOWN], &purpose_most, drift->most_ns);
		rvp_maximum_see(&pass->answer->max_by_category[RVP_CATEGORY_UNKNOWN], &category_most, drift->most_ns);
	}
	move(purpose, drift);
	move(category, drift);
}

static void settle(struct desk *desk)
{
	struct rvp_pass *pass = desk->pass;
	const struct drift *drift = &desk->drift;
	uint32_t process = desk->moment->process;
	struct rvp_match_counts *counts = &pass->matcher->counts[process];

	if (drift->allocs)
		settle_maxima(desk);
	move(&pass->state.live_by_process[process], drift);
	move(&pass->state.live, drift);
	move(&pass->state.tracked, drift);
	if (!desk->attribution)
		settle_unknown(pass, drift);
	pass->tallies[process].free_bytes += drift->freed_bytes;
	counts->alloc_count += drift->allocs;
	counts->alloc_bytes += drift->alloc_bytes;
	counts->free_count += drift->frees;
}

static void see_tracked_peak(struct desk *desk, uint64_t ns)
{
	struct rvp_analysis *answer = desk->pass->answer;
	int64_t quiet = desk->quiet_bytes + desk->drift.bytes;
	uint64_t tracked = desk->tracked_bytes + (uint64_t)desk->drift.bytes;

	if (quiet < desk->pass->quiet_peak_bytes && answer->tracked_peak_ns != RVP_NEVER)
		return;
	rvp_pass_see_tracked_peak(desk->pass, quiet, tracked, ns);
}

static void add_to_purpose(struct rvp_pass *pass, uint16_t purpose, uint64_t bytes, uint64_t ns)
{
	enum rvp_category category = rvp_pass_category(pass, purpose);

	pass->state.by_purpose[purpose].amount.bytes += bytes;
	pass->state.by_purpose[purpose].amount.count++;
	pass->state.by_category[category].amount.bytes += bytes;
	pass->state.by_category[category].amount.count++;
	rvp_maximum_see(&pass->answer->max_by_purpose[purpose], &pass->state.by_purpose[purpose], ns);
	rvp_maximum_see(&pass->answer->max_by_category[category], &pass->state.by_category[category], ns);
}

static void take_from_purpose(struct rvp_pass *pass, uint16_t purpose, uint64_t bytes)
{
	enum rvp_category category = rvp_pass_category(pass, purpose);

	pass->state.by_purpose[purpose].amount.bytes -= bytes;
	pass->state.by_purpose[purpose].amount.count--;
	pass->state.by_category[category].amount.bytes -= bytes;
	pass->state.by_category[category].amount.count--;
}

/* What is known of blocks of this call path and size, unless this one was claimed singly; NULL: it must be judged. */
static const struct rvp_lasting *known_of(const struct desk *desk, const struct rvp_brief *brief, uint32_t path)
{
	const struct rvp_lasting *lasting = path < desk->pass->lasting_count ? &desk->pass->lasting[path] : NULL;
	struct rvp_block_key key = {.address = brief->event.address,
				    .birth_ns = brief->ns,
				    .process = desk->moment->process,
				    .birth = (uint32_t)(desk->births + desk->drift.allocs) + 1};

	if (!lasting || !lasting->split || brief->event.bytes < lasting->least || brief->event.bytes > lasting->most)
		return NULL;
	return desk->is_claimed && rvp_attribution_may_claim(desk->attribution, &key) ? NULL : lasting;
}

static bool bear(struct desk *desk, const struct rvp_brief *brief, uint32_t path)
{
	const struct rvp_moment *moment = desk->moment;
	const struct rvp_lasting *known = desk->attribution ? known_of(desk, brief, path) : NULL;
	uint32_t number = known ? known->split - 1 : path;
	struct rvp_site *site = &desk->sites[number];
	struct rvp_block *block;

	if (brief->ns <= desk->early_ns || (desk->attribution && !known) || !site->first_ns ||
	    !(block = rvp_block_add(desk->blocks, brief->event.address)))
		return false;
	if (known)
		add_to_purpose(desk->pass, site->purpose, brief->event.bytes, brief->ns);
	if (known && known->repeated_count)
		rvp_attribution_repeat(desk->attribution, known, brief->event.bytes);
	block->bytes = brief->event.bytes;
	block->birth_ns = brief->ns;
	block->site = path;
	block->split = number;
	block->stream = moment->stream;
	block->thread = (uint32_t)moment->thread_serial;
	block->birth = (uint32_t)(desk->births + desk->drift.allocs) + 1;
	desk->lane->last_alloc = brief->event.address;
	desk->lane->has_last_alloc = true;

	rvp_pass_settle_peak(desk->pass, site);
	site->last_ns = brief->ns;
	site->allocated.bytes += brief->event.bytes;
	site->allocated.count++;
	site->live.bytes += brief->event.bytes;
	site->live.count++;
	if (brief->event.bytes > site->largest_bytes)
		site->largest_bytes = brief->event.bytes;

	desk->drift.bytes += (int64_t)brief->event.bytes;
	desk->drift.count++;
	desk->drift.alloc_bytes += brief->event.bytes;
	if (!desk->drift.allocs++ || desk->drift.bytes > desk->drift.most_bytes) {
		desk->drift.most_bytes = desk->drift.bytes;
		desk->drift.most_ns = brief->ns;
	}
	see_tracked_peak(desk, brief->ns);
	return true;
}

/* Of a block that stands for itself and that nobody watches. */
static bool bury(struct desk *desk, const struct rvp_brief *brief, uint32_t guess)
{
	struct rvp_block *block = rvp_block_find_by(desk->blocks, guess, brief->event.address);

	if (!block || block->flags != RVP_BLOCK_OCCUPIED)
		return false;
	struct rvp_site *site = &desk->sites[block->split];
	uint64_t bytes = block->bytes;

	rvp_pass_settle_peak(desk->pass, site);
	site->live.bytes -= bytes;
	site->live.count--;
	if (rvp_match_is_temporary(desk->lane, desk->moment, block, brief->event.family)) {
		site->temporary.bytes += bytes;
		site->temporary.count++;
	}
	if (desk->attribution)
		take_from_purpose(desk->pass, site->purpose, bytes);
	rvp_match_note_freed(desk->lane, block);
	rvp_block_remove(desk->blocks, block);
	desk->drift.bytes -= (int64_t)bytes;
	desk->drift.count--;
	desk->drift.frees++;
	desk->drift.freed_bytes += bytes;
	return true;
}

static bool take_quickly(struct desk *desk, const struct rvp_brief *brief, const struct leads *leads, size_t number)
{
	if (brief->ns >= desk->slow_ns)
		return false;
	if (!brief->event.is_alloc)
		return bury(desk, brief, leads->blocks[number]);
	return leads->sites[number] && bear(desk, brief, leads->sites[number] - 1);
}

static bool somebody_minds(const struct rvp_pass *pass, uint32_t process)
{
	struct rvp_observer **observers = pass->question->observers;

	for (; observers && *observers; observers++)
		if (!(*observers)->minds || (*observers)->minds(*observers, process))
			return true;
	return false;
}

static void go_quickly(struct desk *desk, const struct rvp_brief *briefs, size_t count, const struct leads *leads)
{
	struct rvp_pass *pass = desk->pass;

	bool is_minded = false;

	desk->lane = rvp_match_lane(pass->matcher, desk->moment);
	desk->blocks = &pass->matcher->tables[desk->moment->process];
	begin_drift(desk);
	for (size_t i = 0; i < count && !pass->no_memory; i++) {
		if (!is_minded && take_quickly(desk, &briefs[i], leads, i))
			continue;
		settle(desk);
		rvp_pass_take_brief(pass, desk->moment, &briefs[i], leads->blocks[i]);
		is_minded = somebody_minds(pass, desk->moment->process);
		begin_drift(desk);
	}
	settle(desk);
}

/* ---- a run ---- */

void rvp_pass_take_run(struct rvp_pass *pass, struct rvp_moment *moment, const struct rvp_brief *briefs, size_t count)
{
	struct desk desk = {.pass = pass, .moment = moment, .attribution = pass->question->attribution};
	const struct rvp_block_table *table = &pass->matcher->tables[moment->process];
	struct leads leads[2];
	size_t part = count < GROUP ? count : GROUP, next;

	desk.is_claimed = desk.attribution && rvp_attribution_claims_blocks(desk.attribution);
	if (pass->matcher->has_ended[moment->process])
		return;
	if (pass->question->device) { /* but sites have the same numbers in each pass */
		number_sites(pass, moment->process, briefs, count);
		return;
	}
	look_for_blocks(table, briefs, part, &leads[0]);
	for (unsigned turn = 0; count && !pass->no_memory; turn ^= 1, briefs += part, count -= part, part = next) {
		next = count - part < GROUP ? count - part : GROUP;
		look_for_blocks(table, briefs + part, next, &leads[turn ^ 1]);
		look_for_sites(pass, moment->process, briefs, part, &leads[turn]);
		bool is_minded = somebody_minds(pass, moment->process);

		if (!is_minded)
			go_quickly(&desk, briefs, part, &leads[turn]);
		for (size_t i = 0; is_minded && i < part && !pass->no_memory; i++)
			rvp_pass_take_brief(pass, moment, &briefs[i], leads[turn].blocks[i]);
	}
}
