/* SPDX-License-Identifier: MIT */
/* bundle.h: the proof that comes with a sweep's results: one RVF file of two or three segments.
 *
 * - Segment 1, witness: an entry that says whose bundle it is (PROVENANCE, the SHAKE-256 of RVP_BUNDLE_NAME), then one
 *   for each line of each witness file (COMPUTATION, the SHAKE-256 of the line without its new line), in the order of
 *   the manifest; the timestamp is the entry's number: no clock goes into a hash.
 * - Segment 2, meta: the manifest, JSON: {"schema": "rvprof.manifest/1", "bundle": {"path", "bytes", "sha256"} of what
 *   lies before this segment, "fingerprint", "environment", "signer": the public key, "witness": [{"path", "lines",
 *   "bytes", "sha256"}], "files": [{"path", "bytes", "sha256"}]}.
 * - Segment 3, crypto, where there is a key: its public half, and its Ed25519 signature of the SHA-256 of segments 1
 *   and 2.
 *
 * Invariants
 *   (B1) Every header field but id, type, length, hash and pad is fixed, and padding is zero: so no bit of the file is
 *        free.
 *   (B2) There is a whole bundle or none (report/whole_file.h). */
#ifndef RVP_PROVE_BUNDLE_H
#define RVP_PROVE_BUNDLE_H

#include "prove/digest.h"

#define RVP_BUNDLE_NAME     "rvprof.bundle/1"
#define RVP_MANIFEST_SCHEMA "rvprof.manifest/1"

enum rvp_bundle_segment { RVP_BUNDLE_WITNESS = 1, RVP_BUNDLE_MANIFEST = 2, RVP_BUNDLE_SIGNATURE = 3 };

struct rvp_bundle_plan {
	const char *folder;               /* paths are relative to it */
	const char *path;                 /* of the bundle: "witness/witness.rvf" */
	const char *const *witness_files; /* JSONL; NULL ends them */
	const char *const *files;         /* everything else that is a result; NULL ends them */
	const char *fingerprint;          /* 64 digits, or NULL */
	const char *environment;          /* the same */
	const char *key_path;             /* PEM, or NULL: not signed */
};

/* *decisions: lines of the witness files. */
struct rvp_status rvp_bundle_write(const struct rvp_digests *digests, const struct rvp_bundle_plan *plan,
				   uint64_t *decisions);

#endif
