/* SPDX-License-Identifier: MIT */
/* digest_module.h: what librvprof_prove.so offers to digest.c: one table of functions over OpenSSL and
 * xxHash, so that nothing else of rvprof is linked with either. A change of it needs a new RVP_DIGEST_ABI. */
#ifndef RVP_PROVE_DIGEST_MODULE_H
#define RVP_PROVE_DIGEST_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RVP_DIGEST_ABI    1
#define RVP_DIGEST_TABLE  "rvp_digest_table"
#define RVP_DIGEST_MODULE "librvprof_prove.so"

/* SHAKE-256: its first 32 bytes; the first 16 of these are what a shorter one would be. XXH3-128: 16 bytes,
 * little-endian, then zeros. */
enum rvp_digest_kind { RVP_SHA256, RVP_SHAKE256, RVP_XXH3_128 };
enum { RVP_DIGEST_BYTES = 32, RVP_SIGNATURE_BYTES = 64, RVP_PUBLIC_KEY_BYTES = 32 };

struct rvp_digest; /* one that is being computed */

struct rvp_digest_table {
	uint32_t abi;                                           /* RVP_DIGEST_ABI */
	struct rvp_digest *(*begin)(enum rvp_digest_kind kind); /* NULL: without memory */
	void (*add)(struct rvp_digest *digest, const void *data, size_t bytes);
	/* Ends it and begins the next one of its kind. False: OpenSSL refused something since the last end.
	 */
	bool (*end)(struct rvp_digest *digest, uint8_t value[RVP_DIGEST_BYTES]);
	void (*free)(struct rvp_digest *digest); /* NULL: nothing */
	/* Ed25519, the keys in PEM as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write
	 * them. NULL: done; else what is wrong, a literal. */
	const char *(*sign)(FILE *key, const uint8_t message[RVP_DIGEST_BYTES],
			    uint8_t public_key[RVP_PUBLIC_KEY_BYTES], uint8_t signature[RVP_SIGNATURE_BYTES]);
	const char *(*read_public_key)(FILE *key, uint8_t public_key[RVP_PUBLIC_KEY_BYTES]);
	bool (*is_signed)(const uint8_t public_key[RVP_PUBLIC_KEY_BYTES],
			  const uint8_t message[RVP_DIGEST_BYTES],
			  const uint8_t signature[RVP_SIGNATURE_BYTES]);
};

#endif
