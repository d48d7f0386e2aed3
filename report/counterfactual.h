/* SPDX-License-Identifier: MIT */
/* counterfactual.h: what the peak would have been without something: for each asked row the highest tracked
 * bytes over time, less a share of what the row's blocks held at that moment. One pass answers all rows.
 *
 * A row is a set of sites, a purpose, or a category with its sub-kinds. A share below 1 stands for a change
 * that makes its blocks smaller ("half the context"); they are taken to shrink alike.
 */
#ifndef RVP_REPORT_COUNTERFACTUAL_H
#define RVP_REPORT_COUNTERFACTUAL_H

#include "report/observer.h"

enum rvp_absent { RVP_ABSENT_SITES, RVP_ABSENT_PURPOSE, RVP_ABSENT_CATEGORY };

struct rvp_absence {
	enum rvp_absent what;
	uint16_t number; /* of the purpose or category */
	double share;    /* of its bytes that would not be there, 0 to 1 */
	/* The answer. */
	uint64_t peak_bytes, peak_ns; /* RVP_NEVER: nothing was ever live */
	uint64_t live_bytes;          /* while the pass goes on, of RVP_ABSENT_SITES */
};

struct rvp_counterfactual {
	struct rvp_observer observer;
	struct rvp_absence *rows; /* the asker's, as is row_of_site */
	size_t row_count;
	const uint32_t *row_of_site; /* a row's number + 1; 0: in no row */
	size_t site_count;
	uint64_t seen_changes;
	bool must_sum; /* sites were changed behind our back */
};

/* `row_of_site` has the sites of an analysis of the same run by the same attribution. */
void rvp_counterfactual_open(struct rvp_counterfactual *counterfactual, struct rvp_absence *rows,
			     size_t row_count, const uint32_t *row_of_site, size_t site_count);

#endif
