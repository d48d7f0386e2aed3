/* SPDX-License-Identifier: MIT */
/* ledger_pins.h: what keeps freed memory from going back. An allocator's heap is given back from its top
 * alone (glibc: brk, and the end of an arena's heap), so a block that lives high up pins what is free below
 * it.
 *
 * A heap is a region of the map in which the allocator gave out blocks. Of each: its highest live block that
 * was recorded, and what is resident below it and belongs to no recorded block. In sampled mode small blocks
 * are not recorded: they are in what is free here, and the one that pins may be one of them, above.
 *
 * All of it is glibc's way: of a process that has another allocator nothing is said.
 */
#ifndef RVP_REPORT_LEDGER_PINS_H
#define RVP_REPORT_LEDGER_PINS_H

#include "report/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvp_look;
struct rvp_ledger_ranges;
struct rvp_state;

enum { RVP_PINS_MAX = 4 };

struct rvp_pin {
	uint32_t process;
	uint64_t address, bytes; /* of the block */
	uint64_t birth_ns;
	uint64_t below_bytes; /* resident below it and in no recorded block */
	uint64_t above_bytes; /* resident above it */
	/* Of its site. */
	uint32_t stack, python;
	uint16_t purpose;
	bool is_sampled_mode;
};

/* Where its block was given out, for a name. */
static inline struct rvp_site rvp_pin_site(const struct rvp_pin *pin)
{
	return (struct rvp_site){.process = pin->process,
				 .stack = pin->stack,
				 .python = pin->python,
				 .first_ns = pin->birth_ns,
				 .last_ns = pin->birth_ns};
}

/* Whole resident pages of heaps in which no block lives: the most that glibc's malloc_trim(0) gives back (what its
 * threads' caches keep does not join its neighbours; the tops of arenas beside the main one stay). Only where every
 * block is recorded; false: not known. */
bool rvp_trimmable_bytes(uint64_t *bytes, const struct rvp_look *look, uint32_t process,
			 const struct rvp_ledger_ranges *ranges, const struct rvp_state *state);

/* Those that pin most, largest first; returns how many. */
size_t rvp_pins_find(struct rvp_pin *pins, const struct rvp_look *look, uint32_t process,
		     const struct rvp_ledger_ranges *ranges, const struct rvp_state *state);

#endif
