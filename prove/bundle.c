/* SPDX-License-Identifier: MIT */
/* bundle.c: see bundle.h. */
#include "prove/bundle.h"

#include "prove/lines.h"
#include "prove/rvf.h"
#include "report/grow.h"
#include "report/json_writer.h"
#include "report/whole_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct rvp_digests *digests;
	const struct rvp_bundle_plan *plan;
	struct rvp_rvf_chain chain;
	uint8_t *entries;
	size_t entries_room; /* in entries */
	struct rvp_json manifest;
	uint64_t decisions;
	uint8_t public_key[RVP_PUBLIC_KEY_BYTES];
};

static void in_folder(const struct writer *writer, const char *path, char full[PATH_MAX])
{
	snprintf(full, PATH_MAX, "%s/%s", writer->plan->folder, path);
}

static struct rvp_status add_entry(struct writer *writer, const uint8_t action[RVP_DIGEST_BYTES],
				   enum rvp_rvf_entry_type type)
{
	uint64_t number = writer->chain.count;

	if (!rvp_grow((void **)&writer->entries, &writer->entries_room, number + 1, RVP_RVF_ENTRY_BYTES) ||
	    !rvp_rvf_chain_add(&writer->chain, action, number, type,
			       writer->entries + number * RVP_RVF_ENTRY_BYTES))
		return rvp_fail("chain", writer->plan->path, ENOMEM);
	return RVP_OK;
}

static void put_file(struct writer *writer, const char *path, uint64_t bytes,
		     const uint8_t sha256[RVP_DIGEST_BYTES])
{
	char text[RVP_HEX_TEXT_BYTES];

	rvp_json_string(&writer->manifest, "path", path);
	rvp_json_number(&writer->manifest, "bytes", bytes);
	rvp_json_string(&writer->manifest, "sha256", rvp_hex(sha256, text));
	rvp_json_close(&writer->manifest, '}');
}

static struct rvp_status add_lines(struct writer *writer, struct rvp_hashed_lines *lines,
				   uint8_t action[RVP_DIGEST_BYTES])
{
	struct rvp_status status;
	bool has_line;

	while (!rvp_failed(status = rvp_hashed_lines_next(lines, action, &has_line)) && has_line) {
		status = add_entry(writer, action, RVP_RVF_COMPUTATION);
		if (rvp_failed(status))
			break;
		writer->decisions++;
	}
	return status;
}

static struct rvp_status add_witness(struct writer *writer, const char *path)
{
	char full[PATH_MAX];
	uint8_t action[RVP_DIGEST_BYTES];
	struct rvp_hashed_lines lines;
	struct rvp_status status;

	in_folder(writer, path, full);
	status = rvp_hashed_lines_open(&lines, writer->digests, full);
	if (!rvp_failed(status))
		status = add_lines(writer, &lines, action);
	if (!rvp_failed(status)) {
		rvp_json_open(&writer->manifest, NULL, '{');
		rvp_json_number(&writer->manifest, "lines", lines.line_count);
		put_file(writer, path, lines.bytes, action);
	}
	rvp_hashed_lines_close(&lines);
	return status;
}

static struct rvp_status add_file(struct writer *writer, const char *path)
{
	char full[PATH_MAX];
	uint8_t sha256[RVP_DIGEST_BYTES];
	uint64_t bytes;
	struct rvp_status status;

	in_folder(writer, path, full);
	status = rvp_digest_of_file(writer->digests, RVP_SHA256, full, sha256, &bytes);
	if (rvp_failed(status))
		return status;
	rvp_json_open(&writer->manifest, NULL, '{');
	put_file(writer, path, bytes, sha256);
	return RVP_OK;
}

/* The chain and the two lists of the manifest. */
static struct rvp_status add_all(struct writer *writer)
{
	uint8_t action[RVP_DIGEST_BYTES];
	struct rvp_status status;

	if (!rvp_digest_of(writer->digests, RVP_SHAKE256, RVP_BUNDLE_NAME, strlen(RVP_BUNDLE_NAME), action))
		return rvp_fail("hash", writer->plan->path, ENOMEM);
	status = add_entry(writer, action, RVP_RVF_PROVENANCE);
	rvp_json_open(&writer->manifest, "witness", '[');
	for (const char *const *path = writer->plan->witness_files; !rvp_failed(status) && *path; path++)
		status = add_witness(writer, *path);
	rvp_json_close(&writer->manifest, ']');
	rvp_json_open(&writer->manifest, "files", '[');
	for (const char *const *path = writer->plan->files; !rvp_failed(status) && *path; path++)
		status = add_file(writer, *path);
	rvp_json_close(&writer->manifest, ']');
	return status;
}

/* The SHA-256 of what was written so far, which is `bytes`. */
static struct rvp_status hash_written(struct writer *writer, FILE *out, const char *path,
				      uint8_t sha256[RVP_DIGEST_BYTES], uint64_t *bytes)
{
	if (fflush(out) != 0)
		return rvp_fail("write", path, errno);
	return rvp_digest_of_file(writer->digests, RVP_SHA256, path, sha256, bytes);
}

/* A name that is not known to be in hand is not put. */
static void put_names(struct writer *writer)
{
	const struct rvp_bundle_plan *plan = writer->plan;
	char text[RVP_HEX_TEXT_BYTES];

	if (plan->fingerprint)
		rvp_json_string(&writer->manifest, "fingerprint", plan->fingerprint);
	if (plan->environment)
		rvp_json_string(&writer->manifest, "environment", plan->environment);
	if (plan->key_path)
		rvp_json_string(&writer->manifest, "signer", rvp_hex(writer->public_key, text));
}

