/* SPDX-License-Identifier: MIT */
/* fingerprint.h: which configuration a result belongs to: SHA-256 of one line of JSON, as ruvector-profiler's
 * config_hash computes it, so that digests of both systems can be compared.
 *
 *     {"model_commit":"abc1234","weights_hash":"def5678","lambda":0.5,"tau":2,"eps":0.01,"compiler_flags":"-O3"}
 *
 * No blanks; lambda and eps are floats with the least digits that read back as the same float (shortest.h);
 * strings are escaped as serde_json does: \" \\ \b \f \n \r \t, other control characters as \u00xx,
 * everything else as it is. */
#ifndef RVP_PROVE_FINGERPRINT_H
#define RVP_PROVE_FINGERPRINT_H

#include "prove/digest.h"

struct rvp_configuration {
	const char *model_commit, *weights_hash, *compiler_flags;
	float lambda, eps;
	uint64_t tau;
};

/* The line, malloc'ed, without a new line. NULL without memory. */
char *rvp_configuration_text(const struct rvp_configuration *configuration);

bool rvp_fingerprint(const struct rvp_digests *digests, const struct rvp_configuration *configuration,
		     uint8_t value[RVP_DIGEST_BYTES]);

#endif
