/* SPDX-License-Identifier: MIT */
/* run_finish.h: what `rvprof run` does when the program is gone: the outputs, and what it says about them. */
#ifndef RVP_RUN_FINISH_H
#define RVP_RUN_FINISH_H

#include "tools/run_place.h"
#include "tools/run_settings.h"
#include "tools/watch.h"

struct rvp_run_end {
	int wait_status;
	const char *program_path;
	struct rvp_watch_sum watched;
};

void rvp_run_finish(const struct rvp_run_settings *settings, const struct rvp_run_place *place,
		    const struct rvp_run_end *end);

#endif
