/* SPDX-License-Identifier: MIT */
/* path_cache.h: what a thread remembers of numbers of call paths: by a 64-bit hash that the caller makes.
 *
 * It begins small and doubles while much is pushed out of it, as far as all threads together keep to a bound
 * (own memory has one). Sets of four in one line of the cache; the newest comes first, the oldest goes.
 */
#ifndef RVP_PATH_CACHE_H
#define RVP_PATH_CACHE_H

#include "preload/arch/x86_64/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_PATH_CACHE_WAYS = 4 };

struct rvp_known_path {
	uint64_t hash; /* 0: free */
	uint32_t number, depth;
};

struct rvp_path_cache {
	struct rvp_known_path *paths; /* NULL: nothing can be remembered */
	uint32_t shift;               /* 64 - log2 of the number of sets */
	uint32_t pushed_out;          /* since it is as big as it is */
};

/* Where the path of a hash is, if it is known: it has that hash then. The cache has memory. */
static inline __attribute__((always_inline)) const struct rvp_known_path *rvp_path_cache_place(
    const struct rvp_path_cache *cache, uint64_t hash)
{
	const struct rvp_known_path *set = &cache->paths[(hash >> cache->shift) * RVP_PATH_CACHE_WAYS], *path = set;

	for (int way = 1; way < RVP_PATH_CACHE_WAYS; way++)
		path = rvp_machine_if_equal(&set[way].hash, hash, &set[way], path);
	return path;
}

/* The path of a hash; NULL: not known. */
static inline const struct rvp_known_path *rvp_path_cache_find(const struct rvp_path_cache *cache, uint64_t hash)
{
	const struct rvp_known_path *path = rvp_path_cache_place(cache, hash);

	return path->hash == hash ? path : NULL;
}

void rvp_path_cache_enter(struct rvp_path_cache *cache, uint64_t hash, uint32_t number, uint32_t depth);

/* Memory in place of `old_bytes` of what a thread remembers; NULL: there is none, or all threads together
 * have enough. */
void *rvp_path_memory_grow(uint64_t old_bytes, uint64_t bytes);

/* Empty; false: no memory. */
bool rvp_path_cache_reset(struct rvp_path_cache *cache);

#endif
