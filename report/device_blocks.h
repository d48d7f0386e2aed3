/* SPDX-License-Identifier: MIT */
/* device_blocks.h: the lives of blocks of devices, from DEVICE_ALLOC, .._FREE, .._MAP, .._POOL, .._TENSOR and
 * TENSOR records: what match.h is for the host's blocks. They are rare beside those, and go no fast way.
 *
 * What counts, and once:
 *   - a holding is what the driver gave: a plain, managed or ordered block, an array, a mapping of physical
 * memory. It counts its bytes less those of the tensors in it.
 *   - a tensor is what a caching allocator gave of holdings, which it may span. Its holdings shrink and grow
 *     (RVP_EVENT_RESIZED); the first one inside makes a holding a segment, which evidence_device.c calls
 * `allocator`.
 *   - physical memory counts from cuMemCreate until it is released and no address leads to it any more. While
 * one does, the mapping is the block, since tags and tensors name that address; the rest of it is a block
 * without an address.
 *   - a pool counts what the driver holds for it and has not given out, as a block of its own
 * (RVP_BLOCK_POOL).
 *   - pinned memory is the host's (device_pinned.h), registered memory is there already, imported memory is
 * another process's.
 *
 * Invariants
 *   (N1) Holdings with an address do not overlap, nor do tensors; what would is the end of what is there.
 *   (N2) A holding's inside_bytes are the bytes of tensors that lie in it.
 *   (N3) The weight of an event is what the block counts behind it, at a death what it counted before.
 */
#ifndef RVP_REPORT_DEVICE_BLOCKS_H
#define RVP_REPORT_DEVICE_BLOCKS_H

#include "report/live_index.h"
#include "report/match.h"

struct rvp_holding {
	struct rvp_block block;
	uint64_t own_bytes;     /* what it has now; other than the block's where a part of it moved (pools,
				   physical memory) */
	uint64_t inside_bytes;  /* of these: given out by a caching allocator */
	uint64_t context, pool; /* 0: not known, none */
	uint32_t process;
	uint32_t physical;  /* its number + 1; 0: none is behind it */
	uint32_t next_free; /* while it is not used: the next such, number + 1 */
	uint8_t kind;       /* enum rvp_device_memory */
	bool is_used, has_address;
};

struct rvp_physical {
	uint64_t handle, bytes, mapped_bytes, stack, python;
	uint32_t process, device;
	uint32_t unmapped; /* holding's number + 1; 0: all of it has an address */
	bool is_used, is_released;
};

struct rvp_kept_pool {
	uint64_t address, reserved_bytes, live_bytes;
	uint32_t process, device;
	uint32_t holding; /* number + 1 */
	bool is_told;     /* the driver said what it holds */
};

struct rvp_live_context {
	uint64_t context;
	uint32_t process, device;
};

enum { RVP_FREED_HOLDINGS = 32 };

struct rvp_device_sums {
	uint64_t managed_bytes;  /* live */
	uint64_t unmapped_bytes; /* live: physical memory without an address */
	uint64_t unknown_frees;
};

struct rvp_told_allocator { /* the last word of a process's caching allocator on a device */
	uint64_t allocated_bytes, reserved_bytes;
	uint32_t process, device;
};

struct rvp_device_blocks {
	const struct rvp_run *run;
	struct rvp_site_table *sites;
	struct rvp_classifier classifier;
	struct rvp_live_index drivers; /* holdings with an address; `stream` is the holding's number */
	struct rvp_live_index tensors;
	struct rvp_block_table
	    *handles; /* by process; `stream`: of the physical memory, or of the array's holding */
	struct rvp_holding *holdings;
	size_t holding_count, holding_room;
	uint32_t free_holding; /* number + 1 */
	struct rvp_physical *physicals;
	size_t physical_count, physical_room, physical_hint; /* hint: all before it are used */
	struct rvp_kept_pool *pools;
	size_t pool_count, pool_room;
	struct rvp_live_context *contexts;
	size_t context_count, context_room;
	struct rvp_told_allocator *told;
	size_t told_count, told_room;
	uint32_t *births;                             /* by process */
	struct rvp_holding freed[RVP_FREED_HOLDINGS]; /* a ring */
	unsigned next_freed;
	struct rvp_device_sums sums[RVP_DEVICES_MAX + 1]; /* by the run's number */
	struct rvp_event *events;                         /* of the last moment, `count` of them */
	size_t count, room;
	bool no_memory;
};

/* False without memory. */
bool rvp_device_blocks_open(struct rvp_device_blocks *blocks, const struct rvp_run *run,
			    struct rvp_site_table *sites, struct rvp_classifier classifier);

/* What the moment does is in blocks->events. False without memory. */
bool rvp_device_blocks_take(struct rvp_device_blocks *blocks, const struct rvp_moment *moment);

/* The block that holds this address: a tensor, else a holding; NULL: none. Until the next take. */
const struct rvp_block *rvp_device_block_at(const struct rvp_device_blocks *blocks, uint32_t process,
					    uint64_t address);
/* The live block of this address and birth, to be changed; and what it counts. */
struct rvp_block *rvp_device_block_born(const struct rvp_device_blocks *blocks, uint32_t process,
					uint64_t address, uint32_t birth, uint64_t *counted_bytes);

/* A caching allocator's holdings of a device: what they hold, what of it is given out, the largest gap.
 * Mappings of physical memory side by side are one, as their allocator sees them. */
struct rvp_device_segments {
	uint64_t reserved_bytes, allocated_bytes, largest_free_bytes;
	uint64_t count;                                     /* of segments; 0: there is no such allocator */
	uint64_t told_allocated_bytes, told_reserved_bytes; /* by the last words of living processes; 0: none */
};
/* Contexts of a process that live on a device, as far as they were told of; without the one of this number (0: all). */
size_t rvp_device_contexts(const struct rvp_device_blocks *blocks, uint32_t process, uint32_t device, uint64_t without);

struct rvp_device_segments rvp_device_segments(const struct rvp_device_blocks *blocks, uint32_t device);

void rvp_device_blocks_free(struct rvp_device_blocks *blocks);

#endif
