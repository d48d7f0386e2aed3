/* SPDX-License-Identifier: MIT */
/* injection.c: NVTX_INJECTION64_PATH names librvprof_nvtx.so, CUDA_INJECTION64_PATH librvprof_cupti.so; a tool that
 * one of them named goes to RVPROF_NVTX_FORWARD or RVPROF_CUDA_FORWARD, and ours hands everything on to it.
 *
 * NVTX in every process: it is a set of headers, so nothing of a program or of the libraries that it will open later
 * tells whether they use it. A program that does not never reads the variable, and no library is opened. CUDA only
 * where the driver's library can be found (cuda_place.c), since some programs look at the variable without it, and not
 * with --cuda off. Where ours is not installed the variables stay as they are.
 */
#include "preload/injection.h"

#include "preload/cuda_place.h"
#include "preload/disk.h"
#include "preload/process.h"
#include "preload/sys.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct injection {
	const char *variable, *forward, *library; /* with its slash */
};

static const struct injection nvtx = {"NVTX_INJECTION64_PATH", "RVPROF_NVTX_FORWARD", "/librvprof_nvtx.so"};
static const struct injection cuda = {"CUDA_INJECTION64_PATH", "RVPROF_CUDA_FORWARD", "/librvprof_cupti.so"};

/* Beside the library: where it is installed, and in a build tree. */
static bool find(const char *library, char *into, size_t bytes)
{
	static const char *const places[] = {"", "/../cupti"};
	size_t folder = rvp_disk_append(into, bytes, 0, rvp_process.library), length;

	while (folder && into[folder - 1] != '/')
		folder--;
	for (unsigned i = 0; folder && i < sizeof places / sizeof places[0]; i++) {
		length = rvp_disk_append(into, bytes, folder - 1, places[i]);
		rvp_disk_append(into, bytes, length, library);
		if (rvp_syscall6(SYS_access, (long)into, R_OK, 0, 0, 0, 0) == 0)
			return true;
	}
	return false;
}

/* Ours, by whatever path an ancestor found it. */
static bool is_ours(const char *library, const char *path)
{
	size_t length = strlen(path), name = strlen(library);

	return length >= name && strcmp(path + length - name, library) == 0;
}

static void put(const struct injection *injection)
{
	char path[RVP_FOLDER_BYTES + 64];
	const char *before = getenv(injection->variable);

	if ((before && is_ours(injection->library, before)) || !find(injection->library, path, sizeof path))
		return;
	if (before && *before)
		setenv(injection->forward, before, 1);
	setenv(injection->variable, path, 1);
}

static bool is_cuda_followed;

void rvp_injection_prepare(void)
{
	is_cuda_followed = rvp_process.options.cuda != RVP_CUDA_OFF && rvp_cuda_is_there();
	put(&nvtx);
	if (is_cuda_followed)
		put(&cuda);
}

bool rvp_injection_follows_cuda(void)
{
	return is_cuda_followed;
}
