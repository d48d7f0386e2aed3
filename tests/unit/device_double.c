/* SPDX-License-Identifier: MIT */
#include "tests/unit/device_double.h"

#include "cupti/follower.h"
#include "cupti/library.h"
#include "cupti/places.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const struct rvp_device_api *rvp_recorder;
struct rvp_cupti rvp_cupti;
struct rvp_driver rvp_driver;
struct double_record *double_records;
_Atomic uint64_t double_count, double_losses[RVP_LOSS_COUNT];
_Atomic int double_is_inactive, double_refuses_memory;
uint64_t double_clock_ns;

static int active(void)
{
	return !double_is_inactive;
}

static size_t take_records(const struct rvp_record *records, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t at = atomic_fetch_add(&double_count, 1);
		const struct rvp_text *text = &records[i].DEVICE_NAME.text;

		if (at >= DOUBLE_RECORDS_MAX)
			abort();
		double_records[at].record = records[i];
		if (records[i].kind == RVP_DEVICE_NAME)
			memcpy(double_records[at].text, text->bytes,
			       text->length < DOUBLE_TEXT_BYTES ? text->length : DOUBLE_TEXT_BYTES - 1);
	}
	return count;
}

static void lose(enum rvp_loss reason, uint64_t count)
{
	atomic_fetch_add(&double_losses[reason], count);
}

static void nothing(void)
{
}

static void *take(size_t bytes)
{
	void *at = double_refuses_memory
		       ? MAP_FAILED
		       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void give(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

static uint64_t stamp(void)
{
	static _Atomic uint64_t last;

	return atomic_fetch_add(&last, 1) + 1;
}

static const struct rvp_device_api recorder = {
    .version = RVP_DEVICE_API_VERSION,
    .bytes = sizeof recorder,
    .active = active,
    .stamp = stamp,
    .write = take_records,
    .lose = lose,
    .begin_own = nothing,
    .end_own = nothing,
    .take = take,
    .give = give,
};

static int next_record(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *at = *record ? *record : NULL;
	uint32_t kind, bytes;

	if (at) {
		memcpy(&kind, at, sizeof kind);
		at += rvp_cupti_record_bytes(kind, rvp_cupti.version);
	} else {
		at = buffer;
	}
	if (at + sizeof kind > buffer + valid)
		return RVP_CUPTI_MAX_LIMIT_REACHED;
	memcpy(&kind, at, sizeof kind);
	bytes = rvp_cupti_record_bytes(kind, rvp_cupti.version);
	if (!bytes)
		return RVP_CUPTI_INVALID_KIND;
	if (at + bytes > buffer + valid)
		return RVP_CUPTI_MAX_LIMIT_REACHED;
	*record = at;
	return RVP_CUPTI_SUCCESS;
}

static int timestamp(uint64_t *now)
{
	*now = double_clock_ns;
	return RVP_CUPTI_SUCCESS;
}

void double_begin(uint32_t version)
{
	if (!double_records)
		double_records = take(DOUBLE_RECORDS_MAX * sizeof *double_records);
	rvp_recorder = &recorder;
	rvp_cupti = (struct rvp_cupti){.version = version, .ActivityGetNextRecord = next_record, .GetTimestamp = timestamp};
	double_is_inactive = double_refuses_memory = 0;
	double_count = 0;
	double_clock_ns = 2000000000000;
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		double_losses[i] = 0;
}

const struct rvp_record *double_told(enum rvp_kind kind, unsigned i)
{
	for (uint64_t at = 0; at < double_count; at++)
		if (double_records[at].record.kind == kind && i-- == 0)
			return &double_records[at].record;
	return NULL;
}

unsigned double_told_count(enum rvp_kind kind)
{
	unsigned count = 0;

	while (double_told(kind, count))
		count++;
	return count;
}

size_t double_put(uint8_t *buffer, size_t at, const void *record, size_t bytes)
{
	uint32_t kind, length;

	memcpy(&kind, record, sizeof kind);
	length = rvp_cupti_record_bytes(kind, rvp_cupti.version);
	memset(buffer + at, 0xa5, length);
	memcpy(buffer + at, record, bytes < length ? bytes : length);
	return at + length;
}

/* Of places.c, which asks the driver. */
void rvp_places_stream(uint32_t context, uint32_t stream, int32_t priority, uint32_t flags)
{
	RVP_TELL(DEVICE_STREAM, .context = context, .stream = stream, .priority = (uint64_t)priority, .flags = flags);
}
