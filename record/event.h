/* SPDX-License-Identifier: MIT */
/* event.h: the compact form of ALLOC and FREE, which full mode writes for nearly every record (event_encode.h,
 * event_decode.h). A byte of 0x80 and more begins one; a kind of schema.def is less. docs/format.md has an example.
 *
 *   | byte 0  | bit 7: 1. bit 6: 1 alloc, 0 free. bit 5: 1 it has a stamp. bits 4-3: its family, an index of
 *   |         | rvp_alloc_families or rvp_free_families; 3: in a byte of its own. bits 2-0: bytes of the address less 1
 *   | byte 1  | of an alloc. bits 7-5: bytes of the Python node. bits 4-2: bytes of the stack node; of both more than 4:
 *   |         | no event. bits 1-0: bytes of the size: 1, 2, 4, 8
 *   | family  | a byte, where bits 4-3 are 3
 *   | stamp   | 1 to 8 bytes, where bit 5 is 1. The lowest 3 bits of the first say how many follow, what is above them is
 *   |         | the zigzag of the difference to the chunk's last T or stamp
 *   | address | 1 to 7 bytes: zigzag of the difference to the last alloc's or the last free's, over 8. 8 bytes: the difference
 *   | size    | of an alloc: as requested
 *   | nodes   | of an alloc: stack, then Python: zigzag of the difference to the last alloc's, modulo 2^32
 *
 * Lowest bytes first. What differences count from is 0 at the start of a chunk, and is not what A, S and P of other
 * records count from. An event without a stamp has the last T or stamp of its chunk: preload/order.h says why that is
 * enough.
 */
#ifndef RVP_EVENT_H
#define RVP_EVENT_H

#include "record/names.h"
#include "record/schema.h"

#include <stdbool.h>

struct rvp_compact_event {
	uint64_t stamp; /* has_stamp: its own; else the chunk's last */
	uint64_t address;
	uint64_t bytes;         /* of an alloc, else 0 */
	uint32_t stack, python; /* of an alloc, else 0 */
	uint8_t family;         /* enum rvp_family; what is none stands as it was found */
	bool is_alloc, has_stamp;
};

enum {
	RVP_COMPACT_MARK = 0x80,
	RVP_COMPACT_ALLOC = 0x40,
	RVP_COMPACT_STAMP = 0x20,
	RVP_COMPACT_OTHER_FAMILY = 3,
	RVP_COMPACT_BYTES = 35, /* of the longest one */
	/* What the encoder may write to and the decoder may read from where an event begins. */
	RVP_COMPACT_ROOM_BYTES = 64,
};

/* Numbers on disk: append only, and there is no room to append. */
static const uint8_t rvp_alloc_families[3] = {RVP_FAMILY_MALLOC, RVP_FAMILY_CALLOC, RVP_FAMILY_REALLOC};
static const uint8_t rvp_free_families[3] = {RVP_FAMILY_FREE, RVP_FAMILY_REALLOC, RVP_FAMILY_DELETE};

#endif
