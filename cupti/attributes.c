/* SPDX-License-Identifier: MIT */
/* attributes.c: see attributes.h. The promise of zeroed buffers is the one that would hurt another client: its buffers are not. */
#include "cupti/attributes.h"

#include "cupti/library.h"

enum { BUFFERS_OF_A_CONTEXT = 32 };

static struct {
	size_t limit;
	bool has_limit, is_full;
} before;

static void set_limit(size_t limit)
{
	size_t bytes = sizeof limit;

	rvp_cupti.ActivitySetAttribute(RVP_CUPTI_DEVICE_BUFFER_LIMIT, &bytes, &limit);
}

static void set_zeroed(uint8_t zeroed)
{
	size_t bytes = sizeof zeroed;

	rvp_cupti.ActivitySetAttribute(RVP_CUPTI_ZEROED_BUFFERS, &bytes, &zeroed);
}

void rvp_attributes_set(bool is_full)
{
	size_t bytes = sizeof before.limit;

	before.is_full = is_full;
	before.has_limit = rvp_cupti.ActivityGetAttribute &&
			   rvp_cupti.ActivityGetAttribute(RVP_CUPTI_DEVICE_BUFFER_LIMIT, &bytes, &before.limit) ==
			       RVP_CUPTI_SUCCESS;
	if (rvp_cupti.SetThreadIdType)
		rvp_cupti.SetThreadIdType(RVP_CUPTI_THREAD_ID_SYSTEM);
	if (rvp_cupti.ActivitySetAttribute) {
		set_limit(BUFFERS_OF_A_CONTEXT);
		set_zeroed(1);
	}
	if (is_full && rvp_cupti.ActivityEnableLatencyTimestamps)
		rvp_cupti.ActivityEnableLatencyTimestamps(1);
	if (rvp_cupti.ActivityEnableAllSyncRecords)
		rvp_cupti.ActivityEnableAllSyncRecords(0);
	if (rvp_cupti.ActivityEnableDriverApi)
		rvp_cupti.ActivityEnableDriverApi(RVP_CUPTI_cuMemGetInfo_v2, 0);
}

void rvp_attributes_put_back(void)
{
	if (rvp_cupti.SetThreadIdType)
		rvp_cupti.SetThreadIdType(RVP_CUPTI_THREAD_ID_DEFAULT);
	if (rvp_cupti.ActivitySetAttribute) {
		set_zeroed(0);
		if (before.has_limit)
			set_limit(before.limit);
	}
	if (before.is_full && rvp_cupti.ActivityEnableLatencyTimestamps)
		rvp_cupti.ActivityEnableLatencyTimestamps(0);
	if (rvp_cupti.ActivityEnableAllSyncRecords)
		rvp_cupti.ActivityEnableAllSyncRecords(1);
	if (rvp_cupti.ActivityEnableDriverApi)
		rvp_cupti.ActivityEnableDriverApi(RVP_CUPTI_cuMemGetInfo_v2, 1);
}
