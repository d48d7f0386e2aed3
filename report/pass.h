/* SPDX-License-Identifier: MIT */
/* pass.h: the state of one pass of rvp_analyse, for the files that it consists of: analysis.c drives it,
 * pass_sums.c keeps the sums, pass_moments.c the asked moments. */
#ifndef RVP_REPORT_PASS_H
#define RVP_REPORT_PASS_H

#include "report/map_table.h"
#include "report/observer.h"
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
	size_t next_change; /* of the attribution's */
	struct rvp_state state;
	struct rvp_tally *tallies; /* by process */
	struct rvp_tally tree;
	struct rvp_series series;
	uint64_t peak_number;
	uint64_t quiet_sampled_bytes,
	    quiet_peak_bytes;        /* analysis.c: where the peak is, in spite of samples' noise */
	uint64_t most_sample_bytes;  /* T of the processes in sampled mode, the largest */
	struct rvp_amount **moments; /* a row a moment: live by site, site_counts[] of them */
	size_t *site_counts;
	size_t next_moment;
	bool no_memory;
};

void rvp_live_add(struct rvp_live *live, const struct rvp_weight *weight);
void rvp_live_subtract(struct rvp_live *live, const struct rvp_weight *weight);

/* Before a site's live amount changes. */
void rvp_pass_settle_peak(const struct rvp_pass *pass, struct rvp_site *site);

/* Into and out of a site, its purpose and what is tracked; not the sums of blocks alone. */
void rvp_pass_enter(struct rvp_pass *pass, struct rvp_site *site, const struct rvp_weight *weight,
		    uint64_t ns);
void rvp_pass_take_out(struct rvp_pass *pass, struct rvp_site *site, const struct rvp_weight *weight);
/* What is left of a site's estimates goes with it. */
void rvp_pass_leave_estimates(struct rvp_pass *pass, struct rvp_site *site);

/* struct rvp_classifier's, with the pass as context. */
uint32_t rvp_pass_classify(void *pass, const struct rvp_event *birth);
/* Changes of purpose that were due before `ns`. */
void rvp_pass_recast_before(struct rvp_pass *pass, uint64_t ns);

void rvp_pass_take_moment(struct rvp_pass *pass, size_t number);
/* A moment is over when something happens behind it. */
void rvp_pass_take_moments_before(struct rvp_pass *pass, uint64_t ns);
/* Into answer->sites; false without memory. */
bool rvp_pass_give_moments(struct rvp_pass *pass);

#endif
