/* SPDX-License-Identifier: MIT */
/* injection.c: NVTX_INJECTION64_PATH names librvprof_nvtx.so; a tool that it named goes to
 * RVPROF_NVTX_FORWARD, and ours hands everything on to it.
 *
 * In every process: NVTX is a set of headers, so nothing of a program or of the libraries that it will open
 * later tells whether they use it. A program that does not never reads the variable, and no library is
 * opened. Where ours is not installed the variables stay as they are.
 */
#include "preload/injection.h"

#include "preload/disk.h"
#include "preload/process.h"
#include "preload/sys.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "NVTX_INJECTION64_PATH"

/* Beside the library: in a build tree, and where it is installed. */
static bool find(char *into, size_t bytes)
{
	static const char *const places[] = {"/librvprof_nvtx.so", "/../cupti/librvprof_nvtx.so"};
	size_t folder = rvp_disk_append(into, bytes, 0, rvp_process.library);

	while (folder && into[folder - 1] != '/')
		folder--;
	for (unsigned i = 0; folder && i < sizeof places / sizeof places[0]; i++) {
		rvp_disk_append(into, bytes, folder - 1, places[i]);
		if (rvp_syscall6(SYS_access, (long)into, R_OK, 0, 0, 0, 0) == 0)
			return true;
	}
	return false;
}

/* Ours, by whatever path an ancestor found it. */
static bool is_ours(const char *path)
{
	static const char name[] = "/librvprof_nvtx.so";
	size_t length = strlen(path);

	return length >= sizeof name - 1 && strcmp(path + length - (sizeof name - 1), name) == 0;
}

void rvp_injection_prepare(void)
{
	static char path[RVP_FOLDER_BYTES + 64];
	const char *before = getenv(VARIABLE);

	if ((before && is_ours(before)) || !find(path, sizeof path))
		return;
	if (before && *before)
		setenv("RVPROF_NVTX_FORWARD", before, 1);
	setenv(VARIABLE, path, 1);
}
