/* SPDX-License-Identifier: MIT */
/* totals.h: from what a pass has added up to totals that say of themselves whether they are exact. */
#ifndef RVP_REPORT_TOTALS_H
#define RVP_REPORT_TOTALS_H

#include "report/match.h"

/* Sums of one pass, of a process or of the tree. */
struct rvp_tally {
	uint64_t free_bytes, inherited_free_bytes;
	bool has_peak, has_ended;
	uint64_t peak_live_bytes, peak_sampled_bytes, peak_ns;
	struct rvp_amount at_end;
	double peak_variance, end_variance;
};

void rvp_tally_end(struct rvp_tally *tally, struct rvp_amount live, double variance);

void rvp_totals_of_process(struct rvp_totals *totals, const struct rvp_run *run, uint32_t process,
			   const struct rvp_tally *tally, const struct rvp_match_counts *counts);

/* `tree`: of which only the peak counts; the rest is the sum over `processes`. */
void rvp_totals_of_run(struct rvp_totals *totals, const struct rvp_run *run,
		       const struct rvp_totals *processes, const struct rvp_tally *tree);

#endif
