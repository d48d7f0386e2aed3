/* SPDX-License-Identifier: MIT */
/* rvf.c: see rvf.h. */
#include "prove/rvf.h"

#include <errno.h>
#include <string.h>

enum { ACTION_AT = 32, TIMESTAMP_AT = 64, TYPE_AT = 72 };

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

void rvp_rvf_header_write(const struct rvp_rvf_header *header, uint8_t bytes[RVP_RVF_UNIT_BYTES])
{
	put(bytes, header->magic, 4);
	put(bytes + 4, header->version, 1);
	put(bytes + 5, header->type, 1);
	put(bytes + 6, header->flags, 2);
	put(bytes + 8, header->id, 8);
	put(bytes + 16, header->payload_bytes, 8);
	put(bytes + 24, header->timestamp_ns, 8);
	put(bytes + 32, header->algorithm, 1);
	put(bytes + 33, header->compression, 1);
	put(bytes + 34, header->reserved, 6);
	memcpy(bytes + 40, header->content_hash, RVP_RVF_HASH_BYTES);
	put(bytes + 56, header->uncompressed_bytes, 4);
	put(bytes + 60, header->pad_bytes, 4);
}

void rvp_rvf_header_read(struct rvp_rvf_header *header, const uint8_t bytes[RVP_RVF_UNIT_BYTES])
{
	header->magic = (uint32_t)get(bytes, 4);
	header->version = bytes[4];
	header->type = bytes[5];
	header->flags = (uint16_t)get(bytes + 6, 2);
	header->id = get(bytes + 8, 8);
	header->payload_bytes = get(bytes + 16, 8);
	header->timestamp_ns = get(bytes + 24, 8);
	header->algorithm = bytes[32];
	header->compression = bytes[33];
	header->reserved = get(bytes + 34, 6);
	memcpy(header->content_hash, bytes + 40, RVP_RVF_HASH_BYTES);
	header->uncompressed_bytes = (uint32_t)get(bytes + 56, 4);
	header->pad_bytes = (uint32_t)get(bytes + 60, 4);
}

unsigned rvp_rvf_pad_bytes(uint64_t payload_bytes)
{
	return (unsigned)(-payload_bytes % RVP_RVF_UNIT_BYTES);
}

struct rvp_status rvp_rvf_segment_write(FILE *out, const char *path, const struct rvp_digests *digests,
					enum rvp_rvf_type type, uint64_t id, const void *payload,
					uint64_t payload_bytes)
{
	static const uint8_t zeros[RVP_RVF_UNIT_BYTES];
	struct rvp_rvf_header header = {.magic = RVP_RVF_MAGIC,
					.version = RVP_RVF_VERSION,
					.type = (uint8_t)type,
					.id = id,
					.payload_bytes = payload_bytes,
					.algorithm = RVP_RVF_SHAKE,
					.pad_bytes = rvp_rvf_pad_bytes(payload_bytes)};
	uint8_t hash[RVP_DIGEST_BYTES], bytes[RVP_RVF_UNIT_BYTES];

	if (!rvp_digest_of(digests, RVP_SHAKE256, payload, payload_bytes, hash))
		return rvp_fail("hash", path, ENOMEM);
	memcpy(header.content_hash, hash, sizeof header.content_hash);
	rvp_rvf_header_write(&header, bytes);
	if (fwrite(bytes, sizeof bytes, 1, out) != 1 ||
	    (payload_bytes && fwrite(payload, payload_bytes, 1, out) != 1) ||
	    (header.pad_bytes && fwrite(zeros, header.pad_bytes, 1, out) != 1))
		return rvp_fail("write", path, errno);
	return RVP_OK;
}

bool rvp_rvf_chain_open(struct rvp_rvf_chain *chain, const struct rvp_digests *digests)
{
	*chain = (struct rvp_rvf_chain){.digests = digests, .digest = digests->table->begin(RVP_SHAKE256)};
	return chain->digest;
}

void rvp_rvf_chain_close(struct rvp_rvf_chain *chain)
{
	chain->digests->table->free(chain->digest);
	chain->digest = NULL;
}

/* What the next entry must begin with. */
static bool go_on_from(struct rvp_rvf_chain *chain, const uint8_t entry[RVP_RVF_ENTRY_BYTES])
{
	chain->count++;
	chain->digests->table->add(chain->digest, entry, RVP_RVF_ENTRY_BYTES);
	return chain->digests->table->end(chain->digest, chain->previous);
}

bool rvp_rvf_chain_add(struct rvp_rvf_chain *chain, const uint8_t action[RVP_DIGEST_BYTES],
		       uint64_t timestamp_ns, enum rvp_rvf_entry_type type,
		       uint8_t entry[RVP_RVF_ENTRY_BYTES])
{
	memcpy(entry, chain->previous, RVP_DIGEST_BYTES);
	memcpy(entry + ACTION_AT, action, RVP_DIGEST_BYTES);
	put(entry + TIMESTAMP_AT, timestamp_ns, 8);
	entry[TYPE_AT] = (uint8_t)type;
	return go_on_from(chain, entry);
}

bool rvp_rvf_chain_follow(struct rvp_rvf_chain *chain, const uint8_t entry[RVP_RVF_ENTRY_BYTES])
{
	bool is_next = memcmp(entry, chain->previous, RVP_DIGEST_BYTES) == 0;

	return go_on_from(chain, entry) && is_next;
}

const uint8_t *rvp_rvf_entry_action(const uint8_t entry[RVP_RVF_ENTRY_BYTES])
{
	return entry + ACTION_AT;
}

uint64_t rvp_rvf_entry_timestamp_ns(const uint8_t entry[RVP_RVF_ENTRY_BYTES])
{
	return get(entry + TIMESTAMP_AT, 8);
}
