/* SPDX-License-Identifier: MIT */
/* device_pinned.h: host memory that the driver gave out (cudaMallocHost, cuMemHostAlloc): a block of the
 * host, at the place of the mapping that the driver made for it. It is kept where mappings are (map_table.h),
 * so that no byte is there twice: the driver's mapping gives way to it and is back when it is freed, until it
 * is unmapped. */
#ifndef RVP_REPORT_DEVICE_PINNED_H
#define RVP_REPORT_DEVICE_PINNED_H

#include "report/map_table.h"

/* Takes DEVICE_ALLOC, .._FREE and .._UNFREE of pinned memory, nothing else. */
void rvp_pinned_take(struct rvp_map_table *table, const struct rvp_moment *moment);
void rvp_pinned_forget(struct rvp_map_table *table, uint32_t process);

#endif
