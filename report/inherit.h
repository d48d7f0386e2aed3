/* SPDX-License-Identifier: MIT */
/* inherit.h: the blocks that a child by fork gives back and never got: they are its parent's of the moment of
 * the fork (or the parent's parent's ...). Found by walking children before parents; memory: the addresses
 * that a child gives back without having got them, and the live blocks of one process at a time. */
#ifndef RVP_REPORT_INHERIT_H
#define RVP_REPORT_INHERIT_H

#include "report/block_table.h"
#include "report/run.h"

struct rvp_inheritance;

/* NULL without memory. */
struct rvp_inheritance *rvp_inherit(const struct rvp_run *run);

/* False: of some inherited blocks it is not known which of two sizes they had. */
bool rvp_inherits_surely(const struct rvp_inheritance *inheritance, uint32_t process);

/* What `process` inherited at `address` and has not given back; NULL: nothing known. */
struct rvp_block *rvp_inherited(const struct rvp_inheritance *inheritance, uint32_t process,
				uint64_t address);
void rvp_inherited_take(struct rvp_inheritance *inheritance, uint32_t process, struct rvp_block *block);
bool rvp_inherited_put(struct rvp_inheritance *inheritance, uint32_t process, struct rvp_block block);

void rvp_inheritance_free(struct rvp_inheritance *inheritance);

#endif
