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
#include <stdint.h>
#include <sys/types.h>

/* The method names that it calls. With the interpreter's lock; false: an exception is set. */
bool rvp_adapter_moved_start(void);

struct rvp_moved_words {
	void *type, *plain, *places, *addresses, *names, *dimension;
	ssize_t count, length_place;
};
enum { RVP_MOVED_FAILED = -1, RVP_MOVED_SHAPELESS = -2 };

/* The same: whether any moved, or why that is not known; FAILED: an exception is set. `length` is left where there is
 * none. */
int rvp_adapter_moved_look(void *value, const struct rvp_moved_words *words, uint64_t *length);

void *rvp_adapter_moved(void *self, void *arguments);

#endif
