/* SPDX-License-Identifier: MIT */
/* site_order.c: which sites are the largest, by each measure of analysis.h. */
#include "report/analysis.h"

#include <stdlib.h>

struct ranked {
	int64_t key;
	uint32_t number;
};

static int64_t clamp(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static int64_t growth(const struct rvp_site *site, size_t moment_count)
{
	if (moment_count < 2)
		return 0;
	return clamp(rvp_site_at(site, moment_count - 1).bytes) - clamp(rvp_site_at(site, 0).bytes);
}

static int64_t key_of(const struct rvp_analysis *answer, const struct rvp_site *site,
		      enum rvp_site_order order)
{
	switch (order) {
	case RVP_BY_PEAK_BYTES: return clamp(site->at_peak.bytes);
	case RVP_BY_END_BYTES: return clamp(site->at_end.bytes);
	case RVP_BY_ALLOCATED_BYTES: return clamp(site->allocated.bytes);
	case RVP_BY_ALLOCATED_COUNT: return clamp(site->allocated.count);
	case RVP_BY_TEMPORARY_COUNT: return clamp(site->temporary.count);
	case RVP_BY_GROWTH: return growth(site, answer->moment_count);
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

uint32_t *rvp_sites_by(const struct rvp_analysis *answer, enum rvp_site_order order)
{
	struct ranked *ranked = calloc(answer->site_count + 1, sizeof *ranked);
	uint32_t *numbers = calloc(answer->site_count + 1, sizeof *numbers);

	if (ranked && numbers) {
		for (size_t i = 0; i < answer->site_count; i++)
			ranked[i] = (struct ranked){key_of(answer, &answer->sites[i], order), (uint32_t)i};
		qsort(ranked, answer->site_count, sizeof *ranked, compare);
		for (size_t i = 0; i < answer->site_count; i++)
			numbers[i] = ranked[i].number;
		free(ranked);
		return numbers;
	}
	free(ranked);
	free(numbers);
	return NULL;
}
