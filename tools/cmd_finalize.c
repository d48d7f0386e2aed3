/* SPDX-License-Identifier: MIT */
/* cmd_finalize.c: `rvprof finalize [--output DIR] DIR`: writes the outputs of a run folder, again if they are
 * there. Loads no library but libc and libm: a program that ends waits for it. */
#include "report/compress.h"
#include "report/finalize.h"
#include "tools/commands.h"
#include "tools/last_look.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "Usage: rvprof finalize [--output DIR] DIR\n"
    "Writes memory.csv, categories.csv, latency.csv, kernels.csv (where a device was met), trace.json,\n"
    "run.json and summary.json of a run folder from its records, again if they are there. `rvprof report` does it by itself\n"
    "when it is needed.\n"
    "  --output DIR  into this folder, made if need be, in place of the run's own\n"
    "  --help        this\n";

static int write_outputs(const char *folder, const char *to)
{
	struct rvp_status status;

	if (!to)
		rvp_last_look(folder);
	status = to ? rvp_finalize_into(folder, to) : rvp_finalize(folder);
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	if (!to) {
		status = rvp_compress_run(folder);
		if (rvp_failed(status)) /* the outputs are there and right all the same */
			rvp_complain_of(&status);
	}
	return RVP_EXIT_DONE;
}

int rvp_cmd_finalize(int argc, char **argv)
{
	static const struct option options[] = {
	    {"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	const char *to = NULL;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return RVP_EXIT_DONE;
		}
		if (option != 'o') {
			rvp_complain_of_option(argv[0], option, argv[optind - 1], options);
			return RVP_EXIT_USAGE;
		}
		to = optarg;
	}
	if (argc - optind != 1) {
		rvp_complain("finalize takes one run folder: rvprof finalize DIR");
		return RVP_EXIT_USAGE;
	}
	return write_outputs(argv[optind], to);
}
