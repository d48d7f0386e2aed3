/* SPDX-License-Identifier: MIT */
/* engine.c: calls and correlations, the clock, the observer, chance. */
#include "tests/fakes/engine.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

__thread bool sim_is_per_thread;
static __thread struct sim_call *open_call;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct sim_observer *observer;
static uint32_t last_correlation;
static uint64_t launches, step_at;

void sim_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* CLOCK_REALTIME as it was at the first look, then onwards without steps. */
uint64_t sim_now(void)
{
	static uint64_t ahead;
	uint64_t now = read_clock(CLOCK_MONOTONIC), none = 0;

	if (__atomic_load_n(&ahead, __ATOMIC_RELAXED) == 0)
		__atomic_compare_exchange_n(&ahead, &none, read_clock(CLOCK_REALTIME) - now, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return now + __atomic_load_n(&ahead, __ATOMIC_RELAXED);
}

static uint64_t shown(uint64_t now)
{
	const struct sim_scenario *scenario = sim_scenario();
	uint64_t stepped = __atomic_load_n(&step_at, __ATOMIC_RELAXED);

	if (now == 0)
		return 0;
	now += (uint64_t)scenario->clock_offset_ns;
	if (stepped != 0 && now - (uint64_t)scenario->clock_offset_ns >= stepped)
		now += (uint64_t)scenario->step_ns;
	return now;
}

void sim_wait_until(uint64_t ns)
{
	for (uint64_t now = sim_now(); now < ns; now = sim_now()) {
		struct timespec rest = {.tv_sec = (time_t)((ns - now) / 1000000000),
					.tv_nsec = (long)((ns - now) % 1000000000)};

		nanosleep(&rest, NULL);
	}
}

/* A linear congruential generator: the same seed gives the same durations in the same order of calls. */
uint64_t sim_random(uint64_t least, uint64_t most)
{
	static uint64_t state;

	sim_lock();
	if (state == 0)
		state = sim_scenario()->seed * 2 + 1;
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	uint64_t drawn = state >> 33;
	sim_unlock();
	return most <= least ? least : least + drawn % (most - least + 1);
}

const struct sim_observer *sim_observer(void)
{
	return __atomic_load_n(&observer, __ATOMIC_ACQUIRE);
}

static void observe(const struct sim_observer *who)
{
	__atomic_store_n(&observer, who, __ATOMIC_RELEASE);
}

uint32_t sim_correlation(void)
{
	return open_call ? open_call->correlation : 0;
}

void sim_name_kernel(const char *kernel)
{
	for (struct sim_call *call = open_call; call; call = call->outer)
		call->kernel = kernel;
}

void sim_begin(struct sim_call *call)
{
	const struct sim_observer *who = sim_observer();
	CUcontext context = sim_current();
	int error = errno;

	call->outer = open_call;
	call->correlation =
	    open_call ? open_call->correlation : __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
	call->context_handle = context;
	call->context = context ? context->number : 0;
	call->begin_ns = sim_now();
	open_call = call;
	call->is_told = who && who->begin(call);
	errno = error;
}

void sim_end(struct sim_call *call, uint32_t result)
{
	const struct sim_observer *who = sim_observer();
	int error = errno;

	call->result = result;
	call->end_ns = sim_now();
	if (call->is_told && who)
		who->end(call);
	open_call = call->outer;
	errno = error;
}

void sim_tell(const struct sim_activity *activity)
{
	const struct sim_observer *who = sim_observer();

	if (who)
		who->activity(activity);
}

void sim_tell_resource(uint32_t cbid, const struct sim_resource *resource)
{
	const struct sim_observer *who = sim_observer();

	if (who)
		who->resource(cbid, resource);
}

void sim_tell_stream(uint32_t cbid, CUstream stream)
{
	sim_tell_resource(cbid, &(struct sim_resource){.context = stream->context, .stream = stream});
}

/* The clock's step comes with a launch, so that a test knows what lies before it. */
void sim_count_launch(void)
{
	if (__atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED) == sim_scenario()->step_after)
		__atomic_store_n(&step_at, sim_now(), __ATOMIC_RELAXED);
}

CUresult sim_ready(void)
{
	if (!sim_is_initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (__atomic_load_n(&launches, __ATOMIC_RELAXED) >= sim_scenario()->lost_after)
		return (CUresult)sim_scenario()->lost_error;
	return CUDA_SUCCESS;
}

static bool is_initialized(void)
{
	return sim_is_initialized;
}

static uint32_t context_number(void *context)
{
	return context ? ((CUcontext)context)->number : 0;
}

static uint32_t context_device(void *context)
{
	return context ? ((CUcontext)context)->device : 0;
}

static uint32_t stream_number(void *context, void *stream, bool is_per_thread)
{
	bool before = sim_is_per_thread;
	CUstream found;

	(void)context;
	sim_is_per_thread = is_per_thread;
	found = sim_stream(stream);
	sim_is_per_thread = before;
	return found ? found->number : UINT32_MAX;
}

static uint32_t default_stream(void *context)
{
	return ((CUcontext)context)->legacy->number;
}

static uint64_t device_used(uint32_t device)
{
	sim_lock();
	uint64_t used = sim_memory_used(device);
	sim_unlock();
	return used;
}

const struct sim_engine sim_engine = {
    .scenario = sim_scenario,
    .observe = observe,
    .is_initialized = is_initialized,
    .begin = sim_begin,
    .end = sim_end,
    .now = sim_now,
    .shown = shown,
    .context_number = context_number,
    .context_device = context_device,
    .stream_number = stream_number,
    .graph_number = sim_graph_number,
    .exec_number = sim_exec_number,
    .node_number = sim_node_number,
    .device_used = device_used,
    .default_stream = default_stream,
    .charge = sim_memory_charge,
};

#define SIZE(TYPE, BYTES) _Static_assert(sizeof(TYPE) == (BYTES), "a type of CUDA's has another size");
#define OFFSET(TYPE, MEMBER, PLACE) \
	_Static_assert(offsetof(TYPE, MEMBER) == (PLACE), "a member of CUDA's lies elsewhere");
#include "tests/fakes/sizes.def"
