/* SPDX-License-Identifier: MIT */
/* lines.c: see lines.h. */
#include "prove/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 16 };

struct rvp_status rvp_hashed_lines_open(struct rvp_hashed_lines *lines, const struct rvp_digests *digests,
					const char *path)
{
	*lines = (struct rvp_hashed_lines){.digests = digests, .path = path, .file = rvp_open_whole(path)};
	if (!lines->file)
		return rvp_fail("open", path, errno);
	lines->line_digest = digests->table->begin(RVP_SHAKE256);
	lines->file_digest = digests->table->begin(RVP_SHA256);
	lines->piece = malloc(PIECE_BYTES);
	return lines->line_digest && lines->file_digest && lines->piece ? RVP_OK
									: rvp_fail("hash", path, ENOMEM);
}

static struct rvp_status end_digest(const struct rvp_hashed_lines *lines, struct rvp_digest *digest,
				    uint8_t value[RVP_DIGEST_BYTES])
{
	return lines->digests->table->end(digest, value)
		   ? RVP_OK
		   : rvp_fail_with("hash", lines->path, "OpenSSL refused");
}

/* The next piece of the file, where the last one is used up. At its end piece_bytes is 0. */
static struct rvp_status fill(struct rvp_hashed_lines *lines)
{
	if (lines->used_bytes < lines->piece_bytes)
		return RVP_OK;
	lines->used_bytes = 0;
	lines->piece_bytes = fread(lines->piece, 1, PIECE_BYTES, lines->file);
	lines->bytes += lines->piece_bytes;
	lines->digests->table->add(lines->file_digest, lines->piece, lines->piece_bytes);
	return ferror(lines->file) ? rvp_fail("read", lines->path, errno) : RVP_OK;
}

/* What the piece has of the line; true: and its end. */
static bool take_part(struct rvp_hashed_lines *lines)
{
	const char *part = lines->piece + lines->used_bytes;
	size_t left = lines->piece_bytes - lines->used_bytes;
	const char *end = memchr(part, '\n', left);

	lines->digests->table->add(lines->line_digest, part, end ? (size_t)(end - part) : left);
	lines->used_bytes += end ? (size_t)(end - part) + 1 : left;
	return end;
}

struct rvp_status rvp_hashed_lines_next(struct rvp_hashed_lines *lines, uint8_t action[RVP_DIGEST_BYTES],
					bool *has_line)
{
	struct rvp_status status = fill(lines);
	bool is_over = false;

	*has_line = lines->piece_bytes > 0;
	while (!rvp_failed(status) && lines->piece_bytes && !is_over) {
		is_over = take_part(lines);
		if (!is_over)
			status = fill(lines);
	}
	if (rvp_failed(status))
		return status;
	lines->line_count += *has_line;
	return end_digest(lines, *has_line ? lines->line_digest : lines->file_digest, action);
}

void rvp_hashed_lines_close(struct rvp_hashed_lines *lines)
{
	if (lines->file)
		fclose(lines->file);
	lines->digests->table->free(lines->line_digest);
	lines->digests->table->free(lines->file_digest);
	free(lines->piece);
}
