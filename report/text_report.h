/* SPDX-License-Identifier: MIT */
/* text_report.h: the answers of an analysis as text for a terminal or a pipe, a section a function.
 *
 * Rules
 *   - A figure that is an estimate has a "±" behind it; with its 95 % error where that is known.
 *   - What was not measured is left out, never 0.
 *   - Text from the program goes through rvp_print_safely.
 */
#ifndef RVP_TEXT_REPORT_H
#define RVP_TEXT_REPORT_H

#include "report/attribution.h"
#include "report/symbols_groups.h"
#include "report/text_style.h"

struct rvp_verdicts;

/* A moment that was asked for. */
struct rvp_asked_moment {
	const char *text; /* as asked: "peak", "12.5s" */
	uint64_t ns;
};

struct rvp_blas_work;

struct rvp_view {
	FILE *out;
	struct rvp_style style;
	const struct rvp_run *run;
	const struct rvp_analysis *answer;
	struct rvp_attribution *attribution; /* NULL: everything is unknown */
	const struct rvp_steps *steps; /* where there is no attribution that has them; NULL: not known */
	const struct rvp_groups *groups;
	const struct rvp_symbols *symbols;
	const struct rvp_verdicts *verdicts; /* said before all else; NULL: none */
	const char *here;     /* the current folder: paths below it are shown from it; "": not known */
	unsigned top_count;   /* call stacks in the first list */
	unsigned more_count;  /* and in the others */
	unsigned frame_count; /* lines a call stack */
	struct rvp_asked_moment moments[2];
	size_t moment_count; /* 1: live then; 2: growth between them, groups->grows_to_end told */
	const struct rvp_blas_work *work; /* NULL: not asked for */
	const struct rvp_device *device; /* whose memory the answer is about; NULL: the host's */
};

/* Of the tree, between the two moments. */
int64_t rvp_view_growth_bytes(const struct rvp_view *view);

const struct rvp_steps *rvp_view_steps(const struct rvp_view *view);

/* All sections: what ran and the host's memory, then what is told of any run. */
void rvp_text_host(const struct rvp_view *view);
void rvp_text_rest(const struct rvp_view *view);

/* Single sections. */
void rvp_text_run(const struct rvp_view *view);    /* what ran and how it ended */
void rvp_text_totals(const struct rvp_view *view); /* peak, totals, end */
void rvp_text_steps(const struct rvp_view *view);  /* nothing without steps */
void rvp_text_power(const struct rvp_view *view);  /* nothing where nobody asked for power */
void rvp_text_lists(const struct rvp_view *view); /* all lists of call stacks */
void rvp_text_sites(const struct rvp_view *view, enum rvp_measure measure, unsigned count);
void rvp_text_processes(const struct rvp_view *view); /* nothing for a single one */
void rvp_text_cost(const struct rvp_view *view);
void rvp_text_lost(const struct rvp_view *view);
void rvp_text_names(const struct rvp_view *view); /* why names are missing; nothing when they are not */

/* Shared by the sections. */
void rvp_text_title(const struct rvp_view *view, const char *title);
void rvp_text_stack(const struct rvp_view *view, const struct rvp_frame_list *stack);
/* The innermost frames that rvp_text_stack shows, at most so many; how many. 0: no stack. */
size_t rvp_text_shown_frames(const struct rvp_frame_list *stack, const struct rvp_frame **frames,
			     size_t most);

/* How the program ended, "exit status 0", "killed by signal 9 (Killed)", into `text`. */
void rvp_text_ending(const struct rvp_run *run, char *text, size_t text_bytes);
void rvp_text_process_ending(const struct rvp_process *process, char *text, size_t text_bytes);

/* The last image of the program that was started, past its execs; NULL in an empty run. */
const struct rvp_process *rvp_last_root(const struct rvp_run *run);

#endif
