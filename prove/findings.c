/* SPDX-License-Identifier: MIT */
/* findings.c: see findings.h. */
#include "prove/findings.h"

#include "report/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rvp_findings_add(struct rvp_findings *findings, enum rvp_finding_kind kind, const char *path,
		      uint64_t line, const char *format, ...)
{
	struct rvp_finding finding = {.kind = kind, .line = line};
	va_list arguments;

	findings->broken_count += kind == RVP_BROKEN;
	findings->held_count += kind == RVP_HOLDS;
	findings->not_covered_count += kind == RVP_NOT_COVERED;
	if (findings->count >= RVP_FINDINGS_MAX)
		return;
	finding.path = strdup(path);
	va_start(arguments, format);
	if (vasprintf(&finding.what, format, arguments) < 0)
		finding.what = NULL;
	va_end(arguments);
	if (finding.path && finding.what &&
	    rvp_grow((void **)&findings->rows, &findings->room, findings->count + 1, sizeof finding)) {
		findings->rows[findings->count++] = finding;
		return;
	}
	findings->is_short = true;
	free(finding.path);
	free(finding.what);
}

void rvp_findings_free(struct rvp_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->rows[i].path);
		free(findings->rows[i].what);
	}
	free(findings->rows);
	*findings = (struct rvp_findings){.rows = NULL};
}
