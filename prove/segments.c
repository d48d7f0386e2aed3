/* SPDX-License-Identifier: MIT */
/* segments.c: see segments.h. */
#include "prove/segments.h"

#include "prove/bundle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A multiple of an entry, so that none is cut between pieces. */
enum { PIECE_BYTES = 4096 * RVP_RVF_ENTRY_BYTES };

static struct rvp_findings *findings(struct rvp_segments *segments)
{
	return &segments->verified->findings;
}

static struct rvp_status read_bytes(struct rvp_segments *segments, uint8_t *into, size_t bytes)
{
	if (fread(into, 1, bytes, segments->file) == bytes) {
		segments->at += bytes;
		return RVP_OK;
	}
	return rvp_fail("read", segments->path, ferror(segments->file) ? errno : EIO);
}

static void see_entry(struct rvp_segments *segments, struct rvp_rvf_chain *chain, const uint8_t *entry,
		      bool *is_whole)
{
	struct rvp_verified *verified = segments->verified;
	uint64_t timestamp_ns = rvp_rvf_entry_timestamp_ns(entry);
	uint8_t ours[RVP_DIGEST_BYTES];

	if (!verified->entries++)
		verified->first_timestamp_ns = timestamp_ns;
	verified->last_timestamp_ns = timestamp_ns;
	if (!chain->count &&
	    rvp_digest_of(segments->digests, RVP_SHAKE256, RVP_BUNDLE_NAME, strlen(RVP_BUNDLE_NAME), ours))
		segments->begins_as_ours |= memcmp(ours, rvp_rvf_entry_action(entry), sizeof ours) == 0;
	if (rvp_rvf_chain_follow(chain, entry))
		return;
	*is_whole = false;
	verified->chain_breaks++;
	rvp_findings_add(findings(segments), RVP_BROKEN, segments->path, 0,
			 "the chain breaks at entry %" PRIu64 ": it does not follow the one before it",
			 chain->count - 1);
}

/* The payload of a segment, hashed as its header says; of a witness also its chain. */
static struct rvp_status read_payload(struct rvp_segments *segments, const struct rvp_rvf_header *header,
				      struct rvp_digest *digest, struct rvp_rvf_chain *chain,
				      bool *chain_is_whole)
{
	uint64_t left = header->payload_bytes;

	while (left) {
		size_t bytes = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
		struct rvp_status status = read_bytes(segments, segments->piece, bytes);

		if (rvp_failed(status))
			return status;
		segments->digests->table->add(digest, segments->piece, bytes);
		for (size_t at = 0; chain && at + RVP_RVF_ENTRY_BYTES <= bytes; at += RVP_RVF_ENTRY_BYTES)
			see_entry(segments, chain, segments->piece + at, chain_is_whole);
		left -= bytes;
	}
	return RVP_OK;
}

static void judge_chain(struct rvp_segments *segments, const struct rvp_rvf_header *header, bool is_whole)
{
	if (header->payload_bytes % RVP_RVF_ENTRY_BYTES) {
		is_whole = false;
		rvp_findings_add(findings(segments), RVP_BROKEN, segments->path, 0,
				 "segment %" PRIu64 " is cut: its %" PRIu64
				 " bytes are no whole number of entries",
				 segments->verified->segments, header->payload_bytes);
	}
	segments->verified->witness_segments++;
	segments->verified->valid_chains += is_whole;
}

static struct rvp_status judge_pad(struct rvp_segments *segments, const struct rvp_rvf_header *header)
{
	uint8_t pad[RVP_RVF_UNIT_BYTES] = {0};
	unsigned pad_bytes = rvp_rvf_pad_bytes(header->payload_bytes);
	struct rvp_status status = read_bytes(segments, pad, pad_bytes);

	if (rvp_failed(status))
		return status;
	if (header->pad_bytes != pad_bytes)
		rvp_findings_add(findings(segments), RVP_BROKEN, segments->path, 0,
				 "segment %" PRIu64 " says %u bytes of padding where %u are due",
				 segments->verified->segments, header->pad_bytes, pad_bytes);
	for (unsigned i = 0; i < pad_bytes; i++)
		if (pad[i]) {
			rvp_findings_add(findings(segments), RVP_BROKEN, segments->path, 0,
					 "the padding of segment %" PRIu64 " is not zero",
					 segments->verified->segments);
			break;
		}
	return RVP_OK;
}

