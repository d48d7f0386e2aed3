/* SPDX-License-Identifier: MIT */
/* device_holdings.h: the inside of device_blocks.h, for the files that it consists of: device_blocks.c takes
 * records, device_holdings.c keeps what the driver gave and the tensors in it, device_physical.c memory that
 * has an address only while it is mapped, device_pools.c what pools keep. */
#ifndef RVP_REPORT_DEVICE_HOLDINGS_H
#define RVP_REPORT_DEVICE_HOLDINGS_H

#include "report/device_blocks.h"

struct rvp_new_holding {
	uint64_t address, bytes, stack, python;
	uint32_t device, flags; /* flags: beside the device */
	uint8_t kind;
	bool has_address;
};

static inline bool rvp_is_device_range(uint64_t address, uint64_t bytes)
{
	return bytes && bytes < (uint64_t)1 << 48 && address && address < (uint64_t)1 << 57;
}

/* Physical memory and arrays are called by handles, which are no addresses. */
static inline uint64_t rvp_handle_key(uint64_t kind, uint64_t handle)
{
	return handle * 2 + (kind == RVP_DEVICE_MEMORY_ARRAY);
}

static inline uint32_t rvp_holding_number(const struct rvp_device_blocks *blocks,
					  const struct rvp_holding *holding)
{
	return (uint32_t)(holding - blocks->holdings);
}

/* ---- holdings ---- */

/* Not told yet. NULL without memory. Pointers to others are void behind it. */
struct rvp_holding *rvp_holding_new(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
				    const struct rvp_new_holding *birth);
void rvp_holding_born(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		      struct rvp_holding *holding);
/* With the tensors in it. */
void rvp_holding_end(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		     struct rvp_holding *holding);
uint64_t rvp_holding_counts(const struct rvp_holding *holding);
/* It has other bytes now. */
void rvp_holding_resize(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			struct rvp_holding *holding, uint64_t bytes);

/* The holding that has this address inside. */
struct rvp_holding *rvp_holding_at(const struct rvp_device_blocks *blocks, uint32_t process,
				   uint64_t address);
void rvp_holdings_end(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t address,
		      uint64_t end);
void rvp_holdings_forget(struct rvp_device_blocks *blocks, uint32_t process);
/* Its last end did not happen after all. */
void rvp_holding_restore(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t address);

/* ---- tensors ---- */

void rvp_tensor_born(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		     const struct rvp_record_DEVICE_TENSOR *record, uint32_t device);
/* False: there is none at this address. */
bool rvp_tensor_end(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t address);

/* ---- physical memory ---- */

void rvp_physical_take(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t device);
void rvp_physical_map(struct rvp_device_blocks *blocks, const struct rvp_moment *moment);
void rvp_physical_unmap(struct rvp_device_blocks *blocks, const struct rvp_moment *moment);
/* A mapping of it (number + 1) is gone: its bytes are without an address, or nowhere. */
void rvp_physical_back(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t number,
		       uint64_t bytes);
/* An unmapping did not happen after all. */
void rvp_physical_map_again(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			    const struct rvp_holding *mapping);
/* False: no such memory. */
bool rvp_physical_release(struct rvp_device_blocks *blocks, const struct rvp_moment *moment);
/* The release did not happen after all; false: there is no such memory that was released. */
bool rvp_physical_restore(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t handle);

/* ---- pools ---- */

void rvp_pool_take(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t device);
/* Those of a device whose last context goes. */
void rvp_pools_end(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t device);
/* A block of a pool came or went. */
void rvp_pool_moved(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		    const struct rvp_holding *holding, int64_t bytes);

#endif
