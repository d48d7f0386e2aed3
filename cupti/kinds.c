/* SPDX-License-Identifier: MIT */
/* kinds.c: see kinds.h. By one thread at a time (tracer.c). */
#include "cupti/kinds.h"

#include "cupti/launches.h"
#include "cupti/library.h"

#include <stdatomic.h>

#define BIT(NAME) (1u << RVP_DEVICE_BIT_##NAME)

static const struct {
	uint32_t kind, bit;
} rows[] = {
    {RVP_CUPTI_OVERHEAD, BIT(OVERHEAD)},
    {RVP_CUPTI_STREAM, BIT(OVERHEAD)}, /* cheap, and tells priorities */
    {RVP_CUPTI_MEMCPY, BIT(COPY)},
    {RVP_CUPTI_MEMCPY_PEER, BIT(COPY)},
    {RVP_CUPTI_MEMSET, BIT(SET)},
    {RVP_CUPTI_GRAPH_TRACE, BIT(GRAPH_RUN)},
    {RVP_CUPTI_CONCURRENT_KERNEL, BIT(KERNEL)},
    {RVP_CUPTI_SYNCHRONIZATION, BIT(SYNC)},
    {RVP_CUPTI_DRIVER, BIT(CALL)},
    {RVP_CUPTI_RUNTIME, BIT(CALL)},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static _Atomic uint32_t on;
static bool is_row_on[ROWS];

uint32_t rvp_kinds_of(enum rvp_device_tier tier)
{
	static const uint32_t kinds[RVP_DEVICE_TIER_COUNT] = {
	    [RVP_DEVICE_TIER_MEMORY] = BIT(MEMORY) | BIT(LAUNCH_COUNT) | BIT(GRAPH_NODE),
	    [RVP_DEVICE_TIER_GRAPHS] = BIT(MEMORY) | BIT(LAUNCH_COUNT) | BIT(GRAPH_NODE) | BIT(GRAPH_RUN) | BIT(COPY) |
				       BIT(SET) | BIT(OVERHEAD),
	    [RVP_DEVICE_TIER_KERNELS] = BIT(MEMORY) | BIT(LAUNCH_COUNT) | BIT(GRAPH_NODE) | BIT(KERNEL) | BIT(COPY) |
					BIT(SET) | BIT(OVERHEAD),
	    [RVP_DEVICE_TIER_LAUNCHES] = BIT(MEMORY) | BIT(LAUNCH_COUNT) | BIT(GRAPH_NODE) | BIT(KERNEL) | BIT(COPY) |
					 BIT(SET) | BIT(OVERHEAD) | BIT(LAUNCH),
	    [RVP_DEVICE_TIER_FULL] = BIT(MEMORY) | BIT(LAUNCH_COUNT) | BIT(GRAPH_NODE) | BIT(KERNEL) | BIT(COPY) | BIT(SET) |
				     BIT(OVERHEAD) | BIT(LAUNCH) | BIT(CALL) | BIT(SYNC),
	};

	return kinds[tier];
}

uint32_t rvp_kinds_on(void)
{
	return atomic_load(&on);
}

bool rvp_kinds_has_activity(void)
{
	for (int i = 0; i < ROWS; i++)
		if (is_row_on[i])
			return true;
	return false;
}

static bool may_hang(int row)
{
	return rvp_cupti.version == RVP_CUPTI_13_0 && rows[row].kind == RVP_CUPTI_CONCURRENT_KERNEL;
}

bool rvp_kinds_can_be_left(void)
{
	for (int i = 0; i < ROWS; i++)
		if (is_row_on[i] && may_hang(i))
			return false;
	return true;
}

/* The result, where it could not be turned on. */
static int set_row(int row, bool is_wanted)
{
	int result = RVP_CUPTI_SUCCESS;

	if (is_row_on[row] == is_wanted || (!is_wanted && may_hang(row)))
		return result;
	result = is_wanted ? rvp_cupti.ActivityEnable(rows[row].kind) : rvp_cupti.ActivityDisable(rows[row].kind);
	is_row_on[row] = is_wanted && result == RVP_CUPTI_SUCCESS;
	return is_wanted ? result : RVP_CUPTI_SUCCESS;
}

static void set_runtime_launches(bool is_wanted, void *subscriber)
{
	uint32_t function;

	for (unsigned i = 0; (function = rvp_launches_function(RVP_CUPTI_DOMAIN_RUNTIME, i)); i++)
		rvp_cupti.EnableCallback(is_wanted, subscriber, RVP_CUPTI_DOMAIN_RUNTIME, function);
}

int rvp_kinds_set(uint32_t wanted, void *subscriber)
{
	uint32_t before = atomic_load(&on), now = wanted;
	int failed = RVP_CUPTI_SUCCESS;

	/* Off first: kinds that exclude each other are never on together. */
	for (int i = 0; i < ROWS; i++)
		if (!(wanted & rows[i].bit))
			set_row(i, false);
	for (int i = 0; i < ROWS; i++) {
		int result = wanted & rows[i].bit ? set_row(i, true) : RVP_CUPTI_SUCCESS;

		if (result == RVP_CUPTI_SUCCESS || rows[i].kind == RVP_CUPTI_STREAM)
			continue;
		now &= ~rows[i].bit;
		failed = failed ? failed : result;
	}
	if ((wanted ^ before) & BIT(LAUNCH))
		set_runtime_launches(wanted & BIT(LAUNCH), subscriber);
	atomic_store(&on, now);
	return failed;
}
