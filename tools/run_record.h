/* SPDX-License-Identifier: MIT */
/* run_record.h: `rvprof run` without its last step, for commands that record a program and then say something of the run. */
#ifndef RVP_TOOLS_RUN_RECORD_H
#define RVP_TOOLS_RUN_RECORD_H

#include <stdbool.h>

struct rvp_recorded {
	const char *folder; /* absolute; lives on */
	int wait_status;    /* of the program: rvp_program_pass_on ends as it did */
};

/* argv as that of `rvprof run`. True: the program is gone and the outputs are written, as far as they could be. False: help
 * was printed, or a complaint, and the command is over with *status. Once in a process. */
bool rvp_run_record(int argc, char **argv, struct rvp_recorded *recorded, int *status);

#endif
