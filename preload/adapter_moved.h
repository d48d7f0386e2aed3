/* SPDX-License-Identifier: MIT */
/* adapter_moved.h: which of a model's keys and values are at new addresses after a call: what the adapter
 * does in every step of a decoder whose cache grows, and so not in Python.
 *
 *     _moved(value, type, plain, places, addresses, names, count, length_place, length_dimension)
 *
 *   value      tensors, in lists and tuples of any depth, numbered in their order
 *   type       of a tensor; plain: the types of what holds none
 *   places     the numbers of the keys and values, ascending; addresses: where they were, changed to where
 * they are; names: what each is called count      how many tensors there are
 *
 * (whether any moved, size of the tensor at length_place in length_dimension; 0 for a place < 0). None: the
 * value is of another shape than these can say, nothing is told, and the adapter looks itself.
 */
#ifndef RVP_ADAPTER_MOVED_H
#define RVP_ADAPTER_MOVED_H

#include <stdbool.h>

/* The method names that it calls. With the interpreter's lock; false: an exception is set. */
bool rvp_adapter_moved_start(void);

void *rvp_adapter_moved(void *self, void *arguments);

#endif
