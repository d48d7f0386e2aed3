/* SPDX-License-Identifier: MIT */
/* link_scope.h: which definition of a name the dynamic linker will take for a slot that is not bound yet,
 * where several modules have one (a libblas that is a thin cover of libopenblas).
 *
 *   - The program and what it was started with come first, in the order of the loader's list: that is their
 * scope's order.
 *   - Else the module's own scope: itself, what it needs, what that needs, breadth first.
 *   - If a definition lies outside of both, what was opened for all to see may come before: 0, not known.
 */
#ifndef RVP_LINK_SCOPE_H
#define RVP_LINK_SCOPE_H

#include <link.h>
#include <stdint.h>

/* The definition that a slot of this module leads to; 0: there is none, or it is not known. */
uintptr_t rvp_link_scope_find(const struct dl_phdr_info *module, const char *name);

/* By the constructor: what is loaded now is what the program was started with. */
void rvp_link_scope_start(void);

#endif
