/* SPDX-License-Identifier: MIT */
/* buffers.c: see buffers.h. A buffer that comes back is kept with its pages given back to the kernel: they are zeros
 * again when they are next touched. */
#include "cupti/buffers.h"

#include "cupti/activity.h"
#include "cupti/follower.h"
#include "cupti/library.h"

#include <stdatomic.h>
#include <sys/mman.h>

static _Atomic(uint8_t *) kept[RVP_BUFFERS_MAX], out[RVP_BUFFERS_MAX];
static _Atomic(uint8_t *) scratch; /* see rule on older libraries */
static _Atomic uint32_t made, is_last;
static _Atomic uint64_t walked, walk_ns;

static uint8_t *take_kept(void)
{
	for (int i = 0; i < RVP_BUFFERS_MAX; i++) {
		uint8_t *buffer = atomic_load_explicit(&kept[i], memory_order_relaxed);

		if (buffer && atomic_compare_exchange_strong(&kept[i], &buffer, NULL))
			return buffer;
	}
	return NULL;
}

static uint8_t *make(void)
{
	uint8_t *buffer;

	if (atomic_fetch_add(&made, 1) >= RVP_BUFFERS_MAX) {
		atomic_fetch_sub(&made, 1);
		return NULL;
	}
	buffer = rvp_recorder->take(RVP_BUFFER_BYTES);
	if (!buffer)
		atomic_fetch_sub(&made, 1);
	return buffer;
}

/* One, shared by all who ask when there is none: its bytes mean nothing. */
static uint8_t *take_scratch(void)
{
	uint8_t *buffer = atomic_load(&scratch), *none = NULL;

	if (buffer || rvp_cupti.version > RVP_CUPTI_12_9)
		return buffer;
	buffer = rvp_recorder->take(RVP_BUFFER_BYTES);
	if (buffer && !atomic_compare_exchange_strong(&scratch, &none, buffer)) {
		rvp_recorder->give(buffer, RVP_BUFFER_BYTES);
		buffer = none;
	}
	return buffer;
}

/* Puts a buffer into a free place of a table; there is one for each that was made. */
static void put(_Atomic(uint8_t *) table[RVP_BUFFERS_MAX], uint8_t *buffer)
{
	for (int i = 0; i < RVP_BUFFERS_MAX; i++) {
		uint8_t *none = NULL;

		if (atomic_compare_exchange_strong(&table[i], &none, buffer))
			return;
	}
}

static void note_back(uint8_t *buffer)
{
	for (int i = 0; i < RVP_BUFFERS_MAX; i++) {
		uint8_t *there = buffer;

		if (atomic_compare_exchange_strong(&out[i], &there, NULL))
			return;
	}
}

void rvp_buffer_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*max_records = 0;
	*buffer = rvp_follower_is_active() ? take_kept() : NULL;
	if (!*buffer)
		*buffer = make();
	if (*buffer) {
		put(out, *buffer);
	} else {
		rvp_recorder->lose(RVP_LOSS_DEVICE_BUFFER, 1);
		*buffer = take_scratch();
	}
	*bytes = *buffer ? RVP_BUFFER_BYTES : 0;
}

static void keep(uint8_t *buffer, size_t valid)
{
	size_t touched = (valid + 4095) & ~(size_t)4095;

	/* Without this the next user would find the old records where it leaves gaps. */
	if (touched && madvise(buffer, touched, MADV_DONTNEED) != 0) {
		atomic_fetch_sub(&made, 1);
		rvp_recorder->give(buffer, RVP_BUFFER_BYTES);
		return;
	}
	put(kept, buffer);
}

/* Walks what is there; INVALID_KIND hides the rest of a buffer, which is counted. */
static uint64_t walk(uint8_t *buffer, size_t valid)
{
	struct rvp_activity_batch batch = {.is_last = atomic_load(&is_last) != 0};
	void *record = NULL;
	uint64_t count = 0;
	int result = RVP_CUPTI_MAX_LIMIT_REACHED;

	while (valid && (result = rvp_cupti.ActivityGetNextRecord(buffer, valid, &record)) == RVP_CUPTI_SUCCESS) {
		rvp_activity_take(&batch, record);
		count++;
	}
	rvp_activity_flush(&batch);
	if (result != RVP_CUPTI_MAX_LIMIT_REACHED)
		rvp_recorder->lose(RVP_LOSS_DEVICE_UNREAD, 1);
	return count;
}

static uint64_t count_records(uint8_t *buffer, size_t valid)
{
	void *record = NULL;
	uint64_t count = 0;

	while (rvp_cupti.ActivityGetNextRecord(buffer, valid, &record) == RVP_CUPTI_SUCCESS)
		count++;
	return count;
}

void rvp_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	uint64_t begin = rvp_now_ns();

	(void)context, (void)stream, (void)bytes;
	if (!buffer)
		return;
	rvp_recorder->begin_own();
	if (buffer == atomic_load(&scratch)) {
		if (valid)
			rvp_recorder->lose(RVP_LOSS_DEVICE_BUFFER, count_records(buffer, valid));
	} else {
		atomic_fetch_add_explicit(&walked, walk(buffer, valid), memory_order_relaxed);
		note_back(buffer);
		keep(buffer, valid);
	}
	rvp_recorder->end_own();
	atomic_fetch_add_explicit(&walk_ns, rvp_now_ns() - begin, memory_order_relaxed);
}

void rvp_buffers_last(bool are_last)
{
	atomic_store(&is_last, are_last);
}

unsigned rvp_buffers_unreturned(void)
{
	unsigned count = 0;

	for (int i = 0; i < RVP_BUFFERS_MAX; i++) {
		const volatile uint32_t *kind = (uint32_t *)atomic_load(&out[i]);

		count += kind && *kind != 0;
	}
	return count;
}

void rvp_buffers_cost(uint64_t *records, uint64_t *ns)
{
	*records = atomic_load_explicit(&walked, memory_order_relaxed);
	*ns = atomic_load_explicit(&walk_ns, memory_order_relaxed);
}
