/* SPDX-License-Identifier: MIT */
/* packed_piece.c: see packed_piece.h. What is unpacked comes from a file that anybody may have damaged: checksums tell,
 * and no length is used before it is compared with what there is. */
#include "record/packed_piece.h"

#include "record/chunk.h"
#include "record/packed_log.h"

#include <stdlib.h>
#include <zstd.h>

/* 1.7 bytes an event at 200 MiB of log a second; higher levels gain 5 % for five times the time. */
enum { ZSTD_LEVEL = 3 };
enum { LENGTHS_BYTES = RVP_COLUMN_COUNT * 4 };

static size_t joined_room(void)
{
	/* Heads and lengths of what is no event are what columns have more than the log. */
	return LENGTHS_BYTES + 2 * rvp_columns_room(RVP_PIECE_MAX_BYTES);
}

/* Columns for splitting are filled by their ends, so each has room for all; the rest of it is never touched. */
static bool make_columns(struct rvp_columns *columns)
{
	columns->room = rvp_columns_room(RVP_PIECE_MAX_BYTES);
	for (int i = 0; i < RVP_COLUMN_COUNT; i++)
		if (!(columns->bytes[i] = malloc(columns->room)))
			return false;
	return true;
}

bool rvp_piece_packer_open(struct rvp_piece_packer *packer, bool is_for_packing)
{
	*packer = (struct rvp_piece_packer){.is_for_packing = is_for_packing};
	packer->joined = malloc(joined_room() + 8); /* rvp_columns_join reads so far */
	packer->model = malloc(sizeof *packer->model);
	if (is_for_packing) {
		packer->packed_room = ZSTD_compressBound(joined_room());
		packer->packed = malloc(packer->packed_room);
		packer->context = ZSTD_createCCtx();
	} else {
		packer->context = ZSTD_createDCtx();
	}
	if (packer->joined && packer->model && packer->context &&
	    (!is_for_packing || (packer->packed && make_columns(&packer->columns))))
		return true;
	rvp_piece_packer_close(packer);
	return false;
}

void rvp_piece_packer_close(struct rvp_piece_packer *packer)
{
	if (packer->is_for_packing) {
		ZSTD_freeCCtx(packer->context);
		for (int i = 0; i < RVP_COLUMN_COUNT; i++)
			free(packer->columns.bytes[i]);
	} else {
		ZSTD_freeDCtx(packer->context);
	}
	free(packer->joined);
	free(packer->model);
	free(packer->packed);
	*packer = (struct rvp_piece_packer){0};
}

static size_t join_columns(struct rvp_piece_packer *packer)
{
	size_t length = LENGTHS_BYTES;

	for (int i = 0; i < RVP_COLUMN_COUNT; i++) {
		uint32_t count = (uint32_t)packer->columns.counts[i];

		memcpy(packer->joined + 4 * i, &count, sizeof count);
		memcpy(packer->joined + length, packer->columns.bytes[i], count);
		length += count;
	}
	return length;
}

bool rvp_piece_pack(struct rvp_piece_packer *packer, const uint8_t *log, size_t bytes, struct rvp_piece_header *header)
{
	size_t length;

	rvp_columns_split(&packer->columns, log, bytes, packer->model);
	length = ZSTD_compressCCtx(packer->context, packer->packed, packer->packed_room, packer->joined,
				   join_columns(packer), ZSTD_LEVEL);
	if (ZSTD_isError(length))
		return false;
	*header = (struct rvp_piece_header){.log_bytes = bytes,
					    .packed_bytes = (uint32_t)length,
					    .column_count = RVP_COLUMN_COUNT,
					    .log_checksum = rvp_checksum(log, bytes),
					    .packed_checksum = rvp_checksum(packer->packed, length)};
	return true;
}

void rvp_piece_header_seal(struct rvp_piece_header *header)
{
	header->magic = RVP_PACKED_PIECE_MAGIC;
	header->version = RVP_FORMAT_VERSION;
	header->header_bytes = sizeof *header;
	header->header_checksum = rvp_checksum(header, offsetof(struct rvp_piece_header, header_checksum));
}

bool rvp_piece_header_is_good(const struct rvp_piece_header *header)
{
	return header->magic == RVP_PACKED_PIECE_MAGIC && header->version == RVP_FORMAT_VERSION &&
	       header->header_bytes == sizeof *header &&
	       (header->column_count == RVP_COLUMN_COUNT || header->column_count == RVP_COLUMN_COUNT_BARE) &&
	       header->log_bytes <= RVP_PIECE_MAX_BYTES &&
	       header->header_checksum == rvp_checksum(header, offsetof(struct rvp_piece_header, header_checksum));
}

/* The columns, where they lie in `joined`. */
static bool find_columns(uint8_t *joined, size_t length, uint32_t column_count, struct rvp_columns *columns)
{
	size_t at = column_count * 4;

	if (length < at)
		return false;
	for (uint32_t i = 0; i < column_count; i++) {
		uint32_t count;

		memcpy(&count, joined + 4 * i, sizeof count);
		if (count > length - at)
			return false;
		columns->bytes[i] = joined + at;
		columns->counts[i] = count;
		at += count;
	}
	return at == length;
}

bool rvp_piece_unpack(struct rvp_piece_packer *packer, const struct rvp_piece_header *header, const uint8_t *packed,
		      uint8_t *log)
{
	struct rvp_columns columns = {.room = 0};
	size_t length;

	if (rvp_checksum(packed, header->packed_bytes) != header->packed_checksum)
		return false;
	length = ZSTD_decompressDCtx(packer->context, packer->joined, joined_room(), packed, header->packed_bytes);
	return !ZSTD_isError(length) && find_columns(packer->joined, length, header->column_count, &columns) &&
	       rvp_columns_join(&columns, log, header->log_bytes,
				header->column_count == RVP_COLUMN_COUNT ? packer->model : NULL) &&
	       rvp_checksum(log, header->log_bytes) == header->log_checksum;
}
