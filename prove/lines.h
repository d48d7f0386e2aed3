/* SPDX-License-Identifier: MIT */
/* lines.h: a witness file, hashed line by line and as a whole in one pass. It is read in
 * pieces, so a line without an end takes no more memory than any other. */
#ifndef RVP_PROVE_LINES_H
#define RVP_PROVE_LINES_H

#include "prove/digest.h"

struct rvp_hashed_lines {
	const struct rvp_digests *digests;
	const char *path;
	FILE *file;
	struct rvp_digest *line_digest, *file_digest;
	char *piece; /* of the file; a line may take many */
	size_t piece_bytes, used_bytes;
	uint64_t line_count, bytes;
};

/* Close it in either case. */
struct rvp_status rvp_hashed_lines_open(struct rvp_hashed_lines *lines, const struct rvp_digests *digests,
					const char *path);

/* The SHAKE-256 of the next line without its new line; *has_line false at the end: then `action` is the
 * SHA-256 of the whole file. */
struct rvp_status rvp_hashed_lines_next(struct rvp_hashed_lines *lines, uint8_t action[RVP_DIGEST_BYTES],
					bool *has_line);
void rvp_hashed_lines_close(struct rvp_hashed_lines *lines);

#endif
