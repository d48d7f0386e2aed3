/* SPDX-License-Identifier: MIT */
/* folder_input.c: see folder_input.h. */
#include "tests/fuzz/folder_input.h"

#include "record/log_reader.h"
#include "record/tree.h"

#include <stdlib.h>
#include <string.h>

static size_t take_length(const uint8_t *at, size_t most)
{
	size_t length = at[0] | at[1] << 8 | at[2] << 16 | (size_t)at[3] << 24;

	return length < most ? length : most;
}

static struct folder_piece take_piece(const uint8_t **at, size_t *left, size_t length)
{
	struct folder_piece piece = {.length = length < *left ? length : *left};

	piece.bytes = malloc(piece.length ? piece.length : 1);
	if (!piece.bytes)
		abort();
	memcpy(piece.bytes, *at, piece.length);
	*at += piece.length;
	*left -= piece.length;
	return piece;
}

static void seal_file(struct folder_piece *piece, const char *magic)
{
	struct rvp_file_header header;

	if (piece->length < sizeof header)
		return;
	memcpy(&header, piece->bytes, sizeof header);
	rvp_file_header_seal(&header, magic);
	memcpy(piece->bytes, &header, sizeof header);
}

static void seal_chunk(uint8_t *at, size_t left)
{
	struct rvp_chunk_header header;

	memcpy(&header, at, sizeof header);
	if (header.magic != RVP_CHUNK_MAGIC)
		return;
	header.header_bytes = sizeof header;
	if (header.payload_bytes <= left - sizeof header)
		header.payload_checksum = rvp_checksum(at + sizeof header, header.payload_bytes);
	header.header_checksum = rvp_checksum(&header, offsetof(struct rvp_chunk_header, header_checksum));
	memcpy(at, &header, sizeof header);
}

static void seal(struct folder_input *input)
{
	seal_file(&input->tree, RVP_TREE_MAGIC);
	seal_file(&input->log, RVP_LOG_MAGIC);
	seal_file(&input->buffers, RVP_BUFFER_MAGIC);
	for (size_t at = sizeof(struct rvp_file_header);
	     at + sizeof(struct rvp_chunk_header) <= input->log.length; at += RVP_CHUNK_ALIGN_BYTES)
		seal_chunk(input->log.bytes + at, input->log.length - at);
}

int folder_input_read(struct folder_input *input, const uint8_t *bytes, size_t length)
{
	size_t left;
	const uint8_t *at;

	if (length < FOLDER_HEAD_BYTES)
		return 0;
	left = length - FOLDER_HEAD_BYTES;
	at = bytes + FOLDER_HEAD_BYTES;
	input->flags = bytes[0];
	input->tree = take_piece(&at, &left, take_length(bytes + 1, left));
	input->log = take_piece(&at, &left, take_length(bytes + 5, left));
	input->buffers = take_piece(&at, &left, take_length(bytes + 9, left));
	if (input->flags & FOLDER_SEAL)
		seal(input);
	return 1;
}

void folder_input_free(struct folder_input *input)
{
	free(input->tree.bytes);
	free(input->log.bytes);
	free(input->buffers.bytes);
}
