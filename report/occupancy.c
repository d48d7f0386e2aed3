/* SPDX-License-Identifier: MIT */
/* occupancy.c: see occupancy.h. How registers and shared memory are given out is as NVIDIA's occupancy
 * calculator has it for capabilities 7.0 and later: registers to a warp in pieces of 256; shared memory in
 * pieces of 256 bytes (before 8.0) or 128, of which a block has 1 KiB of the system's own from 8.0 on. */
#include "report/occupancy.h"

enum { REGISTER_PIECE = 256, SHARED_PIECE_OLD = 256, SHARED_PIECE = 128, SHARED_OWN = 1024, AMPERE = 80 };

static uint64_t round_up(uint64_t value, uint64_t piece)
{
	return (value + piece - 1) / piece * piece;
}

static uint64_t product(const uint32_t numbers[3])
{
	return (uint64_t)numbers[0] * numbers[1] * numbers[2];
}

/* Numbers of a log may be anything: none of what follows may be divided by 0 or be too large for 64 bits. */
static bool is_sane(const struct rvp_kernel_shape *shape, const struct rvp_record_DEVICE *device)
{
	enum { WARP_MAX = 1024, THREADS_MAX = 1 << 16 };

	if (!device || !device->warp_threads || device->warp_threads > WARP_MAX || !device->multiprocessors ||
	    device->threads < device->warp_threads)
		return false;
	for (int i = 0; i < 3; i++)
		if (!shape->block[i] || shape->block[i] > THREADS_MAX)
			return false;
	return product(shape->block) <= THREADS_MAX;
}

static uint64_t shared_of_block(const struct rvp_kernel_shape *shape, const struct rvp_record_DEVICE *device)
{
	uint64_t bytes = shape->static_bytes + shape->dynamic_bytes;

	if (device->compute >= AMPERE)
		return round_up(bytes + SHARED_OWN, SHARED_PIECE);
	return round_up(bytes, SHARED_PIECE_OLD);
}

static void limit(struct rvp_occupancy *occupancy, uint64_t blocks, enum rvp_occupancy_limit by)
{
	if (occupancy->limit != RVP_OCCUPANCY_BY_NOTHING && blocks >= occupancy->blocks)
		return;
	occupancy->blocks = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
	occupancy->limit = by;
}

struct rvp_occupancy rvp_occupancy_of(const struct rvp_kernel_shape *shape,
				      const struct rvp_record_DEVICE *device)
{
	struct rvp_occupancy occupancy = {.is_known = false};
	uint64_t warp_threads, warps, most_warps;
	double in_use;

	if (!is_sane(shape, device))
		return occupancy;
	warp_threads = device->warp_threads;
	warps = (product(shape->block) + warp_threads - 1) / warp_threads;
	most_warps = device->threads / warp_threads;
	limit(&occupancy, most_warps / warps, RVP_OCCUPANCY_BY_WARPS);
	if (shape->registers && device->registers)
		limit(&occupancy,
		      device->registers / (round_up(shape->registers * warp_threads, REGISTER_PIECE) * warps),
		      RVP_OCCUPANCY_BY_REGISTERS);
	if (device->shared_bytes && shared_of_block(shape, device))
		limit(&occupancy, device->shared_bytes / shared_of_block(shape, device),
		      RVP_OCCUPANCY_BY_SHARED);
	if (device->blocks)
		limit(&occupancy, device->blocks, RVP_OCCUPANCY_BY_BLOCKS);
	occupancy.is_known = occupancy.blocks > 0; /* a kernel that ran fits: else a limit was told wrong */
	occupancy.share = (double)(occupancy.blocks * warps) / (double)most_warps;
	occupancy.blocks_per_multiprocessor = (double)product(shape->grid) / (double)device->multiprocessors;
	occupancy.warps_per_multiprocessor = occupancy.blocks_per_multiprocessor * (double)warps;
	in_use = occupancy.blocks_per_multiprocessor < occupancy.blocks ? occupancy.blocks_per_multiprocessor
									: occupancy.blocks;
	occupancy.estimated = in_use * (double)warps / (double)most_warps;
	return occupancy;
}
