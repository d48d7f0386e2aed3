/* SPDX-License-Identifier: MIT */
/* known.h: a sequence of records whose every field follows from its number, so that a reader's answer can be
 * judged: record i is there, is not there, or is an invention.
 */
#ifndef RVP_TESTS_KNOWN_H
#define RVP_TESTS_KNOWN_H

#include "record/log_reader.h"

#include <stdbool.h>

enum { KNOWN_MAX_BYTES = 1 + 16 * RVP_NUMBER_MAX_BYTES + 64 };

/* Encodes record `number` (from 0) at `at`; returns its end. KNOWN_MAX_BYTES are enough. */
uint8_t *known_put(uint8_t *at, struct rvp_delta *delta, uint64_t number);

/* Whether `record` is record `number`, field by field. */
bool known_is(const struct rvp_record *record, uint64_t number);

/* Which number `record` claims to be (by its stamp); UINT64_MAX: none. */
uint64_t known_number(const struct rvp_record *record);

/* What is wrong with a log of which slot s holds records s, s + slots, s + 2 * slots, ...: NULL when every
 * slot holds a prefix of its own, whole and in order; `*count` is the number of records there. */
const char *known_prefix(const struct rvp_log *log, uint32_t slots, uint64_t *count);

#endif
