/* SPDX-License-Identifier: MIT */
/* packed_piece.h: one piece of a packed log (packed_log.h), packed and unpacked. */
#ifndef RVP_PACKED_PIECE_H
#define RVP_PACKED_PIECE_H

#include "record/address_model.h"
#include "record/columns.h"

/* On disk. */
struct rvp_piece_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t place, log_bytes;
	uint32_t packed_bytes, column_count;
	uint64_t log_checksum, packed_checksum, reserved, header_checksum; /* header's: of the 56 bytes before */
};
_Static_assert(sizeof(struct rvp_piece_header) == 64, "a piece's header is 64 bytes on disk");

enum { RVP_PIECE_BYTES = 4 << 20 }; /* at most, and one chunk more */
enum { RVP_PIECE_MAX_BYTES = 2 * RVP_PIECE_BYTES };

struct rvp_piece_packer {
	struct rvp_columns columns;
	struct rvp_address_model *model;
	uint8_t *joined, *packed; /* columns one behind the other, with their lengths before; and these in zstd */
	size_t packed_room;
	void *context;
	bool is_for_packing;
};

/* False without memory. */
bool rvp_piece_packer_open(struct rvp_piece_packer *packer, bool is_for_packing);
void rvp_piece_packer_close(struct rvp_piece_packer *packer);

/* Into packer->packed; `header` is filled in but for its place. False: zstd fails. */
bool rvp_piece_pack(struct rvp_piece_packer *packer, const uint8_t *log, size_t bytes, struct rvp_piece_header *header);

bool rvp_piece_header_is_good(const struct rvp_piece_header *header);
void rvp_piece_header_seal(struct rvp_piece_header *header);

/* header->packed_bytes at `packed` to header->log_bytes at `log`. False: damaged. */
bool rvp_piece_unpack(struct rvp_piece_packer *packer, const struct rvp_piece_header *header, const uint8_t *packed,
		      uint8_t *log);

#endif
