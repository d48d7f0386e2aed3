/* SPDX-License-Identifier: MIT */
/* cupti_buffers.c: activity records on their way to the client.
 *
 *   - A buffer is asked for in the program's thread when a record needs one, filled, and given back by a
 * thread of ours once it is full and all its records have ended; or by a flush, in the flushing thread.
 *   - Both callbacks run under a lock, as CUPTI's do: a client that takes a lock of its own in them and also
 * holds it around a call of ours would hang on a real machine; here a call of ours that takes the lock again
 * ends the program with a line that says so.
 *   - A flush that is not forced keeps buffers back whose records have not all ended; a forced one gives them
 * out, the end of what is still running is 0, and it is never told again.
 *   - Buffers of zeros, once promised, are zeros (looked at their beginning): else the program ends with a line.
 *   - No buffer (NULL): the record is dropped and counted; libraries before 12.9 do not survive it. */
#include "tests/fakes/cupti.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct buffer {
	uint8_t *bytes;
	size_t size, used, most, count;
	uint64_t ends_at; /* engine's time when its last record has ended */
	struct buffer *next;
};

static pthread_mutex_t lock;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static rvp_cupti_request request;
static rvp_cupti_complete complete;
static uint64_t kinds; /* enabled, 1 << kind */
static uint8_t driver_calls[RVP_CUPTI_DRIVER_COUNT + 64], runtime_calls[RVP_CUPTI_RUNTIME_COUNT + 64];
static bool has_call_choice[3];
static struct buffer *open_buffer, *full;
static size_t dropped;
static uint32_t period_ms;
static bool has_worker;

static void prepare(void)
{
	pthread_mutexattr_t checking;

	pthread_mutexattr_init(&checking);
	pthread_mutexattr_settype(&checking, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&lock, &checking);
}

static void take_lock(const char *who)
{
	pthread_once(&prepared, prepare);
	if (pthread_mutex_lock(&lock) == EDEADLK) {
		dprintf(2,
			"simulated cupti: %s called from a buffer callback: a real library would hang here\n",
			who);
		abort();
	}
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

static uint64_t now(void)
{
	return sim_cupti_engine()->now();
}

/* The end of a record that is still running is not known. */
static void cut_unfinished(struct buffer *buffer)
{
	uint64_t at = sim_cupti_engine()->shown(now());

	for (void *record = NULL, *none = NULL;;) {
		extern uint32_t cuptiActivityGetNextRecord(uint8_t *, size_t, void **);
		struct rvp_cupti_kernel *kernel;

		(void)none;
		if (cuptiActivityGetNextRecord(buffer->bytes, buffer->used, &record) != RVP_CUPTI_SUCCESS)
			return;
		kernel = record;
		if (kernel->kind == RVP_CUPTI_CONCURRENT_KERNEL && kernel->end > at)
			kernel->end = kernel->completed = 0;
		if (kernel->kind == RVP_CUPTI_MEMCPY && ((struct rvp_cupti_copy *)record)->end > at)
			((struct rvp_cupti_copy *)record)->end = 0;
	}
}

static void hand_out(struct buffer *buffer)
{
	if (complete)
		complete(NULL, 0, buffer->bytes, buffer->size, buffer->used);
	free(buffer);
}

/* Takes what may go out of the list of full buffers. Under the lock. */
static void hand_out_full(bool forced)
{
	for (struct buffer **at = &full; *at;) {
		struct buffer *buffer = *at;

		if (!forced && buffer->ends_at > now()) {
			at = &buffer->next;
			continue;
		}
		*at = buffer->next;
		if (buffer->ends_at > now())
			cut_unfinished(buffer);
		hand_out(buffer);
	}
}

static void close_buffer(void)
{
	struct buffer **at = &full;

	while (*at)
		at = &(*at)->next;
	open_buffer->next = NULL;
	*at = open_buffer;
	open_buffer = NULL;
}

static void *work(void *unused)
{
	pthread_setname_np(pthread_self(), "cupti");
	take_lock("the worker");
	for (;;) {
		struct timespec until;
		uint64_t wait_ms = full || period_ms ? 1 : 1000;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += (long)(wait_ms % 1000 * 1000000);
		until.tv_sec += (time_t)(wait_ms / 1000) + until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&wake, &lock, &until);
		hand_out_full(false);
	}
	return unused;
}

