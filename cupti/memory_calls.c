/* SPDX-License-Identifier: MIT */
/* memory_calls.c: see memory_calls.h. */
#include "cupti/memory_calls.h"

#include "cupti/abi_driver.h"
#include "cupti/captures.h"
#include "cupti/device_memory.h"
#include "cupti/follower.h"
#include "cupti/library.h"
#include "cupti/open_calls.h"
#include "cupti/places.h"
#include "cupti/retained.h"

enum { CURRENT_DEVICE = UINT32_MAX };
/* The word that CUPTI keeps for us from a call's enter to its exit. TOLD: a free that was written. */
enum { OUTERMOST = 1, TOLD = 2 };

static struct rvp_open_calls open_calls;

/* What a call asked for. Its address is where the call puts it. */
struct asked {
	const uint64_t *address;
	uint64_t bytes;
	enum rvp_device_memory kind;
	uint32_t device; /* CURRENT_DEVICE: of the call's context */
	void *stream, *pool;
	bool is_per_thread;
};

static const uint16_t functions[] = {
    RVP_CUPTI_cuMemAlloc_v2, RVP_CUPTI_cuMemAllocPitch_v2, RVP_CUPTI_cuMemAllocManaged, RVP_CUPTI_cuMemHostAlloc,
    RVP_CUPTI_cuMemHostAlloc_v2, RVP_CUPTI_cuMemAllocHost_v2, RVP_CUPTI_cuMemHostRegister,
    RVP_CUPTI_cuMemHostRegister_v2, RVP_CUPTI_cuMemHostUnregister, RVP_CUPTI_cuMemFree_v2, RVP_CUPTI_cuMemFreeHost,
    RVP_CUPTI_cuMemAllocAsync, RVP_CUPTI_cuMemAllocAsync_ptsz, RVP_CUPTI_cuMemAllocFromPoolAsync,
    RVP_CUPTI_cuMemAllocFromPoolAsync_ptsz, RVP_CUPTI_cuMemFreeAsync, RVP_CUPTI_cuMemFreeAsync_ptsz,
    RVP_CUPTI_cuMemCreate, RVP_CUPTI_cuMemRelease, RVP_CUPTI_cuMemMap, RVP_CUPTI_cuMemUnmap,
    RVP_CUPTI_cuMemImportFromShareableHandle, RVP_CUPTI_cuMemRetainAllocationHandle, RVP_CUPTI_cuArrayCreate_v2,
    RVP_CUPTI_cuArray3DCreate_v2, RVP_CUPTI_cuArrayDestroy, RVP_CUPTI_cuMipmappedArrayCreate,
    RVP_CUPTI_cuMipmappedArrayDestroy, RVP_CUPTI_cuIpcOpenMemHandle, RVP_CUPTI_cuIpcOpenMemHandle_v2,
    RVP_CUPTI_cuIpcCloseMemHandle, RVP_CUPTI_cuMemPoolTrimTo, RVP_CUPTI_cuMemPoolCreate, RVP_CUPTI_cuMemPoolDestroy,
    RVP_CUPTI_cuStreamBeginCapture, RVP_CUPTI_cuStreamBeginCapture_ptsz, RVP_CUPTI_cuStreamBeginCapture_v2,
    RVP_CUPTI_cuStreamBeginCapture_v2_ptsz, RVP_CUPTI_cuStreamBeginCaptureToGraph,
    RVP_CUPTI_cuStreamBeginCaptureToGraph_ptsz, RVP_CUPTI_cuStreamEndCapture, RVP_CUPTI_cuStreamEndCapture_ptsz,
};

uint32_t rvp_memory_calls_function(unsigned i)
{
	return i < sizeof functions / sizeof functions[0] ? functions[i] : 0;
}

/* ---- allocs ---- */

/* cuMemCreate's memory may lie on the host. */
static struct asked asked_create(const struct rvp_cu_create *call)
{
	bool is_device = call->properties && call->properties->location.type == RVP_CU_LOCATION_DEVICE;