/* What the key says of `message`; also which key it is. */
static struct rvp_status sign(struct writer *writer, const uint8_t message[RVP_DIGEST_BYTES],
			      uint8_t signature[RVP_SIGNATURE_BYTES])
{
	const char *path = writer->plan->key_path, *wrong;
	FILE *key = fopen(path, "re");

	if (!key)
		return rvp_fail("open", path, errno);
	wrong = writer->digests->table->sign(key, message, writer->public_key, signature);
	fclose(key);
	return wrong ? rvp_fail_with("sign with", path, "it %s", wrong) : RVP_OK;
}

static struct rvp_status write_manifest(struct writer *writer, FILE *out, const char *path, const char *lists)
{
	char *text = NULL;
	size_t text_bytes = 0;
	uint8_t sha256[RVP_DIGEST_BYTES];
	uint64_t bytes;
	struct rvp_status status = hash_written(writer, out, path, sha256, &bytes);

	if (rvp_failed(status))
		return status;
	writer->manifest = (struct rvp_json){.out = open_memstream(&text, &text_bytes), .is_compact = true};
	if (!writer->manifest.out)
		return rvp_fail("write", path, ENOMEM);
	rvp_json_open(&writer->manifest, NULL, '{');
	rvp_json_string(&writer->manifest, "schema", RVP_MANIFEST_SCHEMA);
	rvp_json_open(&writer->manifest, "bundle", '{');
	put_file(writer, writer->plan->path, bytes, sha256);
	put_names(writer);
	/* The lists were made with the chain, inside braces of their own. */
	fprintf(writer->manifest.out, ",%s", lists + 1);
	if (fclose(writer->manifest.out) != 0)
		status = rvp_fail("write", path, ENOMEM);
	else
		status = rvp_rvf_segment_write(out, path, writer->digests, RVP_RVF_META, RVP_BUNDLE_MANIFEST,
					       text, text_bytes);
	free(text);
	return status;
}

static struct rvp_status write_signature(struct writer *writer, FILE *out, const char *path)
{
	uint8_t payload[RVP_PUBLIC_KEY_BYTES + RVP_SIGNATURE_BYTES], sha256[RVP_DIGEST_BYTES];
	uint64_t bytes;
	struct rvp_status status = hash_written(writer, out, path, sha256, &bytes);

	if (!rvp_failed(status))
		status = sign(writer, sha256, payload + RVP_PUBLIC_KEY_BYTES);
	if (rvp_failed(status))
		return status;
	memcpy(payload, writer->public_key, RVP_PUBLIC_KEY_BYTES);
	return rvp_rvf_segment_write(out, path, writer->digests, RVP_RVF_CRYPTO, RVP_BUNDLE_SIGNATURE,
				     payload, sizeof payload);
}

static struct rvp_status write_segments(struct writer *writer, FILE *out, const char *path, const char *lists)
{
	static const uint8_t nothing[RVP_DIGEST_BYTES];
	uint8_t signature[RVP_SIGNATURE_BYTES];
	struct rvp_status status = RVP_OK;

	if (writer->plan->key_path) /* the manifest names the key */
		status = sign(writer, nothing, signature);
	if (!rvp_failed(status))
		status =
		    rvp_rvf_segment_write(out, path, writer->digests, RVP_RVF_WITNESS, RVP_BUNDLE_WITNESS,
					  writer->entries, writer->chain.count * RVP_RVF_ENTRY_BYTES);
	if (!rvp_failed(status))
		status = write_manifest(writer, out, path, lists);
	if (!rvp_failed(status) && writer->plan->key_path)
		status = write_signature(writer, out, path);
	return status;
}

static struct rvp_status write_file(struct writer *writer, const char *lists)
{
	char path[PATH_MAX];
	struct rvp_whole_file whole;
	struct rvp_status status;

	in_folder(writer, writer->plan->path, path);
	status = rvp_whole_file_open(&whole, path);
	if (rvp_failed(status))
		return status;
	return rvp_whole_file_close(&whole, write_segments(writer, whole.file, whole.new_path, lists));
}

struct rvp_status rvp_bundle_write(const struct rvp_digests *digests, const struct rvp_bundle_plan *plan,
				   uint64_t *decisions)
{
	struct writer writer = {.digests = digests, .plan = plan};
	char *lists = NULL;
	size_t lists_bytes = 0;
	struct rvp_status status = rvp_fail("make", plan->path, ENOMEM);
	FILE *out = open_memstream(&lists, &lists_bytes);

	if (!out)
		return status;
	writer.manifest = (struct rvp_json){.out = out, .is_compact = true};
	rvp_json_open(&writer.manifest, NULL, '{');
	if (rvp_rvf_chain_open(&writer.chain, digests))
		status = add_all(&writer);
	rvp_json_close(&writer.manifest, '}');
	if (fclose(out) != 0 && !rvp_failed(status))
		status = rvp_fail("make", plan->path, ENOMEM);
	if (!rvp_failed(status))
		status = write_file(&writer, lists);
	*decisions = writer.decisions;
	rvp_rvf_chain_close(&writer.chain);
	free(writer.entries);
	free(lists);
	return status;
}
