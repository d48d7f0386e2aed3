/* SPDX-License-Identifier: MIT */
/* grow.h: arrays that grow by doubling. */
#ifndef RVP_REPORT_GROW_H
#define RVP_REPORT_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Makes `*items` hold `need` items of `item_bytes`, *room says how many it can; new ones are zero. False
 * without memory: then nothing has changed. */
bool rvp_grow(void **items, size_t *room, size_t need, size_t item_bytes);

#endif
