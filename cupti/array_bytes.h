/* SPDX-License-Identifier: MIT */
/* array_bytes.h: the bytes of an array's elements; what the driver makes of them (tiles, rows) it does not say. */
#ifndef RVP_CUPTI_ARRAY_BYTES_H
#define RVP_CUPTI_ARRAY_BYTES_H

#include "cupti/abi_driver.h"

/* 0: of a format that is not known, or without elements. */
uint64_t rvp_array_bytes(const struct rvp_cu_array *shape);
uint64_t rvp_array3d_bytes(const struct rvp_cu_array3d *shape, uint32_t levels);

#endif
