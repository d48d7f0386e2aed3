/* SPDX-License-Identifier: MIT */
/* launches.c: see launches.h.
 *
 * A launch through the runtime is two calls, with one correlation: the driver's inside the runtime's. Both are called back
 * only where launches are recorded; then the outer one is the launch (open_calls.h), else the driver's.
 *
 * Sites: launches of one function by one call. A site is recorded FIRST_EACH times and then every so often, its record
 * standing for those since the last; sites share SITES places, and one that takes another's place begins anew.
 *
 * The word that CUPTI keeps for us from a call's enter to its exit: NOTHING, or of the outermost what is to be done
 * at its exit in the lowest two bits (COUNT, TIME, RECORD), and above them nothing, monotonic ns or a stamp.
 */
#include "cupti/launches.h"

#include "cupti/abi_driver.h"
#include "cupti/device_time.h"
#include "cupti/follower.h"
#include "cupti/interned.h"
#include "cupti/open_calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 4096, FIRST_EACH = 4, TIME_EVERY = 64, TIMES = 64, TIMES_LEAST = 16, COUNTERS = 16 };
enum { NOTHING = 0, TIME = 1, RECORD = 2, COUNT = 3, WHAT = 3 };
static const uint64_t site_gap_ns = 20000000u;

static const uint16_t driver_functions[] = {
    RVP_CUPTI_cuLaunchKernel, RVP_CUPTI_cuLaunchKernel_ptsz, RVP_CUPTI_cuLaunchKernelEx, RVP_CUPTI_cuLaunchKernelEx_ptsz,
    RVP_CUPTI_cuLaunchCooperativeKernel, RVP_CUPTI_cuLaunchCooperativeKernel_ptsz,
    RVP_CUPTI_cuLaunchCooperativeKernelMultiDevice, RVP_CUPTI_cuGraphLaunch, RVP_CUPTI_cuGraphLaunch_ptsz};

static const uint16_t runtime_functions[] = {
#define RVP_CUPTI_D(NAME, NUMBER) RVP_CUPTI_##NAME,
    RVP_CUPTI_RUNTIME_FUNCTIONS(RVP_CUPTI_D)
#undef RVP_CUPTI_D
};

static struct {
	_Atomic uint64_t key, count, last_ns;
	_Atomic uint32_t records;
} sites[SITES];
static struct rvp_open_calls open_calls;
static struct {
	_Alignas(64) _Atomic uint64_t all;
	_Atomic uint64_t graphs;
} counters[COUNTERS];
static _Atomic uint32_t how_recorded;
static _Atomic uint32_t times[TIMES], time_count;

uint32_t rvp_launches_function(uint32_t domain, unsigned i)
{
	if (domain == RVP_CUPTI_DOMAIN_DRIVER)
		return i < sizeof driver_functions / sizeof driver_functions[0] ? driver_functions[i] : 0;
	return i < sizeof runtime_functions / sizeof runtime_functions[0] ? runtime_functions[i] : 0;
}

void rvp_launches_how(enum rvp_launches how)
{
	atomic_store(&how_recorded, how);
}

static bool is_graph(uint32_t domain, uint32_t cbid)
{
	if (domain == RVP_CUPTI_DOMAIN_DRIVER)
		return cbid == RVP_CUPTI_cuGraphLaunch || cbid == RVP_CUPTI_cuGraphLaunch_ptsz;
	return cbid == RVP_CUPTI_cudaGraphLaunch_v10000 || cbid == RVP_CUPTI_cudaGraphLaunch_ptsz_v10000;
}

static bool is_launch(uint32_t domain, uint32_t cbid)
{
	uint32_t function;

	for (unsigned i = 0; (function = rvp_launches_function(domain, i)); i++)
		if (function == cbid)
			return true;
	return false;
}

/* ---- counts and times ---- */

/* Threads count in different lines of memory, as far as their stacks tell them apart. */
static uint64_t count(bool is_graph_launch)
{
	unsigned at = (unsigned)((uint64_t)__builtin_frame_address(0) >> 20) % COUNTERS;

	if (is_graph_launch)
		atomic_fetch_add_explicit(&counters[at].graphs, 1, memory_order_relaxed);
	return atomic_fetch_add_explicit(&counters[at].all, 1, memory_order_relaxed);
}

uint64_t rvp_launches_count(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < COUNTERS; i++)
		sum += atomic_load_explicit(&counters[i].all, memory_order_relaxed);
	return sum;
}

uint64_t rvp_launches_graph_count(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < COUNTERS; i++)
		sum += atomic_load_explicit(&counters[i].graphs, memory_order_relaxed);
	return sum;
}