static void start_worker(void)
{
	pthread_t thread;

	if (has_worker)
		return;
	has_worker = true;
	if (pthread_create(&thread, NULL, work, NULL) == 0)
		pthread_detach(thread);
}

static void drop_without_buffer(void)
{
	if (sim_cupti_version() < 27 && !sim_cupti_engine()->scenario()->null_buffers) {
		dprintf(2, "simulated cupti: no buffer: version %u does not survive this\n",
			sim_cupti_version());
		abort();
	}
	dropped++;
}

static bool is_full(size_t bytes)
{
	return open_buffer && (open_buffer->used + bytes > open_buffer->size ||
			       (open_buffer->most && open_buffer->count == open_buffer->most));
}

static bool open_one(void)
{
	struct buffer *buffer = calloc(1, sizeof *buffer);

	if (!buffer)
		abort();
	request(&buffer->bytes, &buffer->size, &buffer->most);
	if (!buffer->bytes || buffer->size == 0) {
		free(buffer);
		drop_without_buffer();
		return false;
	}
	if ((uintptr_t)buffer->bytes % 8) {
		dprintf(2, "simulated cupti: a buffer at %p: must be aligned to 8 bytes\n",
			(void *)buffer->bytes);
		abort();
	}
	if (sim_cupti_zeroed && *(const uint64_t *)(const void *)buffer->bytes) {
		dprintf(2, "simulated cupti: a buffer without zeros, where they were promised\n");
		abort();
	}
	open_buffer = buffer;
	return true;
}

static void append(const void *record, uint32_t bytes, uint64_t ends_at)
{
	take_lock("a record of the program's thread");
	if (is_full(bytes)) {
		close_buffer();
		start_worker();
		pthread_cond_signal(&wake);
	}
	if (request && complete && (open_buffer || open_one())) {
		if (bytes <= open_buffer->size) {
			memcpy(open_buffer->bytes + open_buffer->used, record, bytes);
			open_buffer->used += bytes;
			open_buffer->count++;
			if (ends_at > open_buffer->ends_at)
				open_buffer->ends_at = ends_at;
		} else {
			dropped++;
		}
	}
	give_lock();
}

static uint32_t this_thread(void)
{
	return sim_cupti_system_threads ? (uint32_t)syscall(SYS_gettid) : (uint32_t)pthread_self();
}

bool sim_cupti_wants(uint32_t kind)
{
	return __atomic_load_n(&kinds, __ATOMIC_RELAXED) >> kind & 1;
}

bool sim_cupti_wants_call(uint32_t domain, uint32_t cbid)
{
	const uint8_t *chosen = domain == SIM_DRIVER ? driver_calls : runtime_calls;

	if (has_call_choice[domain] && chosen[cbid])
		return chosen[cbid] == 1;
	return sim_cupti_wants(domain == SIM_DRIVER ? RVP_CUPTI_DRIVER : RVP_CUPTI_RUNTIME);
}

/* CUPTI keeps the times of kernels and copies in device memory of its own: three buffers, from the first of
 * them on. */
static void take_device_buffers(uint32_t kind, uint32_t device)
{
	static uint8_t has_taken[SIM_DEVICES];

	if ((kind == RVP_CUPTI_CONCURRENT_KERNEL || kind == RVP_CUPTI_MEMCPY || kind == RVP_CUPTI_MEMSET ||
	     kind == RVP_CUPTI_GRAPH_TRACE) &&
	    !__atomic_exchange_n(&has_taken[device], 1, __ATOMIC_RELAXED))
		sim_cupti_engine()->charge(device, 3 * sim_cupti_device_buffer_bytes);
}

