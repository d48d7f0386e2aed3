/* SPDX-License-Identifier: MIT */
/* extension.c: see extension.h. */
#include "report/extension.h"

#include "report/own_folder.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = PATH_MAX + 128 };

/* From the program's folder; %s is the folder of the build tree. */
static const char *const places[] = {
    "/",               /* one folder */
    "/../%s/",         /* build tree: tools/rvprof */
    "/../../%s/",      /* build tree: tests/unit/check_* */
    "/../lib/rvprof/", /* installed */
    "/../lib64/rvprof/",
    "/../lib/x86_64-linux-gnu/rvprof/",
};

static bool find(const struct rvp_extension_kind *kind, char path[PATH_BYTES])
{
	char folder[PATH_MAX], place[64];

	if (!rvp_own_folder(folder))
		return false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(place, sizeof place, places[i], kind->build_folder);
		snprintf(path, PATH_BYTES, "%s%s%s", folder, place, kind->file);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

static void complain(struct rvp_extension *extension, const struct rvp_extension_kind *kind, const char *why)
{
	snprintf(extension->complaint, sizeof extension->complaint, "%s: %s %s", kind->without, kind->file,
		 why);
}

void rvp_extension_open(struct rvp_extension *extension, const struct rvp_extension_kind *kind,
			const char *path)
{
	char found[PATH_BYTES];
	const uint32_t *table;

	*extension = (struct rvp_extension){0};
	if (!path && !find(kind, found)) {
		complain(extension, kind, "is not beside rvprof");
		return;
	}
	extension->handle = dlopen(path ? path : found, RTLD_NOW | RTLD_LOCAL);
	if (!extension->handle) {
		complain(extension, kind, dlerror());
		return;
	}
	table = dlsym(extension->handle, kind->table);
	if (table && *table == kind->abi)
		extension->table = table;
	else
		complain(extension, kind, "is of another version");
}

void rvp_extension_close(struct rvp_extension *extension)
{
	if (extension->handle)
		dlclose(extension->handle);
	extension->handle = NULL;
	extension->table = NULL;
}
