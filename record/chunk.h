/* SPDX-License-Identifier: MIT */
/* chunk.h: the unit in which records reach a log: a header of 64 bytes, then whole records.
 *
 *   0      4       6       8        12       16      24         32     36    40          48         56       64
 *   +------+-------+-------+--------+--------+-------+----------+------+-----+-----------+----------+--------+
 *   |magic |version|header |payload |record  |thread |sequence  | slot | tid |last stamp | payload  | header |
 *   |"RVCK"|       | bytes | bytes  | count  |serial |          |      |     |           | checksum |checksum|
 *   +------+-------+-------+--------+--------+-------+----------+------+-----+-----------+----------+--------+
 *
 * Little endian. A log is a file header of 64 bytes and chunks at offsets that are multiples of 64. A chunk's name
 * is (slot, sequence): sequences of a slot rise by one, so a doubled chunk and a missing one are both seen.
 */
#ifndef RVP_CHUNK_H
#define RVP_CHUNK_H

#include "record/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RVP_CHUNK_ALIGN_BYTES = 64 };
#define RVP_CHUNK_MAGIC 0x4b435652u /* "RVCK" */
#define RVP_LOG_MAGIC   "RVPLOG\r\n"

struct rvp_chunk_header {
	uint32_t magic;
	uint16_t version;      /* RVP_FORMAT_VERSION */
	uint16_t header_bytes; /* 64 */
	uint32_t payload_bytes;
	uint32_t record_count;
	uint64_t thread_serial; /* number of the thread in its process, from 1; never used again */
	uint64_t sequence;      /* of the chunk in its slot, from 1 */
	uint32_t slot;
	uint32_t tid;
	uint64_t last_stamp;
	uint64_t payload_checksum;
	uint64_t header_checksum; /* of the 56 bytes before */
};
_Static_assert(sizeof(struct rvp_chunk_header) == 64, "a chunk header is 64 bytes on disk");

/* First 64 bytes of a log and of a buffer file. */
struct rvp_file_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint64_t pid;
	uint64_t start_ticks; /* of the process */
	uint64_t begin_realtime_ns;
	uint64_t reserved[2];
	uint64_t checksum; /* of the 56 bytes before */
};
_Static_assert(sizeof(struct rvp_file_header) == 64, "a file header is 64 bytes on disk");

static const uint64_t rvp_checksum_odd[4] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93};

static inline __attribute__((always_inline)) uint64_t rvp_checksum_word(uint64_t lane, const char *from, int number)
{
	uint64_t word;

	memcpy(&word, from + 8 * number, sizeof word);
	lane = (lane ^ word) * rvp_checksum_odd[number];
	return lane ^ lane >> 29;
}

/* Takes 32 bytes in. Four words at once and no loop: as a vector it is half as fast, for want of a product. */
static inline __attribute__((always_inline)) void rvp_checksum_part(uint64_t *lane, const char *part)
{
	lane[0] = rvp_checksum_word(lane[0], part, 0);
	lane[1] = rvp_checksum_word(lane[1], part, 1);
	lane[2] = rvp_checksum_word(lane[2], part, 2);
	lane[3] = rvp_checksum_word(lane[3], part, 3);
}

/* 64-bit checksum of bytes[0, length): four lanes of (lane ^ word) * odd, so that any change of one word
 * changes it; the tail is padded with zeros; the length goes in last. docs/format.md gives it in words. */
static inline uint64_t rvp_checksum(const void *bytes, size_t length)
{
	uint64_t lane[4] = {1, 2, 3, 4}, sum = length;
	const char *at = bytes;
	char tail[32] = {0};

	for (; length >= sizeof tail; at += sizeof tail, length -= sizeof tail)
		rvp_checksum_part(lane, at);
	if (length) {
		memcpy(tail, at, length);
		rvp_checksum_part(lane, tail);
	}
	for (int i = 0; i < 4; i++) {
		sum = (sum ^ lane[i]) * rvp_checksum_odd[3 - i];
		sum ^= sum >> 32;
	}
	return sum;
}

/* Fills in magic, version, size and checksum. */
static inline void rvp_file_header_seal(struct rvp_file_header *header, const char *magic)
{
	memcpy(header->magic, magic, sizeof header->magic);
	header->version = RVP_FORMAT_VERSION;
	header->header_bytes = sizeof *header;
	header->checksum = rvp_checksum(header, offsetof(struct rvp_file_header, checksum));
}

static inline size_t rvp_chunk_room(size_t bytes)
{
	return (bytes + RVP_CHUNK_ALIGN_BYTES - 1) & ~(size_t)(RVP_CHUNK_ALIGN_BYTES - 1);
}

/* Whether the 64 bytes at `header` are a chunk's header of this format version that nobody damaged. */
static inline bool rvp_chunk_header_is_good(const struct rvp_chunk_header *header)
{
	return header->magic == RVP_CHUNK_MAGIC && header->header_bytes == sizeof *header &&
	       header->header_checksum == rvp_checksum(header, offsetof(struct rvp_chunk_header, header_checksum));
}

#endif
