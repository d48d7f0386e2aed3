/* SPDX-License-Identifier: MIT */
/* text_times.h: moments of a run as people write them: "12.5s" since its start, "40%" of it, "peak", "end",
 * "step:3", or a mark's label. */
#ifndef RVP_TEXT_TIMES_H
#define RVP_TEXT_TIMES_H

#include "report/run.h"

/* The moment that `text` names, UNIX ns. `peak_ns` is what "peak" means, RVP_NEVER: there was none. Fails
 * with a sentence that says what would be right. Of a process: marks are its own; RVP_NO_PROCESS: anybody's. */
struct rvp_status rvp_time_of_process(const struct rvp_run *run, uint32_t process, const char *text, uint64_t peak_ns, uint64_t *ns);
struct rvp_status rvp_time_of(const struct rvp_run *run, const char *text, uint64_t peak_ns, uint64_t *ns);

#endif
