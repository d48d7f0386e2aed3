/* SPDX-License-Identifier: MIT */
/* text_work.c: see text_work.h. */
#include "report/text_work.h"

#include "report/text_numbers.h"

#include <string.h>

const char *rvp_text_flops(double flops, char text[RVP_FLOPS_TEXT_BYTES])
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	while (flops >= 1000 && unit + 2 < sizeof units) {
		flops /= 1000;
		unit++;
	}
	if (unit)
		snprintf(text, RVP_FLOPS_TEXT_BYTES, "%.3g %cFLOP", flops, units[unit]);
	else
		snprintf(text, RVP_FLOPS_TEXT_BYTES, "%.0f FLOP", flops);
	return text;
}

/* FLOP a second is per ns what GFLOP is a second. */
static void print_sum(const struct rvp_view *view, const char *name, const struct rvp_blas_sum *sum)
{
	char flops[RVP_FLOPS_TEXT_BYTES], calls[RVP_NUMBER_TEXT_BYTES], time[RVP_NUMBER_TEXT_BYTES];

	fprintf(view->out, "  %-14s%s in %s calls", name, rvp_text_flops(sum->flops, flops),
		rvp_text_count(sum->calls, calls));
	if (sum->ns)
		fprintf(view->out, ", %s: %s a second", rvp_text_duration(sum->ns, time),
			rvp_text_flops(sum->flops * 1e9 / (double)sum->ns, flops));
	fputc('\n', view->out);
}

static void print_steps(const struct rvp_view *view)
{
	char mean[RVP_FLOPS_TEXT_BYTES], low[RVP_FLOPS_TEXT_BYTES], high[RVP_FLOPS_TEXT_BYTES];
	double sum, least, most;
	size_t count = rvp_blas_work_steps(view->work, &sum, &least, &most);

	if (!count)
		return;
	fprintf(view->out, "  %-14s%s mean", "a step", rvp_text_flops(sum / (double)count, mean));
	if (least < most)
		fprintf(view->out, ", %s to %s", rvp_text_flops(least, low), rvp_text_flops(most, high));
	fprintf(view->out, ", of %zu steps that have any\n", count);
}

void rvp_text_work(const struct rvp_view *view)
{
	const struct rvp_blas_work *work = view->work;

	if (!work || !work->all.calls)
		return;
	rvp_text_title(view, "Products of matrices, by calls of a BLAS that were seen");
	if (work->classes[RVP_BLAS_GEMM].calls && work->classes[RVP_BLAS_GEMV].calls)
		print_sum(view, "all", &work->all);
	for (int i = 0; i < RVP_BLAS_CLASSES; i++)
		if (work->classes[i].calls)
			print_sum(view, rvp_blas_class_names[i], &work->classes[i]);
	print_steps(view);
}
