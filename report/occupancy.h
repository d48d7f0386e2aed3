/* SPDX-License-Identifier: MIT */
/* occupancy.h: how many warps of a kernel a multiprocessor can hold at once, by what the device is limited to
 * and the kernel asks for. Theoretical: nothing of it was measured. docs/metrics.md has the formula.
 */
#ifndef RVP_REPORT_OCCUPANCY_H
#define RVP_REPORT_OCCUPANCY_H

#include "report/kernels_defs.h"

enum rvp_occupancy_limit {
	RVP_OCCUPANCY_BY_NOTHING, /* not known */
	RVP_OCCUPANCY_BY_WARPS,
	RVP_OCCUPANCY_BY_REGISTERS,
	RVP_OCCUPANCY_BY_SHARED,
	RVP_OCCUPANCY_BY_BLOCKS,
};

struct rvp_occupancy {
	bool is_known;
	double share;     /* of the warps that a multiprocessor can hold, 0..1 */
	double estimated; /* the same where the grid has fewer blocks than fit: Kineto's "est. achieved
			     occupancy" */
	uint32_t blocks;  /* of a multiprocessor */
	double blocks_per_multiprocessor, warps_per_multiprocessor; /* of the grid, spread evenly */
	enum rvp_occupancy_limit limit;
};

/* `device` may be NULL. */
struct rvp_occupancy rvp_occupancy_of(const struct rvp_kernel_shape *shape,
				      const struct rvp_record_DEVICE *device);

#endif
