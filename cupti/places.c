/* SPDX-License-Identifier: MIT */
/* places.c: see places.h. Contexts are few: a table of CONTEXTS_MAX places, found by their number, which is never used
 * again; `state` says what a place is, and the place of one that is gone is another's. Further contexts are told of each time they are met anew, and have device 0. */
#include "cupti/places.h"

#include "cupti/device_memory.h"
#include "cupti/device_time.h"
#include "cupti/follower.h"
#include "cupti/library.h"

#include <stdatomic.h>
#include <string.h>

enum { CONTEXTS_MAX = 256, DEVICES_MAX = 128, NAME_BYTES = 128 };
enum { EMPTY, FILLING, LIVING, GONE };

static struct {
	_Atomic uint32_t state, is_looked_at;
	struct rvp_place_context it;
} contexts[CONTEXTS_MAX];
static _Atomic int unlooked; /* contexts that are not looked at yet */
static _Atomic uint32_t device_is_told[DEVICES_MAX];

static uint64_t attribute(int device, int which)
{
	int value = 0;

	if (!rvp_driver.cuDeviceGetAttribute || rvp_driver.cuDeviceGetAttribute(&value, which, device) != RVP_CU_SUCCESS)
		return 0;
	return value > 0 ? (uint64_t)value : 0;
}

/* Two words a clock, by the bus. */
static uint64_t bandwidth(int device)
{
	return attribute(device, RVP_CU_MEMORY_CLOCK_KHZ) * 1000 * 2 * (attribute(device, RVP_CU_MEMORY_BUS_BITS) / 8);
}

static void tell_device(uint32_t number)
{
	char model[NAME_BYTES] = "";
	uint8_t uuid[16];
	size_t bytes = 0;
	int device = (int)number;
	bool has_uuid;

	if (rvp_driver.cuDeviceGet && rvp_driver.cuDeviceGet(&device, (int)number) != RVP_CU_SUCCESS)
		return;
	if (rvp_driver.cuDeviceGetName && rvp_driver.cuDeviceGetName(model, sizeof model, device) != RVP_CU_SUCCESS)
		model[0] = '\0';
	if (rvp_driver.cuDeviceTotalMem_v2 && rvp_driver.cuDeviceTotalMem_v2(&bytes, device) != RVP_CU_SUCCESS)
		bytes = 0;
	has_uuid = rvp_driver.cuDeviceGetUuid_v2 && rvp_driver.cuDeviceGetUuid_v2(uuid, device) == RVP_CU_SUCCESS;
	RVP_TELL(DEVICE, .device = number, .memory_bytes = bytes,
		 .multiprocessors = attribute(device, RVP_CU_MULTIPROCESSORS),
		 .compute = attribute(device, RVP_CU_COMPUTE_MAJOR) * 10 + attribute(device, RVP_CU_COMPUTE_MINOR),
		 .warp_threads = attribute(device, RVP_CU_WARP_SIZE),
		 .threads = attribute(device, RVP_CU_THREADS_PER_MULTIPROCESSOR),
		 .registers = attribute(device, RVP_CU_REGISTERS_PER_MULTIPROCESSOR),
		 .shared_bytes = attribute(device, RVP_CU_SHARED_PER_MULTIPROCESSOR),
		 .blocks = attribute(device, RVP_CU_BLOCKS_PER_MULTIPROCESSOR),
		 .memory_bandwidth = bandwidth(device),
		 .uuid = {.bytes = (const char *)uuid, .length = has_uuid ? sizeof uuid : 0},
		 .model = rvp_text_of_string(model));
}

static void meet_device(uint32_t device)
{
	if (device < DEVICES_MAX && !atomic_exchange(&device_is_told[device], 1))
		tell_device(device);
}

uint32_t rvp_places_stream_number(void *context, void *stream, bool is_per_thread)
{
	uint32_t number = 0;

	if (!rvp_cupti.GetStreamIdEx)
		return 0;
	rvp_recorder->begin_own();
	if (rvp_cupti.GetStreamIdEx(context, stream, is_per_thread, &number) != RVP_CUPTI_SUCCESS)
		number = 0;
	rvp_recorder->end_own();
	return number;
}

static void tell_context(const struct rvp_place_context *it)
{
	uint32_t stream = rvp_places_stream_number(it->context, NULL, false);

	meet_device(it->device);
	RVP_TELL(DEVICE_CONTEXT, .context = it->number, .device = it->device, .default_stream = stream);
	if (stream)
		rvp_places_stream(it->number, stream, 0, RVP_PLACES_DEFAULT);
}

static struct rvp_place_context made(void *context, uint32_t number)
{
	struct rvp_place_context it = {.context = context, .number = number};
	int device = 0;

