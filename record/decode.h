/* SPDX-License-Identifier: MIT */
/* decode.h: reads the records of one chunk's payload, in order. */
#ifndef RVP_DECODE_H
#define RVP_DECODE_H

#include "record/schema.h"

#include <stdbool.h>

struct rvp_decoder {
	const uint8_t *at, *end, *begin;
	struct rvp_delta delta;
	bool broken; /* the payload held something that is no record; `at` stands before it */
};

/* A decoder over payload[0, length); the bytes must outlive it and the texts it hands out. */
struct rvp_decoder rvp_decoder_over(const void *payload, uint64_t length);

/* Next record into `record`. False at the end, and with decoder->broken set where no record can be read:
 * an unknown kind, a number of more than 64 bits, a text that leaves the payload or is named by a place where
 * none stands. */
bool rvp_decode_next(struct rvp_decoder *decoder, struct rvp_record *record);

#endif
