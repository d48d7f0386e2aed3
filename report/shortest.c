/* SPDX-License-Identifier: MIT */
/* shortest.c: see shortest.h. Digits are found by trying: 9 are always enough for a float, 17 for a double,
 * and printf and strtod round correctly. */
#include "report/shortest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17, EXPONENT_ABOVE = 16, EXPONENT_BELOW = -5 };

/* "d.dddde[+-]xx" into digits and point. */
static void take_apart(struct rvp_shortest *shortest, const char *text)
{
	const char *exponent = strchr(text, 'e');

	for (const char *at = text; at < exponent; at++)
		if (*at != '.')
			shortest->digits[shortest->count++] = *at;
	while (shortest->count > 1 && shortest->digits[shortest->count - 1] == '0')
		shortest->count--;
	shortest->digits[shortest->count] = 0;
	shortest->point = atoi(exponent + 1) + 1;
}

static struct rvp_shortest make(double value, int most_digits, bool is_float)
{
	struct rvp_shortest shortest = {
	    .is_negative = signbit(value), .is_finite = isfinite(value), .is_nan = isnan(value)};
	double size = fabs(value);
	char text[40] = "0e0";

	for (int digits = 1; shortest.is_finite && digits <= most_digits; digits++) {
		snprintf(text, sizeof text, "%.*e", digits - 1, size);
		if (is_float ? strtof(text, NULL) == (float)size : strtod(text, NULL) == size)
			break;
	}
	take_apart(&shortest, text);
	return shortest;
}

struct rvp_shortest rvp_shortest_float(float value)
{
	return make(value, FLOAT_DIGITS, true);
}

struct rvp_shortest rvp_shortest_double(double value)
{
	return make(value, DOUBLE_DIGITS, false);
}

/* The digits with zeros about them, and a point where one is due. */
static char *put_digits(const struct rvp_shortest *shortest, char *at)
{
	int from = shortest->point > 0 ? 0 : shortest->point - 1;
	int past = shortest->count > shortest->point ? shortest->count : shortest->point;

	for (int i = from; i < past; i++) {
		if (i == shortest->point)
			*at++ = '.';
		*at++ = i >= 0 && i < shortest->count ? shortest->digits[i] : '0';
	}
	return at;
}

const char *rvp_shortest_plain(const struct rvp_shortest *shortest, char text[RVP_SHORTEST_TEXT_BYTES])
{
	char *at = text;

	if (shortest->is_nan)
		return strcpy(text, "NaN");
	if (shortest->is_negative)
		*at++ = '-';
	if (shortest->is_finite)
		*put_digits(shortest, at) = 0;
	else
		strcpy(at, "inf");
	return text;
}

static void put_exponent(const struct rvp_shortest *shortest, char *at)
{
	*at++ = shortest->digits[0];
	if (shortest->count > 1)
		at += sprintf(at, ".%s", shortest->digits + 1);
	sprintf(at, "e%d", shortest->point - 1);
}

const char *rvp_shortest_json(const struct rvp_shortest *shortest, char text[RVP_SHORTEST_TEXT_BYTES])
{
	char *at = text;

	if (!shortest->is_finite)
		return strcpy(text, "null");
	if (shortest->is_negative)
		*at++ = '-';
	if (shortest->point > EXPONENT_ABOVE || shortest->point <= EXPONENT_BELOW) {
		put_exponent(shortest, at);
		return text;
	}
	at = put_digits(shortest, at);
	strcpy(at, shortest->point >= shortest->count ? ".0" : "");
	return text;
}
