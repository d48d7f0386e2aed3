/* SPDX-License-Identifier: MIT */
/* digest_module.c: librvprof_prove.so, see digest_module.h. */
#include "prove/digest_module.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct rvp_digest {
	enum rvp_digest_kind kind;
	bool has_failed;
	EVP_MD_CTX *context;    /* of OpenSSL's kinds */
	XXH3_state_t *xx_state; /* of XXH3 */
};

static const EVP_MD *algorithm(enum rvp_digest_kind kind)
{
	return kind == RVP_SHA256 ? EVP_sha256() : EVP_shake256();
}

static bool restart(struct rvp_digest *digest, const EVP_MD *type)
{
	if (digest->kind == RVP_XXH3_128)
		return XXH3_128bits_reset(digest->xx_state) == XXH_OK;
	return EVP_DigestInit_ex(digest->context, type, NULL);
}

static void free_digest(struct rvp_digest *digest)
{
	if (!digest)
		return;
	EVP_MD_CTX_free(digest->context);
	XXH3_freeState(digest->xx_state);
	free(digest);
}

static struct rvp_digest *begin(enum rvp_digest_kind kind)
{
	struct rvp_digest *digest = calloc(1, sizeof *digest);

	if (!digest)
		return NULL;
	digest->kind = kind;
	/* What hashes are does not depend on anybody's openssl.cnf, and reading it takes longer than hashing. */
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	if (kind == RVP_XXH3_128)
		digest->xx_state = XXH3_createState();
	else
		digest->context = EVP_MD_CTX_new();
	if ((digest->xx_state || digest->context) && restart(digest, algorithm(kind)))
		return digest;
	free_digest(digest);
	return NULL;
}

static void add(struct rvp_digest *digest, const void *data, size_t bytes)
{
	if (digest->kind == RVP_XXH3_128)
		XXH3_128bits_update(digest->xx_state, data, bytes);
	else if (!EVP_DigestUpdate(digest->context, data, bytes))
		digest->has_failed = true;
}

static bool take(struct rvp_digest *digest, uint8_t value[RVP_DIGEST_BYTES])
{
	XXH128_hash_t xx;

	memset(value, 0, RVP_DIGEST_BYTES);
	if (digest->kind == RVP_SHA256)
		return EVP_DigestFinal_ex(digest->context, value, NULL);
	if (digest->kind == RVP_SHAKE256)
		return EVP_DigestFinalXOF(digest->context, value, RVP_DIGEST_BYTES);
	xx = XXH3_128bits_digest(digest->xx_state);
	for (int i = 0; i < 8; i++) {
		value[i] = (uint8_t)(xx.low64 >> 8 * i);
		value[8 + i] = (uint8_t)(xx.high64 >> 8 * i);
	}
	return true;
}

static bool end(struct rvp_digest *digest, uint8_t value[RVP_DIGEST_BYTES])
{
	bool is_good = take(digest, value) && !digest->has_failed;

	/* NULL: the algorithm that it has; looking it up costs more than hashing a line. */
	digest->has_failed = !restart(digest, NULL);
	return is_good;
}

static const char *sign(FILE *key, const uint8_t message[RVP_DIGEST_BYTES],
			uint8_t public_key[RVP_PUBLIC_KEY_BYTES], uint8_t signature[RVP_SIGNATURE_BYTES])
{
	EVP_PKEY *pair = PEM_read_PrivateKey(key, NULL, NULL, NULL);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	size_t key_bytes = RVP_PUBLIC_KEY_BYTES, signature_bytes = RVP_SIGNATURE_BYTES;
	const char *wrong = NULL;

	if (!pair)
		wrong = "is no private key in PEM form";
	else if (EVP_PKEY_id(pair) != EVP_PKEY_ED25519)
		wrong = "is no Ed25519 key (openssl genpkey -algorithm ed25519)";
	else if (!context || EVP_DigestSignInit(context, NULL, NULL, NULL, pair) != 1 ||
		 EVP_DigestSign(context, signature, &signature_bytes, message, RVP_DIGEST_BYTES) != 1 ||
		 EVP_PKEY_get_raw_public_key(pair, public_key, &key_bytes) != 1)
		wrong = "could not sign";
	EVP_MD_CTX_free(context);
	EVP_PKEY_free(pair);
	return wrong;
}

static const char *read_public_key(FILE *key, uint8_t public_key[RVP_PUBLIC_KEY_BYTES])
{
	EVP_PKEY *pair = PEM_read_PUBKEY(key, NULL, NULL, NULL);
	size_t key_bytes = RVP_PUBLIC_KEY_BYTES;
	const char *wrong = NULL;

	if (!pair)
		wrong = "is no public key in PEM form (openssl pkey -pubout)";
	else if (EVP_PKEY_id(pair) != EVP_PKEY_ED25519 ||
		 EVP_PKEY_get_raw_public_key(pair, public_key, &key_bytes) != 1)
		wrong = "is no Ed25519 key";
	EVP_PKEY_free(pair);
	return wrong;
}

static bool is_signed(const uint8_t public_key[RVP_PUBLIC_KEY_BYTES], const uint8_t message[RVP_DIGEST_BYTES],
		      const uint8_t signature[RVP_SIGNATURE_BYTES])
{
	EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, RVP_PUBLIC_KEY_BYTES);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_good =
	    key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
	    EVP_DigestVerify(context, signature, RVP_SIGNATURE_BYTES, message, RVP_DIGEST_BYTES) == 1;

	EVP_MD_CTX_free(context);
	EVP_PKEY_free(key);
	return is_good;
}

__attribute__((visibility("default"))) extern const struct rvp_digest_table rvp_digest_table;
const struct rvp_digest_table rvp_digest_table = {
    .abi = RVP_DIGEST_ABI,
    .begin = begin,
    .add = add,
    .end = end,
    .free = free_digest,
    .sign = sign,
    .read_public_key = read_public_key,
    .is_signed = is_signed,
};
