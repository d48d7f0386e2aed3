/* SPDX-License-Identifier: MIT */
/* symbols_load.c: see symbols_load.h.
 *
 * debuginfod is asked by libdw itself; here it only gets a limit, so that a report never hangs on a dead
 * server, and its progress line where somebody watches. What the user has set stands. */
#include "report/symbols_load.h"

#include <stdlib.h>
#include <unistd.h>

#define DEBUGINFOD_TIMEOUT_S  "10"
#define DEBUGINFOD_MAX_TIME_S "60"

static const struct rvp_extension_kind kind = {
    .file = RVP_SYMBOLS_MODULE,
    .build_folder = "report",
    .table = RVP_SYMBOLS_TABLE,
    .abi = RVP_SYMBOLS_ABI,
    .without = "functions are shown as module and offset",
};

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

void rvp_symbols_library_open(struct rvp_symbols_library *library, const char *path)
{
	limit_debuginfod();
	rvp_extension_open(&library->extension, &kind, path);
	library->table = library->extension.table;
}

void rvp_symbols_library_close(struct rvp_symbols_library *library)
{
	rvp_extension_close(&library->extension);
	library->table = NULL;
}
