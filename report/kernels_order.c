/* SPDX-License-Identifier: MIT */
/* kernels_order.c: see kernels_order.h. */
#include "report/kernels_order.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static bool is_in_order(const struct rvp_order_key *keys, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (keys[i].key < keys[i - 1].key)
			return false;
	return true;
}

static void sort_digit(const struct rvp_order_key *from, struct rvp_order_key *to, size_t count,
		       unsigned shift)
{
	uint32_t places[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].key >> shift & (DIGITS - 1)]++;
	for (int i = 0; i < DIGITS; i++) {
		uint32_t here = places[i];

		places[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void rvp_order(struct rvp_order_key *keys, struct rvp_order_key *spare, size_t count)
{
	struct rvp_order_key *from = keys, *to = spare, *swap;
	uint64_t differ = 0;

	if (is_in_order(keys, count))
		return;
	for (size_t i = 1; i < count; i++)
		differ |= keys[i].key ^ keys[0].key;
	for (unsigned shift = 0; shift < 64 && differ >> shift; shift += DIGIT_BITS) {
		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		sort_digit(from, to, count, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof *keys);
}
