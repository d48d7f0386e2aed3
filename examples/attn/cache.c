/* SPDX-License-Identifier: MIT */
/* cache.c: see cache.h. */
#include "cache.h"

#include "rvprof.h"

#include <stdlib.h>

enum { PAGE_BYTES = 2 * PAGE_TOKENS * WIDTH * sizeof(float) };

bool cache_make(struct cache *cache, size_t pages)
{
	*cache = (struct cache){.pages = pages, .rows = calloc(pages, sizeof *cache->rows)};
	return cache->rows;
}

bool cache_append(struct cache *cache, const struct prompt *prompt)
{
	float *rows = malloc(PAGE_BYTES);

	if (!rows)
		return false;
	rvprof_tag(rows, PAGE_BYTES, "kv_cache", "page");
	prompt_page(prompt, cache->filled, rows, rows + PAGE_TOKENS * WIDTH);
	cache->rows[cache->filled++] = rows;
	return true;
}

void cache_evict(struct cache *cache, size_t page)
{
	free(cache->rows[page]);
	cache->rows[page] = NULL;
}

void cache_free(struct cache *cache)
{
	for (size_t page = 0; page < cache->filled; page++)
		cache_evict(cache, page);
	free(cache->rows);
	*cache = (struct cache){.pages = 0};
}

size_t cache_live_pages(const struct cache *cache)
{
	size_t count = 0;

	for (size_t page = 0; page < cache->filled; page++)
		count += cache->rows[page] != NULL;
	return count;
}

const float *cache_page(void *cache, size_t page)
{
	return ((const struct cache *)cache)->rows[page];
}
