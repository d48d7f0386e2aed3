/* SPDX-License-Identifier: MIT */
/* stamp.c: which clock stamps the records, and the clocks it is tied to.
 *
 * The TSC where the processor says that it ticks constantly and the kernel keeps its own time by it; else
 * CLOCK_MONOTONIC, which costs a few tens of ns more.
 *
 * In seccomp's strict mode reading the TSC is a fault, and libc's clocks read it too: from then on time
 * stands still, and stamps count up by one.
 */
#include "preload/process.h"
#include "preload/stamp.h"
#include "preload/sys.h"
#include "record/clock_ns.h"

#include <cpuid.h>
#include <string.h>

static bool processor_ticks_constantly(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return false;                                             /* invariant TSC */
	return __get_cpuid(0x80000001, &a, &b, &c, &d) && (d & 1u << 27); /* rdtscp */
}

static bool kernel_trusts_tsc(void)
{
	char text[8] = "";
	int fd = (int)rvp_sys_openat("/sys/devices/system/clocksource/clocksource0/current_clocksource",
				     O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	rvp_sys_read(fd, text, 4);
	rvp_sys_close(fd);
	return memcmp(text, "tsc\n", 4) == 0;
}

enum rvp_clock rvp_clock_choose(void)
{
	return processor_ticks_constantly() && kernel_trusts_tsc() ? RVP_CLOCK_TSC : RVP_CLOCK_MONOTONIC;
}

static struct {
	atomic_bool is;
	_Atomic uint64_t stamp;
	uint64_t realtime_ns, monotonic_ns, boottime_ns;
} frozen;

static uint64_t frozen_ns(clockid_t clock)
{
	return clock == CLOCK_REALTIME    ? frozen.realtime_ns
	       : clock == CLOCK_MONOTONIC ? frozen.monotonic_ns
					  : frozen.boottime_ns;
}

static uint64_t clock_ns(clockid_t clock)
{
	return atomic_load_explicit(&frozen.is, memory_order_acquire) ? frozen_ns(clock)
								      : rvp_clock_ns(clock);
}

static uint64_t stamp_without_tsc(void)
{
	uint64_t stamp;

	if (atomic_load_explicit(&frozen.is, memory_order_relaxed))
		return atomic_fetch_add(&frozen.stamp, 1);
	rvp_machine_fence_loads();
	stamp = clock_ns(CLOCK_MONOTONIC);
	rvp_machine_fence_loads();
	return stamp;
}

static bool has_tsc(void)
{
	return rvp_process.clock == RVP_CLOCK_TSC && !atomic_load_explicit(&frozen.is, memory_order_relaxed);
}

uint64_t rvp_stamp(void)
{
	return __builtin_expect(has_tsc(), 1) ? rvp_machine_stamp() : stamp_without_tsc();
}

uint64_t rvp_stamp_unordered(void)
{
	return __builtin_expect(has_tsc(), 1) ? rvp_machine_stamp_unordered() : stamp_without_tsc();
}

void rvp_stamp_freeze(void)
{
	if (atomic_load(&frozen.is))
		return;
	frozen.realtime_ns = clock_ns(CLOCK_REALTIME);
	frozen.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	frozen.boottime_ns = clock_ns(CLOCK_BOOTTIME);
	atomic_store(&frozen.stamp, rvp_stamp());
	atomic_store_explicit(&frozen.is, true, memory_order_release);
}

uint64_t rvp_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t rvp_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

struct rvp_record_ANCHOR rvp_anchor(void)
{
	/* The stamp lies between two readings of one clock; the middle is right to half their distance. */
	uint64_t before = clock_ns(CLOCK_MONOTONIC), stamp = rvp_stamp(), after = clock_ns(CLOCK_MONOTONIC);

	return (struct rvp_record_ANCHOR){
	    .stamp = stamp,
	    .monotonic_ns = before + (after - before) / 2,
	    .realtime_ns = clock_ns(CLOCK_REALTIME),
	    .boottime_ns = clock_ns(CLOCK_BOOTTIME),
	};
}
