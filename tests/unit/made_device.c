/* SPDX-License-Identifier: MIT */
/* made_device.c: see made_device.h. */
#include "tests/unit/made_device.h"

#include <check.h>
#include <string.h>

void made_device_begin(struct made_device *it)
{
	memset(it, 0, sizeof *it);
	it->maker = maker_open();
	it->thread = &maker_add(&it->maker, 100)->threads[0];
}

size_t made_device_ask(struct made_device *it, uint64_t stamp)
{
	ck_assert_uint_lt(it->moment_count, MADE_MOMENTS_MAX);
	it->moments_ns[it->moment_count] = MAKER_EPOCH_NS + stamp;
	return it->moment_count++;
}

void made_device_read(struct made_device *it)
{
	attributed_open(&it->host, &it->maker, NULL, it->moments_ns, it->moment_count);
	it->count = it->host.run->device_count;
	ck_assert_uint_le(it->count, MADE_DEVICES_MAX);
	for (uint32_t i = 0; i < it->count; i++)
		ck_assert(!rvp_failed(rvp_analyse(it->host.run,
						  &(struct rvp_question){.moments_ns = it->moments_ns,
									 .moment_count = it->moment_count,
									 .attribution = it->host.attribution,
									 .device = i + 1},
						  &it->answers[i])));
}

void made_device_end(struct made_device *it)
{
	for (size_t i = 0; i < it->count; i++)
		rvp_analysis_free(&it->answers[i]);
	attributed_close(&it->host, &it->maker);
}

uint64_t made_device_live(const struct made_device *it, size_t device, size_t moment)
{
	return it->answers[device].moment_live_bytes[moment];
}

uint64_t made_device_live_of(const struct made_device *it, size_t device, const char *purpose, size_t moment)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(it->host.attribution);
	const struct rvp_analysis *answer = &it->answers[device];
	uint64_t bytes = 0;

	for (size_t i = 0; i < answer->site_count; i++)
		if (strcmp(rvp_purpose_name(purposes, answer->sites[i].purpose), purpose) == 0)
			bytes += rvp_site_at(&answer->sites[i], moment).bytes;
	return bytes;
}
