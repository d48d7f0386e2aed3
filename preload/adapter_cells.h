/* SPDX-License-Identifier: MIT */
/* adapter_cells.h: which parts of a tensor were written since the last look, by cells of it: elements that
 * are chosen once, by chance, and compared with what they held.
 *
 * How a tensor is written tells an append-only store (each cell changes once, and those that change in one
 * look stand next to those of the look before, along one dimension) from what is rewritten. A look costs what
 * its cells cost, whatever the tensor's size.
 *
 * Rules
 *   - Pages that are not there are not touched (mincore): they hold zeros, and stay away.
 *   - The tensor must live during the call: the caller holds it, and the interpreter's lock.
 */
#ifndef RVP_ADAPTER_CELLS_H
#define RVP_ADAPTER_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_CELL_DIMENSIONS = 8 };

struct rvp_cell {
	uint32_t value; /* a hash of what was there last */
	uint32_t changes;
};

struct rvp_cell_tensor {
	const char *data;
	uint32_t item_bytes, dimensions;
	int64_t sizes[RVP_CELL_DIMENSIONS], strides[RVP_CELL_DIMENSIONS]; /* strides in items */
};

struct rvp_cell_look {
	uint32_t changed, again; /* cells that changed; those of them that had changed before */
	int64_t first[RVP_CELL_DIMENSIONS], last[RVP_CELL_DIMENSIONS]; /* where, when changed > 0 */
};

/* is_begin: the cells get their first values, and nothing has changed. */
void rvp_cells_look(struct rvp_cell *cells, size_t count, const struct rvp_cell_tensor *tensor, bool is_begin,
		    struct rvp_cell_look *look);

#endif
