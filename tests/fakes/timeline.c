/* SPDX-License-Identifier: MIT */
/* timeline.c: streams and events: when work begins and ends, who waits for whom. */
#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <stdlib.h>

struct CUevent_st {
	uint32_t number;
	uint64_t recorded_ns; /* when what was before it in its stream ends; 0: never recorded */
	uint32_t correlation;
	CUgraph capture; /* recorded in a stream that was being captured */
};
enum { SYNC_EVENT = 1, SYNC_WAIT_EVENT = 2, SYNC_STREAM = 3, SYNC_CONTEXT = 4 };

CUstream sim_stream_make(CUcontext context, uint32_t flags, int priority)
{
	static uint32_t last = 6; /* CUPTI's default stream is number 7 */
	CUstream stream = calloc(1, sizeof *stream);

	if (!stream)
		abort();
	stream->context = context;
	stream->flags = flags;
	stream->priority = priority;
	sim_lock();
	stream->number = ++last;
	stream->next = context->streams;
	context->streams = stream;
	sim_unlock();
	return stream;
}

/* NULL, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are handles too. */
CUstream sim_stream(CUstream handle)
{
	CUcontext context = sim_current();
	bool is_own = handle == (CUstream)2 || (!handle && sim_is_per_thread);

	if ((uintptr_t)handle > 2)
		return handle;
	if (!context)
		return NULL;
	if (!is_own)
		return context->legacy;
	if (!context->per_thread) /* one for all threads: enough for what is tested */
		context->per_thread = sim_stream_make(context, 0, 0);
	return context->per_thread;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The default stream waits for all blocking ones, and they for it. Under the lock. */
static uint64_t free_from(CUstream stream)
{
	uint64_t from = stream->free_ns;

	if (stream->flags & CU_STREAM_NON_BLOCKING)
		return from;
	if (stream != stream->context->legacy)
		return most(from, stream->context->legacy->free_ns);
	for (CUstream other = stream->context->streams; other; other = other->next)
		if (!(other->flags & CU_STREAM_NON_BLOCKING))
			from = most(from, other->free_ns);
	return from;
}

void sim_submit(CUstream stream, struct sim_activity *activity, uint64_t duration_ns)
{
	uint64_t now = sim_now();

	activity->context = stream->context->number;
	activity->device = stream->context->device;
	activity->stream = stream->number;
	activity->correlation = sim_correlation();
	sim_lock();
	activity->queued = now;
	activity->submitted = now + sim_scenario()->latency_ns / 2;
	activity->start = most(now + sim_scenario()->latency_ns, free_from(stream));
	activity->end = activity->start + duration_ns;
	stream->free_ns = activity->end;
	sim_unlock();
}

uint64_t sim_stream_end(CUstream stream)
{
	sim_lock();
	uint64_t end = free_from(stream);
	sim_unlock();
	return end;
}

static void tell_sync(uint32_t type, CUcontext context, CUstream stream, uint32_t event, uint64_t begin)
{
	struct sim_activity activity = {.kind = RVP_CUPTI_SYNCHRONIZATION,
					.correlation = sim_correlation(),
					.context = context->number,
					.device = context->device,
					.stream = stream ? stream->number : UINT32_MAX,
					.start = begin,
					.end = sim_now(),
					.sync = {.type = type, .event = event}};

	sim_tell(&activity);
}

void sim_wait_stream(CUstream stream)
{
	uint64_t begin = sim_now();
	const struct sim_observer *who = sim_observer();

	sim_wait_until(sim_stream_end(stream));
	sim_pools_settle(stream->context->device);
	tell_sync(SYNC_STREAM, stream->context, stream, UINT32_MAX, begin);
	if (who)
		who->synchronized(1, stream->context, stream);
}

void sim_wait_context(CUcontext context)
{
	uint64_t begin = sim_now(), end = 0;
	const struct sim_observer *who = sim_observer();

	sim_lock();
	for (CUstream stream = context->streams; stream; stream = stream->next)
		end = most(end, stream->free_ns);
	sim_unlock();
	sim_wait_until(end);
	sim_pools_settle(context->device);
	tell_sync(SYNC_CONTEXT, context, NULL, UINT32_MAX, begin);
	if (who)
		who->synchronized(2, context, NULL);
}

CUresult sim_cuStreamCreateWithPriority(CUstream *handle, unsigned int flags, int priority)
{
	CUcontext context = sim_current();

	if (sim_ready() != CUDA_SUCCESS)
		return sim_ready();
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	*handle = sim_stream_make(context, flags, priority);
	sim_tell_stream(RVP_CUPTI_STREAM_CREATED, *handle);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamCreate(CUstream *handle, unsigned int flags)
{
	return sim_cuStreamCreateWithPriority(handle, flags, 0);
}

CUresult sim_cuStreamDestroy_v2(CUstream handle)
{
	if ((uintptr_t)handle <= 2)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_tell_stream(RVP_CUPTI_STREAM_DESTROY, handle);
	sim_lock();
	for (CUstream *at = &handle->context->streams; *at; at = &(*at)->next)
		if (*at == handle) {
			*at = handle->next;
			break;
		}
	/* The default stream goes on waiting for what the stream still has to do. */
	handle->context->legacy->free_ns = most(handle->context->legacy->free_ns, handle->free_ns);
	sim_unlock();
	free(handle);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamSynchronize(CUstream handle)
{
	CUstream stream = sim_stream(handle);

	if (!stream)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	sim_wait_stream(stream);
	return sim_ready();
}

CUresult sim_cuStreamQuery(CUstream handle)
{
	CUstream stream = sim_stream(handle);

	if (!stream)
		return CUDA_ERROR_INVALID_CONTEXT;
	return sim_stream_end(stream) > sim_now() ? CUDA_ERROR_NOT_READY : sim_ready();
}

CUresult sim_cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags)
{
	CUstream stream = sim_stream(handle);

	(void)flags;
	if (!stream)
		return CUDA_ERROR_INVALID_CONTEXT;
	/* A stream that waits for what is being captured is captured too; branches are one chain here. */
	if (event->capture || stream->capture) {
		if (!stream->capture)
			stream->capture = event->capture;
		return CUDA_SUCCESS;
	}
	tell_sync(SYNC_WAIT_EVENT, stream->context, stream, event->number, sim_now());
	sim_lock();
	stream->free_ns = most(stream->free_ns, event->recorded_ns);
	sim_unlock();
	return sim_ready();
}

CUresult sim_cuEventCreate(CUevent *handle, unsigned int flags)
{
	static uint32_t last;
	CUevent event = calloc(1, sizeof *event);

	(void)flags;
	if (!event)
		abort();
	event->number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	*handle = event;
	return sim_ready();
}

CUresult sim_cuEventRecord(CUevent event, CUstream handle)
{
	CUstream stream = sim_stream(handle);

	if (!stream)
		return CUDA_ERROR_INVALID_CONTEXT;
	event->capture = stream->capture;
	event->recorded_ns = most(sim_stream_end(stream), sim_now());
	event->correlation = sim_correlation();
	return sim_ready();
}

CUresult sim_cuEventQuery(CUevent event)
{
	return event->recorded_ns > sim_now() ? CUDA_ERROR_NOT_READY : sim_ready();
}

CUresult sim_cuEventSynchronize(CUevent event)
{
	uint64_t begin = sim_now();

	sim_wait_until(event->recorded_ns);
	if (sim_current())
		tell_sync(SYNC_EVENT, sim_current(), NULL, event->number, begin);
	return sim_ready();
}

CUresult sim_cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
	if (!from->recorded_ns || !to->recorded_ns)
		return CUDA_ERROR_INVALID_HANDLE;
	*milliseconds = (float)((double)(int64_t)(to->recorded_ns - from->recorded_ns) / 1e6);
	return sim_ready();
}

CUresult sim_cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to)
{
	return sim_cuEventElapsedTime(milliseconds, from, to);
}

CUresult sim_cuEventDestroy_v2(CUevent event)
{
	free(event);
	return CUDA_SUCCESS;
}