static struct rvp_status judge_hash(struct rvp_segments *segments, const struct rvp_rvf_header *header,
				    struct rvp_digest *digest, bool *is_whole)
{
	uint8_t hash[RVP_DIGEST_BYTES];

	if (!segments->digests->table->end(digest, hash))
		return rvp_fail_with("hash", segments->path, "OpenSSL refused");
	*is_whole = memcmp(hash, header->content_hash, RVP_RVF_HASH_BYTES) == 0;
	if (!*is_whole)
		rvp_findings_add(findings(segments), RVP_BROKEN, segments->path, 0,
				 "the content of segment %" PRIu64 " is not what its header says (%s)",
				 segments->verified->segments,
				 header->algorithm == RVP_RVF_SHAKE ? "SHAKE-256" : "XXH3-128");
	return RVP_OK;
}

static struct rvp_status read_segment(struct rvp_segments *segments, const struct rvp_rvf_header *header,
				      bool *is_whole)
{
	bool is_witness = header->type == RVP_RVF_WITNESS, chain_is_whole = true;
	struct rvp_rvf_chain chain = {.digests = segments->digests};
	struct rvp_digest *digest =
	    segments->digests->table->begin(header->algorithm == RVP_RVF_SHAKE ? RVP_SHAKE256 : RVP_XXH3_128);
	struct rvp_status status = rvp_fail("hash", segments->path, ENOMEM);

	if (digest && (!is_witness || rvp_rvf_chain_open(&chain, segments->digests)))
		status = read_payload(segments, header, digest, is_witness ? &chain : NULL, &chain_is_whole);
	if (!rvp_failed(status) && is_witness)
		judge_chain(segments, header, chain_is_whole);
	if (!rvp_failed(status))
		status = judge_hash(segments, header, digest, is_whole);
	if (!rvp_failed(status))
		status = judge_pad(segments, header);
	segments->digests->table->free(digest);
	rvp_rvf_chain_close(&chain);
	return status;
}

/* What ends the walk: from here on nothing says where a segment begins. */
static bool is_header(struct rvp_segments *segments, const struct rvp_rvf_header *header)
{
	uint64_t left = segments->file_bytes - segments->at;
	const char *wrong = NULL;

	if (header->magic != RVP_RVF_MAGIC)
		wrong = "is no RVF segment";
	else if (header->version != RVP_RVF_VERSION)
		wrong = "is of another version of RVF";
	else if (header->payload_bytes > left ||
		 left - header->payload_bytes < rvp_rvf_pad_bytes(header->payload_bytes))
		wrong = "is cut: the file ends before its content does";
	if (wrong)
		rvp_findings_add(findings(segments), RVP_BROKEN, segments->path, 0,
				 "what is at byte %" PRIu64 " %s", segments->at - RVP_RVF_UNIT_BYTES, wrong);
	return !wrong;
}

static struct rvp_status read_all(struct rvp_segments *segments)
{
	while (segments->at < segments->file_bytes) {
		struct rvp_segment segment = {.is_whole = false};
		uint8_t bytes[RVP_RVF_UNIT_BYTES];
		struct rvp_status status;

		if (segments->file_bytes - segments->at < RVP_RVF_UNIT_BYTES) {
			rvp_findings_add(findings(segments), RVP_BROKEN, segments->path, 0,
					 "%" PRIu64 " bytes at its end are no segment",
					 segments->file_bytes - segments->at);
			return RVP_OK;
		}
		status = read_bytes(segments, bytes, sizeof bytes);
		if (rvp_failed(status))
			return status;
		rvp_rvf_header_read(&segment.header, bytes);
		if (!is_header(segments, &segment.header))
			return RVP_OK;
		segment.payload_at = segments->at;
		segments->verified->segments++;
		status = read_segment(segments, &segment.header, &segment.is_whole);
		if (rvp_failed(status))
			return status;
		if (segments->verified->segments <= RVP_SEGMENTS_KEPT)
			segments->kept[segments->verified->segments - 1] = segment;
	}
	return RVP_OK;
}

struct rvp_status rvp_segments_read(struct rvp_segments *segments)
{
	struct rvp_status status = rvp_fail("read", segments->path, ENOMEM);

	segments->piece = malloc(PIECE_BYTES);
	if (segments->piece)
		status = read_all(segments);
	free(segments->piece);
	segments->piece = NULL;
	return status;
}
