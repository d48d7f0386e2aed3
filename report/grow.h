/* SPDX-License-Identifier: MIT */
/* grow.h: arrays that grow by doubling. */
#ifndef RVP_REPORT_GROW_H
#define RVP_REPORT_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Makes `*items` hold `need` items of `item_bytes`, *room says how many it can; new ones are zero. False
 * without memory: then nothing has changed. */
bool rvp_grow(void **items, size_t *room, size_t need, size_t item_bytes);

/* Room for items that are met at random: it begins with a line of the cache, so that an item of
 * RVP_LINE_BYTES is one line, and has huge pages where it is large, since with pages of 4 KiB each visit
 * costs a walk of the page table too. free() it. NULL without memory. */
enum { RVP_LINE_BYTES = 64 };
void *rvp_line_room(size_t bytes);

/* The same, growing: makes `*items` hold `need` items of `item_bytes`, *room says how many it can. What is
 * large moves with its pages, not by copying, and takes memory only as far as it is used. New items are not
 * zero. False without memory: then nothing has changed. rvp_line_free() gives it back. */
bool rvp_line_grow(void **items, size_t *room, size_t need, size_t item_bytes);
void rvp_line_free(void *items, size_t room, size_t item_bytes);

#endif
