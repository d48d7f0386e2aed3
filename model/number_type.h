/* SPDX-License-Identifier: MIT */
/* number_type.h: the types that values of a model are kept in, by their usual names. A type of blocks keeps
 * `values` in `bytes`; one of single values has values 1. */
#ifndef RVP_MODEL_NUMBER_TYPE_H
#define RVP_MODEL_NUMBER_TYPE_H

#include "record/status.h"

#include <stdint.h>

struct rvp_number_type {
	const char *name;
	unsigned values, bytes;
};

/* "f32", "bf16", "q8_0", "float16", ..; an unknown one fails with the list. */
struct rvp_status rvp_number_type_of(const char *name, struct rvp_number_type *type);

static inline double rvp_bytes_of_value(struct rvp_number_type type)
{
	return (double)type.bytes / type.values;
}

/* Of a row or tensor of so many values; blocks are whole. UINT64_MAX: more than 64 bits hold. */
uint64_t rvp_bytes_of_values(struct rvp_number_type type, uint64_t values);

#endif
