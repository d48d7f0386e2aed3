/* SPDX-License-Identifier: MIT */
/* cache.h: a KV cache of pages that come and go. A page is one block; what is evicted is given back to
 * malloc. */
#ifndef ATTN_CACHE_H
#define ATTN_CACHE_H

#include "prompt.h"

#include <stdbool.h>

struct cache {
	size_t pages; /* places; those from `filled` on have not come yet */
	size_t filled;
	float **rows; /* of each page its keys, then its values; NULL: evicted, or not there yet */
};

bool cache_make(struct cache *cache, size_t pages); /* false without memory, as the next */
bool cache_append(struct cache *cache, const struct prompt *prompt);
void cache_evict(struct cache *cache, size_t page);
void cache_free(struct cache *cache);
size_t cache_live_pages(const struct cache *cache);

/* page_fn of attend.h; `cache` is a struct cache. */
const float *cache_page(void *cache, size_t page);

#endif
