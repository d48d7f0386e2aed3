/* SPDX-License-Identifier: MIT */
/* library.c: see library.h. */
#include "cupti/library.h"

#include "record/cupti_places.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

struct rvp_cupti rvp_cupti;
struct rvp_driver rvp_driver;

/* ---- what is mapped ---- */

struct search {
	const char *beginning; /* of the file's name */
	char path[PATH_BYTES];
};

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!name || strncmp(name + 1, search->beginning, strlen(search->beginning)) != 0 ||
	    strlen(info->dlpi_name) >= sizeof search->path)
		return 0;
	strcpy(search->path, info->dlpi_name);
	return 1;
}

static bool find_mapped(const char *beginning, char path[PATH_BYTES])
{
	struct search search = {.beginning = beginning};

	if (!dl_iterate_phdr(visit, &search))
		return false;
	memcpy(path, search.path, PATH_BYTES);
	return true;
}

/* ---- the driver ---- */

bool rvp_driver_find(void)
{
	char path[PATH_BYTES];
	void *library = NULL;
	int version = 0;

	if (find_mapped("libcuda.so", path))
		library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library) {
		(void)dlerror();
		return false;
	}
#define RVP_DRIVER_LOOK(name, returns, parameters) \
	rvp_driver.name = (returns(*) parameters)(uintptr_t)dlsym(library, #name);
	RVP_DRIVER_USED(RVP_DRIVER_LOOK)
#undef RVP_DRIVER_LOOK
	(void)dlerror();
	if (rvp_driver.cuDriverGetVersion && rvp_driver.cuDriverGetVersion(&version) == RVP_CU_SUCCESS)
		rvp_driver.version = (uint32_t)version;
	return true;
}

/* ---- libcupti ---- */

static void *open_at(const char *folder, const char *below, const char *name)
{
	char path[PATH_BYTES];
	int length = snprintf(path, sizeof path, "%s%s%s", folder, below, name);

	return length > 0 && (size_t)length < sizeof path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
}

/* Beside a library of CUDA's that is mapped: the same folder, a toolkit's extras, the wheels' folder of CUPTI. */
static void *open_beside(const char *name)
{
	static const char *const neighbours[] = {"libcudart.so", "libtorch_cuda.so", "libcublas.so", "libcublasLt.so"};
	static const char *const places[] = {"/", "/../extras/CUPTI/lib64/", "/../../cuda_cupti/lib/",
					     "/../../nvidia/cuda_cupti/lib/", "/../../nvidia/cu13/lib/"};
	char path[PATH_BYTES];
	void *library = NULL;

	for (size_t i = 0; i < sizeof neighbours / sizeof neighbours[0]; i++) {
		if (!find_mapped(neighbours[i], path))
			continue;
		*strrchr(path, '/') = '\0';
		for (size_t k = 0; !library && k < sizeof places / sizeof places[0]; k++)
			library = open_at(path, places[k], name);
		if (library)
			return library;
	}
	return NULL;
}

static void *open_in_root(const char *root, const char *name)
{
	static const char *const folders[] = {RVP_CUPTI_FOLDERS};
	void *library = NULL;

	for (size_t i = 0; root && *root && !library && i < sizeof folders / sizeof *folders; i++)
		library = open_at(root, folders[i], name);
	return library;
}

static void *open_in_toolkit(const char *name)
{
	static const char *const variables[] = {RVP_CUPTI_ROOT_VARIABLES}, *const roots[] = {RVP_CUPTI_ROOTS};
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof variables / sizeof *variables; i++)
		library = open_in_root(getenv(variables[i]), name);
	for (size_t i = 0; !library && i < sizeof roots / sizeof *roots; i++)
		library = open_in_root(roots[i], name);
	return library;
}

static void *open_by_loader(const char *name)
{
	return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

static void *open_library(void)
{
	static const char *const names[] = {RVP_CUPTI_NAMES};
	static void *(*const places[])(const char *) = {open_beside, open_by_loader, open_in_toolkit};
	size_t first = rvp_driver.version && rvp_driver.version < 13000;
	char path[PATH_BYTES];
	void *library;

	if (find_mapped("libcupti.so", path)) {
		library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
		if (library)
			return library;
	}
	for (size_t place = 0; place < sizeof places / sizeof places[0]; place++)
		for (size_t i = 0; i < 2; i++) {
			library = places[place](names[(first + i) % 2]);
			if (library)
				return library;
		}
	return NULL;
}

static bool look_up(void *library)
{
	bool has_all = true;

#define RVP_CUPTI_LOOK(name, returns, parameters) \
	rvp_cupti.name = (returns(*) parameters)(uintptr_t)dlsym(library, "cupti" #name);
#define RVP_CUPTI_TEST(name, returns, parameters) has_all = has_all && rvp_cupti.name;
	RVP_CUPTI_NEEDED(RVP_CUPTI_LOOK)
	RVP_CUPTI_WELCOME(RVP_CUPTI_LOOK)
	RVP_CUPTI_NEEDED(RVP_CUPTI_TEST)
#undef RVP_CUPTI_LOOK
#undef RVP_CUPTI_TEST
	return has_all;
}

bool rvp_cupti_find(const char **why)
{
	void *library = open_library();

	if (!library)
		*why = "libcupti.so.12 or .13 is not to be found; install the toolkit's CUPTI or the wheel "
		       "nvidia-cuda-cupti, or name its folder in LD_LIBRARY_PATH";
	else if (!look_up(library))
		*why = "this libcupti lacks functions that are needed";
	else if (rvp_cupti.GetVersion(&rvp_cupti.version) != RVP_CUPTI_SUCCESS || rvp_cupti.version < RVP_CUPTI_OLDEST)
		*why = "this libcupti is older than CUDA 11.6's";
	else
		*why = NULL;
	(void)dlerror();
	return *why == NULL;
}
