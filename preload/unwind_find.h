/* SPDX-License-Identifier: MIT */
/* unwind_find.h: from a code address to the loaded object that holds it, and to its unwind entry (FDE).
 *
 * The object comes from _dl_find_object (glibc 2.35: lock-free and safe in any context), else from the
 * loader's list of link maps, read with checks and only while the loader says that it is consistent. No lock
 * either way.
 */
#ifndef RVP_UNWIND_FIND_H
#define RVP_UNWIND_FIND_H

#include <stdbool.h>
#include <stdint.h>

struct rvp_object {
	uint64_t start, end; /* mapped */
	const void *link_map;
	const uint8_t *eh_frame_hdr; /* NULL: it has none */
};

struct rvp_fde {
	uint64_t start; /* first address that it covers */
	uint64_t code_factor;
	int64_t data_factor;
	uint32_t return_register;
	bool is_signal;
	const uint8_t *initial, *initial_end; /* the CIE's program */
	const uint8_t *program, *program_end;
};

enum rvp_found { RVP_FOUND, RVP_FOUND_NONE, RVP_FOUND_ODD };

bool rvp_object_find(uint64_t pc, struct rvp_object *object);

/* An address in each loaded object, one after the other, by the loader's list of link maps, which is read with checks and
 * only while the loader says that it is consistent. Begin with all zero. */
struct rvp_object_list {
	uint64_t next; /* link map */
	uint32_t count;
};
bool rvp_object_next(struct rvp_object_list *list, uint64_t *address);

/* Two ways, of which rvp_object_find takes the better that there is; for tests. */
bool rvp_object_find_by_loader(uint64_t pc, struct rvp_object *object);
bool rvp_object_find_by_link_map(uint64_t pc, struct rvp_object *object);

/* NONE: nothing covers pc. ODD: an encoding that we don't know. */
enum rvp_found rvp_fde_find(const struct rvp_object *object, uint64_t pc, struct rvp_fde *fde);

#endif
