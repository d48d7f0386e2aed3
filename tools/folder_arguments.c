/* SPDX-License-Identifier: MIT */
/* folder_arguments.c: see folder_arguments.h. */
#include "tools/folder_arguments.h"

#include "tools/commands.h"
#include "tools/newest_run.h"

#include <getopt.h>
#include <stdio.h>

bool rvp_folder_arguments_read(int argc, char **argv, const char *help, char *path,
			       struct rvp_folder_arguments *arguments, int *status)
{
	static const struct option options[] = {
	    {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int option;

	*arguments = (struct rvp_folder_arguments){.is_json = false};
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			*status = RVP_EXIT_DONE;
			return false;
		}
		if (option != 'j') {
			rvp_complain_of_option(argv[0], option, argv[optind - 1], options);
			*status = RVP_EXIT_USAGE;
			return false;
		}
		arguments->is_json = true;
	}
	arguments->folder = rvp_run_folder_of(argv[0], argc - optind, argv + optind, path);
	*status = RVP_EXIT_USAGE;
	return arguments->folder != NULL;
}
