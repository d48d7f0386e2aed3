/* SPDX-License-Identifier: MIT */
/* category_totals.c: see category_totals.h. */
#include "report/category_totals.h"

#include <string.h>

static void add_site(struct rvp_category_total *total, const struct rvp_site *site)
{
	total->at_peak_bytes += site->at_peak.bytes;
	total->peak_count += site->at_peak.count;
	total->at_end_bytes += site->at_end.bytes;
	total->alloc_count += site->allocated.count;
	total->sampled_bytes += site->peak_sampled_bytes;
	total->variance += site->peak_variance;
	total->is_estimate |= site->is_estimate != 0;
	if (site->evidence < RVP_EVIDENCE_COUNT)
		total->evidence_bytes[site->evidence] += site->at_peak.bytes;
}

void rvp_category_totals(struct rvp_category_totals *totals, const struct rvp_analysis *answer,
			 const struct rvp_purposes *purposes)
{
	memset(totals, 0, sizeof *totals);
	totals->purpose_count = purposes ? purposes->count : RVP_CATEGORY_COUNT;
	totals->peak_bytes = answer->tracked_peak_bytes;
	for (size_t i = 0; i < answer->site_count; i++) {
		const struct rvp_site *site = &answer->sites[i];
		int category = purposes ? (int)rvp_purpose_category(purposes, site->purpose) : site->purpose;

		add_site(&totals->by_purpose[site->purpose], site);
		add_site(&totals->by_category[category], site);
	}
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		totals->by_category[i].max_bytes = answer->max_by_category[i].bytes;
	for (int i = 0; i < RVP_PURPOSES_MAX; i++)
		totals->by_purpose[i].max_bytes = answer->max_by_purpose[i].bytes;
}
