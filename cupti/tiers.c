/* SPDX-License-Identifier: MIT */
/* tiers.c: see tiers.h. */
#include "cupti/tiers.h"

#include <stdio.h>

/* Assumed, since nothing of this was measured on a device here: of the order of what others published for CUPTI. What is
 * measured takes their place, down to a quarter of them: what runs beside the launching thread is not seen there. */
static const uint64_t assumed_ns[RVP_DEVICE_TIER_COUNT] = {
    [RVP_DEVICE_TIER_MEMORY] = 150,   [RVP_DEVICE_TIER_GRAPHS] = 250, [RVP_DEVICE_TIER_KERNELS] = 1500,
    [RVP_DEVICE_TIER_LAUNCHES] = 3000, [RVP_DEVICE_TIER_FULL] = 8000,
};
enum { NODE_NS = 800, SPOILED_RECORDS = 1000, SPOILED_PARTS = 10 };

uint64_t rvp_tiers_cost_ns(const struct rvp_tiers *tiers, enum rvp_device_tier tier)
{
	uint64_t measured = tiers->cost_ns[tier], least = assumed_ns[tier] / 4;

	if (!measured)
		return assumed_ns[tier];
	return measured > least ? measured : least;
}

/* Thousandths of the window. */
static uint64_t share(const struct rvp_tiers *tiers, const struct rvp_tier_window *window, enum rvp_device_tier tier)
{
	uint64_t nodes = tier >= RVP_DEVICE_TIER_KERNELS ? window->graph_nodes * NODE_NS : 0;

	return (window->launches * rvp_tiers_cost_ns(tiers, tier) + nodes) * 1000 / window->ns;
}

/* What a launch costs at the present tier, from this window. */
static void learn(struct rvp_tiers *tiers, const struct rvp_tier_window *window)
{
	uint64_t more;

	if (!window->launch_ns || !window->launches)
		return;
	if (tiers->tier == RVP_DEVICE_TIER_MEMORY) {
		if (!tiers->base_ns || window->launch_ns < tiers->base_ns)
			tiers->base_ns = window->launch_ns;
		return;
	}
	if (!tiers->base_ns)
		return;
	more = window->launch_ns > tiers->base_ns ? window->launch_ns - tiers->base_ns : 0;
	tiers->cost_ns[tiers->tier] = more + assumed_ns[RVP_DEVICE_TIER_MEMORY] + window->walk_ns / window->launches;
}

static void say(char reason[RVP_TIERS_REASON_BYTES], const struct rvp_tiers *tiers,
		const struct rvp_tier_window *window, enum rvp_device_tier of, const char *what)
{
	uint64_t milli = share(tiers, window, of);

	snprintf(reason, RVP_TIERS_REASON_BYTES, "%s: %llu launches/s at %llu ns are %llu.%llu %%, the budget is %u.%u %%", what,
		 (unsigned long long)(window->launches * 1000000000u / window->ns),
		 (unsigned long long)rvp_tiers_cost_ns(tiers, of), (unsigned long long)milli / 10,
		 (unsigned long long)milli % 10, tiers->budget_milli / 10, tiers->budget_milli % 10);
}

static enum rvp_device_tier step_down(struct rvp_tiers *tiers, const struct rvp_tier_window *window)
{
	enum rvp_device_tier tier = tiers->tier;

	while (tier > RVP_DEVICE_TIER_MEMORY && share(tiers, window, tier) > tiers->budget_milli)
		tier--;
	return tier;
}

/* Kernels that come without times: the tracer's own memory on the device has run out, which graphs make it do. */
static bool is_spoiled(const struct rvp_tiers *tiers, const struct rvp_tier_window *window)
{
	return tiers->tier >= RVP_DEVICE_TIER_KERNELS && window->records >= SPOILED_RECORDS &&
	       window->flawed * SPOILED_PARTS > window->records;
}

enum rvp_device_tier rvp_tiers_decide(struct rvp_tiers *tiers, const struct rvp_tier_window *window,
				      char reason[RVP_TIERS_REASON_BYTES])
{
	enum rvp_device_tier tier = tiers->tier, above = tier + 1, now;

	if (!window->ns)
		return tier;
	learn(tiers, window);
	if (is_spoiled(tiers, window)) {
		tiers->ceiling = tiers->tier = RVP_DEVICE_TIER_GRAPHS;
		snprintf(reason, RVP_TIERS_REASON_BYTES, "%llu of %llu records came without times: kernels are not followed any more",
			 (unsigned long long)window->flawed, (unsigned long long)window->records);
		return tiers->tier;
	}
	if (share(tiers, window, tier) > tiers->budget_milli) {
		now = ++tiers->over >= 2 ? step_down(tiers, window) : tier;
		if (now != tier)
			say(reason, tiers, window, tier, "over the budget");
		tiers->over = now != tier ? 0 : tiers->over;
		return tiers->tier = now;
	}
	tiers->over = 0;
	if (above > tiers->ceiling || share(tiers, window, above) * 4 > tiers->budget_milli * 3u || !tiers->budget_milli)
		return tier;
	say(reason, tiers, window, above, "within the budget");
	return tiers->tier = above;
}
