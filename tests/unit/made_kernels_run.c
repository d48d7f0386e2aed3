/* SPDX-License-Identifier: MIT */
/* made_kernels_run.c: makes the run of made_kernels.h as the folder FOLDER, for tests of commands. */
#include "tests/unit/made_kernels.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct maker maker;

	if (argc != 2)
		return 2;
	maker = made_kernels();
	maker_close(&maker);
	/* The folder may lie on another file system. */
	char command[512];

	snprintf(command, sizeof command, "mv '%s' '%.300s'", maker.folder, argv[1]);
	return system(command) ? 1 : 0;
}