static void note_time(uint64_t ns)
{
	uint32_t at = atomic_fetch_add_explicit(&time_count, 1, memory_order_relaxed);

	atomic_store_explicit(&times[at % TIMES], ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX, memory_order_relaxed);
}

static int by_size(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

uint64_t rvp_launches_typical_ns(void)
{
	uint32_t sorted[TIMES], all = atomic_exchange(&time_count, 0), number = all < TIMES ? all : TIMES;

	if (number < TIMES_LEAST)
		return 0;
	for (uint32_t i = 0; i < number; i++)
		sorted[i] = atomic_load_explicit(&times[i], memory_order_relaxed);
	qsort(sorted, number, sizeof sorted[0], by_size);
	return sorted[number / 4];
}

/* ---- sites ---- */

/* What is launched, and by what. */
static uint64_t site_of(uint32_t domain, uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	uint64_t what = (uint64_t)data->symbol, key;

	if (!what && domain == RVP_CUPTI_DOMAIN_DRIVER && data->parameters)
		memcpy(&what, data->parameters, sizeof what); /* the function, the graph */
	key = (what ^ (uint64_t)domain << 56 ^ (uint64_t)cbid << 40) * 0x9e3779b97f4a7c15u;
	return key ? key : 1;
}

/* How many launches of the site a record of this one would stand for; 0: none is wanted. */
static uint64_t count_at_site(uint64_t key)
{
	unsigned at = (unsigned)(key >> 52) % SITES;
	uint64_t now;

	if (atomic_load_explicit(&sites[at].key, memory_order_relaxed) != key) {
		atomic_store_explicit(&sites[at].key, key, memory_order_relaxed);
		atomic_store_explicit(&sites[at].count, 0, memory_order_relaxed);
		atomic_store_explicit(&sites[at].records, 0, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&sites[at].count, 1, memory_order_relaxed);
	if (atomic_load_explicit(&how_recorded, memory_order_relaxed) != RVP_LAUNCHES_ALL &&
	    atomic_load_explicit(&sites[at].records, memory_order_relaxed) >= FIRST_EACH) {
		now = rvp_coarse_ns();
		if (now - atomic_load_explicit(&sites[at].last_ns, memory_order_relaxed) < site_gap_ns)
			return 0;
		atomic_store_explicit(&sites[at].last_ns, now, memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&sites[at].records, 1, memory_order_relaxed);
	return atomic_exchange(&sites[at].count, 0);
}

/* ---- calls ---- */

static void begin(uint32_t domain, uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	uint64_t number;

	*data->word = NOTHING;
	if (!rvp_open_begin(&open_calls, data->correlation))
		return;
	number = count(is_graph(domain, cbid));
	if (atomic_load_explicit(&how_recorded, memory_order_relaxed) != RVP_LAUNCHES_COUNTED)
		*data->word = (rvp_recorder->stamp() & ~(uint64_t)WHAT) | RECORD;
	else if (number % TIME_EVERY == 0)
		*data->word = (rvp_now_ns() & ~(uint64_t)WHAT) | TIME;
	else
		*data->word = COUNT;
}

static void record(uint32_t domain, uint32_t cbid, const struct rvp_cupti_api_data *data, uint64_t stamp)
{
	uint64_t now = rvp_recorder->stamp(), duration_ns, stands_for;
	struct rvp_device_path path;

	if (!stamp || stamp > now)
		return; /* its enter was before these calls were called back */
	duration_ns = rvp_device_time_of_ticks(now - stamp);
	if (duration_ns)
		note_time(duration_ns);
	stands_for = count_at_site(site_of(domain, cbid, data));
	if (!stands_for)
		return;
	path = rvp_recorder->path();
	RVP_TELL(LAUNCH, .stamp = stamp, .correlation = data->correlation,
		 .function = rvp_interned_name(data->function), .duration_ns = duration_ns, .stack = path.stack,
		 .python = path.python, .stands_for = stands_for);
}

static void end(uint32_t domain, uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	uint64_t word = *data->word, begun = word & ~(uint64_t)WHAT;

	if ((word & WHAT) == NOTHING)
		return;
	rvp_open_end(&open_calls, data->correlation);
	if ((word & WHAT) == TIME)
		note_time(rvp_now_ns() - begun);
	else if ((word & WHAT) == RECORD)
		record(domain, cbid, data, begun);
}

bool rvp_launches_take(uint32_t domain, uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	if (!is_launch(domain, cbid))
		return false;
	if (data->site == RVP_CUPTI_ENTER)
		begin(domain, cbid, data);
	else
		end(domain, cbid, data);
	return true;
}
