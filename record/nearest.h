/* SPDX-License-Identifier: MIT */
/* nearest.h: which of several names a mistyped one was meant to be. No libc beyond string functions, no
 * state. */
#ifndef RVP_NEAREST_H
#define RVP_NEAREST_H

#include <stddef.h>

enum { RVP_NEAREST_NAME_BYTES = 64 }; /* longer names are compared up to here */

/* How many letters to add, drop, change or swap to get from `from` (of `length` bytes) to `to`. Case and the
 * difference between '-' and '_' count nothing. */
unsigned rvp_letters_apart(const char *from, size_t length, const char *to);

/* Whether `apart` letters are few enough, for a word of `length` letters, that it may be a slip. */
int rvp_is_a_slip(unsigned apart, size_t length);

#endif
