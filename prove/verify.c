/* SPDX-License-Identifier: MIT */
/* verify.c: see verify.h. What lies in the file is judged by segments.c; here, what it says of other files.
 */
#include "prove/verify.h"

#include "prove/bundle.h"
#include "prove/listed.h"
#include "prove/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct check {
	const struct rvp_digests *digests;
	const char *path, *key_path;
	struct rvp_segments segments;
	struct rvp_verified *verified;
};

static void say_broken(struct check *check, const char *what)
{
	rvp_findings_add(&check->verified->findings, RVP_BROKEN, check->segments.path, 0, "%s", what);
}

/* (B1): what our writer puts into a header, but for what depends on the payload. */
static bool is_as_written(const struct rvp_segment *segment, uint64_t id, enum rvp_rvf_type type)
{
	const struct rvp_rvf_header *header = &segment->header;

	return header->id == id && header->type == type && !header->flags && !header->timestamp_ns &&
	       header->algorithm == RVP_RVF_SHAKE && !header->compression && !header->reserved &&
	       !header->uncompressed_bytes;
}

static bool segments_are_as_written(const struct check *check)
{
	static const enum rvp_rvf_type types[] = {RVP_RVF_WITNESS, RVP_RVF_META, RVP_RVF_CRYPTO};
	uint64_t count = check->verified->segments;

	if (count < RVP_BUNDLE_MANIFEST || count > RVP_BUNDLE_SIGNATURE)
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (!is_as_written(&check->segments.kept[i], i + 1, types[i]))
			return false;
	return check->segments.begins_as_ours;
}

/* The manifest's text, of a segment that is whole; NULL: there is none, or no memory. */
static json_t *load_manifest(struct check *check)
{
	for (uint64_t i = 0; i < check->verified->segments && i < RVP_SEGMENTS_KEPT; i++) {
		const struct rvp_segment *segment = &check->segments.kept[i];
		size_t bytes = (size_t)segment->header.payload_bytes;
		json_t *manifest = NULL;
		const char *schema;
		char *text;

		if (!segment->is_whole || segment->header.payload_bytes > RVP_MANIFEST_MAX_BYTES ||
		    segment->header.type == RVP_RVF_WITNESS)
			continue;
		text = malloc(bytes + 1);
		if (text && fseeko(check->segments.file, (off_t)segment->payload_at, SEEK_SET) == 0 &&
		    fread(text, 1, bytes, check->segments.file) == bytes)
			manifest = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
		free(text);
		schema = json_string_value(json_object_get(manifest, "schema"));
		if (schema && strcmp(schema, RVP_MANIFEST_SCHEMA) == 0)
			return manifest;
		json_decref(manifest);
	}
	return NULL;
}

/* What the third segment vouches for: everything before it. */
static struct rvp_status hash_before(struct check *check, uint64_t bytes, uint8_t sha256[RVP_DIGEST_BYTES])
{
	struct rvp_digest *digest = check->digests->table->begin(RVP_SHA256);
	struct rvp_status status = RVP_OK;
	uint8_t piece[1 << 14];

	if (!digest)
		return rvp_fail("hash", check->path, ENOMEM);
	rewind(check->segments.file);
	while (bytes && !rvp_failed(status)) {
		size_t now = bytes < sizeof piece ? (size_t)bytes : sizeof piece;

		if (fread(piece, 1, now, check->segments.file) != now)
			status = rvp_fail("read", check->path, EIO);
		check->digests->table->add(digest, piece, now);
		bytes -= now;
	}
	if (!rvp_failed(status) && !check->digests->table->end(digest, sha256))
		status = rvp_fail_with("hash", check->path, "OpenSSL refused");
	check->digests->table->free(digest);
	return status;
}

static struct rvp_status check_signature(struct check *check)
{
	const struct rvp_segment *segment = &check->segments.kept[RVP_BUNDLE_SIGNATURE - 1];
	uint8_t payload[RVP_PUBLIC_KEY_BYTES + RVP_SIGNATURE_BYTES], sha256[RVP_DIGEST_BYTES],
	    wide[RVP_DIGEST_BYTES];
	struct rvp_status status;

	if (segment->header.payload_bytes != sizeof payload)
		return say_broken(check, "its signature has another length"), RVP_OK;
	if (fseeko(check->segments.file, (off_t)segment->payload_at, SEEK_SET) != 0 ||
	    fread(payload, sizeof payload, 1, check->segments.file) != 1)
		return rvp_fail("read", check->path, EIO);
	status = hash_before(check, segment->payload_at - RVP_RVF_UNIT_BYTES, sha256);
	if (rvp_failed(status))
		return status;
	memcpy(wide, payload, sizeof wide);
	check->verified->is_signed =
	    check->digests->table->is_signed(payload, sha256, payload + RVP_PUBLIC_KEY_BYTES);
	if (!check->verified->is_signed)
		say_broken(check, "its signature is not of this content");
	if (strcmp(rvp_hex(wide, (char[RVP_HEX_TEXT_BYTES]){0}), check->verified->signer) != 0)
		say_broken(check, "it is signed with another key than its manifest names");
	return RVP_OK;
}

