/* SPDX-License-Identifier: MIT */
/* interned.c: see interned.h. Sets of WAYS places; a place is a key and a number. Who fills one makes it BUSY, and
 * stores the key last, so that who finds the key finds its number; who finds a place BUSY goes without: what is lost is
 * a number that could have been found. */
#include "cupti/interned.h"

#include "cupti/follower.h"

#include <stdatomic.h>
#include <string.h>

enum { FREE = 0, BUSY = 1, WAYS = 8, NAME_SETS = 1 << 11, SHAPE_SETS = 1 << 14, TEXT_MAX_BYTES = 8192 };

struct place {
	_Atomic uint64_t key, number;
};

struct table {
	struct place (*sets)[WAYS];
	uint64_t set_count;
	_Atomic uint64_t next, turns;
};

static struct table names = {.set_count = NAME_SETS}, shapes = {.set_count = SHAPE_SETS};

static uint64_t mix(uint64_t hash, uint64_t word)
{
	__uint128_t product = (__uint128_t)(hash ^ word) * 0x9e3779b97f4a7c15u;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const void *from, size_t bytes)
{
	uint64_t hash = 0x243f6a8885a308d3u ^ bytes, word;
	const char *at = from;

	for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
		memcpy(&word, at, sizeof word);
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, at, bytes);
	hash = mix(mix(hash, word), 0x13198a2e03707344u);
	return hash > BUSY ? hash : hash + 2;
}

bool rvp_interned_start(void)
{
	names.sets = rvp_recorder->take(NAME_SETS * sizeof *names.sets);
	shapes.sets = rvp_recorder->take(SHAPE_SETS * sizeof *shapes.sets);
	return names.sets && shapes.sets;
}

static uint64_t find(struct table *table, uint64_t key)
{
	struct place *set = table->sets[key % table->set_count];

	for (int i = 0; i < WAYS; i++)
		if (atomic_load_explicit(&set[i].key, memory_order_acquire) == key) {
			uint64_t number = atomic_load_explicit(&set[i].number, memory_order_acquire);

			/* It may have been filled anew between the two. */
			if (atomic_load_explicit(&set[i].key, memory_order_acquire) == key)
				return number;
		}
	return 0;
}

/* Into a free place, or over another. */
static void enter(struct table *table, uint64_t key, uint64_t number)
{
	struct place *set = table->sets[key % table->set_count];
	uint64_t turn = atomic_fetch_add_explicit(&table->turns, 1, memory_order_relaxed) % WAYS, there;

	for (int i = 0; i < WAYS; i++)
		if (atomic_load_explicit(&set[i].key, memory_order_relaxed) == FREE)
			turn = (uint64_t)i;
	there = atomic_load(&set[turn].key);
	if (there == BUSY || !atomic_compare_exchange_strong(&set[turn].key, &there, BUSY))
		return;
	atomic_store(&set[turn].number, number);
	atomic_store_explicit(&set[turn].key, key, memory_order_release);
}

uint64_t rvp_interned_name(const char *text)
{
	const char *from = text ? text : "(unknown)";
	size_t length = strnlen(from, TEXT_MAX_BYTES);
	uint64_t key = hash_of(from, length), number = find(&names, key);

	if (number)
		return number;
	number = atomic_fetch_add(&names.next, 1) + 1;
	if (!RVP_TELL(DEVICE_NAME, .number = number, .text = {.bytes = from, .length = length}))
		return 0;
	enter(&names, key, number);
	return number;
}

uint64_t rvp_interned_shape(const struct rvp_record_KERNEL_SHAPE *shape)
{
	struct rvp_record record = {.kind = RVP_KERNEL_SHAPE, .KERNEL_SHAPE = *shape};
	uint64_t key, number;

	record.KERNEL_SHAPE.shape = 0;
	key = hash_of(&record.KERNEL_SHAPE, sizeof record.KERNEL_SHAPE);
	number = find(&shapes, key);
	if (number)
		return number;
	record.KERNEL_SHAPE.shape = number = atomic_fetch_add(&shapes.next, 1) + 1;
	if (rvp_recorder->write(&record, 1) != 1)
		return 0;
	enter(&shapes, key, number);
	return number;
}

void rvp_interned_counts(uint64_t *name_count, uint64_t *shape_count)
{
	*name_count = atomic_load(&names.next);
	*shape_count = atomic_load(&shapes.next);
}
