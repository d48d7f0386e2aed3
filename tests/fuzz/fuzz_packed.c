/* SPDX-License-Identifier: MIT */
/* fuzz_packed.c: any bytes as a packed log. The first byte says whether checksums of headers and of packed bytes are made
 * right, so that a fuzzer gets behind them; the rest is the file.
 *
 *   (F6) A failure says what is wrong; a success is a log with a good file header, no longer than the file may hold.
 */
#include "record/chunk.h"
#include "record/log_reader.h"
#include "record/packed_log.h"
#include "record/packed_piece.h"
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char folder[64], path[96];

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

static void make_folder(void)
{
	snprintf(folder, sizeof folder, "/tmp/rvprof-fuzz-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof path, "%s/" RVP_PACKED_FILE, folder);
	atexit(remove_folder);
}

static void seal(uint8_t *file, size_t length)
{
	struct rvp_file_header *header = (struct rvp_file_header *)file;

	if (length >= sizeof *header)
		rvp_file_header_seal(header, RVP_PACKED_MAGIC);
	for (size_t at = sizeof *header; at + sizeof(struct rvp_piece_header) <= length; at += RVP_CHUNK_ALIGN_BYTES) {
		struct rvp_piece_header piece;
		size_t left = length - at - sizeof piece;

		memcpy(&piece, file + at, sizeof piece);
		if (piece.magic != RVP_PACKED_PIECE_MAGIC)
			continue;
		piece.column_count = piece.column_count % 2 ? RVP_COLUMN_COUNT : RVP_COLUMN_COUNT_BARE;
		piece.packed_bytes = piece.packed_bytes < left ? piece.packed_bytes : (uint32_t)left;
		piece.packed_checksum = rvp_checksum(file + at + sizeof piece, piece.packed_bytes);
		rvp_piece_header_seal(&piece);
		memcpy(file + at, &piece, sizeof piece);
	}
}

static void write_file(const uint8_t *file, size_t length)
{
	FILE *out = fopen(path, "we");

	if (!out || fwrite(file, 1, length, out) != length || fclose(out) != 0)
		abort();
}

static void check(const struct rvp_unpacked *unpacked)
{
	struct rvp_file_header header;

	if (unpacked->bytes < sizeof header)
		abort();
	memcpy(&header, unpacked->map, sizeof header);
	if (rvp_failed(rvp_file_header_check(&header, RVP_LOG_MAGIC, path)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct rvp_unpacked unpacked;
	struct rvp_status status;
	uint8_t *file;

	if (length < 1)
		return 0;
	if (!folder[0])
		make_folder();
	file = malloc(length);
	memcpy(file, bytes + 1, length - 1);
	if (bytes[0] & 1)
		seal(file, length - 1);
	write_file(file, length - 1);
	free(file);
	status = rvp_unpack_log(folder, &unpacked);
	if (rvp_failed(status)) {
		if (!status.error && !status.detail[0])
			abort();
		return 0;
	}
	check(&unpacked);
	munmap(unpacked.map, unpacked.bytes);
	return 0;
}
