/* SPDX-License-Identifier: MIT */
/* run_environment.h: the variables with which `rvprof run` starts the program. */
#ifndef RVP_RUN_ENVIRONMENT_H
#define RVP_RUN_ENVIRONMENT_H

#include "tools/run_settings.h"

#include "record/status.h"

/* The new LD_PRELOAD into `value`: `library` first, then what `existing` (may be NULL) has, without an older
 * entry of ours. AddressSanitizer's runtime insists on being first, so it stays before ours: from `existing`,
 * or `sanitizer`, the name under which the program needs it (NULL: it does not). */
struct rvp_status rvp_preload_value(char *value, unsigned bytes, const char *library, const char *existing,
				    const char *sanitizer);

/* The name of AddressSanitizer's runtime among what the file `program` needs, into `name`; empty: none. */
void rvp_sanitizer_of(const char *program, char *name, unsigned bytes);

/* In the child, right before exec: RVPROF_RUN_DIR, the options that were given, LD_PRELOAD. 0 or an errno. */
int rvp_set_environment(const struct rvp_run_settings *settings, const char *run_dir, const char *preload);

#endif