void sim_cupti_add(const struct sim_activity *activity)
{
	_Alignas(8) uint8_t record[SIM_RECORD_BYTES];
	uint32_t kind = activity->kind, bytes;

	if (!sim_cupti_wants(kind) &&
	    !(kind == RVP_CUPTI_CONCURRENT_KERNEL && sim_cupti_wants(RVP_CUPTI_KERNEL)))
		return;
	take_device_buffers(kind, activity->device);
	bytes = sim_cupti_record(activity, record, this_thread());
	if (bytes)
		append(record, bytes, activity->end);
}

void sim_cupti_add_call(const struct sim_call *call)
{
	_Alignas(8) uint8_t record[SIM_RECORD_BYTES];

	append(record, sim_cupti_call_record(call, record, this_thread()), call->end_ns);
}

SHOWN uint32_t cuptiActivityRegisterCallbacks(rvp_cupti_request asks, rvp_cupti_complete gives);
SHOWN uint32_t cuptiActivityRegisterCallbacks(rvp_cupti_request asks, rvp_cupti_complete gives)
{
	if (!asks || !gives)
		return RVP_CUPTI_INVALID_PARAMETER;
	take_lock(__func__);
	request = asks;
	complete = gives;
	give_lock();
	return RVP_CUPTI_SUCCESS;
}

static bool is_removed(uint32_t kind)
{
	return kind == 0 || kind >= SIM_KINDS || kind == 6 || kind == 7 || (kind >= 14 && kind <= 16) ||
	       kind == 21;
}

SHOWN uint32_t cuptiActivityEnable(uint32_t kind);
SHOWN uint32_t cuptiActivityEnable(uint32_t kind)
{
	uint32_t usable = sim_cupti_usable();
	const struct sim_scenario *scenario;

	if (usable != RVP_CUPTI_SUCCESS)
		return usable;
	if (is_removed(kind))
		return RVP_CUPTI_INVALID_KIND;
	scenario = sim_cupti_engine()->scenario();
	if (scenario->enable_error &&
	    (scenario->enable_error_kind == 0 || scenario->enable_error_kind == kind))
		return (uint32_t)scenario->enable_error;
	sim_cupti_attach();
	__atomic_or_fetch(&kinds, 1ULL << kind, __ATOMIC_RELAXED);
	return RVP_CUPTI_SUCCESS;
}

SHOWN uint32_t cuptiActivityEnableAndDump(uint32_t kind);
SHOWN uint32_t cuptiActivityEnableAndDump(uint32_t kind)
{
	return cuptiActivityEnable(kind);
}

SHOWN uint32_t cuptiActivityDisable(uint32_t kind);
SHOWN uint32_t cuptiActivityDisable(uint32_t kind)
{
	uint32_t usable = sim_cupti_usable();

	if (usable == RVP_CUPTI_SUCCESS && kind < SIM_KINDS)
		__atomic_and_fetch(&kinds, ~(1ULL << kind), __ATOMIC_RELAXED);
	return usable;
}

static uint32_t choose_call(uint32_t domain, uint8_t *calls, size_t count, uint32_t cbid, uint8_t enable)
{
	if (sim_cupti_usable() != RVP_CUPTI_SUCCESS)
		return sim_cupti_usable();
	if (cbid == 0 || cbid >= count)
		return RVP_CUPTI_INVALID_PARAMETER;
	calls[cbid] = enable ? 1 : 2;
	has_call_choice[domain] = true;
	sim_cupti_attach();
	return RVP_CUPTI_SUCCESS;
}

SHOWN uint32_t cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
SHOWN uint32_t cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	return choose_call(SIM_DRIVER, driver_calls, sizeof driver_calls, cbid, enable);
}

SHOWN uint32_t cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
SHOWN uint32_t cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	return choose_call(SIM_RUNTIME, runtime_calls, sizeof runtime_calls, cbid, enable);
}