static struct rvp_status check_key(struct check *check)
{
	uint8_t key[RVP_PUBLIC_KEY_BYTES];
	char text[RVP_HEX_TEXT_BYTES];
	const char *wrong;
	FILE *file;

	if (!check->key_path)
		return RVP_OK;
	file = fopen(check->key_path, "re");
	if (!file)
		return rvp_fail("open", check->key_path, errno);
	wrong = check->digests->table->read_public_key(file, key);
	fclose(file);
	if (wrong)
		return rvp_fail_with("check with", check->key_path, "it %s", wrong);
	if (strcmp(rvp_hex(key, text), check->verified->signer) != 0)
		say_broken(check, *check->verified->signer
				      ? "it is signed with another key than the one given"
				      : "it is not signed");
	return RVP_OK;
}

/* What the manifest says of the bundle itself. */
static struct rvp_status check_bundle(struct check *check, const json_t *manifest)
{
	const struct rvp_segment *second = &check->segments.kept[RVP_BUNDLE_MANIFEST - 1];
	const json_t *bundle = json_object_get(manifest, "bundle");
	const char *said = json_string_value(json_object_get(bundle, "sha256"));
	const char *signer = json_string_value(json_object_get(manifest, "signer"));
	uint64_t bytes = second->payload_at - RVP_RVF_UNIT_BYTES;
	uint8_t sha256[RVP_DIGEST_BYTES];
	char text[RVP_HEX_TEXT_BYTES];
	struct rvp_status status = hash_before(check, bytes, sha256);

	if (rvp_failed(status))
		return status;
	if (!said || strcmp(said, rvp_hex(sha256, text)) != 0 ||
	    json_integer_value(json_object_get(bundle, "bytes")) != (json_int_t)bytes)
		say_broken(check, "its witness is not the one that its manifest was made for");
	if (signer)
		snprintf(check->verified->signer, sizeof check->verified->signer, "%s", signer);
	if (check->verified->segments == RVP_BUNDLE_SIGNATURE)
		status = check_signature(check);
	else if (signer)
		say_broken(check, "its signature is missing");
	return status;
}

static struct rvp_status check_ours(struct check *check, const json_t *manifest)
{
	struct rvp_status status;

	check->verified->is_ours = true;
	if (!manifest || !segments_are_as_written(check)) {
		say_broken(check, manifest ? "a header is not as rvprof writes it"
					   : "its manifest is missing or damaged");
		return RVP_OK;
	}
	status = check_bundle(check, manifest);
	if (!rvp_failed(status))
		status = rvp_check_listed(check->digests, check->path, manifest, &check->segments,
					  check->verified);
	return status;
}

static struct rvp_status check_all(struct check *check)
{
	struct rvp_status status = rvp_segments_read(&check->segments);
	json_t *manifest;

	if (rvp_failed(status))
		return status;
	if (!check->verified->segments && !check->verified->findings.broken_count)
		say_broken(check, "it has no segment");
	manifest = load_manifest(check);
	if (manifest || check->segments.begins_as_ours)
		status = check_ours(check, manifest);
	json_decref(manifest);
	if (!rvp_failed(status))
		status = check_key(check);
	if (!rvp_failed(status) && !check->verified->findings.broken_count)
		rvp_findings_add(&check->verified->findings, RVP_HOLDS, check->segments.path, 0,
				 "%" PRIu64 " segment%s, %" PRIu64 " entries chained",
				 check->verified->segments, check->verified->segments == 1 ? "" : "s",
				 check->verified->entries);
	return check->verified->findings.is_short ? rvp_fail("check", check->path, ENOMEM) : status;
}

struct rvp_status rvp_verify_file(const struct rvp_digests *digests, const char *path, const char *key_path,
				  struct rvp_verified *verified)
{
	struct check check = {.digests = digests, .path = path, .key_path = key_path, .verified = verified};
	struct rvp_status status;
	struct stat info;

	*verified = (struct rvp_verified){.segments = 0};
	check.segments = (struct rvp_segments){
	    .digests = digests, .path = path, .file = fopen(path, "re"), .verified = verified};
	if (!check.segments.file)
		return rvp_fail("open", path, errno);
	if (fstat(fileno(check.segments.file), &info) != 0 || !S_ISREG(info.st_mode))
		status = rvp_fail_with("check", path, "it is no file");
	else {
		check.segments.file_bytes = verified->checked_bytes = (uint64_t)info.st_size;
		status = check_all(&check);
	}
	fclose(check.segments.file);
	return status;
}
