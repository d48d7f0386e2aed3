/* SPDX-License-Identifier: MIT */
/* inquiry.h: the questions of `rvprof report` that have an answer of their own, answer_*.c a file each.
 *
 * Order: attribution, one analysis (with moments at ends of steps where the question needs them), names of
 * call stacks; then the answer, which may ask the run a second time with an observer of its own.
 *
 * Rules
 *   - Every figure is computed from records; a share that is assumed ("half of it") is said in the same line.
 *   - JSON is one object, {"schema": "rvprof.<name>/1", "rows": [..], "total_bytes"}, whose total agrees with
 *     summary.json: it is what the rows would sum up to if all were listed.
 */
#ifndef RVP_REPORT_INQUIRY_H
#define RVP_REPORT_INQUIRY_H

#include "report/json_writer.h"
#include "report/text_report.h"

enum rvp_asked {
	RVP_ASKED_NOTHING,
	RVP_ASKED_WHY_PEAK,
	RVP_ASKED_WHY,
	RVP_ASKED_KV,
	RVP_ASKED_STEPS,
	RVP_ASKED_GROWTH,
	RVP_ASKED_TRACE,
};

struct rvp_question_asked {
	enum rvp_asked what;
	const char *text;           /* of --why: b<number> or a part of a frame */
	uint64_t step, versus_step; /* of RVP_ASKED_STEPS */
	uint64_t fit_bytes;         /* of RVP_ASKED_KV; 0: not asked */
	uint32_t device;            /* whose memory: 0 the host's, else that device's (device_list.h) */
	bool json;
	size_t row_count;              /* call stacks at most */
	const char *const *rule_files; /* NULL ends them */
	FILE *aside;                   /* for lists that are no answer: what an ambiguous SITE could be */
};

struct rvp_inquiry {
	struct rvp_question_asked asked;
	struct rvp_view view;
	struct rvp_run *run;
	struct rvp_attribution *attribution;
	const struct rvp_steps *steps;
	struct rvp_analysis answer;
	struct rvp_symbols *symbols;
	struct rvp_stacks *stacks;
	struct rvp_groups groups;
	uint64_t *moments_ns; /* ends of steps, ascending */
	uint32_t *moment_steps;
	size_t moment_count;
	struct rvp_json json; /* to the view's out */
};

/* Asks and answers. `view` says where to and how. */
struct rvp_status rvp_inquire(struct rvp_run *run, const struct rvp_view *view,
			      const struct rvp_question_asked *asked);

/* The answers. */
struct rvp_status rvp_answer_why_peak(struct rvp_inquiry *inquiry);
struct rvp_status rvp_answer_why(struct rvp_inquiry *inquiry);
struct rvp_status rvp_answer_kv(struct rvp_inquiry *inquiry);
struct rvp_status rvp_answer_steps(struct rvp_inquiry *inquiry);
struct rvp_status rvp_answer_growth(struct rvp_inquiry *inquiry);
struct rvp_status rvp_answer_trace(struct rvp_inquiry *inquiry);

/* ---- for the answers ---- */

/* The group of each site of the analysis (NULL: none); free() it. NULL without memory. */
const struct rvp_group **rvp_inquiry_groups_of_sites(const struct rvp_inquiry *inquiry);

/* Another pass over the same run. `analysis` is freed by the caller. */
struct rvp_status rvp_inquiry_ask_again(struct rvp_inquiry *inquiry, struct rvp_observer *observer,
					struct rvp_analysis *analysis);

/* The title lines that every answer begins with: what ran. Nothing in JSON. */
void rvp_inquiry_begin(struct rvp_inquiry *inquiry,
		       const char *schema); /* JSON: opens the object and "rows" */
void rvp_inquiry_end_rows(struct rvp_inquiry *inquiry, int64_t total_bytes);
void rvp_inquiry_end(struct rvp_inquiry *inquiry);

/* A group's keys in an open JSON object: category, evidence, reason, estimate, stack. */
void rvp_inquiry_put_group(struct rvp_inquiry *inquiry, const struct rvp_group *group);

/* "get:79 < load_matrix:340 < load_layer:365": the innermost frames on one line, and their lines. */
void rvp_inquiry_place(const struct rvp_inquiry *inquiry, const struct rvp_group *group, char *text,
		       size_t text_bytes);
void rvp_inquiry_print_place(const struct rvp_inquiry *inquiry, const struct rvp_group *group);

/* "1.25 s", since the run's begin, into `text`; "in step 12" behind it where there are steps. */
const char *rvp_inquiry_when(const struct rvp_inquiry *inquiry, uint64_t ns, char *text, size_t text_bytes);

#endif
