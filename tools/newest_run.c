/* SPDX-License-Identifier: MIT */
/* newest_run.c: see newest_run.h. A run folder is one with a table of processes; when it began is in the
 * table's header, since the times of the folder change whenever its outputs are written again. */
#include "tools/newest_run.h"

#include "record/log_reader.h"
#include "record/tree.h"
#include "tools/commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* When the run in `folder` began; 0: it is none that can be read. */
static uint64_t begin_of(const char *folder)
{
	char path[PATH_MAX + 32];
	struct rvp_file_header header;
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "%s/" RVP_TREE_FILE, folder);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	got = pread(fd, &header, sizeof header, 0);
	close(fd);
	if (got != (ssize_t)sizeof header || rvp_failed(rvp_file_header_check(&header, RVP_TREE_MAGIC, path)))
		return 0;
	return header.begin_realtime_ns ? header.begin_realtime_ns : 1;
}

struct rvp_status rvp_newest_run(char path[PATH_MAX])
{
	DIR *here = opendir(".");
	uint64_t newest = 0;

	if (!here)
		return rvp_fail("read", "the current folder", errno);
	for (struct dirent *entry; (entry = readdir(here));) {
		uint64_t begin = entry->d_name[0] == '.' ? 0 : begin_of(entry->d_name);

		if (begin <= newest)
			continue;
		newest = begin;
		snprintf(path, PATH_MAX, "%s", entry->d_name);
	}
	closedir(here);
	if (newest)
		return RVP_OK;
	return rvp_fail_with("find a run", NULL,
			     "no run folder here; name one, or make one: rvprof run -- ./app");
}

const char *rvp_run_folder_of(const char *command, int word_count, char **words, char path[PATH_MAX])
{
	struct rvp_status status;

	if (word_count > 1) {
		rvp_complain("%s takes one folder, not also '%s'", command, words[1]);
		return NULL;
	}
	if (word_count == 1)
		return words[0];
	status = rvp_newest_run(path);
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return NULL;
	}
	rvp_complain("%s of %s", command, path);
	return path;
}
