/* SPDX-License-Identifier: MIT */
/* folds.c: reads the sums of a folded process (record/fold.h). A living process may add while we read: count
 * and bytes of one entry may then differ by one alloc. */
#include "record/fold.h"

#include "record/log_reader.h"
#include "report/run_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void take_entries(struct rvp_process_source *source, const struct rvp_fold_table *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rvp_fold *fold = &table->entry[i];
		uint64_t key = i ? atomic_load(&fold->key) : 1; /* entry 0: no path */
		uint64_t allocs = atomic_load(&fold->alloc_count);

		if (!key || !allocs)
			continue;
		source->folds[source->fold_count++] =
		    (struct rvp_fold_sum){.stack = (uint32_t)((key - 1) >> 32),
					  .python = (uint32_t)(key - 1),
					  .alloc_count = allocs,
					  .alloc_bytes = atomic_load(&fold->alloc_bytes)};
	}
}

static struct rvp_status read_table(struct rvp_process_source *source, struct rvp_fold_table *table, int fd,
				    const char *path)
{
	size_t done = 0;

	while (done < sizeof *table) {
		ssize_t got = pread(fd, (char *)table + done, sizeof *table - done, (off_t)done);

		if (got < 0 && errno != EINTR)
			return rvp_fail("read", path, errno);
		if (got == 0)
			break;
		done += got > 0 ? (size_t)got : 0;
	}
	if (done < sizeof table->file)
		return rvp_fail_with("read", path, "it is too short to hold sums (%zu bytes)", done);
	struct rvp_status status = rvp_file_header_check(&table->file, RVP_FOLD_MAGIC, path);
	size_t count = (done - sizeof table->file) / sizeof table->entry[0];

	if (rvp_failed(status))
		return status;
	source->folds = calloc(count + 1, sizeof *source->folds);
	if (!source->folds)
		return rvp_fail("read", path, ENOMEM);
	take_entries(source, table, count);
	return RVP_OK;
}

struct rvp_status rvp_folds_read(struct rvp_process_source *source, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct rvp_fold_table *table;
	struct rvp_status status;

	if (fd < 0)
		return errno == ENOENT ? RVP_OK : rvp_fail("open", path, errno);
	table = malloc(sizeof *table);
	status = table ? read_table(source, table, fd, path) : rvp_fail("read", path, ENOMEM);
	free(table);
	close(fd);
	return status;
}
