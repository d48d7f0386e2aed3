/* SPDX-License-Identifier: MIT */
/* array_bytes.c: see array_bytes.h. Formats: cuda.h of CUDA 13.0, CUarray_format. */
#include "cupti/array_bytes.h"

/* Of a channel, in bits; 0: not known. */
static unsigned channel_bits(uint32_t format)
{
	switch (format) {
	case 0x01: /* UNSIGNED_INT8 */
	case 0x08: /* SIGNED_INT8 */
		return 8;
	case 0x02: /* UNSIGNED_INT16 */
	case 0x09: /* SIGNED_INT16 */
	case 0x10: /* HALF */
		return 16;
	case 0x03: /* UNSIGNED_INT32 */
	case 0x0a: /* SIGNED_INT32 */
	case 0x20: /* FLOAT */
		return 32;
	default: return 0;
	}
}

/* Formats whose channels are in their name. */
static unsigned element_bits(uint32_t format, uint32_t channels)
{
	switch (format) {
	case 0xc0: /* UNORM_INT8X1 */
	case 0xc6: /* SNORM_INT8X1 */
		return 8;
	case 0xc1: /* UNORM_INT8X2 */
	case 0xc7: /* SNORM_INT8X2 */
	case 0xc3: /* UNORM_INT16X1 */
	case 0xc9: /* SNORM_INT16X1 */
		return 16;
	case 0xc2: /* UNORM_INT8X4 */
	case 0xc8: /* SNORM_INT8X4 */
	case 0xc4: /* UNORM_INT16X2 */
	case 0xca: /* SNORM_INT16X2 */
		return 32;
	case 0xc5: /* UNORM_INT16X4 */
	case 0xcb: /* SNORM_INT16X4 */
		return 64;
	default: return channel_bits(format) * channels;
	}
}

static uint64_t at_least_1(uint64_t count)
{
	return count ? count : 1;
}

uint64_t rvp_array_bytes(const struct rvp_cu_array *shape)
{
	if (!shape)
		return 0;
	return shape->width * at_least_1(shape->height) * element_bits(shape->format, shape->channels) / 8;
}

uint64_t rvp_array3d_bytes(const struct rvp_cu_array3d *shape, uint32_t levels)
{
	uint64_t width, height, depth, elements = 0;

	if (!shape)
		return 0;
	width = shape->width;
	height = at_least_1(shape->height);
	depth = at_least_1(shape->depth);
	for (uint32_t level = 0; level < at_least_1(levels) && level < 32; level++) {
		elements += width * height * depth;
		width = at_least_1(width / 2);
		height = at_least_1(height / 2);
		depth = at_least_1(depth / 2);
	}
	return elements * element_bits(shape->format, shape->channels) / 8;
}
