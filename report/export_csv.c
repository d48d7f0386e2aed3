/* SPDX-License-Identifier: MIT */
/* export_csv.c: see export_csv.h. */
#include "report/export_csv.h"

#include "report/write_kernels.h"

static struct rvp_status write_all(const struct rvp_run *run, const struct rvp_steps *steps, FILE *out)
{
	struct rvp_kernel_csv csv;
	struct rvp_kernel_sink *sinks[] = {&csv.sink, NULL};
	struct rvp_kernels kernels;
	struct rvp_status status;

	rvp_kernel_csv_open(&csv, run, out, UINT64_MAX);
	status = rvp_kernels_read(&kernels, run, &(struct rvp_kernel_question){.steps = steps, .sinks = sinks, .without_ranges = true});
	rvp_kernels_free(&kernels);
	return status;
}

struct rvp_status rvp_export_csv(const struct rvp_run *run, FILE *out)
{
	struct rvp_steps steps;
	struct rvp_status status;

	if (!rvp_run_has_devices(run))
		return rvp_fail_with("export csv", NULL, "nothing was recorded of a device in this run");
	status = rvp_steps_find(run, &steps);
	if (rvp_failed(status))
		return status;
	status = write_all(run, &steps, out);
	rvp_steps_free(&steps);
	return status;
}