	if (!rvp_cupti.GetDeviceId || rvp_cupti.GetDeviceId(context, &it.device) != RVP_CUPTI_SUCCESS)
		it.device = rvp_driver.cuCtxGetDevice && rvp_driver.cuCtxGetDevice(&device) == RVP_CU_SUCCESS
				? (uint32_t)device
				: 0;
	return it;
}

static bool find(uint32_t number, struct rvp_place_context *found)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		uint32_t state = atomic_load_explicit(&contexts[i].state, memory_order_acquire);

		if (state == EMPTY)
			return false;
		if (state != LIVING || contexts[i].it.number != number)
			continue;
		*found = contexts[i].it;
		/* Another thread may have put another context there meanwhile. */
		if (atomic_load(&contexts[i].state) == LIVING && contexts[i].it.number == number &&
		    found->number == number)
			return true;
	}
	return false;
}

/* False: another thread did, or there is no place. */
static bool enter(const struct rvp_place_context *it)
{
	struct rvp_place_context other;

	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		uint32_t state = atomic_load(&contexts[i].state);

		if ((state == EMPTY || state == GONE) &&
		    atomic_compare_exchange_strong(&contexts[i].state, &state, FILLING)) {
			contexts[i].it = *it;
			atomic_store(&contexts[i].is_looked_at, 0);
			atomic_store_explicit(&contexts[i].state, LIVING, memory_order_release);
			return true;
		}
	}
	return !find(it->number, &other);
}

bool rvp_places_meet(void *context, uint32_t number, struct rvp_place_context *found)
{
	*found = (struct rvp_place_context){0};
	if (!context || !number)
		return false;
	if (__builtin_expect(find(number, found), 1))
		return true;
	rvp_recorder->begin_own();
	*found = made(context, number);
	if (enter(found)) {
		tell_context(found);
		rvp_device_time_tell();
		if (find(number, found)) /* else there was no place */
			atomic_fetch_add(&unlooked, 1);
	}
	rvp_recorder->end_own();
	return true;
}

void rvp_places_look(const struct rvp_place_context *context)
{
	if (__builtin_expect(atomic_load_explicit(&unlooked, memory_order_relaxed) <= 0, 1))
		return;
	for (unsigned i = 0; i < CONTEXTS_MAX && atomic_load(&contexts[i].state) != EMPTY; i++)
		if (contexts[i].it.number == context->number && atomic_load(&contexts[i].state) == LIVING &&
		    !atomic_exchange(&contexts[i].is_looked_at, 1)) {
			atomic_fetch_sub(&unlooked, 1);
			rvp_device_memory_look(context->device, RVP_DEVICE_OCCASION_START);
		}
}

void rvp_places_end_context(void *context, uint32_t number)
{
	struct rvp_place_context it = {.context = context, .number = number};

	if (!number && rvp_cupti.GetContextId)
		rvp_cupti.GetContextId(context, &it.number);
	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		uint32_t state = LIVING;

		if (atomic_load(&contexts[i].state) != LIVING || contexts[i].it.number != it.number ||
		    !atomic_compare_exchange_strong(&contexts[i].state, &state, GONE))
			continue;
		if (!atomic_exchange(&contexts[i].is_looked_at, 1))
			atomic_fetch_sub(&unlooked, 1);
		RVP_TELL(DEVICE_CONTEXT, .context = it.number, .device = contexts[i].it.device, .is_end = 1);
		return;
	}
}

void rvp_places_stream(uint32_t context, uint32_t stream, int32_t priority, uint32_t flags)
{
	RVP_TELL(DEVICE_STREAM, .context = context, .stream = stream,
		 .priority = (uint32_t)priority << 1 ^ (uint32_t)(priority >> 31), .flags = flags);
}

static void tell_stream(void *context, void *stream, bool is_end)
{
	uint32_t number = 0, stream_number = rvp_places_stream_number(context, stream, false);

	rvp_recorder->begin_own();
	if (rvp_cupti.GetContextId)
		rvp_cupti.GetContextId(context, &number);
	rvp_recorder->end_own();
	if (stream_number)
		RVP_TELL(DEVICE_STREAM, .context = number, .stream = stream_number, .is_end = is_end);
}

void rvp_places_stream_made(void *context, void *stream)
{
	tell_stream(context, stream, false);
}

void rvp_places_stream_ends(void *context, void *stream)
{
	tell_stream(context, stream, true);
}

bool rvp_places_context(unsigned i, struct rvp_place_context *found)
{
	for (unsigned at = 0; at < CONTEXTS_MAX; at++)
		if (atomic_load_explicit(&contexts[at].state, memory_order_acquire) == LIVING && i-- == 0) {
			*found = contexts[at].it;
			return true;
		}
	return false;
}

unsigned rvp_places_context_count(void)
{
	unsigned count = 0;

	for (unsigned at = 0; at < CONTEXTS_MAX; at++)
		count += atomic_load_explicit(&contexts[at].state, memory_order_relaxed) == LIVING;
	return count;
}
