/* SPDX-License-Identifier: MIT */
/* sketch.c: see sketch.h. */
#include "report/sketch.h"

enum { PARTS = RVP_SKETCH_PARTS };

unsigned rvp_sketch_bucket(uint64_t value)
{
	unsigned shift =
	    value >= 2 * PARTS ? 63 - RVP_SKETCH_PART_BITS - (unsigned)__builtin_clzll(value) : 0;

	return shift * PARTS + (unsigned)(value >> shift);
}

void rvp_sketch_range(unsigned bucket, uint64_t *first, uint64_t *last)
{
	unsigned shift = bucket < 2 * PARTS ? 0 : bucket / PARTS - 1;

	*first = (uint64_t)(bucket - shift * PARTS) << shift;
	*last = *first + (((uint64_t)1 << shift) - 1);
}

static void widen(struct rvp_sketch *sketch, uint64_t least, uint64_t most)
{
	if (!sketch->count || least < sketch->least)
		sketch->least = least;
	if (!sketch->count || most > sketch->most)
		sketch->most = most;
}

void rvp_sketch_add(struct rvp_sketch *sketch, uint64_t value)
{
	widen(sketch, value, value);
	sketch->count++;
	sketch->buckets[rvp_sketch_bucket(value)]++;
}

void rvp_sketch_merge(struct rvp_sketch *into, const struct rvp_sketch *from)
{
	if (!from->count)
		return;
	widen(into, from->least, from->most);
	into->count += from->count;
	for (unsigned i = 0; i < RVP_SKETCH_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

uint64_t rvp_sketch_at(const struct rvp_sketch *sketch, uint64_t rank)
{
	uint64_t seen = 0, first, last, value;
	unsigned bucket = 0;

	while (bucket + 1 < RVP_SKETCH_BUCKETS && (seen += sketch->buckets[bucket]) <= rank)
		bucket++;
	rvp_sketch_range(bucket, &first, &last);
	value = first + (last - first) / 2;
	if (value < sketch->least)
		return sketch->least;
	return value > sketch->most ? sketch->most : value;
}