	return (struct asked){.address = call->handle,
			      .bytes = call->bytes,
			      .kind = is_device ? RVP_DEVICE_MEMORY_PHYSICAL : RVP_DEVICE_MEMORY_PINNED,
			      .device = is_device ? (uint32_t)call->properties->location.id : CURRENT_DEVICE};
}

static struct asked asked_array(void *const *array, uint64_t bytes)
{
	return (struct asked){(const uint64_t *)array, bytes, RVP_DEVICE_MEMORY_ARRAY, CURRENT_DEVICE, NULL, NULL, false};
}

static uint64_t array_bytes(const struct rvp_cu_array *shape)
{
	return shape ? rvp_device_array_bytes(shape->format, shape->channels, shape->width, shape->height, 1, 1) : 0;
}

static uint64_t array3d_bytes(const struct rvp_cu_array3d *shape, uint32_t levels)
{
	return shape ? rvp_device_array_bytes(shape->format, shape->channels, shape->width, shape->height, shape->depth,
					      levels)
		     : 0;
}

#define ASKED(place, count, what) \
	((struct asked){.address = (place), .bytes = (count), .kind = RVP_DEVICE_MEMORY_##what, .device = CURRENT_DEVICE})

/* False: the call gives nothing out. `parameters` as the driver has them; results are there at the exit. */
static bool read_alloc(uint32_t cbid, const void *parameters, struct asked *asked)
{
	switch (cbid) {
	case RVP_CUPTI_cuMemAlloc_v2: {
		const struct rvp_cu_alloc *call = parameters;

		*asked = ASKED(call->address, call->bytes, PLAIN);
		return true;
	}
	case RVP_CUPTI_cuMemAllocPitch_v2: {
		const struct rvp_cu_alloc_pitch *call = parameters;

		*asked = ASKED(call->address, (call->pitch ? *call->pitch : call->width) * call->height, PLAIN);
		return true;
	}
	case RVP_CUPTI_cuMemAllocManaged: {
		const struct rvp_cu_alloc_managed *call = parameters;

		*asked = ASKED(call->address, call->bytes, MANAGED);
		return true;
	}
	case RVP_CUPTI_cuMemHostAlloc:
	case RVP_CUPTI_cuMemHostAlloc_v2:
	case RVP_CUPTI_cuMemAllocHost_v2: {
		const struct rvp_cu_alloc_host *call = parameters;

		*asked = ASKED((const uint64_t *)call->address, call->bytes, PINNED);
		return true;
	}
	case RVP_CUPTI_cuMemHostRegister:
	case RVP_CUPTI_cuMemHostRegister_v2: {
		const struct rvp_cu_register *call = parameters;

		*asked = ASKED((const uint64_t *)&call->address, call->bytes, REGISTERED);
		return true;
	}
	case RVP_CUPTI_cuMemAllocAsync:
	case RVP_CUPTI_cuMemAllocAsync_ptsz: {
		const struct rvp_cu_alloc_async *call = parameters;

		*asked = ASKED(call->address, call->bytes, ORDERED);
		asked->stream = call->stream;
		asked->is_per_thread = cbid == RVP_CUPTI_cuMemAllocAsync_ptsz;
		return true;
	}
	case RVP_CUPTI_cuMemAllocFromPoolAsync:
	case RVP_CUPTI_cuMemAllocFromPoolAsync_ptsz: {
		const struct rvp_cu_alloc_from_pool *call = parameters;

		*asked = ASKED(call->address, call->bytes, ORDERED);
		asked->stream = call->stream;
		asked->pool = call->pool;
		asked->is_per_thread = cbid == RVP_CUPTI_cuMemAllocFromPoolAsync_ptsz;
		return true;
	}
	case RVP_CUPTI_cuMemCreate: *asked = asked_create(parameters); return true;
	case RVP_CUPTI_cuMemImportFromShareableHandle: {
		const struct rvp_cu_import *call = parameters;

		*asked = ASKED(call->handle, 0, IMPORTED);
		return true;
	}
	case RVP_CUPTI_cuIpcOpenMemHandle:
	case RVP_CUPTI_cuIpcOpenMemHandle_v2: {
		const struct rvp_cu_ipc_open *call = parameters;

		*asked = ASKED(call->address, 0, IMPORTED);
		return true;
	}
	case RVP_CUPTI_cuArrayCreate_v2: {
		const struct rvp_cu_array_create *call = parameters;

		*asked = asked_array(call->array, array_bytes(call->shape));
		return true;
	}
	case RVP_CUPTI_cuArray3DCreate_v2: {
		const struct rvp_cu_array3d_create *call = parameters;

		*asked = asked_array(call->array, array3d_bytes(call->shape, 1));
		return true;
	}
	case RVP_CUPTI_cuMipmappedArrayCreate: {
		const struct rvp_cu_mipmap_create *call = parameters;

		*asked = asked_array(call->array, array3d_bytes(call->shape, call->levels));
		return true;
	}
	default: return false;
	}
}

/* Memory of a capture belongs to its graph: there is none before that runs. */
static bool is_captured(void *stream)
{
	int is_capturing = 0;

	if (!rvp_is_capturing() || !rvp_driver.cuStreamIsCapturing)
		return false;
	rvp_recorder->begin_own();
	if (rvp_driver.cuStreamIsCapturing(stream, &is_capturing) != RVP_CU_SUCCESS)
		is_capturing = 0;
	rvp_recorder->end_own();
	return is_capturing == 1;
}

static void *default_pool(uint32_t device)
{
	void *pool = NULL;

	if (!rvp_driver.cuDeviceGetMemPool)
		return NULL;
	rvp_recorder->begin_own();
	if (rvp_driver.cuDeviceGetMemPool(&pool, (int)device) != RVP_CU_SUCCESS)
		pool = NULL;
	rvp_recorder->end_own();
	return pool;
}

static void tell_alloc(const struct rvp_cupti_api_data *data, struct asked *asked, const struct rvp_place_context *context)
{
	struct rvp_device_path path = rvp_recorder->path();
	uint32_t stream = 0;

	if (asked->kind == RVP_DEVICE_MEMORY_ORDERED) {
		stream = rvp_places_stream_number(data->context, asked->stream, asked->is_per_thread);
		if (!asked->pool)
			asked->pool = default_pool(asked->device);
	}
	RVP_TELL(DEVICE_ALLOC, .address = *asked->address, .bytes = asked->bytes, .stack = path.stack,
		 .python = path.python, .kind = asked->kind, .device = asked->device, .context = context->number,
		 .stream = stream, .pool = (uint64_t)asked->pool, .correlation = data->correlation);
	if (asked->pool)
		rvp_device_memory_pool(asked->device, asked->pool, RVP_DEVICE_POOL_SEEN);
	/* A look asks the current context's device. */
	if (asked->kind != RVP_DEVICE_MEMORY_PINNED && asked->kind != RVP_DEVICE_MEMORY_REGISTERED &&
	    asked->device == context->device)
		rvp_device_memory_moved(asked->device, asked->bytes);
}

/* Of another device than the current context's there is no room that could be told. */
static void tell_refused(const struct asked *asked, const struct rvp_place_context *context, int error)
{
	struct rvp_device_path path = rvp_recorder->path();
	struct rvp_device_room room = {0};

	if (asked->device == context->device)
		room = rvp_device_memory_room();
	RVP_TELL(DEVICE_REFUSED, .device = asked->device, .bytes = asked->bytes, .kind = asked->kind,
		 .error = (uint64_t)error, .total_bytes = room.total_bytes, .free_bytes = room.free_bytes,
		 .stack = path.stack, .python = path.python);
}

static int result_of(const struct rvp_cupti_api_data *data)
{
	return data->result ? *(const int *)data->result : RVP_CU_SUCCESS;
}

static void end_alloc(const struct rvp_cupti_api_data *data, struct asked *asked)
{
	struct rvp_place_context context;
	int result = result_of(data);

	rvp_places_meet(data->context, data->context_number, &context);
	if (asked->device == CURRENT_DEVICE)
		asked->device = context.device;
	if (result == RVP_CU_OUT_OF_MEMORY)
		tell_refused(asked, &context, result);
	else if (result == RVP_CU_SUCCESS && asked->address && *asked->address &&
		 !(asked->kind == RVP_DEVICE_MEMORY_ORDERED && is_captured(asked->stream)))
		tell_alloc(data, asked, &context);
}

/* ---- frees ---- */

struct given_back {
	uint64_t address;
	enum rvp_device_memory kind;
	void *stream;
	bool is_ordered, is_per_thread;
};

static bool read_free(uint32_t cbid, const void *parameters, struct given_back *back)
{
	const struct rvp_cu_free *call = parameters; /* all of these begin with what is given back */
	enum rvp_device_memory kind;

	switch (cbid) {
	case RVP_CUPTI_cuMemFree_v2: kind = RVP_DEVICE_MEMORY_PLAIN; break;
	case RVP_CUPTI_cuMemFreeHost: kind = RVP_DEVICE_MEMORY_PINNED; break;
	case RVP_CUPTI_cuMemHostUnregister: kind = RVP_DEVICE_MEMORY_REGISTERED; break;
	case RVP_CUPTI_cuMemFreeAsync:
	case RVP_CUPTI_cuMemFreeAsync_ptsz: kind = RVP_DEVICE_MEMORY_ORDERED; break;
	case RVP_CUPTI_cuMemRelease: kind = RVP_DEVICE_MEMORY_PHYSICAL; break;
	case RVP_CUPTI_cuArrayDestroy:
	case RVP_CUPTI_cuMipmappedArrayDestroy: kind = RVP_DEVICE_MEMORY_ARRAY; break;
	case RVP_CUPTI_cuIpcCloseMemHandle: kind = RVP_DEVICE_MEMORY_IMPORTED; break;
	default: return false;
	}
	*back = (struct given_back){.address = call->address,
				    .kind = kind,
				    .is_ordered = kind == RVP_DEVICE_MEMORY_ORDERED,
				    .is_per_thread = cbid == RVP_CUPTI_cuMemFreeAsync_ptsz};
	if (back->is_ordered)
		back->stream = ((const struct rvp_cu_free_async *)parameters)->stream;
	return true;
}

static void begin_free(const struct rvp_cupti_api_data *data, const struct given_back *back)
{
	uint32_t stream = 0;

	if (!back->address)
		return;
	if (back->is_ordered && is_captured(back->stream))
		return;
	if (back->kind == RVP_DEVICE_MEMORY_PHYSICAL && rvp_retained_release(back->address))
		return;
	if (back->is_ordered)
		stream = rvp_places_stream_number(data->context, back->stream, back->is_per_thread);
	*data->word |= TOLD;
	RVP_TELL(DEVICE_FREE, .address = back->address, .kind = back->kind, .stream = stream,
		 .correlation = data->correlation);
}

static void end_free(const struct rvp_cupti_api_data *data, const struct given_back *back)
{
	struct rvp_place_context context;

	if (!(*data->word & TOLD))
		return;
	if (result_of(data) != RVP_CU_SUCCESS) {
		RVP_TELL(DEVICE_UNFREE, .address = back->address);
		return;
	}
	rvp_places_meet(data->context, data->context_number, &context);
	rvp_device_memory_moved(context.device, 0);
}

/* ---- the rest ---- */

static void end_map(const struct rvp_cupti_api_data *data)
{
	const struct rvp_cu_map *call = data->parameters;
	struct rvp_device_path path = rvp_recorder->path();
	struct rvp_place_context context;

	rvp_places_meet(data->context, data->context_number, &context);
	RVP_TELL(DEVICE_MAP, .address = call->address, .bytes = call->bytes, .handle = call->handle,
		 .offset = call->offset, .stack = path.stack, .python = path.python, .device = context.device);
}

/* A pool on the host, or of another process, is none of the device's. */
static void end_pool_create(const struct rvp_cupti_api_data *data)
{
	const struct rvp_cu_pool_create *call = data->parameters;
	const struct rvp_cu_pool_properties *properties = call->properties;

	if (call->pool && properties && properties->location.type == RVP_CU_LOCATION_DEVICE)
		rvp_device_memory_pool((uint32_t)properties->location.id, *call->pool, RVP_DEVICE_POOL_MADE);
}

static void end_pool_trim(const struct rvp_cupti_api_data *data)
{
	const struct rvp_cu_pool_trim *call = data->parameters;
	struct rvp_place_context context;

	rvp_places_meet(data->context, data->context_number, &context);
	rvp_device_memory_pool(context.device, call->pool, RVP_DEVICE_POOL_TRIMMED);
	rvp_device_memory_moved(context.device, 0);
}

/* False: the stream that was asked to end its capture has none, or goes on with it. */
static bool has_ended_capture(int result)
{
	switch (result) {
	case RVP_CU_INVALID_VALUE:
	case RVP_CU_INVALID_HANDLE:
	case RVP_CU_ILLEGAL_STATE:
	case RVP_CU_CAPTURE_UNMATCHED:
	case RVP_CU_CAPTURE_WRONG_THREAD: return false;
	default: return true;
	}
}

static void end_retain(const struct rvp_cupti_api_data *data)
{
	const struct rvp_cu_retain *call = data->parameters;

	if (call->handle)
		rvp_retained_add(*call->handle);
}

static void take_at_enter(uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	const struct rvp_cu_unmap *unmap = data->parameters;

	if (cbid == RVP_CUPTI_cuMemUnmap)
		RVP_TELL(DEVICE_UNMAP, .address = unmap->address, .bytes = unmap->bytes);
	else if (cbid == RVP_CUPTI_cuMemPoolDestroy)
		rvp_device_memory_pool(0, ((const struct rvp_cu_pool_destroy *)data->parameters)->pool,
				       RVP_DEVICE_POOL_DESTROYED);
}

/* All functions of captures begin with their stream. */
static void *stream_of(const struct rvp_cupti_api_data *data)
{
	return data->parameters ? *(void *const *)data->parameters : NULL;
}

static void take_at_exit(uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	switch (cbid) {
	case RVP_CUPTI_cuMemMap: end_map(data); return;
	case RVP_CUPTI_cuMemPoolCreate: end_pool_create(data); return;
	case RVP_CUPTI_cuMemPoolTrimTo: end_pool_trim(data); return;
	case RVP_CUPTI_cuMemRetainAllocationHandle: end_retain(data); return;
	case RVP_CUPTI_cuStreamBeginCapture:
	case RVP_CUPTI_cuStreamBeginCapture_ptsz:
	case RVP_CUPTI_cuStreamBeginCapture_v2:
	case RVP_CUPTI_cuStreamBeginCapture_v2_ptsz:
	case RVP_CUPTI_cuStreamBeginCaptureToGraph:
	case RVP_CUPTI_cuStreamBeginCaptureToGraph_ptsz: rvp_capture_begins(data->context, stream_of(data)); return;
	default: return;
	}
}

static void take(uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	bool is_enter = data->site == RVP_CUPTI_ENTER;
	struct given_back back;
	struct asked asked;

	if (cbid == RVP_CUPTI_cuStreamEndCapture || cbid == RVP_CUPTI_cuStreamEndCapture_ptsz) {
		if (!is_enter && has_ended_capture(result_of(data)))
			rvp_capture_ends(stream_of(data));
	} else if (read_free(cbid, data->parameters, &back)) {
		is_enter ? begin_free(data, &back) : end_free(data, &back);
	} else if (is_enter) {
		take_at_enter(cbid, data);
	} else if (read_alloc(cbid, data->parameters, &asked)) {
		end_alloc(data, &asked);
	} else if (result_of(data) == RVP_CU_SUCCESS) {
		take_at_exit(cbid, data);
	}
}

static bool is_followed(uint32_t cbid)
{
	for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (functions[i] == cbid)
			return true;
	return false;
}

bool rvp_memory_calls_take(uint32_t cbid, const struct rvp_cupti_api_data *data)
{
	if (!is_followed(cbid))
		return false;
	if (data->site == RVP_CUPTI_ENTER)
		*data->word = rvp_open_begin(&open_calls, data->correlation) ? OUTERMOST : 0;
	if (!(*data->word & OUTERMOST))
		return true;
	take(cbid, data);
	if (data->site == RVP_CUPTI_EXIT)
		rvp_open_end(&open_calls, data->correlation);
	return true;
}
