/* SPDX-License-Identifier: MIT */
/* nvtx_names.h: names that a program gave to NVTX once and then speaks of by a number: domains, registered
 * strings, categories.
 *
 * Invariants
 *   - A name, once found, stays where it is and as it is.
 *   - Any thread may put and find at any time: no lock; what is put is found by whoever knows its number from
 * the one that put it.
 *   - RVP_NVTX_NAMES_BYTES bound all names together; beyond them a thing has no name.
 *   - Nothing comes from the program's heap.
 */
#ifndef RVP_NVTX_NAMES_H
#define RVP_NVTX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_NVTX_NAMES_BYTES = 4 << 20 };

enum rvp_nvtx_named { RVP_NVTX_STRING, RVP_NVTX_DOMAIN, RVP_NVTX_CATEGORY };

/* Once, before the others. False without memory. */
bool rvp_nvtx_names_open(void);

/* `one` NULL: the name gets a number of its own. Returns the number; NULL when there is no room. `part` is a
 * category's number, else 0. The texts are put together as first, or as first/second. */
const void *rvp_nvtx_names_put(enum rvp_nvtx_named kind, const void *one, uint32_t part, const char *first,
			       const char *second);

/* NULL: it has none. The last name wins. */
const char *rvp_nvtx_names_find(enum rvp_nvtx_named kind, const void *one, uint32_t part);

#endif
