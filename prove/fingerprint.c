/* SPDX-License-Identifier: MIT */
/* fingerprint.c: see fingerprint.h. The bytes are hashed, so none of them may depend on our own JSON's taste.
 */
#include "prove/fingerprint.h"

#include "report/shortest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_string(FILE *out, const char *text)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	fputc('"', out);
	for (; *text; text++) {
		const char *name = named;

		while (*name && *name != *text)
			name += 2;
		if (*name)
			fprintf(out, "\\%c", name[1]);
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void put_float(FILE *out, float value)
{
	struct rvp_shortest shortest = rvp_shortest_float(value);
	char text[RVP_SHORTEST_TEXT_BYTES];

	fputs(rvp_shortest_json(&shortest, text), out);
}

static void put_configuration(FILE *out, const struct rvp_configuration *configuration)
{
	fputs("{\"model_commit\":", out);
	put_string(out, configuration->model_commit);
	fputs(",\"weights_hash\":", out);
	put_string(out, configuration->weights_hash);
	fputs(",\"lambda\":", out);
	put_float(out, configuration->lambda);
	fprintf(out, ",\"tau\":%" PRIu64 ",\"eps\":", configuration->tau);
	put_float(out, configuration->eps);
	fputs(",\"compiler_flags\":", out);
	put_string(out, configuration->compiler_flags);
	fputc('}', out);
}

char *rvp_configuration_text(const struct rvp_configuration *configuration)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	put_configuration(out, configuration);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

bool rvp_fingerprint(const struct rvp_digests *digests, const struct rvp_configuration *configuration,
		     uint8_t value[RVP_DIGEST_BYTES])
{
	char *text = rvp_configuration_text(configuration);
	bool is_good = text && rvp_digest_of(digests, RVP_SHA256, text, strlen(text), value);

	free(text);
	return is_good;
}
