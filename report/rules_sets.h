/* SPDX-License-Identifier: MIT */
/* rules_sets.h: sets of small numbers, each different one kept once and known by a number; and a map from one
 * number to another, by which what was once worked out is found again.
 *
 * A run has hundreds of thousands of call paths and only some hundred different sets of what they match.
 */
#ifndef RVP_REPORT_RULES_SETS_H
#define RVP_REPORT_RULES_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvp_number_map {
	struct rvp_number_pair {
		uint64_t key;
		uint32_t value; /* the value plus 1; 0: free */
	} * places;
	size_t count, mask; /* mask: places - 1; places is NULL before the first */
};
#define RVP_NO_NUMBER UINT32_MAX

/* RVP_NO_NUMBER where there is none. */
uint32_t rvp_number_of(const struct rvp_number_map *map, uint64_t key);
/* The key must not be there, the value be below RVP_NO_NUMBER. False without memory. */
bool rvp_number_put(struct rvp_number_map *map, uint64_t key, uint32_t value);
void rvp_number_map_free(struct rvp_number_map *map);

struct rvp_sets {
	uint64_t *words; /* of set n: from n * word_count on; set 0 is empty */
	size_t count, room;
	size_t word_count;             /* of a set, at least 1 */
	struct rvp_number_map numbers; /* by hash, probed by adding 1 to the key */
};

/* Sets of numbers below `limit`. False without memory. */
bool rvp_sets_open(struct rvp_sets *sets, size_t limit);
void rvp_sets_free(struct rvp_sets *sets);

/* The number of the set `words`; RVP_NO_NUMBER without memory. */
uint32_t rvp_set_number(struct rvp_sets *sets, const uint64_t *words);

/* Holds until the next new set. */
static inline const uint64_t *rvp_set_words(const struct rvp_sets *sets, uint32_t set)
{
	return sets->words + set * sets->word_count;
}

static inline bool rvp_set_has(const struct rvp_sets *sets, uint32_t set, uint32_t number)
{
	return rvp_set_words(sets, set)[number / 64] >> number % 64 & 1;
}

#endif
