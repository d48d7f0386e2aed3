/* SPDX-License-Identifier: MIT */
/* nearest.c: Damerau's distance (optimal string alignment) over three rows on the stack. */
#include "record/nearest.h"

#include <string.h>

typedef unsigned char row[RVP_NEAREST_NAME_BYTES + 1];

static char folded(char letter)
{
	if (letter == '_')
		return '-';
	return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static size_t bounded(size_t length)
{
	return length < RVP_NEAREST_NAME_BYTES ? length : RVP_NEAREST_NAME_BYTES;
}

/* One letter more of `from`: its row of distances to every beginning of `to`. */
static void next_row(const char *from, size_t i, const char *to, size_t length, row rows[3])
{
	unsigned char *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];

	now[0] = (unsigned char)i;
	for (size_t j = 1; j <= length; j++) {
		char a = folded(from[i - 1]), b = folded(to[j - 1]);
		unsigned cost = least(before[j] + 1u, now[j - 1] + 1u, before[j - 1] + (a != b));

		if (i > 1 && j > 1 && a == folded(to[j - 2]) && b == folded(from[i - 2]))
			cost = least(cost, two_before[j - 2] + 1u, cost);
		now[j] = (unsigned char)cost;
	}
}

unsigned rvp_letters_apart(const char *from, size_t length, const char *to)
{
	row rows[3];
	size_t to_length = bounded(strlen(to));

	length = bounded(length);
	for (size_t j = 0; j <= to_length; j++)
		rows[0][j] = (unsigned char)j;
	for (size_t i = 1; i <= length; i++)
		next_row(from, i, to, to_length, rows);
	return rows[length % 3][to_length];
}

int rvp_is_a_slip(unsigned apart, size_t length)
{
	return apart <= (length < 5 ? 1 : length < 12 ? 2 : 3);
}
