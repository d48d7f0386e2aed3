/* SPDX-License-Identifier: MIT */
/* other_allocator.c: see other_allocator.h. Allocators that are libraries of one's own and replace malloc as
 * they are loaded; libtbbmalloc alone does not, its proxy does. */
#include "report/other_allocator.h"

#include <string.h>

static const char *const names[] = {
    "libjemalloc", "libmimalloc", "libtcmalloc",        "libtbbmalloc_proxy", "libhoard",
    "libsnmalloc", "librpmalloc", "libhardened_malloc", "libscudo",           "libclang_rt.scudo",
};

const char *rvp_other_allocator(const char *path, size_t length, size_t *name_length)
{
	const char *slash = length ? memrchr(path, '/', length) : NULL, *file = slash ? slash + 1 : path;

	*name_length = length - (size_t)(file - path);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (*name_length >= strlen(names[i]) && !memcmp(file, names[i], strlen(names[i])))
			return file;
	return NULL;
}
