/* SPDX-License-Identifier: MIT */
/* shape.c: see shape.h. */
#include "model/shape.h"

#include "model/exact.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE_MAX_OF_A_DIMENSION = INT32_MAX };

/* A plain number behind *at, which is moved behind it; 0: none, or too large. */
static uint64_t take_size(const char **at)
{
	uint64_t size = 0;

	while (isdigit((unsigned char)**at)) {
		size = size * 10 + (uint64_t)(*(*at)++ - '0');
		if (size > SIZE_MAX_OF_A_DIMENSION)
			return 0;
	}
	return size;
}

static void give_batch(struct rvp_shape *shape)
{
	if (shape->count != 1)
		return;
	shape->size[1] = shape->size[0];
	shape->size[0] = 1;
	shape->count = 2;
}

struct rvp_status rvp_shape_parse(const char *text, struct rvp_shape *shape)
{
	const char *at = text;

	*shape = (struct rvp_shape){0};
	for (;;) {
		uint64_t size = take_size(&at);

		if (!size)
			return rvp_fail_with("read shape", text,
					     "a size is a whole number from 1 to %d, like 32x128",
					     SIZE_MAX_OF_A_DIMENSION);
		if (shape->count == RVP_DIMENSIONS_MAX)
			return rvp_fail_with("read shape", text, "it has more than %d dimensions",
					     RVP_DIMENSIONS_MAX);
		shape->size[shape->count++] = size;
		if (!*at)
			break;
		if (*at != 'x' && *at != 'X')
			return rvp_fail_with("read shape", text,
					     "sizes have an 'x' between them, like 32x128");
		at++;
	}
	give_batch(shape);
	if (rvp_shape_values(shape) > INT64_MAX)
		return rvp_fail_with("read shape", text, "it has more values than 63 bits can count");
	return RVP_OK;
}

const char *rvp_shape_text(const struct rvp_shape *shape, char text[RVP_SHAPE_TEXT_BYTES])
{
	int length = 0;

	text[0] = 0;
	for (unsigned i = 0; i < shape->count; i++)
		length += snprintf(text + length, RVP_SHAPE_TEXT_BYTES - (size_t)length, "%s%" PRIu64,
				   i ? "x" : "", shape->size[i]);
	return text;
}

uint64_t rvp_shape_product(const struct rvp_shape *shape, unsigned from, unsigned to)
{
	uint64_t product = 1;

	for (unsigned i = from; i < to; i++)
		product = rvp_times(product, shape->size[i]);
	return product;
}