static void *flush_late(void *unused)
{
	uint64_t ns = sim_cupti_engine()->scenario()->late_ns;
	struct timespec while_after = {.tv_sec = (time_t)(ns / 1000000000),
				       .tv_nsec = (long)(ns % 1000000000)};

	nanosleep(&while_after, NULL);
	take_lock("a late flush");
	hand_out_full(true);
	give_lock();
	return unused;
}

SHOWN uint32_t cuptiActivityFlushAll(uint32_t flag);
SHOWN uint32_t cuptiActivityFlushAll(uint32_t flag)
{
	uint32_t usable = sim_cupti_usable();
	pthread_t thread;

	if (usable != RVP_CUPTI_SUCCESS)
		return usable;
	take_lock(__func__);
	if (open_buffer && open_buffer->used &&
	    (flag & RVP_CUPTI_FLUSH_FORCED || open_buffer->ends_at <= now()))
		close_buffer();
	if (!sim_cupti_engine()->scenario()->late_ns)
		hand_out_full(flag & RVP_CUPTI_FLUSH_FORCED);
	else if (pthread_create(&thread, NULL, flush_late, NULL) == 0)
		pthread_detach(thread);
	give_lock();
	return RVP_CUPTI_SUCCESS;
}

SHOWN uint32_t cuptiActivityFlushPeriod(uint32_t milliseconds);
SHOWN uint32_t cuptiActivityFlushPeriod(uint32_t milliseconds)
{
	uint32_t usable = sim_cupti_usable();

	if (usable != RVP_CUPTI_SUCCESS)
		return usable;
	take_lock(__func__);
	period_ms = milliseconds;
	start_worker();
	give_lock();
	return RVP_CUPTI_SUCCESS;
}

/* The counter begins again with each reading. */
SHOWN uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count);
SHOWN uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
	static bool has_told;

	(void)context, (void)stream;
	take_lock(__func__);
	*count = dropped;
	dropped = 0;
	if (!has_told && sim_cupti_engine())
		*count += sim_cupti_engine()->scenario()->dropped;
	has_told = true;
	give_lock();
	return RVP_CUPTI_SUCCESS;
}

static uint64_t thread_ns(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return (uint64_t)spent.tv_sec * 1000000000 + (uint64_t)spent.tv_nsec;
}

/* For measuring a client: so many kernels' records as fast as buffers can be filled, in the calling thread;
 * how long the client had each of them is the client's. Each goes forward by 1 us, every 16th is of another
 * name. */
SHOWN uint64_t simulated_flood(uint64_t count);
SHOWN uint64_t simulated_flood(uint64_t count)
{
	_Alignas(8) uint8_t record[SIM_RECORD_BYTES];
	struct sim_activity activity = {.kind = RVP_CUPTI_CONCURRENT_KERNEL, .context = 1, .stream = 7};
	struct rvp_cupti_kernel *kernel = (struct rvp_cupti_kernel *)record;
	uint64_t client_ns = 0, first = now() - count * 1000, begin;
	uint32_t bytes;

	activity.kernel.name = "flood_kernel";
	bytes = sim_cupti_record(&activity, record, 0);
	take_lock(__func__);
	for (uint64_t i = 0; i < count; i++) {
		if (is_full(bytes)) {
			begin = thread_ns();
			hand_out(open_buffer);
			client_ns += thread_ns() - begin;
			open_buffer = NULL;
		}
		if (!open_buffer && !open_one())
			continue;
		kernel->name = i % 16 ? "flood_kernel" : "flood_other";
		kernel->start = first + i * 1000;
		kernel->end = kernel->completed = kernel->start + 700;
		kernel->correlation = (uint32_t)i;
		memcpy(open_buffer->bytes + open_buffer->used, record, bytes);
		open_buffer->used += bytes;
		open_buffer->count++;
	}
	give_lock();
	return client_ns;
}
