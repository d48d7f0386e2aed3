/* SPDX-License-Identifier: MIT */
/* listed.h: the files that a bundle's manifest lists, and those that it does not. */
#ifndef RVP_PROVE_LISTED_H
#define RVP_PROVE_LISTED_H

#include "prove/segments.h"

#include <jansson.h>

/* `path` is the bundle's; the folder that the list is relative to follows from where the manifest says that
 * it lies. */
struct rvp_status rvp_check_listed(const struct rvp_digests *digests, const char *path,
				   const json_t *manifest, struct rvp_segments *segments,
				   struct rvp_verified *verified);

#endif
