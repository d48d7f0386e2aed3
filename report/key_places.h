/* SPDX-License-Identifier: MIT */
/* key_places.h: numbers for keys of two words, from 0 in the order in which they are met: so that arrays that a log makes grow are
 * looked up in one step, however many of them there are. */
#ifndef RVP_REPORT_KEY_PLACES_H
#define RVP_REPORT_KEY_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvp_key {
	uint64_t a, b;
};

struct rvp_key_places {
	struct rvp_key *keys; /* by number */
	size_t count, room;
	uint32_t *places; /* by hash: 1 + number */
	size_t place_count;
};

static inline uint64_t rvp_key_half(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Its number; places->count at most: a new one has count - 1 behind the call, and *is_new. False without memory. */
bool rvp_key_number(struct rvp_key_places *places, struct rvp_key key, size_t *number, bool *is_new);

/* False: it was never met. */
bool rvp_key_find(const struct rvp_key_places *places, struct rvp_key key, size_t *number);

void rvp_key_places_free(struct rvp_key_places *places);

#endif
