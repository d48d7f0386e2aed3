/* SPDX-License-Identifier: MIT */
/* text_numbers.h: numbers as people read them. Each writes into `text` (RVP_NUMBER_TEXT_BYTES) and returns
 * it. */
#ifndef RVP_TEXT_NUMBERS_H
#define RVP_TEXT_NUMBERS_H

#include <stdint.h>

enum { RVP_NUMBER_TEXT_BYTES = 48 };

/* "512 B", "1.5 KiB", "96.0 MiB": at least two digits that count. Never rounds up to 1024 of a unit. */
const char *rvp_text_bytes(uint64_t bytes, char *text);

/* The same with a sign: "+1.5 KiB", "-3 B", "0 B". */
const char *rvp_text_change(int64_t bytes, char *text);

/* "1,234,567". */
const char *rvp_text_count(uint64_t count, char *text);

/* "48.2 %" of whole; "<0.1 %" for what would read as nothing; "-" without a whole. */
const char *rvp_text_share(uint64_t part, uint64_t whole, char *text);

/* "12.345 s", "850 ms", "2 h 03 min 04 s". */
const char *rvp_text_duration(uint64_t ns, char *text);

/* The same of microseconds, to a digit behind what the eye compares: "10 us", "2.46 ms", "1.234 s". */
const char *rvp_text_us(double us, char *text);

/* "12:03:04" local time. */
const char *rvp_text_clock(uint64_t unix_ns, char *text);

/* "2026-11-21 12:03:04" local time. */
const char *rvp_text_date(uint64_t unix_ns, char *text);

#endif
