/* SPDX-License-Identifier: MIT */
/* category_totals.h: what each category and sub-kind held at the peak, at the end and at most, and on whose
 * word. */
#ifndef RVP_REPORT_CATEGORY_TOTALS_H
#define RVP_REPORT_CATEGORY_TOTALS_H

#include "report/analysis.h"
#include "report/evidence.h"

struct rvp_category_total {
	uint64_t at_peak_bytes, at_end_bytes, max_bytes;
	uint64_t peak_count;    /* blocks, live at the peak */
	uint64_t alloc_count;   /* ever; an estimate where samples are in it */
	uint64_t sampled_bytes; /* of at_peak_bytes: what sampled blocks stand for */
	double variance;        /* of at_peak_bytes */
	bool is_estimate;
	uint64_t evidence_bytes[RVP_EVIDENCE_COUNT]; /* of at_peak_bytes */
};

struct rvp_category_totals {
	struct rvp_category_total by_category[RVP_CATEGORY_COUNT]; /* sub-kinds summed */
	struct rvp_category_total by_purpose[RVP_PURPOSES_MAX];
	uint32_t purpose_count;
	uint64_t peak_bytes; /* of all: the answer's tracked_peak_bytes */
};

/* `purposes` NULL: the answer is without attribution, and all of it is unknown. */
void rvp_category_totals(struct rvp_category_totals *totals, const struct rvp_analysis *answer,
			 const struct rvp_purposes *purposes);

#endif
