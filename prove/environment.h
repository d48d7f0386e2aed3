/* SPDX-License-Identifier: MIT */
/* environment.h: what a run was made with and on, as facts that two runs of one program on one machine have
 * in common: "KEY VALUE\n" each, sorted by key as bytes, and SHA-256 of the whole as the run's fingerprint
 * (docs/metrics.md, "Fingerprints", has the keys).
 *
 * Rules
 *   - Taken from the process that asked for most memory, of those that ended by themselves: which other ones
 * a sampled run has a log of is chance.
 *   - Nothing is in it that is another one at the next run: no pid, time, address, host name, rank; of a file
 * of code its name and build-id, not its folder; of a variable's value that is a path nothing.
 *   - Where the code of that process is not known as a whole (it was killed, replaced, or recorded nothing)
 * there are facts, and no fingerprint.
 */
#ifndef RVP_PROVE_ENVIRONMENT_H
#define RVP_PROVE_ENVIRONMENT_H

#include "report/origin.h"

/* As rvp_origin_maker. */
void rvp_environment_make(struct rvp_origin *origin, const struct rvp_run *run,
			  const char *const *rule_files);

/* The governor is read from here; for tests. */
extern const char *rvp_governor_path;

#endif
