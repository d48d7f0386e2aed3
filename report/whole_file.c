/* SPDX-License-Identifier: MIT */
/* whole_file.c: see whole_file.h. */
#include "report/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool rvp_is_no_plain_file(const char *path)
{
	struct stat file;

	return stat(path, &file) == 0 && !S_ISREG(file.st_mode);
}

struct rvp_status rvp_whole_file_open(struct rvp_whole_file *whole, const char *path)
{
	if (rvp_is_no_plain_file(path))
		return rvp_fail_with("write", path, "there is something of that name that is no plain file");
	if (!realpath(path, whole->path) &&
	    (size_t)snprintf(whole->path, sizeof whole->path, "%s", path) >= sizeof whole->path)
		return rvp_fail("make", path, ENAMETOOLONG);
	snprintf(whole->new_path, sizeof whole->new_path, "%s.new", whole->path);
	whole->file = fopen(whole->new_path, "we");
	return whole->file ? RVP_OK : rvp_fail("make", whole->new_path, errno);
}

struct rvp_status rvp_whole_file_close(struct rvp_whole_file *whole, struct rvp_status status)
{
	bool is_bad = ferror(whole->file);

	if ((fclose(whole->file) != 0 || is_bad) && !rvp_failed(status))
		status = rvp_fail("write", whole->new_path, errno ? errno : EIO);
	if (!rvp_failed(status) && rename(whole->new_path, whole->path) != 0)
		status = rvp_fail("rename", whole->new_path, errno);
	if (rvp_failed(status))
		unlink(whole->new_path);
	return status;
}
