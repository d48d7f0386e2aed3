/* SPDX-License-Identifier: MIT */
/* writes_kernel.h: what the kernel does for those who follow writes: userfaultfd's write protection that it
 * resolves by itself, and PAGEMAP_SCAN, which tells written pages and protects them again in one go.
 *
 * The headers of the oldest systems that we build on lack all of it: writes_kernel.c spells it out.
 */
#ifndef RVP_WRITES_KERNEL_H
#define RVP_WRITES_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvp_page_range {
	uint64_t from, to;
	uint64_t categories;
};

/* NULL: it is on. Else why it can't be used, one line. */
const char *rvp_writes_turn_on(void);

/* Gives up all protection. */
void rvp_writes_turn_off(void);

/* Forgets it, in a child by fork: the parent's is none of its business. */
void rvp_writes_forget(void);

/* False: this memory can't be followed. */
bool rvp_writes_register(uint64_t from, uint64_t to);
void rvp_writes_unregister(uint64_t from, uint64_t to);

/* Pages of [from, to) that are there and were written since the last scan, in order; they are protected
 * again. Calls `see` for each run of them. False: none of it can be scanned any more. */
struct rvp_writes_room {
	struct rvp_page_range *ranges;
	size_t count;
};
bool rvp_writes_scan(uint64_t from, uint64_t to, struct rvp_writes_room room,
		     void (*see)(void *, uint64_t from, uint64_t to), void *context);

#endif
