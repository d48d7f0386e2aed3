/* SPDX-License-Identifier: MIT */
/* attributed.c: see attributed.h. */
#include "tests/unit/attributed.h"

#include <check.h>
#include <string.h>

void attributed_open(struct attributed *it, struct maker *maker,
		     const struct rvp_attribution_settings *settings, const uint64_t *moments_ns,
		     size_t moment_count)
{
	maker_close(maker);
	ck_assert(!rvp_failed(rvp_run_open(&it->run, maker->folder)));
	ck_assert(!rvp_failed(rvp_attribute(it->run, settings, &it->attribution)));
	ck_assert(!rvp_failed(rvp_analyse(it->run,
					  &(struct rvp_question){.moments_ns = moments_ns,
								 .moment_count = moment_count,
								 .attribution = it->attribution},
					  &it->answer)));
}

void attributed_close(struct attributed *it, struct maker *maker)
{
	rvp_analysis_free(&it->answer);
	rvp_attribution_close(it->attribution);
	rvp_run_close(it->run);
	maker_remove(maker);
}

uint64_t attributed_live(const struct attributed *it, const char *purpose, size_t moment)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(it->attribution);
	uint64_t bytes = 0;

	for (size_t i = 0; i < it->answer.site_count; i++)
		if (strcmp(rvp_purpose_name(purposes, it->answer.sites[i].purpose), purpose) == 0)
			bytes += rvp_site_at(&it->answer.sites[i], moment).bytes;
	return bytes;
}

bool attributed_has_note(const struct attributed *it, const char *words)
{
	for (const char *const *note = rvp_attribution_notes(it->attribution); *note; note++)
		if (strstr(*note, words))
			return true;
	return false;
}
