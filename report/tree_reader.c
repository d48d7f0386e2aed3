/* SPDX-License-Identifier: MIT */
/* tree_reader.c: copies the table of processes (record/tree.h) of a run, which may be damaged, cut, or still
 * growing. Read before the logs: then a record that is counted here and is in no log is lost indeed. */
#include "record/log_reader.h"
#include "report/run_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rvp_status read_at_start(int fd, char *to, size_t length, const char *path)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = pread(fd, to + done, length - done, (off_t)done);

		if (got < 0 && errno != EINTR)
			return rvp_fail("read", path, errno);
		if (got == 0)
			return rvp_fail_with("read", path, "it was cut while it was read");
		done += got > 0 ? (size_t)got : 0;
	}
	return RVP_OK;
}

static void terminate(struct rvp_tree *tree)
{
	tree->run_id[sizeof tree->run_id - 1] = 0;
	tree->boot_id[sizeof tree->boot_id - 1] = 0;
	tree->exe[sizeof tree->exe - 1] = 0;
	tree->command[sizeof tree->command - 1] = 0;
	if (tree->command_bytes > sizeof tree->command)
		tree->command_bytes = sizeof tree->command;
}

static struct rvp_status read_entries(struct rvp_run_source *source, int fd, size_t file_bytes,
				      const char *path)
{
	uint32_t used = atomic_load(&source->tree->next_entry), fit = source->tree->entry_count;
	uint64_t room = (file_bytes - RVP_TREE_HEADER_BYTES) / RVP_TREE_ENTRY_BYTES;
	struct rvp_tree *whole;

	if (fit > room)
		fit = (uint32_t)room;
	source->entry_count = used < fit ? used : fit;
	whole = realloc(source->tree, rvp_tree_bytes(source->entry_count));
	if (!whole)
		return rvp_fail("read", path, ENOMEM);
	source->tree = whole;

	struct rvp_status status =
	    read_at_start(fd, (char *)whole, rvp_tree_bytes(source->entry_count), path);

	terminate(whole);
	for (uint32_t i = 0; i < source->entry_count; i++)
		rvp_tree_entry_at(whole, i)->exe[sizeof rvp_tree_entry_at(whole, i)->exe - 1] = 0;
	return status;
}

static bool is_other_version(const struct rvp_file_header *header)
{
	return memcmp(header->magic, RVP_TREE_MAGIC, sizeof header->magic) == 0 &&
	       header->checksum == rvp_checksum(header, offsetof(struct rvp_file_header, checksum)) &&
	       header->version != RVP_FORMAT_VERSION;
}

static struct rvp_status read_tree(struct rvp_run_source *source, int fd, const char *path)
{
	struct stat file;
	struct rvp_status status;

	if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
		return rvp_fail_with("read", path, "it is not a regular file");
	if (file.st_size < RVP_TREE_HEADER_BYTES)
		return rvp_fail_with("read", path, "it is too short to be a table of processes (%lld bytes)",
				     (long long)file.st_size);
	source->tree = malloc(RVP_TREE_HEADER_BYTES);
	if (!source->tree)
		return rvp_fail("read", path, ENOMEM);
	status = read_at_start(fd, (char *)source->tree, RVP_TREE_HEADER_BYTES, path);
	if (!rvp_failed(status))
		status = rvp_file_header_check(&source->tree->file, RVP_TREE_MAGIC, path);
	source->is_other_version = rvp_failed(status) && is_other_version(&source->tree->file);
	return rvp_failed(status) ? status : read_entries(source, fd, (size_t)file.st_size, path);
}

struct rvp_status rvp_tree_read(struct rvp_run_source *source, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct rvp_status status;

	if (fd < 0)
		return rvp_fail("open", path, errno);
	status = read_tree(source, fd, path);
	close(fd);
	if (rvp_failed(status)) {
		free(source->tree);
		source->tree = NULL;
		source->entry_count = 0;
	}
	return status;
}
