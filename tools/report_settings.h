/* SPDX-License-Identifier: MIT */
/* report_settings.h: the words of `rvprof report`, and which of them go together. */
#ifndef RVP_REPORT_SETTINGS_H
#define RVP_REPORT_SETTINGS_H

#include "report/run_tables.h"
#include "report/text_report.h"
#include "tools/report_kernels.h"
#include "tools/report_questions.h"

#include <stdbool.h>

enum { RVP_RULE_FILES_MAX = 16 };

struct rvp_report_settings {
	const char *from, *to, *at, *by, *device;
	enum rvp_measure measure;
	enum rvp_color_choice color;
	unsigned top_count, frame_count;
	bool json, has_top, ledger, kernels, latency, roofline, has_table;
	enum rvp_run_table table;
	const char *query;
	enum rvp_kernels_by kernels_by;
	const char *rule_files[RVP_RULE_FILES_MAX + 1]; /* NULL ends them */
	int rule_count;
	struct rvp_question_words words;
};

extern const char rvp_report_help[];

/* False after a complaint. */
bool rvp_report_settings_take(struct rvp_report_settings *settings, int argc, char **argv, bool *wants_help);

#endif
