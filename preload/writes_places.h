/* SPDX-License-Identifier: MIT */
/* writes_places.h: where the program's large blocks and mappings are, for those who follow writes.
 *
 * Invariants
 *   (W1) A cell goes 0 -> taken -> address by the thread that gave the block out, and address -> 0 by the one
 * that gives it back, before the real call: an address is never in two threads' hands. (W2) `number` of a
 * cell names the followed block (writes_pages.h) + 1, or is 0; only the scanner sets it.
 */
#ifndef RVP_WRITES_PLACES_H
#define RVP_WRITES_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct rvp_written_place {
	uint64_t address, bytes;
	uint32_t number; /* as followed, + 1; 0: not */
};

/* `number` as it was with the old place, for what moves; else 0. False: no room. */
bool rvp_places_put(struct rvp_written_place place);

/* All zero: it was not there. */
struct rvp_written_place rvp_places_take(uint64_t address);

/* Mappings, or parts of them, that go: what lies in the range is taken out; `gone` is called for each. */
void rvp_places_take_range(uint64_t address, uint64_t bytes, void (*gone)(uint32_t number));

uint64_t rvp_places_bytes(void);

/* How many found no room. */
uint64_t rvp_places_left_out(void);

/* Cells by number, 0 to RVP_PLACES - 1; address 0: empty. */
enum { RVP_PLACES = 8192 };
struct rvp_written_place rvp_places_at(uint32_t cell);
/* False: it is gone. */
bool rvp_places_follow(uint32_t cell, uint64_t address, uint32_t number);
void rvp_places_follow_none(void);

#endif
