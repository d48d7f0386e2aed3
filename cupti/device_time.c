/* SPDX-License-Identifier: MIT */
/* device_time.c: see device_time.h. CUPTI's clock is CLOCK_REALTIME where no other was registered, so it can step; the
 * pairs that are written at the start, now and then, and at the end let the reader see that, and are all that it uses. */
#include "cupti/device_time.h"

#include "cupti/follower.h"
#include "cupti/library.h"

#include <stdatomic.h>
#include <time.h>

enum { BRACKETS = 5 };
static const uint64_t rate_needs_ns = 10000000u;

struct bracket {
	uint64_t stamp, device_ns, width_ns, realtime_ns, monotonic_ns;
};

static _Atomic uint64_t begin_device_ns, first_stamp, first_ns, rate_fixed; /* ns a tick, 32 bits of it a fraction */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t rvp_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t rvp_coarse_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_COARSE);
}

uint64_t rvp_device_time_now(void)
{
	uint64_t now = 0;

	return rvp_cupti.GetTimestamp && rvp_cupti.GetTimestamp(&now) == RVP_CUPTI_SUCCESS ? now : 0;
}

static struct bracket take(void)
{
	struct bracket bracket = {.monotonic_ns = rvp_now_ns()};
	uint64_t begin = rvp_recorder->stamp(), end;

	bracket.device_ns = rvp_device_time_now();
	end = rvp_recorder->stamp();
	bracket.width_ns = rvp_now_ns() - bracket.monotonic_ns;
	bracket.realtime_ns = clock_ns(CLOCK_REALTIME);
	bracket.stamp = begin + (end - begin) / 2;
	return bracket;
}

/* The rate is kept from the first two brackets that are far enough apart. */
static void learn_rate(const struct bracket *bracket)
{
	uint64_t zero = 0, passed, ticks;

	if (atomic_compare_exchange_strong(&first_ns, &zero, bracket->monotonic_ns)) {
		atomic_store(&first_stamp, bracket->stamp);
		return;
	}
	if (atomic_load(&rate_fixed) || !atomic_load(&first_stamp))
		return;
	passed = bracket->monotonic_ns - zero;
	ticks = bracket->stamp - atomic_load(&first_stamp);
	if (bracket->monotonic_ns > zero && passed >= rate_needs_ns && ticks)
		atomic_store(&rate_fixed, (uint64_t)(((__uint128_t)passed << 32) / ticks));
}

void rvp_device_time_tell(void)
{
	struct bracket best = take();
	uint64_t zero = 0;

	for (int i = 1; i < BRACKETS; i++) {
		struct bracket one = take();

		if (one.width_ns < best.width_ns)
			best = one;
	}
	if (!best.device_ns)
		return;
	learn_rate(&best);
	atomic_compare_exchange_strong(&begin_device_ns, &zero, best.device_ns);
	RVP_TELL(DEVICE_CLOCK, .stamp = best.stamp, .device_ns = best.device_ns, .width_ns = best.width_ns,
		 .realtime_ns = best.realtime_ns);
}

uint64_t rvp_device_time_begin(void)
{
	return atomic_load_explicit(&begin_device_ns, memory_order_relaxed);
}

uint64_t rvp_device_time_of_ticks(uint64_t ticks)
{
	uint64_t rate = atomic_load_explicit(&rate_fixed, memory_order_relaxed);

	return (uint64_t)(((__uint128_t)ticks * rate) >> 32);
}
