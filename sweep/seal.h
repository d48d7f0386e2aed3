/* SPDX-License-Identifier: MIT */
/* seal.h: the bundle of a sweep's results (prove/bundle.h): witness/witness.rvf vouches for every file that
 * the sweep wrote. */
#ifndef RVP_SWEEP_SEAL_H
#define RVP_SWEEP_SEAL_H

#include "sweep/results.h"

/* `key_path`: NULL: not signed. *decisions: witness lines. */
struct rvp_status rvp_sweep_seal(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
				 const char *key_path, uint64_t *decisions);

#endif
