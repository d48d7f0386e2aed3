/* SPDX-License-Identifier: MIT */
/* rules_sets.c: see rules_sets.h. */
#include "report/rules_sets.h"

#include <stdlib.h>
#include <string.h>

static size_t home_of(const struct rvp_number_map *map, uint64_t key)
{
	key = (key ^ key >> 32) * 0xff51afd7ed558ccdu;
	return (size_t)(key ^ key >> 29) & map->mask;
}

/* Where the key is or belongs. There is always a free place. */
static struct rvp_number_pair *place_of(const struct rvp_number_map *map, uint64_t key)
{
	size_t at = home_of(map, key);

	while (map->places[at].value && map->places[at].key != key)
		at = (at + 1) & map->mask;
	return &map->places[at];
}

uint32_t rvp_number_of(const struct rvp_number_map *map, uint64_t key)
{
	return map->places ? place_of(map, key)->value - 1 : RVP_NO_NUMBER;
}

static bool make_room(struct rvp_number_map *map)
{
	struct rvp_number_map grown = {.mask = map->places ? map->mask * 2 + 1 : 63, .count = map->count};

	if (map->places && map->count * 2 <= map->mask)
		return true;
	grown.places = calloc(grown.mask + 1, sizeof *grown.places);
	if (!grown.places)
		return false;
	for (size_t i = 0; map->places && i <= map->mask; i++)
		if (map->places[i].value)
			*place_of(&grown, map->places[i].key) = map->places[i];
	free(map->places);
	*map = grown;
	return true;
}

bool rvp_number_put(struct rvp_number_map *map, uint64_t key, uint32_t value)
{
	if (!make_room(map))
		return false;
	*place_of(map, key) = (struct rvp_number_pair){key, value + 1};
	map->count++;
	return true;
}

void rvp_number_map_free(struct rvp_number_map *map)
{
	free(map->places);
	*map = (struct rvp_number_map){0};
}

bool rvp_sets_open(struct rvp_sets *sets, size_t limit)
{
	size_t word_count = limit / 64 + 1;
	uint64_t *empty = calloc(word_count, sizeof *empty);
	bool is_good;

	*sets = (struct rvp_sets){.word_count = word_count};
	is_good = empty && rvp_set_number(sets, empty) == 0;
	free(empty);
	return is_good;
}

void rvp_sets_free(struct rvp_sets *sets)
{
	free(sets->words);
	rvp_number_map_free(&sets->numbers);
	*sets = (struct rvp_sets){0};
}

static uint64_t hash_of(const struct rvp_sets *sets, const uint64_t *words)
{
	uint64_t hash = 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < sets->word_count; i++) {
		hash = (hash ^ words[i]) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
	}
	return hash;
}

static uint32_t add(struct rvp_sets *sets, const uint64_t *words, uint64_t key)
{
	size_t bytes = sets->word_count * sizeof *words;

	if (sets->count == sets->room) {
		size_t room = sets->room ? sets->room * 2 : 64;
		uint64_t *grown = reallocarray(sets->words, room, bytes);

		if (!grown)
			return RVP_NO_NUMBER;
		sets->words = grown;
		sets->room = room;
	}
	if (sets->count >= RVP_NO_NUMBER - 1 || !rvp_number_put(&sets->numbers, key, (uint32_t)sets->count))
		return RVP_NO_NUMBER;
	memcpy(sets->words + sets->count * sets->word_count, words, bytes);
	return (uint32_t)sets->count++;
}

uint32_t rvp_set_number(struct rvp_sets *sets, const uint64_t *words)
{
	uint64_t key = hash_of(sets, words);
	uint32_t number;

	for (; (number = rvp_number_of(&sets->numbers, key)) != RVP_NO_NUMBER; key++)
		if (!memcmp(rvp_set_words(sets, number), words, sets->word_count * sizeof *words))
			return number;
	return add(sets, words, key);
}
