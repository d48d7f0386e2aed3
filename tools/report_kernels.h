/* SPDX-License-Identifier: MIT */
/* report_kernels.h: `rvprof report --kernels [--by WHAT] [--step N]`. */
#ifndef RVP_TOOLS_REPORT_KERNELS_H
#define RVP_TOOLS_REPORT_KERNELS_H

#include "report/text_kernels.h"

struct rvp_kernels_asked {
	bool has_step, json;
	enum rvp_kernels_by by;
	uint64_t step;
	size_t row_count;
	const char *const *rule_files; /* NULL ends them */
};

/* False after a complaint. */
bool rvp_kernels_by_of(const char *word, enum rvp_kernels_by *by);

/* Answers to the view's out. Fails where the run has no device work, or no such step. */
struct rvp_status rvp_report_kernels(struct rvp_run *run, const struct rvp_view *view,
				     const struct rvp_kernels_asked *asked);

/* The section of the whole report; nothing without a device. */
struct rvp_status rvp_report_kernels_section(const struct rvp_view *view, const char *const *rule_files);

#endif
