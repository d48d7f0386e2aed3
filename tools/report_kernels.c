/* SPDX-License-Identifier: MIT */
/* report_kernels.c: see report_kernels.h. */
#include "tools/report_kernels.h"

#include "report/symbols_stack.h"
#include "report/write_kernels.h"
#include "tools/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool rvp_kernels_by_of(const char *word, enum rvp_kernels_by *by)
{
	for (int i = 0; i < RVP_KERNELS_BY_COUNT; i++)
		if (!strcmp(word, rvp_kernels_by_names[i])) {
			*by = (enum rvp_kernels_by)i;
			return true;
		}
	rvp_complain("--kernels --by takes kernel, class, step, stream, site or range, not '%s'", word);
	return false;
}

static struct rvp_status print(const struct rvp_kernel_view *view, bool json)
{
	return json ? rvp_json_kernels(view) : rvp_text_kernels(view);
}

/* Names of call stacks are looked up only where they are shown. */
static struct rvp_status print_sites(struct rvp_kernel_view *view, bool json)
{
	struct rvp_symbols *symbols = rvp_symbols_open(NULL);
	struct rvp_status status = rvp_fail("name the call stacks", NULL, ENOMEM);

	view->stacks = symbols ? rvp_stacks_open(symbols, view->view->run) : NULL;
	if (view->stacks)
		status = print(view, json);
	rvp_stacks_close(view->stacks);
	rvp_symbols_close(symbols);
	return status;
}

static struct rvp_status answer(const struct rvp_run *run, const struct rvp_view *view, const struct rvp_steps *steps,
				const struct rvp_kernels_asked *asked)
{
	struct rvp_kernels kernels;
	struct rvp_kernel_view of = {
	    .view = view, .kernels = &kernels, .steps = steps, .by = asked->by, .row_count = asked->row_count};
	struct rvp_status status =
	    rvp_kernels_read(&kernels, run,
			     &(struct rvp_kernel_question){.steps = steps,
							   .rule_files = asked->rule_files,
							   .has_only_step = asked->has_step,
							   .only_step = asked->step,
							   .without_ranges = asked->by != RVP_KERNELS_BY_RANGE});

	if (rvp_failed(status))
		return status;
	status = asked->by == RVP_KERNELS_BY_SITE ? print_sites(&of, asked->json) : print(&of, asked->json);
	rvp_kernels_free(&kernels);
	return status;
}

struct rvp_status rvp_report_kernels(struct rvp_run *run, const struct rvp_view *view,
				     const struct rvp_kernels_asked *asked)
{
	struct rvp_steps steps;
	struct rvp_status status;

	if (!rvp_run_has_devices(run))
		return rvp_fail_with("report kernels", NULL, "nothing was recorded of a device in this run");
	status = rvp_steps_find(run, &steps);
	if (rvp_failed(status))
		return status;
	if (asked->has_step && asked->step >= steps.count)
		status = rvp_fail_with("report kernels", NULL, "there is no step %" PRIu64 ": the run has %zu",
				       asked->step, steps.count);
	else
		status = answer(run, view, &steps, asked);
	rvp_steps_free(&steps);
	return status;
}

struct rvp_status rvp_report_kernels_section(const struct rvp_view *view, const char *const *rule_files)
{
	struct rvp_kernel_csv csv;
	struct rvp_kernel_sink *sinks[] = {&csv.sink, NULL};
	struct rvp_kernels kernels;
	struct rvp_status status;

	/* Only to know what kernels.csv had no room for. */
	rvp_kernel_csv_open(&csv, view->run, NULL, RVP_KERNEL_CSV_MAX_BYTES);
	status = rvp_kernels_read(&kernels, view->run,
				  &(struct rvp_kernel_question){.rule_files = rule_files, .sinks = sinks, .without_ranges = true});
	if (rvp_failed(status))
		return status;
	kernels.csv_rows = csv.rows;
	kernels.csv_cut_rows = csv.cut_rows;
	rvp_text_kernels_section(view, &kernels);
	rvp_kernels_free(&kernels);
	return RVP_OK;
}
