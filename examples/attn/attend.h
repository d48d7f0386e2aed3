/* SPDX-License-Identifier: MIT */
/* attend.h: softmax attention over pages of keys and values, whoever holds them, page by page in their order:
 * so over the same pages it gives the same bits, whether they lie in a cache or are made again one at a time.
 */
#ifndef ATTN_ATTEND_H
#define ATTN_ATTEND_H

#include "prompt.h"

/* Of page number `page`, PAGE_TOKENS rows of keys and then of values; NULL: it is not there. */
typedef const float *page_fn(void *context, size_t page);

/* `logits` has room for QUESTIONS * pages * PAGE_TOKENS floats. Without any page the outputs are zeros. */
void attend(page_fn *get_page, void *context, size_t pages, const float *questions, float *logits,
	    float *outputs);

#endif
