/* SPDX-License-Identifier: MIT */
/* doctor.h: findings: what keeps a program's memory from being seen, and how to mend it.
 *
 * Levels: NO: nothing of it can be recorded; LESS: a part of its memory stays unseen; NOTE: good to know.
 */
#ifndef RVP_DOCTOR_H
#define RVP_DOCTOR_H

#include "tools/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum rvp_finding_level { RVP_FINDING_NO, RVP_FINDING_LESS, RVP_FINDING_NOTE };

struct rvp_finding {
	enum rvp_finding_level level;
	const char *id; /* a literal: "static", ... */
	char text[512]; /* what is so */
	char mend[512]; /* what to do about it; may be empty */
};

enum { RVP_FINDINGS_MAX = 32 };

struct rvp_findings {
	struct rvp_finding rows[RVP_FINDINGS_MAX];
	size_t count;
};

/* Printf-like: `mend` is taken as it is, `format` is the text. */
void rvp_found(struct rvp_findings *findings, enum rvp_finding_level level, const char *id, const char *mend,
	       const char *format, ...) __attribute__((format(printf, 5, 6)));

bool rvp_findings_have(const struct rvp_findings *findings, enum rvp_finding_level level);

/* The program's file; a script is followed to its interpreter. */
void rvp_doctor_program(struct rvp_findings *findings, const char *path);

/* A Python interpreter's adapters; nothing for another program. */
void rvp_doctor_python(struct rvp_findings *findings, const struct rvp_elf *elf, const char *interpreter);

/* This machine, this folder, our limits, our library. */
void rvp_doctor_system(struct rvp_findings *findings);

/* Whether writes can be followed here. */
void rvp_doctor_writes(struct rvp_findings *findings);

/* Whether a GPU can be followed here; nothing where there is none. */
void rvp_doctor_cuda(struct rvp_findings *findings);

/* A process that runs. */
void rvp_doctor_process(struct rvp_findings *findings, pid_t pid);

#endif
