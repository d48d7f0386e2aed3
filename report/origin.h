/* SPDX-License-Identifier: MIT */
/* origin.h: what a run is a run of, beyond its command: the environment that it was made in, as facts and as
 * the 64 digits that stand for them, and the configuration that the user says it is of.
 *
 * Which facts there are is prove/environment.h's matter, and hashing needs a library that this layer does not
 * know: so tools/main.c says who makes them. Where nobody does, a run has no environment and no fingerprint;
 * nothing else depends on them. */
#ifndef RVP_REPORT_ORIGIN_H
#define RVP_REPORT_ORIGIN_H

#include <stdbool.h>
#include <stdio.h>

struct rvp_run;

enum { RVP_FINGERPRINT_DIGITS = 64 };

struct rvp_origin {
	bool is_made;
	char *facts; /* "KEY VALUE\n" a fact, in order of keys, each key once, no blank in a key; malloc'ed;
			NULL: not known */
	char fingerprint[RVP_FINGERPRINT_DIGITS + 1];        /* SHA-256 of facts; "": not known */
	char config_fingerprint[RVP_FINGERPRINT_DIGITS + 1]; /* of RVPROF_CONFIG_FINGERPRINT; "": not said */
};

/* Fills facts and fingerprint. `rule_files`: of the user, besides the recorded ones; NULL ends them, may be
 * NULL. */
typedef void rvp_origin_maker(struct rvp_origin *origin, const struct rvp_run *run,
			      const char *const *rule_files);
void rvp_origin_made_by(rvp_origin_maker *maker);

/* Sets run->origin, once; rvp_run_close frees it. */
void rvp_origin_make(struct rvp_run *run, const char *const *rule_files);

/* run.json. */
void rvp_origin_write(FILE *out, const struct rvp_run *run);

#endif
