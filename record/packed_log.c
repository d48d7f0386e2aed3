/* SPDX-License-Identifier: MIT */
/* packed_log.c: see packed_log.h.
 *
 * The new file has no name until it is whole (O_TMPFILE; where a file system knows none, RVP_PACKED_FILE ".tmp"), so
 * that a kill leaves nothing behind and who removes the folder meanwhile finds nothing new in it.
 */
#include "record/packed_log.h"

#include "record/chunk.h"
#include "record/log_reader.h"
#include "record/packed_piece.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nobody can make us unpack more than this from a short file; what packs better stays a log. */
static const uint64_t most_log_bytes_a_byte = 16384, most_log_bytes_more = 64 << 20;

struct packing {
	const char *folder;
	int folder_fd, log_fd, fd;
	bool has_name; /* RVP_PACKED_FILE ".tmp" */
	const uint8_t *log;
	size_t log_bytes;
	uint64_t tail;
	bool (*stop)(void);
	struct rvp_piece_packer packer;
};

/* Of a mapped file that was gone through: its pages stay with the file. */
static void let_go(const uint8_t *from, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)from & -page;

	madvise((void *)first, (uintptr_t)from + bytes - first, MADV_DONTNEED);
}

static struct rvp_status write_at(int fd, const void *bytes, size_t length, uint64_t at, const char *folder)
{
	const char *from = bytes;

	while (length) {
		ssize_t put = pwrite(fd, from, length, (off_t)at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return rvp_fail("pack the log in", folder, put < 0 ? errno : ENOSPC);
		from += put;
		at += (uint64_t)put;
		length -= (size_t)put;
	}
	return RVP_OK;
}

/* The end of the piece that begins at `at`: whole chunks, as many as make a piece. */
static size_t end_of_piece(const struct packing *packing, size_t at)
{
	size_t end = at;

	while (end < packing->log_bytes) {
		struct rvp_chunk_header header;
		size_t left = packing->log_bytes - end, step = left < RVP_CHUNK_ALIGN_BYTES ? left : RVP_CHUNK_ALIGN_BYTES;

		if (left >= sizeof header) {
			memcpy(&header, packing->log + end, sizeof header);
			if (rvp_chunk_header_is_good(&header) && header.payload_bytes <= left - sizeof header)
				step = rvp_chunk_room(sizeof header + header.payload_bytes);
		}
		step = step < left ? step : left;
		if (end + step - at > RVP_PIECE_BYTES && end > at)
			break;
		end += step;
		if (end - at > RVP_PIECE_BYTES)
			break;
	}
	return end - at <= RVP_PIECE_MAX_BYTES ? end : at + RVP_PIECE_BYTES;
}

static struct rvp_status put_piece(struct packing *packing, size_t at, size_t bytes)
{
	struct rvp_piece_header header;
	struct rvp_status status;

	if (!rvp_piece_pack(&packing->packer, packing->log + at, bytes, &header))
		return rvp_fail_with("pack the log in", packing->folder, "zstd fails");
	header.place = at;
	rvp_piece_header_seal(&header);
	status = write_at(packing->fd, &header, sizeof header, packing->tail, packing->folder);
	if (!rvp_failed(status))
		status = write_at(packing->fd, packing->packer.packed, header.packed_bytes,
				  packing->tail + sizeof header, packing->folder);
	packing->tail += rvp_chunk_room(sizeof header + header.packed_bytes);
	return status;
}

static struct rvp_status put_all(struct packing *packing)
{
	struct rvp_file_header header;
	struct rvp_status status;

