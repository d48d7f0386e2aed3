/* SPDX-License-Identifier: MIT */
/* verify.h: whether an RVF file and what it vouches for are as they were written.
 *
 * Of any RVF file: that segments follow each other without a gap, their content hashes, their padding, and
 * the chains of witness segments. Of a bundle of ours (bundle.h) also that no bit is another than the
 * writer's, each witness line against its entry, each listed file's SHA-256, and the signature. Files beside
 * it that the manifest does not list are named.
 *
 * Rules
 *   - Nothing is loaded whole but the manifest, which may have RVP_MANIFEST_MAX_BYTES.
 *   - Whatever a hostile file says ends in a finding; a status fails only where something could not be read
 * or hashed. */
#ifndef RVP_PROVE_VERIFY_H
#define RVP_PROVE_VERIFY_H

#include "prove/digest.h"
#include "prove/findings.h"

enum { RVP_MANIFEST_MAX_BYTES = 1 << 28 };

struct rvp_verified {
	struct rvp_findings findings;
	uint64_t segments, witness_segments, valid_chains, entries, chain_breaks;
	uint64_t first_timestamp_ns, last_timestamp_ns; /* where entries > 0 */
	uint64_t decisions, checked_bytes;
	bool is_ours, is_signed; /* signed: and the signature holds */
	char signer[RVP_HEX_TEXT_BYTES];
};

/* `key_path`: the public key that must have signed, PEM; NULL: whichever did. Free the findings in either
 * case. */
struct rvp_status rvp_verify_file(const struct rvp_digests *digests, const char *path, const char *key_path,
				  struct rvp_verified *verified);

#endif
