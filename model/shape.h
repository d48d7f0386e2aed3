/* SPDX-License-Identifier: MIT */
/* shape.h: the sizes of a tensor, outermost first. "32x128" is a batch of 32 samples of 128 values.
 *
 *   - A shape of one dimension is one sample; else the first dimension is the batch. Inside, the batch is
 * always there: `size[0]`.
 *   - Products that 64 bits can't hold fail; nothing wraps round.
 */
#ifndef RVP_MODEL_SHAPE_H
#define RVP_MODEL_SHAPE_H

#include "record/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { RVP_DIMENSIONS_MAX = 6, RVP_SHAPE_TEXT_BYTES = 128 };

struct rvp_shape {
	unsigned count; /* 2 and more: the batch and one dimension */
	uint64_t size[RVP_DIMENSIONS_MAX];
};

/* "32x128", "128"; what is wrong with it otherwise. */
struct rvp_status rvp_shape_parse(const char *text, struct rvp_shape *shape);

const char *rvp_shape_text(const struct rvp_shape *shape, char text[RVP_SHAPE_TEXT_BYTES]);

/* Of those from dimension `from` on; 1 of none. UINT64_MAX: more than 64 bits hold. */
uint64_t rvp_shape_product(const struct rvp_shape *shape, unsigned from, unsigned to);

static inline uint64_t rvp_shape_batch(const struct rvp_shape *shape)
{
	return shape->size[0];
}

static inline uint64_t rvp_shape_sample_values(const struct rvp_shape *shape)
{
	return rvp_shape_product(shape, 1, shape->count);
}

static inline uint64_t rvp_shape_values(const struct rvp_shape *shape)
{
	return rvp_shape_product(shape, 0, shape->count);
}

static inline uint64_t rvp_shape_last(const struct rvp_shape *shape)
{
	return shape->size[shape->count - 1];
}

#endif
