/* SPDX-License-Identifier: MIT */
/* pass.h: the state of one pass of rvp_analyse, for the files that it consists of: analysis.c drives it,
 * pass_runs.c takes runs of plain allocs and frees, pass_sums.c keeps the sums, pass_moments.c the asked moments. What every alloc and free needs is inline. */
#ifndef RVP_REPORT_PASS_H
#define RVP_REPORT_PASS_H

#include "report/attribution.h"
#include "report/device_blocks.h"
#include "report/map_table.h"
#include "report/observer.h"
#include "report/peak_noise.h"
#include "report/series.h"
#include "report/totals.h"

struct rvp_pass {
	struct rvp_run *run;
	const struct rvp_question *question;
	struct rvp_analysis *answer;
	struct rvp_site_table base, by_purpose;
	struct rvp_site_table *sites; /* one of the two */
	struct rvp_timeline *timeline;
	struct rvp_matcher *matcher;
	struct rvp_map_table maps;
	struct rvp_device_blocks devices;
	size_t next_change; /* of the attribution's */
	struct rvp_state state;
	struct rvp_tally *tallies; /* by process */
	struct rvp_tally tree;
	struct rvp_series series;
	uint64_t peak_number;
	uint64_t device_peak_bytes, device_peak_live_bytes, device_peak_managed_bytes; /* of question->device */
	struct rvp_peak_noise noise;
	int64_t quiet_peak_bytes; /* rvp_pass_quiet_bytes, at the peak */
	size_t held_room; /* of answer->held */
	size_t next_moment;
	uint64_t due_ns; /* something is to be done before a moment behind this one */
	struct rvp_lasting *lasting; /* by number in `base`; with attribution */
	size_t lasting_count;
	uint8_t categories[RVP_PURPOSES_MAX]; /* by purpose, + 1; 0: not asked yet */
	struct rvp_record record; /* of a brief, for those who look at records */
	bool no_memory;
};

static inline void rvp_live_add(struct rvp_live *live, const struct rvp_weight *weight)
{
	live->amount.bytes += weight->amount.bytes;
	live->amount.count += weight->amount.count;
	if (weight->variance > 0) {
		live->sampled_bytes += weight->amount.bytes;
		live->variance += weight->variance;
	}
}

static inline void rvp_live_subtract(struct rvp_live *live, const struct rvp_weight *weight)
{
	live->amount.bytes -= weight->amount.bytes;
	live->amount.count -= weight->amount.count;
	if (weight->variance > 0) {
		live->sampled_bytes -= weight->amount.bytes;
		live->variance -= weight->variance;
	}
}

/* Before a site's live amount changes. */
static inline void rvp_pass_settle_peak(const struct rvp_pass *pass, struct rvp_site *site)
{
	if (site->peak_seen == pass->peak_number)
		return;
	site->at_peak = site->live;
	site->peak_sampled_bytes = site->live_sampled_bytes;
	site->peak_variance = site->live_variance;
	site->peak_seen = pass->peak_number;
}

static inline void rvp_tally_see_peak(struct rvp_tally *tally, const struct rvp_live *live, uint64_t ns)
{
	if (tally->has_peak && live->amount.bytes <= tally->peak_live_bytes)
		return;
	tally->has_peak = true;
	tally->peak_live_bytes = live->amount.bytes;
	tally->peak_variance = live->variance;
	tally->peak_sampled_bytes = live->sampled_bytes;
	tally->peak_ns = ns;
}

static inline void rvp_maximum_see(struct rvp_maximum *maximum, const struct rvp_live *live, uint64_t ns)
{
	if (live->amount.bytes > maximum->bytes)
		*maximum = (struct rvp_maximum){live->amount.bytes, ns};
}

enum rvp_category rvp_pass_find_category(struct rvp_pass *pass, uint16_t purpose);

static inline enum rvp_category rvp_pass_category(struct rvp_pass *pass, uint16_t purpose)
{
	return pass->categories[purpose] ? (enum rvp_category)(pass->categories[purpose] - 1)
					 : rvp_pass_find_category(pass, purpose);
}

/* Into a site, its purpose and what is tracked; not yet into the sums of blocks alone. */
static inline void rvp_pass_enter(struct rvp_pass *pass, struct rvp_site *site, const struct rvp_weight *weight,
				  uint64_t ns)
{
	enum rvp_category category = rvp_pass_category(pass, site->purpose);

	site->live.bytes += weight->amount.bytes;
	site->live.count += weight->amount.count;
	if (weight->variance > 0) {
		site->live_sampled_bytes += weight->amount.bytes;
		site->live_variance += weight->variance;
	}
	rvp_live_add(&pass->state.tracked, weight);
	rvp_live_add(&pass->state.by_purpose[site->purpose], weight);
	rvp_live_add(&pass->state.by_category[category], weight);
	rvp_maximum_see(&pass->answer->max_by_purpose[site->purpose], &pass->state.by_purpose[site->purpose], ns);
	rvp_maximum_see(&pass->answer->max_by_category[category], &pass->state.by_category[category], ns);
}

static inline void rvp_pass_take_out(struct rvp_pass *pass, struct rvp_site *site, const struct rvp_weight *weight)
{
	site->live.bytes -= weight->amount.bytes;
	site->live.count -= weight->amount.count;
	if (weight->variance > 0) {
		site->live_sampled_bytes -= weight->amount.bytes;
		site->live_variance -= weight->variance;
	}
	rvp_live_subtract(&pass->state.tracked, weight);
	rvp_live_subtract(&pass->state.by_purpose[site->purpose], weight);
	rvp_live_subtract(&pass->state.by_category[rvp_pass_category(pass, site->purpose)], weight);
}

/* Tracked bytes, as they decide which of two moments was higher; and whether this one is the highest so far. */
int64_t rvp_pass_quiet_bytes(struct rvp_pass *pass);
void rvp_pass_see_tracked_peak(struct rvp_pass *pass, int64_t quiet_bytes, uint64_t tracked_bytes, uint64_t ns);

/* A run of allocs and frees (rvp_timeline_take), and one of them by itself; `moment` says where from. */
void rvp_pass_take_run(struct rvp_pass *pass, struct rvp_moment *moment, const struct rvp_brief *briefs, size_t count);
void rvp_pass_take_brief(struct rvp_pass *pass, struct rvp_moment *moment, const struct rvp_brief *brief,
			 uint32_t guess);

/* What is left of a site's estimates goes with it. */
void rvp_pass_leave_estimates(struct rvp_pass *pass, struct rvp_site *site);

/* struct rvp_classifier's, with the pass as context. */
uint32_t rvp_pass_classify(void *pass, const struct rvp_event *birth);
/* Changes of purpose that were due before `ns`. */
void rvp_pass_recast_before(struct rvp_pass *pass, uint64_t ns);
uint64_t rvp_pass_next_recast_ns(const struct rvp_pass *pass); /* RVP_NEVER: none is left */

void rvp_pass_take_moment(struct rvp_pass *pass, size_t number);
/* A moment is over when something happens behind it. */
void rvp_pass_take_moments_before(struct rvp_pass *pass, uint64_t ns);
/* Into answer->sites. */
void rvp_pass_give_moments(struct rvp_pass *pass);

#endif
