/* SPDX-License-Identifier: MIT */
/* symbols_load.c: librvprof_symbols.so is looked for beside the program, in the build tree's report/ and in
 * ../lib/rvprof; never by the loader's own search path, where another version could lie.
 *
 * debuginfod is asked by libdw itself; here it only gets a limit, so that a report never hangs on a dead
 * server, and its progress line where somebody watches. What the user has set stands. */
#include "report/symbols_load.h"

#include "report/own_folder.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUGINFOD_TIMEOUT_S  "10"
#define DEBUGINFOD_MAX_TIME_S "60"

static const char *const places[] = {
    "",               /* one folder */
    "/../report",     /* build tree: tools/rvprof */
    "/../../report",  /* build tree: tests/unit/check_* */
    "/../lib/rvprof", /* installed */
    "/../lib64/rvprof",
    "/../lib/x86_64-linux-gnu/rvprof",
};

static bool find(char path[PATH_MAX + 64])
{
	char folder[PATH_MAX];

	if (!rvp_own_folder(folder))
		return false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(path, PATH_MAX + 64, "%s%s/" RVP_SYMBOLS_MODULE, folder, places[i]);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

static void limit_debuginfod(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !*urls)
		return;
	setenv("DEBUGINFOD_TIMEOUT", DEBUGINFOD_TIMEOUT_S, 0);
	setenv("DEBUGINFOD_MAXTIME", DEBUGINFOD_MAX_TIME_S, 0);
	if (isatty(STDERR_FILENO))
		setenv("DEBUGINFOD_PROGRESS", "1", 0);
}

static void complain(struct rvp_symbols_library *library, const char *why)
{
	snprintf(library->complaint, sizeof library->complaint,
		 "functions are shown as module and offset: " RVP_SYMBOLS_MODULE " %s", why);
}

void rvp_symbols_library_open(struct rvp_symbols_library *library, const char *path)
{
	char found[PATH_MAX + 64];
	const struct rvp_symbols_table *table;

	*library = (struct rvp_symbols_library){0};
	if (!path && !find(found)) {
		complain(library, "is not beside rvprof");
		return;
	}
	limit_debuginfod();
	library->handle = dlopen(path ? path : found, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle) {
		complain(library, dlerror());
		return;
	}
	table = dlsym(library->handle, RVP_SYMBOLS_TABLE);
	if (table && table->abi == RVP_SYMBOLS_ABI)
		library->table = table;
	else
		complain(library, "is of another version");
}

void rvp_symbols_library_close(struct rvp_symbols_library *library)
{
	if (library->handle)
		dlclose(library->handle);
	library->handle = NULL;
	library->table = NULL;
}
