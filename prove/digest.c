/* SPDX-License-Identifier: MIT */
/* digest.c: see digest.h. */
#include "prove/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 18 };

static const struct rvp_extension_kind kind_of_module = {
    .file = RVP_DIGEST_MODULE,
    .build_folder = "prove",
    .table = RVP_DIGEST_TABLE,
    .abi = RVP_DIGEST_ABI,
    .without = "nothing can be hashed or checked",
};

struct rvp_status rvp_digests_open(struct rvp_digests *digests)
{
	rvp_extension_open(&digests->extension, &kind_of_module, NULL);
	digests->table = digests->extension.table;
	return digests->table
		   ? RVP_OK
		   : rvp_fail_with("open", RVP_DIGEST_MODULE, "%.200s", digests->extension.complaint);
}

void rvp_digests_close(struct rvp_digests *digests)
{
	rvp_extension_close(&digests->extension);
	digests->table = NULL;
}

bool rvp_digest_of(const struct rvp_digests *digests, enum rvp_digest_kind kind, const void *data,
		   size_t bytes, uint8_t value[RVP_DIGEST_BYTES])
{
	struct rvp_digest *digest = digests->table->begin(kind);
	bool is_good = false;

	if (digest) {
		digests->table->add(digest, data, bytes);
		is_good = digests->table->end(digest, value);
	}
	digests->table->free(digest);
	return is_good;
}

static struct rvp_status add_file(const struct rvp_digests *digests, struct rvp_digest *digest, FILE *file,
				  void *piece, const char *path, uint64_t *file_bytes)
{
	size_t bytes;

	*file_bytes = 0;
	while ((bytes = fread(piece, 1, PIECE_BYTES, file)) > 0) {
		digests->table->add(digest, piece, bytes);
		*file_bytes += bytes;
	}
	return ferror(file) ? rvp_fail("read", path, errno) : RVP_OK;
}

FILE *rvp_open_whole(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
	else
		file = fdopen(fd, "r");
	if (!file) {
		int error = errno;

		close(fd);
		errno = error;
	}
	return file;
}

struct rvp_status rvp_digest_of_file(const struct rvp_digests *digests, enum rvp_digest_kind kind,
				     const char *path, uint8_t value[RVP_DIGEST_BYTES], uint64_t *file_bytes)
{
	FILE *file = rvp_open_whole(path);
	int error = errno;
	struct rvp_digest *digest = file ? digests->table->begin(kind) : NULL;
	void *piece = malloc(PIECE_BYTES);
	struct rvp_status status;

	if (!file)
		status = rvp_fail("open", path, error);
	else if (!digest || !piece)
		status = rvp_fail("read", path, ENOMEM);
	else
		status = add_file(digests, digest, file, piece, path, file_bytes);
	if (!rvp_failed(status) && !digests->table->end(digest, value))
		status = rvp_fail_with("hash", path, "OpenSSL refused");
	digests->table->free(digest);
	free(piece);
	if (file)
		fclose(file);
	return status;
}

const char *rvp_hex(const uint8_t value[RVP_DIGEST_BYTES], char text[RVP_HEX_TEXT_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < RVP_DIGEST_BYTES; i++) {
		text[2 * i] = digits[value[i] >> 4];
		text[2 * i + 1] = digits[value[i] & 15];
	}
	text[2 * RVP_DIGEST_BYTES] = 0;
	return text;
}
