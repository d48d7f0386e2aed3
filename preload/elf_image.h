/* SPDX-License-Identifier: MIT */
/* elf_image.h: what a loaded object says of itself in memory: its build-id, and the addresses of its symbols.
 * Our own reading of the tables: dlsym takes a lock, and may allocate. Checked reads of the headers
 * throughout. */
#ifndef RVP_ELF_IMAGE_H
#define RVP_ELF_IMAGE_H

#include "preload/unwind_find.h"
#include "record/schema.h"

/* The NT_GNU_BUILD_ID note; length 0 without. Points into the object. */
struct rvp_text rvp_elf_build_id(const struct rvp_object *object);

/* Address of a symbol that the object itself defines; 0: none. Only by DT_GNU_HASH. */
uint64_t rvp_elf_symbol(const struct rvp_object *object, const char *name);

#endif
