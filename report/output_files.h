/* SPDX-License-Identifier: MIT */
/* output_files.h: the files that `rvprof finalize` writes. Each is written to `.<name>.new` beside its place and
 * renamed when all are whole.
 *
 *     rvp_outputs_open(&outputs, folder, has_devices);
 *     ... write to outputs.files[i].stream ...
 *     status = rvp_outputs_settle(&outputs);    all but summary.json is as far as it goes
 *     ... write summary.json; again while rvp_outputs_settle_last says so ...
 *     status = rvp_outputs_rename(&outputs);
 *     rvp_outputs_drop(&outputs);
 *
 * Rules
 *   - kernels.csv and trace.json are large, and no other output needs them. Where the disk is full they give their room up,
 * kernels.csv first, so that the others are written; where one of them can't be written for a reason of its own (a limit of
 * a file's size), it goes alone. The file that stood there before stays. summary.json says which are not written.
 *   - Any other output that can't be written is a failure of all.
 *
 * Invariants
 *   (F2) summary.json is renamed last: where it is new, the others are, but those that it names as not written.
 *   (F3) A failure leaves the old outputs as they were.
 */
#ifndef RVP_REPORT_OUTPUT_FILES_H
#define RVP_REPORT_OUTPUT_FILES_H

#include "record/power.h"
#include "record/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct rvp_json;

/* KERNELS: only of a run that met a device; POWER and what follows it: only where power was sampled. In the order of renaming. */
enum rvp_output {
	RVP_OUTPUT_MEMORY,
	RVP_OUTPUT_CATEGORIES,
	RVP_OUTPUT_LATENCY,
	RVP_OUTPUT_KERNELS,
	RVP_OUTPUT_POWER,
	RVP_OUTPUT_POWER_SOURCES, /* power.<name>.csv, by source */
	RVP_OUTPUT_POWER_LAST = RVP_OUTPUT_POWER_SOURCES + RVP_POWER_SOURCES_MAX - 1,
	RVP_OUTPUT_TRACE,
	RVP_OUTPUT_RUN,
	RVP_OUTPUT_SUMMARY,
	RVP_OUTPUT_COUNT
};
extern const char *const rvp_output_names[RVP_OUTPUT_COUNT]; /* NULL: of sources of power */

struct rvp_outputs;

struct rvp_output_file {
	FILE *stream; /* NULL: there is none */
	struct rvp_outputs *of;
	char name[RVP_POWER_NAME_BYTES + 16];
	int fd, error; /* error: errno of the write that failed; what comes behind it is thrown away */
};

struct rvp_outputs {
	const char *folder;
	struct rvp_output_file files[RVP_OUTPUT_COUNT];
	unsigned given_up; /* how many files went without being a failure */
};

/* The streams point into *outputs: it must not move. */
struct rvp_status rvp_outputs_open(struct rvp_outputs *outputs, const char *folder, bool has_devices);
/* Those of power; nothing without sources. */
struct rvp_power_list;
struct rvp_status rvp_outputs_open_power(struct rvp_outputs *outputs, const struct rvp_power_list *list);

/* Puts all but summary.json on the disk; a failure is one of an output that may not be missing. */
struct rvp_status rvp_outputs_settle(struct rvp_outputs *outputs);

/* The same of summary.json. *again: it stands empty once more, since another output went for its sake, which it must say. */
struct rvp_status rvp_outputs_settle_last(struct rvp_outputs *outputs, bool *again);

/* summary.json's "not_written", where there is something in it. */
void rvp_outputs_write_missing(struct rvp_json *json, const struct rvp_outputs *outputs);

/* What was given up is no failure here; rvp_outputs_missing tells of it. */
struct rvp_status rvp_outputs_rename(struct rvp_outputs *outputs);
struct rvp_status rvp_outputs_missing(const struct rvp_outputs *outputs);

/* Removes what was not renamed. */
void rvp_outputs_drop(struct rvp_outputs *outputs);

/* What root makes in somebody's folder is theirs. Only of a file that we made: any other could be a link. */
void rvp_output_to_owner(int fd, const char *folder);

#endif
