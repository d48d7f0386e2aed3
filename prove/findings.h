/* SPDX-License-Identifier: MIT */
/* findings.h: what a check found out, a line each: what holds, what does not, and what nobody vouched for. */
#ifndef RVP_PROVE_FINDINGS_H
#define RVP_PROVE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rvp_finding_kind { RVP_HOLDS, RVP_BROKEN, RVP_NOT_COVERED };

struct rvp_finding {
	enum rvp_finding_kind kind;
	char *path;    /* relative to the folder that was checked */
	uint64_t line; /* of the file, from 1; 0: of the whole */
	char *what;
};

/* A file made for it has a finding an entry: more than these are counted, and not kept. */
enum { RVP_FINDINGS_MAX = 10000 };

struct rvp_findings {
	struct rvp_finding *rows;
	size_t count, room;
	size_t broken_count, held_count, not_covered_count; /* of all, kept or not */
	bool is_short; /* without memory: something is missing here, and nothing can be said to hold */
};

void rvp_findings_add(struct rvp_findings *findings, enum rvp_finding_kind kind, const char *path,
		      uint64_t line, const char *format, ...) __attribute__((format(printf, 5, 6)));
void rvp_findings_free(struct rvp_findings *findings);

#endif
