/* SPDX-License-Identifier: MIT */
/* path_cache.c: see path_cache.h. */
#include "preload/path_cache.h"

#include "preload/own.h"

#include <stdatomic.h>
#include <string.h>

enum { BITS_FIRST = 4, BITS_MAX = 10 }; /* sets: 1 KiB at first, 64 KiB at most */

/* Of all threads' caches beyond their first size. */
static const uint64_t grown_most = 3 << 20;
static _Atomic uint64_t grown;

static size_t bytes_of(const struct rvp_path_cache *cache)
{
	return (RVP_PATH_CACHE_WAYS * sizeof(struct rvp_known_path)) << (64 - cache->shift);
}

bool rvp_path_cache_reset(struct rvp_path_cache *cache)
{
	if (cache->paths) {
		memset(cache->paths, 0, bytes_of(cache));
		return true;
	}
	cache->shift = 64 - BITS_FIRST;
	cache->pushed_out = 0;
	cache->paths = rvp_own_map(bytes_of(cache));
	return cache->paths != NULL;
}

/* The place for a path, the first of its set; what the set held moves on. */
static struct rvp_known_path *make_place(struct rvp_path_cache *cache, uint64_t hash)
{
	struct rvp_known_path *set = &cache->paths[(hash >> cache->shift) * RVP_PATH_CACHE_WAYS];
	int way = 0;

	while (way < RVP_PATH_CACHE_WAYS - 1 && set[way].hash && set[way].hash != hash)
		way++;
	cache->pushed_out += set[way].hash && set[way].hash != hash;
	memmove(set + 1, set, (size_t)way * sizeof *set);
	return set;
}

static void enter_all(struct rvp_path_cache *cache, const struct rvp_path_cache *old)
{
	size_t count = bytes_of(old) / sizeof *old->paths;

	for (size_t i = count; i--;)
		if (old->paths[i].hash)
			*make_place(cache, old->paths[i].hash) = old->paths[i];
}

static void grow(struct rvp_path_cache *cache)
{
	struct rvp_path_cache bigger = {NULL, cache->shift - 1, 0};
	uint64_t more = bytes_of(&bigger) - bytes_of(cache);

	cache->pushed_out = 0;
	if (64 - bigger.shift > BITS_MAX)
		return;
	if (atomic_fetch_add(&grown, more) + more <= grown_most)
		bigger.paths = rvp_own_map(bytes_of(&bigger));
	if (!bigger.paths) {
		atomic_fetch_sub(&grown, more);
		return;
	}
	enter_all(&bigger, cache);
	rvp_own_unmap(cache->paths, bytes_of(cache));
	bigger.pushed_out = 0;
	*cache = bigger;
}

void rvp_path_cache_enter(struct rvp_path_cache *cache, uint64_t hash, uint32_t number, uint32_t depth)
{
	*make_place(cache, hash) = (struct rvp_known_path){hash, number, depth};
	if (cache->pushed_out > bytes_of(cache) / sizeof *cache->paths / 2)
		grow(cache);
}
