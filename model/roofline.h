/* SPDX-License-Identifier: MIT */
/* roofline.h: where work stands under a machine's two limits: what it could reach at most is the smaller of
 * its products a second and its bytes a second times the work's intensity. */
#ifndef RVP_MODEL_ROOFLINE_H
#define RVP_MODEL_ROOFLINE_H

#include "model/machine.h"

struct rvp_roof {
	double intensity; /* FLOPs a byte moved */
	double attainable_flops_per_s;
	bool is_memory_bound;       /* intensity below the machine's balance */
	double share_of_attainable; /* NAN without a time */
	double share_of_peak;       /* of flops_per_s; NAN without a time */
	double least_ms;            /* what the limits allow at best */
};

/* `ms` NAN: not measured. Of no bytes or no FLOPs intensity is INFINITY or 0. */
struct rvp_roof rvp_roof_of(const struct rvp_machine *machine, double flops, double bytes, double ms);

#endif
