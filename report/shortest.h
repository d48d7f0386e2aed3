/* SPDX-License-Identifier: MIT */
/* shortest.h: the least digits of a float or double that read back as the same number, in the layouts that
 * formats ask for. Ties between two shortest forms go to the nearer one: what printf rounds to. */
#ifndef RVP_REPORT_SHORTEST_H
#define RVP_REPORT_SHORTEST_H

#include <stdbool.h>

/* 0.DIGITS x 10^point; zero: "0", point 1. */
struct rvp_shortest {
	char digits[20];
	int count, point;
	bool is_negative; /* of -0 too */
	bool is_finite, is_nan;
};

struct rvp_shortest rvp_shortest_float(float value);
struct rvp_shortest rvp_shortest_double(double value);

/* As Rust's `{}`: never an exponent, integers without ".0", "NaN", "inf", "-0". A double has 327 characters
 * at most. */
enum { RVP_SHORTEST_TEXT_BYTES = 400 };
const char *rvp_shortest_plain(const struct rvp_shortest *shortest, char text[RVP_SHORTEST_TEXT_BYTES]);

/* As serde_json: "0.5", "1.0"; an exponent below 1e-5 and from 1e16 on ("1e-6", "1.5e16"); "null" for what is
 * not finite. */
const char *rvp_shortest_json(const struct rvp_shortest *shortest, char text[RVP_SHORTEST_TEXT_BYTES]);

#endif
