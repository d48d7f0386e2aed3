/* SPDX-License-Identifier: MIT */
/* rvf.h: RVF, the container of ruvector: segments of a 64-byte header, a payload, and zeros up to a multiple
 * of 64. Only what a chain of witnesses needs; all numbers are little-endian.
 *
 *     0 magic 0x52564653   4 version 1   5 type   6 flags (2)   8 id (8)   16 payload bytes (8)   24
 * timestamp ns (8) 32 checksum algorithm   33 compression   34 zero (6)   40 content hash (16)   56
 * uncompressed bytes (4)   60 pad (4)
 *
 * The content hash is of the payload: algorithm 2 is SHAKE-256, every other number XXH3-128. A witness
 * payload is a row of entries of 73 bytes: hash of the entry before (32; zeros in the first), hash of the
 * action (32), timestamp (8), type (1). The chain finds a change of any entry but the last; the content hash
 * finds that too. */
#ifndef RVP_PROVE_RVF_H
#define RVP_PROVE_RVF_H

#include "prove/digest.h"

#define RVP_RVF_MAGIC 0x52564653u

enum {
	RVP_RVF_UNIT_BYTES = 64, /* of a header, and what segments are padded to */
	RVP_RVF_HASH_BYTES = 16,
	RVP_RVF_ENTRY_BYTES = 73,
	RVP_RVF_VERSION = 1,
};

enum rvp_rvf_type { RVP_RVF_META = 0x07, RVP_RVF_WITNESS = 0x0a, RVP_RVF_CRYPTO = 0x0c };
enum rvp_rvf_algorithm { RVP_RVF_SHAKE = 2 };
enum rvp_rvf_entry_type { RVP_RVF_PROVENANCE = 1, RVP_RVF_COMPUTATION = 2 };

struct rvp_rvf_header {
	uint32_t magic;
	uint8_t version, type;
	uint16_t flags;
	uint64_t id, payload_bytes, timestamp_ns;
	uint8_t algorithm, compression;
	uint64_t reserved; /* 6 bytes */
	uint8_t content_hash[RVP_RVF_HASH_BYTES];
	uint32_t uncompressed_bytes, pad_bytes;
};

void rvp_rvf_header_write(const struct rvp_rvf_header *header, uint8_t bytes[RVP_RVF_UNIT_BYTES]);
void rvp_rvf_header_read(struct rvp_rvf_header *header, const uint8_t bytes[RVP_RVF_UNIT_BYTES]);

/* Zeros behind a payload of that size. */
unsigned rvp_rvf_pad_bytes(uint64_t payload_bytes);

/* Writes a whole segment at the place where `out` stands. */
struct rvp_status rvp_rvf_segment_write(FILE *out, const char *path, const struct rvp_digests *digests,
					enum rvp_rvf_type type, uint64_t id, const void *payload,
					uint64_t payload_bytes);

/* A chain as it grows. */
struct rvp_rvf_chain {
	const struct rvp_digests *digests;
	struct rvp_digest *digest; /* SHAKE-256 */
	uint8_t previous[RVP_DIGEST_BYTES];
	uint64_t count;
};

/* False without memory. Close it in either case. */
bool rvp_rvf_chain_open(struct rvp_rvf_chain *chain, const struct rvp_digests *digests);
void rvp_rvf_chain_close(struct rvp_rvf_chain *chain);

/* The next entry into `entry`. */
bool rvp_rvf_chain_add(struct rvp_rvf_chain *chain, const uint8_t action[RVP_DIGEST_BYTES],
		       uint64_t timestamp_ns, enum rvp_rvf_entry_type type,
		       uint8_t entry[RVP_RVF_ENTRY_BYTES]);

/* Whether `entry` follows those seen so far; counts it and goes on from it in either case. */
bool rvp_rvf_chain_follow(struct rvp_rvf_chain *chain, const uint8_t entry[RVP_RVF_ENTRY_BYTES]);

/* Of an entry. */
const uint8_t *rvp_rvf_entry_action(const uint8_t entry[RVP_RVF_ENTRY_BYTES]);
uint64_t rvp_rvf_entry_timestamp_ns(const uint8_t entry[RVP_RVF_ENTRY_BYTES]);

#endif
