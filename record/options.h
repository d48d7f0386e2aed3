/* SPDX-License-Identifier: MIT */
/* options.h: what RVPROF_ variables say (options.def is the table), for the library and for `rvprof run`.
 *
 * Pure: string functions alone, nothing allocated, the environment is only read. `rvprof run` hands its own
 * options on as variables, so this is the one place where a value is understood.
 *
 * Rules
 *   - RVPROF_OPTIONS="mode=full,max-log=64MiB" comes first, then each RVPROF_<NAME>, so that a single one
 * wins.
 *   - A name or value that is not understood changes nothing; the first of them is told in one line.
 */
#ifndef RVP_OPTIONS_H
#define RVP_OPTIONS_H

#include "record/device.h"
#include "record/names.h"
#include "record/schedule.h"
#include "record/windows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RVP_OPTION_TEXT_BYTES = 1024,
	RVP_COMPLAINT_BYTES = 320,
};

enum rvp_wants_color { RVP_WANTS_COLOR_AUTO = 0, RVP_WANTS_COLOR_ALWAYS = 1, RVP_WANTS_COLOR_NEVER = 2 };

struct rvp_options {
	enum rvp_mode mode;
	bool python, follow, finalize, disable, adapters;
	bool writes; /* follow the writes to large blocks for a window */
	enum rvp_cuda cuda;
	uint32_t cuda_budget_milli; /* in thousandths: 30 is 3 % */
	bool sync_steps, rows;
	bool force, quiet;          /* of `run` alone */
	enum rvp_wants_color color; /* of `run` alone */
	struct rvp_schedule schedule; /* of --schedule or --steps; active 0: every step is recorded */
	bool has_schedule, has_steps; /* not both: rvp_options_contradiction */
	uint64_t delay_ns, duration_ns; /* duration 0: to the end */
	enum rvp_capture capture;
	uint32_t exit_wait_s;
	uint64_t max_log_bytes;
	char only[RVP_OPTION_TEXT_BYTES];    /* patterns by commas; empty: every program */
	char power[RVP_OPTION_TEXT_BYTES];   /* sources by commas; empty: none. `run` understands them */
	char output[RVP_OPTION_TEXT_BYTES];  /* template of the run folder; empty: the default */
	char run_dir[RVP_OPTION_TEXT_BYTES]; /* of the tree that this process is born into; empty: it is the
						root */
};

/* The defaults, then `environment` (as `environ`). False when something was not understood: `complaint` then
 * holds one line about the first such thing. */
bool rvp_options_read(struct rvp_options *options, char *const *environment, char *complaint,
		      size_t complaint_bytes);

/* One option, by its name as on the command line ("max-log") or in a variable ("MAX_LOG"). */
bool rvp_options_set(struct rvp_options *options, const char *name, size_t name_length, const char *value,
		     size_t value_length, char *complaint, size_t complaint_bytes);

/* Some of the run alone is recorded, or may be: --schedule, --steps, --delay, --duration, --capture. */
static inline bool rvp_options_have_windows(const struct rvp_options *options)
{
	return options->schedule.active || options->delay_ns || options->duration_ns || options->capture;
}

/* "2.5", "2.5s", "300ms", "2m", "1h": nanoseconds. */
bool rvp_time_read(const char *text, size_t length, uint64_t *ns);

/* 64 digits of a SHA-256, lower case. */
bool rvp_is_fingerprint(const char *text, size_t length);

/* One line on options that exclude each other, or NULL. */
const char *rvp_options_contradiction(const struct rvp_options *options);

void rvp_options_defaults(struct rvp_options *options);

/* "64MiB", "64M", "1GiB", "4096", "4096B": bytes, by powers of 1024. */
bool rvp_size_read(const char *text, size_t length, uint64_t *bytes);

#endif
