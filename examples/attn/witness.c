/* SPDX-License-Identifier: MIT */
/* witness.c: see witness.h. */
#include "witness.h"

#include <inttypes.h>
#include <openssl/evp.h>

static bool put_hash(FILE *out, const float *floats, size_t count)
{
	unsigned char value[EVP_MAX_MD_SIZE];
	unsigned bytes = 0;

	if (!EVP_Digest(floats, count * sizeof *floats, value, &bytes, EVP_sha256(), NULL))
		return false;
	for (unsigned i = 0; i < bytes; i++)
		fprintf(out, "%02x", value[i]);
	return true;
}

bool witness_begin(void)
{
	unsigned char value[EVP_MAX_MD_SIZE];

	return EVP_Digest("", 0, value, NULL, EVP_sha256(), NULL);
}

static void put_setting(FILE *out, const struct setting *setting)
{
	fprintf(out, ",\"lambda\":");
	put_float(out, setting->lambda);
	fprintf(out, ",\"tau\":%zu,\"eps\":", setting->tau);
	put_float(out, setting->eps);
}

bool witness_put(void *context, const struct decision *decision)
{
	struct witness *witness = context;
	FILE *out = witness->out;
	uint64_t number = witness->count++;

	if (!out)
		return true;
	fprintf(out, "{\"q_hash\":\"");
	if (!put_hash(out, decision->queries, decision->float_count))
		return false;
	fprintf(out, "\",\"k_hash\":\"");
	if (!put_hash(out, decision->keys, decision->float_count))
		return false;
	fprintf(out, "\",\"keep_mask\":[");
	for (size_t i = 0; i < decision->keep_count; i++)
		fprintf(out, "%s%s", i ? "," : "", decision->keep[i] ? "true" : "false");
	fprintf(out, "],\"cut_cost\":");
	put_float(out, decision->cut_cost);
	put_setting(out, witness->setting);
	fprintf(out, ",\"timestamp\":%" PRIu64 "}\n", number);
	return !ferror(out);
}
