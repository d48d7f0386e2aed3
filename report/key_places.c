/* SPDX-License-Identifier: MIT */
/* key_places.c: see key_places.h. Open addressing, half full at most. */
#include "report/key_places.h"

#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *place_of(const struct rvp_key_places *places, struct rvp_key key)
{
	uint64_t hash = key.a * 0x9e3779b97f4a7c15u ^ (key.b + 0x632be59bd9b4e019u) * 0xc2b2ae3d27d4eb4fu;
	size_t at = (hash ^ hash >> 29) & (places->place_count - 1);

	for (; places->places[at]; at = (at + 1) & (places->place_count - 1)) {
		const struct rvp_key *there = &places->keys[places->places[at] - 1];

		if (there->a == key.a && there->b == key.b)
			break;
	}
	return &places->places[at];
}

static bool widen(struct rvp_key_places *places)
{
	size_t count = places->place_count ? places->place_count * 2 : 64;
	uint32_t *wider = calloc(count, sizeof *wider);

	if (!wider)
		return false;
	free(places->places);
	places->places = wider;
	places->place_count = count;
	for (size_t i = 0; i < places->count; i++)
		*place_of(places, places->keys[i]) = (uint32_t)i + 1;
	return true;
}

bool rvp_key_number(struct rvp_key_places *places, struct rvp_key key, size_t *number, bool *is_new)
{
	uint32_t *place;

	if (places->count * 2 >= places->place_count && !widen(places))
		return false;
	place = place_of(places, key);
	*is_new = !*place;
	if (*is_new) {
		if (places->count >= UINT32_MAX - 1 ||
		    !rvp_grow((void **)&places->keys, &places->room, places->count + 1, sizeof *places->keys))
			return false;
		places->keys[places->count++] = key;
		*place = (uint32_t)places->count;
	}
	*number = *place - 1;
	return true;
}

bool rvp_key_find(const struct rvp_key_places *places, struct rvp_key key, size_t *number)
{
	const uint32_t *place = places->place_count ? place_of(places, key) : NULL;

	if (!place || !*place)
		return false;
	*number = *place - 1;
	return true;
}

void rvp_key_places_free(struct rvp_key_places *places)
{
	free(places->keys);
	free(places->places);
	memset(places, 0, sizeof *places);
}
