/* SPDX-License-Identifier: MIT */
/* amount.h: counts as people write them: "125M", "7B", "1.5k", "1e9", "26214400": thousands, millions,
 * milliards and billions of 10. */
#ifndef RVP_MODEL_AMOUNT_H
#define RVP_MODEL_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* False: no whole count from 0 to 2^63 - 1. */
bool rvp_amount_parse(const char *text, uint64_t *amount);

#endif