	memcpy(&header, packing->log, sizeof header);
	header.reserved[0] = packing->log_bytes;
	rvp_file_header_seal(&header, RVP_PACKED_MAGIC);
	status = write_at(packing->fd, &header, sizeof header, 0, packing->folder);
	packing->tail = sizeof header;
	for (size_t at = 0, end; !rvp_failed(status) && at < packing->log_bytes; at = end) {
		if (packing->stop && packing->stop())
			return rvp_fail("pack the log in", packing->folder, ECANCELED);
		end = end_of_piece(packing, at);
		status = put_piece(packing, at, end - at);
		let_go(packing->log + at, end - at);
	}
	return status;
}

/* ---- unpacking ---- */

struct pieces {
	const uint8_t *file;
	size_t bytes, at;
	uint64_t damaged;
	struct rvp_piece_header header; /* of the piece at hand */
	const uint8_t *packed;
};

/* The next piece whose header is good and that is whole in the file. */
static bool next_piece(struct pieces *pieces)
{
	while (pieces->at + sizeof pieces->header <= pieces->bytes) {
		size_t left = pieces->bytes - pieces->at - sizeof pieces->header;

		memcpy(&pieces->header, pieces->file + pieces->at, sizeof pieces->header);
		if (rvp_piece_header_is_good(&pieces->header) && pieces->header.packed_bytes <= left) {
			pieces->packed = pieces->file + pieces->at + sizeof pieces->header;
			pieces->at += rvp_chunk_room(sizeof pieces->header + pieces->header.packed_bytes);
			return true;
		}
		pieces->at += RVP_CHUNK_ALIGN_BYTES;
	}
	return false;
}

static struct pieces pieces_of(const uint8_t *file, size_t bytes)
{
	return (struct pieces){.file = file, .bytes = bytes, .at = sizeof(struct rvp_file_header)};
}

/* Bytes of the log that the good headers tell of; *damaged: places that none tells of. */
static uint64_t length_told(const uint8_t *file, size_t bytes, uint64_t log_bytes, uint64_t *damaged)
{
	struct pieces pieces = pieces_of(file, bytes);
	uint64_t length = 0, place = 0;

	for (*damaged = 0; next_piece(&pieces);) {
		*damaged += pieces.header.place != place;
		place = pieces.header.place + pieces.header.log_bytes;
		length += pieces.header.log_bytes;
	}
	*damaged += place != log_bytes;
	return length;
}

static void *map_file(int fd, size_t *bytes, struct rvp_status *status, const char *folder)
{
	struct stat file;
	void *map = MAP_FAILED;

	if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
		*status = rvp_fail_with("read", folder, RVP_PACKED_FILE " is not a regular file");
	else if ((size_t)file.st_size < sizeof(struct rvp_file_header))
		*status = rvp_fail_with("read", folder, RVP_PACKED_FILE " is too short to be a packed log");
	else if ((map = mmap(NULL, *bytes = (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		*status = rvp_fail("map", folder, errno);
	return map == MAP_FAILED ? NULL : map;
}

/* A file of our own for so many bytes, gone when it is closed; -1: nowhere. */
static int make_nameless(const char *folder, size_t bytes)
{
	const char *temporary = getenv("TMPDIR");
	const char *places[] = {folder, temporary && temporary[0] ? temporary : "/var/tmp", "/var/tmp"};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		int fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

		/* A store into a hole of a full disk is SIGBUS, so every byte is allocated now. */
		if (fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static void *make_room(const char *folder, size_t bytes, bool *is_of_file)
{
	int fd = make_nameless(folder, bytes);
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	*is_of_file = map != MAP_FAILED;
	if (map == MAP_FAILED)
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return map;
}

/* One behind the other: where one is lost, the reader finds the next chunk as after any damage. */
static struct rvp_status unpack_into(struct rvp_unpacked *unpacked, const uint8_t *file, size_t bytes,
				     const char *folder)
{
	struct pieces pieces = pieces_of(file, bytes);
	struct rvp_piece_packer packer;
	uint8_t *log = unpacked->map;

	if (!rvp_piece_packer_open(&packer, false))
		return rvp_fail("unpack the log in", folder, ENOMEM);
	for (; next_piece(&pieces); log += pieces.header.log_bytes) {
		if (!rvp_piece_unpack(&packer, &pieces.header, pieces.packed, log)) {
			memset(log, 0, pieces.header.log_bytes);
			unpacked->damaged_pieces++;
		}
		if (unpacked->is_of_file)
			let_go(log, pieces.header.log_bytes);
		let_go(pieces.packed, pieces.header.packed_bytes);
	}
	rvp_piece_packer_close(&packer);
	return RVP_OK;
}

/* No piece is left, or not the first: the log's own header can be made again. */
static void put_log_header(const struct rvp_unpacked *unpacked, struct rvp_file_header header)
{
	const struct rvp_file_header *first = unpacked->map;

	header.reserved[0] = 0;
	rvp_file_header_seal(&header, RVP_LOG_MAGIC);
	if (memcmp(first, &header, sizeof header) != 0)
		memcpy(unpacked->map, &header, sizeof header);
}

static struct rvp_status unpack_mapped(const uint8_t *file, size_t bytes, const char *folder,
				       struct rvp_unpacked *unpacked)
{
	struct rvp_file_header header;
	struct rvp_status status;

	memcpy(&header, file, sizeof header);
	status = rvp_file_header_check(&header, RVP_PACKED_MAGIC, folder);
	if (rvp_failed(status))
		return status;
	unpacked->bytes = length_told(file, bytes, header.reserved[0], &unpacked->damaged_pieces);
	if (unpacked->bytes / most_log_bytes_a_byte > bytes + most_log_bytes_more / most_log_bytes_a_byte)
		return rvp_fail_with("read", folder, RVP_PACKED_FILE " says that it holds more than it can");
	if (unpacked->bytes < sizeof header)
		unpacked->bytes = sizeof header;
	unpacked->map = make_room(folder, unpacked->bytes, &unpacked->is_of_file);
	if (unpacked->map == MAP_FAILED)
		return rvp_fail("unpack the log in", folder, errno);
	status = unpack_into(unpacked, file, bytes, folder);
	if (!rvp_failed(status))
		put_log_header(unpacked, header);
	else
		munmap(unpacked->map, unpacked->bytes);
	return status;
}

struct rvp_status rvp_unpack_log(const char *folder, struct rvp_unpacked *unpacked)
{
	char path[4096];
	struct rvp_status status = RVP_OK;
	size_t bytes = 0;
	void *file;
	int fd;

	*unpacked = (struct rvp_unpacked){0};
	snprintf(path, sizeof path, "%s/" RVP_PACKED_FILE, folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return rvp_fail("open", path, errno);
	file = map_file(fd, &bytes, &status, folder);
	close(fd);
	if (rvp_failed(status))
		return status;
	unpacked->packed_bytes = bytes;
	status = unpack_mapped(file, bytes, folder, unpacked);
	munmap(file, bytes);
	if (rvp_failed(status))
		*unpacked = (struct rvp_unpacked){0};
	return status;
}

/* ---- packing, from its first byte to the log's removal ---- */

/* What is on the disk, unpacked piece by piece, is the log. */
static bool unpacks_to_the_log(const struct packing *packing, const uint8_t *file, size_t bytes)
{
	struct pieces pieces = pieces_of(file, bytes);
	struct rvp_piece_packer packer;
	uint8_t *room = malloc(RVP_PIECE_MAX_BYTES);
	uint64_t at = 0;
	bool is_same = room && rvp_piece_packer_open(&packer, false);

	if (!is_same) {
		free(room);
		return false;
	}
	while (is_same && next_piece(&pieces)) {
		is_same = pieces.header.place == at && pieces.header.log_bytes <= packing->log_bytes - at &&
			  rvp_piece_unpack(&packer, &pieces.header, pieces.packed, room) &&
			  memcmp(room, packing->log + at, pieces.header.log_bytes) == 0 &&
			  !(packing->stop && packing->stop());
		if (is_same) {
			let_go(packing->log + at, pieces.header.log_bytes);
			let_go(pieces.packed, pieces.header.packed_bytes);
		}
		at += pieces.header.log_bytes;
	}
	rvp_piece_packer_close(&packer);
	free(room);
	return is_same && at == packing->log_bytes;
}

static struct rvp_status verify(const struct packing *packing)
{
	struct rvp_status status = RVP_OK;
	size_t bytes = 0;
	void *file = map_file(packing->fd, &bytes, &status, packing->folder);

	if (rvp_failed(status))
		return status;
	if (!unpacks_to_the_log(packing, file, bytes))
		status = rvp_fail_with("pack the log in", packing->folder, "what was packed is not what comes out");
	munmap(file, bytes);
	return status;
}

static struct rvp_status give_name(struct packing *packing)
{
	char self[64];
	int failed;

	snprintf(self, sizeof self, "/proc/self/fd/%d", packing->fd);
	if (packing->has_name)
		failed = renameat(packing->folder_fd, RVP_PACKED_FILE ".tmp", packing->folder_fd, RVP_PACKED_FILE);
	else
		failed = linkat(AT_FDCWD, self, packing->folder_fd, RVP_PACKED_FILE, AT_SYMLINK_FOLLOW);
	packing->has_name &= failed != 0;
	return failed ? rvp_fail("name the packed log in", packing->folder, errno) : RVP_OK;
}

/* Who may read the log may read what takes its place, also where root packs a log of somebody's. */
static struct rvp_status take_owner_and_mode(const struct packing *packing)
{
	struct stat log;

	if (fstat(packing->log_fd, &log) != 0 || fchown(packing->fd, log.st_uid, log.st_gid) != 0 ||
	    fchmod(packing->fd, log.st_mode & 0777) != 0)
		return rvp_fail("give the packed log its owner in", packing->folder, errno);
	return RVP_OK;
}

static struct rvp_status replace_log(struct packing *packing)
{
	struct rvp_status status = take_owner_and_mode(packing);

	if (!rvp_failed(status) && fsync(packing->fd) != 0)
		status = rvp_fail("write the packed log in", packing->folder, errno);
	if (!rvp_failed(status))
		status = verify(packing);
	/* One that is there beside a log was not found to be whole by who made it, or was not come to remove it. */
	if (!rvp_failed(status) && unlinkat(packing->folder_fd, RVP_PACKED_FILE, 0) != 0 && errno != ENOENT)
		status = rvp_fail("replace the packed log in", packing->folder, errno);
	if (!rvp_failed(status))
		status = give_name(packing);
	if (!rvp_failed(status) && fsync(packing->folder_fd) != 0)
		status = rvp_fail("write", packing->folder, errno);
	if (!rvp_failed(status) && unlinkat(packing->folder_fd, RVP_LOG_FILE, 0) != 0)
		status = rvp_fail("remove the log in", packing->folder, errno);
	return status;
}

static struct rvp_status make_file(struct packing *packing)
{
	packing->fd = openat(packing->folder_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (packing->fd >= 0)
		return RVP_OK;
	unlinkat(packing->folder_fd, RVP_PACKED_FILE ".tmp", 0);
	packing->fd = openat(packing->folder_fd, RVP_PACKED_FILE ".tmp", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	packing->has_name = packing->fd >= 0;
	return packing->fd < 0 ? rvp_fail("pack the log in", packing->folder, errno) : RVP_OK;
}

static struct rvp_status pack_mapped(struct packing *packing)
{
	struct rvp_status status = make_file(packing);

	if (rvp_failed(status))
		return status;
	if (!rvp_piece_packer_open(&packing->packer, true)) {
		status = rvp_fail("pack the log in", packing->folder, ENOMEM);
	} else {
		status = put_all(packing);
		rvp_piece_packer_close(&packing->packer);
	}
	if (!rvp_failed(status))
		status = replace_log(packing);
	if (packing->has_name)
		unlinkat(packing->folder_fd, RVP_PACKED_FILE ".tmp", 0);
	close(packing->fd);
	return status;
}

/* A log with a hole met a full disk: it is left as it is. */
static bool is_worth_it(const struct packing *packing, uint64_t least_bytes)
{
	struct stat file;
	off_t hole;

	if (fstat(packing->log_fd, &file) != 0 || !S_ISREG(file.st_mode) || (uint64_t)file.st_size < least_bytes ||
	    (size_t)file.st_size < sizeof(struct rvp_file_header))
		return false;
	hole = lseek(packing->log_fd, 0, SEEK_HOLE);
	return hole < 0 || hole >= file.st_size;
}

static struct rvp_status pack_open(struct packing *packing, uint64_t least_bytes)
{
	struct rvp_status status = RVP_OK;
	struct stat file;

	/* Of two who want to pack it one does. */
	if (!is_worth_it(packing, least_bytes) || flock(packing->log_fd, LOCK_EX | LOCK_NB) != 0 ||
	    fstat(packing->log_fd, &file) != 0 || !file.st_nlink)
		return RVP_OK;
	packing->log_bytes = (size_t)file.st_size;
	packing->log = mmap(NULL, packing->log_bytes, PROT_READ, MAP_PRIVATE, packing->log_fd, 0);
	if (packing->log == MAP_FAILED)
		return rvp_fail("map the log in", packing->folder, errno);
	/* A header that is damaged, or of another version, would be sealed anew and be believed from then on. */
	if (!rvp_failed(rvp_file_header_check((const void *)packing->log, RVP_LOG_MAGIC, packing->folder)))
		status = pack_mapped(packing);
	munmap((void *)packing->log, packing->log_bytes);
	return status;
}

struct rvp_status rvp_pack_log(const char *folder, uint64_t least_bytes, bool (*stop)(void))
{
	struct packing packing = {.folder = folder, .stop = stop};
	struct rvp_status status = RVP_OK;

	packing.folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (packing.folder_fd < 0)
		return rvp_fail("open", folder, errno);
	packing.log_fd = openat(packing.folder_fd, RVP_LOG_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (packing.log_fd >= 0) {
		status = pack_open(&packing, least_bytes);
		close(packing.log_fd);
	} else if (errno != ENOENT) {
		status = rvp_fail("open the log in", folder, errno);
	}
	close(packing.folder_fd);
	return status;
}
