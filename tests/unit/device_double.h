/* SPDX-License-Identifier: MIT */
/* device_double.h: a recorder for the files of cupti/ that remembers what it was told, and record buffers made by hand
 * with a walker of its own, as long in each version as that version's records are. */
#ifndef RVP_DEVICE_DOUBLE_H
#define RVP_DEVICE_DOUBLE_H

#include "record/device.h"

#include <stdatomic.h>

enum { DOUBLE_RECORDS_MAX = 1 << 17, DOUBLE_TEXT_BYTES = 64 };

struct double_record {
	struct rvp_record record;
	char text[DOUBLE_TEXT_BYTES]; /* of a DEVICE_NAME, cut */
};
extern struct double_record *double_records;
extern _Atomic uint64_t double_count;
extern _Atomic uint64_t double_losses[RVP_LOSS_COUNT];
extern _Atomic int double_is_inactive, double_refuses_memory;
extern uint64_t double_clock_ns; /* what cuptiGetTimestamp says */

/* All as at the begin, under a library of this version. */
void double_begin(uint32_t version);

/* Record `i` of the kind, from 0; NULL: none. */
const struct rvp_record *double_told(enum rvp_kind kind, unsigned i);
unsigned double_told_count(enum rvp_kind kind);

/* Appends a record of this version's length: as much of ours as there is, then bytes that mean nothing. */
size_t double_put(uint8_t *buffer, size_t at, const void *record, size_t bytes);

#endif
