/* SPDX-License-Identifier: MIT */
/* amount.c: see amount.h. Plain digits are exact; others are exact as far as a double is. */
#include "model/amount.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == 0;
}

static double unit_of(const char *text)
{
	switch (toupper((unsigned char)*text)) {
	case 0: return 1;
	case 'K': return text[1] ? NAN : 1e3;
	case 'M': return text[1] ? NAN : 1e6;
	case 'G':
	case 'B': return text[1] ? NAN : 1e9;
	case 'T': return text[1] ? NAN : 1e12;
	default: return NAN;
	}
}

bool rvp_amount_parse(const char *text, uint64_t *amount)
{
	char *end;
	double value;

	if (is_plain(text)) {
		errno = 0;
		*amount = strtoull(text, NULL, 10);
		return !errno && *amount <= INT64_MAX;
	}
	if (!isdigit((unsigned char)*text) || strpbrk(text, "xX"))
		return false;
	value = strtod(text, &end);
	value = round(value * unit_of(end));
	if (!(value >= 0 && value < 9.2e18))
		return false;
	*amount = (uint64_t)value;
	return true;
}
