/* SPDX-License-Identifier: MIT */
/* digest.h: hashes and signatures, by a library that is opened when the first is asked for. */
#ifndef RVP_PROVE_DIGEST_H
#define RVP_PROVE_DIGEST_H

#include "prove/digest_module.h"
#include "record/status.h"
#include "report/extension.h"

struct rvp_digests {
	struct rvp_extension extension;
	const struct rvp_digest_table *table;
};

/* A failure says what to install. Close it in either case. */
struct rvp_status rvp_digests_open(struct rvp_digests *digests);
void rvp_digests_close(struct rvp_digests *digests);

/* Of `bytes` at `data`; false without memory. */
bool rvp_digest_of(const struct rvp_digests *digests, enum rvp_digest_kind kind, const void *data,
		   size_t bytes, uint8_t value[RVP_DIGEST_BYTES]);

/* For reading; NULL and an errno: also what is there and is no file, which could be without an end (a pipe, a device). */
FILE *rvp_open_whole(const char *path);

/* Of a whole file, read in pieces; *file_bytes is its length. */
struct rvp_status rvp_digest_of_file(const struct rvp_digests *digests, enum rvp_digest_kind kind,
				     const char *path, uint8_t value[RVP_DIGEST_BYTES], uint64_t *file_bytes);

/* Lower case. */
enum { RVP_HEX_TEXT_BYTES = 2 * RVP_DIGEST_BYTES + 1 };
const char *rvp_hex(const uint8_t value[RVP_DIGEST_BYTES], char text[RVP_HEX_TEXT_BYTES]);

#endif
