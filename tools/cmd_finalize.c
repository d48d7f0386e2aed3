/* SPDX-License-Identifier: MIT */
/* cmd_finalize.c: `rvprof finalize DIR`: writes the outputs of a run folder, again if they are there. Loads
 * no library but libc and libm: a program that ends waits for it. */
#include "report/finalize.h"
#include "tools/commands.h"
#include "tools/last_look.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: rvprof finalize DIR\n"
    "Writes memory.csv, categories.csv, latency.csv, trace.json and summary.json of a run folder from its\n"
    "records, again if they are there. `rvprof report` does it by itself when it is needed.\n";

int rvp_cmd_finalize(int argc, char **argv)
{
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(help, stdout);
		return RVP_EXIT_DONE;
	}
	if (argc != 2 || argv[1][0] == '-') {
		rvp_complain("finalize takes one run folder: rvprof finalize DIR");
		return RVP_EXIT_USAGE;
	}
	rvp_last_look(argv[1]);
	struct rvp_status status = rvp_finalize(argv[1]);

	if (!rvp_failed(status))
		return RVP_EXIT_DONE;
	rvp_complain_of(&status);
	return RVP_EXIT_USAGE;
}
