/* SPDX-License-Identifier: MIT */
/* lines.c: see lines.h. */
#include "prove/lines.h"

#include <errno.h>
#include <stdlib.h>

struct rvp_status rvp_hashed_lines_open(struct rvp_hashed_lines *lines, const struct rvp_digests *digests,
					const char *path)
{
	*lines = (struct rvp_hashed_lines){.digests = digests, .path = path, .file = fopen(path, "re")};
	if (!lines->file)
		return rvp_fail("open", path, errno);
	lines->line_digest = digests->table->begin(RVP_SHAKE256);
	lines->file_digest = digests->table->begin(RVP_SHA256);
	return lines->line_digest && lines->file_digest ? RVP_OK : rvp_fail("hash", path, ENOMEM);
}

static struct rvp_status end_digest(const struct rvp_hashed_lines *lines, struct rvp_digest *digest,
				    uint8_t value[RVP_DIGEST_BYTES])
{
	return lines->digests->table->end(digest, value)
		   ? RVP_OK
		   : rvp_fail_with("hash", lines->path, "OpenSSL refused");
}

struct rvp_status rvp_hashed_lines_next(struct rvp_hashed_lines *lines, uint8_t action[RVP_DIGEST_BYTES],
					bool *has_line)
{
	const struct rvp_digest_table *table = lines->digests->table;
	ssize_t length = getline(&lines->line, &lines->line_room, lines->file);
	size_t bytes;

	*has_line = length > 0;
	if (length <= 0)
		return feof(lines->file) ? end_digest(lines, lines->file_digest, action)
					 : rvp_fail("read", lines->path, errno);
	bytes = (size_t)length;
	lines->line_count++;
	lines->bytes += bytes;
	table->add(lines->file_digest, lines->line, bytes);
	table->add(lines->line_digest, lines->line, bytes - (lines->line[bytes - 1] == '\n'));
	return end_digest(lines, lines->line_digest, action);
}

void rvp_hashed_lines_close(struct rvp_hashed_lines *lines)
{
	if (lines->file)
		fclose(lines->file);
	lines->digests->table->free(lines->line_digest);
	lines->digests->table->free(lines->file_digest);
	free(lines->line);
}
