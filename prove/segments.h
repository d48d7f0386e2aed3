/* SPDX-License-Identifier: MIT */
/* segments.h: one pass over an RVF file, segment by segment. Half of verify.c: what can be said of any such
 * file. */
#ifndef RVP_PROVE_SEGMENTS_H
#define RVP_PROVE_SEGMENTS_H

#include "prove/rvf.h"
#include "prove/verify.h"

enum { RVP_SEGMENTS_KEPT = 4 };

/* The first ones, for whoever knows more about them. */
struct rvp_segment {
	struct rvp_rvf_header header;
	uint64_t payload_at;
	bool is_whole; /* its content hash holds */
};

struct rvp_segments {
	const struct rvp_digests *digests;
	const char *path; /* as findings name it */
	FILE *file;
	uint64_t file_bytes, at;
	uint8_t *piece;
	struct rvp_segment kept[RVP_SEGMENTS_KEPT];
	bool begins_as_ours; /* the first entry of a chain has our name */
	struct rvp_verified *verified;
};

struct rvp_status rvp_segments_read(struct rvp_segments *segments);

#endif
