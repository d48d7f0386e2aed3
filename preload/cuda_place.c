/* SPDX-License-Identifier: MIT */
/* cuda_place.c: see cuda_place.h. Asked in this order: whether it is mapped already (a program that is linked with it);
 * LD_LIBRARY_PATH; the places where drivers put it; ld.so's cache, in which its name stands as text. A program that
 * finds it by a path of its own elsewhere is not followed, unless CUDA_INJECTION64_PATH is set by hand. */
#include "preload/cuda_place.h"

#include "preload/disk.h"
#include "preload/loader_list.h"
#include "preload/sys.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIBRARY "libcuda.so.1"

enum { PATH_BYTES = 4096 };

static const char *const known_folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib",
					    "/usr/local/nvidia/lib64", "/usr/local/cuda/compat"};

static bool is_in(const char *folder, size_t folder_bytes)
{
	char path[PATH_BYTES];

	if (!folder_bytes || folder_bytes + sizeof "/" LIBRARY > sizeof path)
		return false;
	memcpy(path, folder, folder_bytes);
	memcpy(path + folder_bytes, "/" LIBRARY, sizeof "/" LIBRARY);
	return rvp_syscall6(SYS_access, (long)path, R_OK, 0, 0, 0, 0) == 0;
}

static bool is_in_list(const char *list)
{
	while (list && *list) {
		size_t length = strcspn(list, ":;");

		if (is_in(list, length))
			return true;
		list += length + (list[length] != 0);
	}
	return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	*(bool *)found = name && strncmp(name + 1, "libcuda.so", 10) == 0;
	return *(bool *)found;
}

static bool is_mapped(void)
{
	bool found = false;

	rvp_loader_list(visit, &found);
	return found;
}

static bool is_cached(void)
{
	long fd = rvp_sys_openat("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC, 0);
	long bytes = fd < 0 ? 0 : rvp_syscall6(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0), at;
	bool found = false;

	if (bytes > 0) {
		at = rvp_sys_mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, (int)fd, 0);
		if (at > 0 || at < -4095) {
			found = memmem((void *)at, (size_t)bytes, LIBRARY, sizeof LIBRARY) != NULL;
			rvp_sys_munmap((void *)at, (size_t)bytes);
		}
	}
	if (fd >= 0)
		rvp_sys_close((int)fd);
	return found;
}

bool rvp_cuda_is_there(void)
{
	if (is_mapped() || is_in_list(getenv("LD_LIBRARY_PATH")))
		return true;
	for (unsigned i = 0; i < sizeof known_folders / sizeof known_folders[0]; i++)
		if (is_in(known_folders[i], strlen(known_folders[i])))
			return true;
	return is_cached();
}
