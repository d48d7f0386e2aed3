/* SPDX-License-Identifier: MIT */
/* path_cache.c: see path_cache.h. */
#include "preload/path_cache.h"

#include "preload/own.h"

#include <stdatomic.h>
#include <string.h>

enum { BITS_FIRST = 6, BITS_MAX = 11 }; /* sets: a page at first, 128 KiB at most */

static const uint64_t grown_most = 4 << 20;
static _Atomic uint64_t grown;

void *rvp_path_memory_grow(uint64_t old_bytes, uint64_t bytes)
{
	uint64_t more = bytes - old_bytes;
	void *memory = NULL;

	if (atomic_fetch_add(&grown, more) + more <= grown_most)
		memory = rvp_own_map(bytes);
	if (!memory)
		atomic_fetch_sub(&grown, more);
	return memory;
}

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

/* A handler that jumps away from here leaves no hash beside another's number. */
static void put(struct rvp_known_path *place, struct rvp_known_path path)
{
	place->hash = 0;
	atomic_signal_fence(memory_order_seq_cst);
	place->number = path.number;
	place->depth = path.depth;
	atomic_signal_fence(memory_order_seq_cst);
	place->hash = path.hash;
}

/* Puts a path first in its set; the others move on. */
static void put_first(struct rvp_path_cache *cache, struct rvp_known_path path)
{
	struct rvp_known_path *set = &cache->paths[(path.hash >> cache->shift) * RVP_PATH_CACHE_WAYS];
	int way = 0;

	while (way < RVP_PATH_CACHE_WAYS - 1 && set[way].hash && set[way].hash != path.hash)
		way++;
	cache->pushed_out += set[way].hash && set[way].hash != path.hash;
	for (; way; way--)
		put(&set[way], set[way - 1]);
	put(set, path);
}

static void enter_all(struct rvp_path_cache *cache, const struct rvp_path_cache *old)
{
	size_t count = bytes_of(old) / sizeof *old->paths;

	for (size_t i = count; i--;)
		if (old->paths[i].hash)
			put_first(cache, old->paths[i]);
}

static void grow(struct rvp_path_cache *cache)
{
	struct rvp_path_cache bigger = {NULL, cache->shift - 1, 0};

	cache->pushed_out = 0;
	if (64 - bigger.shift <= BITS_MAX)
		bigger.paths = rvp_path_memory_grow(bytes_of(cache), bytes_of(&bigger));
	if (!bigger.paths)
		return;
	enter_all(&bigger, cache);
	rvp_own_unmap(cache->paths, bytes_of(cache));
	bigger.pushed_out = 0;
	*cache = bigger;
}

void rvp_path_cache_enter(struct rvp_path_cache *cache, uint64_t hash, uint32_t number, uint32_t depth)
{
	put_first(cache, (struct rvp_known_path){hash, number, depth});
	if (cache->pushed_out > bytes_of(cache) / sizeof *cache->paths / 2)
		grow(cache);
}
