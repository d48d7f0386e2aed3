/* SPDX-License-Identifier: MIT */
/* interned.h: numbers for texts and kernels' shapes that come again and again.
 *
 * A table is a cache of fixed size: what is met again finds its number; what has been pushed out gets another, with
 * another record that says what it stands for. So memory is bounded, nothing is lost, and the log grows only by what
 * does not fit. Texts are told apart by 64 bits of a hash.
 *
 * Invariants
 *   (I1) A number is used once.
 *   (I2) It can be found only after the record that says what it stands for was taken. Two threads that meet the same
 *        at once may make two numbers of it.
 *   (I3) No thread waits for another.
 */
#ifndef RVP_CUPTI_INTERNED_H
#define RVP_CUPTI_INTERNED_H

#include "record/schema.h"

#include <stdbool.h>

/* Takes the tables' memory; false: there is none. */
bool rvp_interned_start(void);

/* The number of a text (a DEVICE_NAME); 0: none could be recorded. NULL is "(unknown)". */
uint64_t rvp_interned_name(const char *text);

/* The number of a shape (a KERNEL_SHAPE), whose `shape` field is not looked at; 0: as above. */
uint64_t rvp_interned_shape(const struct rvp_record_KERNEL_SHAPE *shape);

/* Texts and shapes that were numbered so far. */
void rvp_interned_counts(uint64_t *names, uint64_t *shapes);

#endif
