/* SPDX-License-Identifier: MIT */
/* kernels_order.h: sorts numbered keys; equal keys stay in their order. */
#ifndef RVP_REPORT_KERNELS_ORDER_H
#define RVP_REPORT_KERNELS_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct rvp_order_key {
	uint64_t key;
	uint32_t number;
};

/* `spare` has room for as many. What is in order already is left alone; else by radix, a pass for each 11
 * bits in which keys differ. */
void rvp_order(struct rvp_order_key *keys, struct rvp_order_key *spare, size_t count);

#endif
