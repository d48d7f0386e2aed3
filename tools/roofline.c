/* SPDX-License-Identifier: MIT */
/* roofline.c: see roofline.h. */
#include "tools/roofline.h"

#include "report/kernel_class.h"
#include "report/latency_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one row ---- */

double rvp_roofline_peak(const struct rvp_machine *machine, enum rvp_blas_type type)
{
	return type == RVP_BLAS_F32 ? machine->flops_per_s : type == RVP_BLAS_F64 ? machine->f64_flops_per_s : 0;
}

struct rvp_roofline_figures rvp_roofline_of(const struct rvp_roofline_work *work, const struct rvp_machine *limits)
{
	struct rvp_roofline_figures figures = {NAN, NAN, NAN, NAN, NAN, NAN, false, false};
	struct rvp_machine machine;
	struct rvp_roof roof;

	if (isnan(work->flops))
		return figures;
	if (work->ns)
		figures.flops_per_s = work->flops / ((double)work->ns / 1e9);
	if (!(work->bytes > 0))
		return figures;
	figures.intensity = work->flops / work->bytes;
	if (!limits || !(rvp_roofline_peak(limits, work->type) > 0))
		return figures;
	machine = *limits;
	machine.flops_per_s = rvp_roofline_peak(limits, work->type);
	roof = rvp_roof_of(&machine, work->flops, work->bytes, work->ns ? (double)work->ns / 1e6 : NAN);
	figures.attainable_flops_per_s = roof.attainable_flops_per_s;
	figures.share_of_peak = roof.share_of_peak;
	figures.is_memory_bound = roof.is_memory_bound;
	figures.has_bound = true;
	/* Call by call: a product that computes does not make up for one that waits for memory. */
	figures.least_ms = work->least_s > 0 ? work->least_s * 1e3 : roof.least_ms;
	if (work->ns)
		figures.share_of_attainable = figures.least_ms / ((double)work->ns / 1e6);
	return figures;
}

/* ---- limits ---- */

static void say_why(struct rvp_roofline *roofline, const struct rvp_process *process)
{
	struct rvp_machine here;

	rvp_machine_name(&here);
	if (!*process->cpu || !process->cpu_count)
		snprintf(roofline->why_no_limits, sizeof roofline->why_no_limits, "the run does not say what machine it ran on");
	else if (!strcmp(here.processor, roofline->machine.processor) && here.threads == process->cpu_count)
		snprintf(roofline->why_no_limits, sizeof roofline->why_no_limits, "not calibrated here: rvprof calibrate");
	else
		snprintf(roofline->why_no_limits, sizeof roofline->why_no_limits,
			 "not calibrated where the run was made (%s, %" PRIu64 " processors): rvprof calibrate there",
			 roofline->machine.processor, process->cpu_count);
}

/* Several machines in one run have no limits in common. */
static bool is_of_several(const struct rvp_run *run)
{
	for (size_t i = 1; i < run->process_count; i++)
		if (run->processes[i].folder && run->processes[0].folder &&
		    (strcmp(run->processes[i].cpu, run->processes[0].cpu) != 0 ||
		     strcmp(run->processes[i].host, run->processes[0].host) != 0))
			return true;
	return false;
}

void rvp_roofline_find_limits(struct rvp_roofline *roofline, const struct rvp_run *run)
{
	const struct rvp_process *process = &run->processes[0];
	struct rvp_machine *machine = &roofline->machine;

	*machine = (struct rvp_machine){.others_percent = NAN};
	if (is_of_several(run)) {
		snprintf(roofline->why_no_limits, sizeof roofline->why_no_limits, "the run is of several machines");
		return;
	}
	snprintf(machine->processor, sizeof machine->processor, "%s", process->cpu);
	machine->threads = (unsigned)process->cpu_count;
	roofline->has_limits = *process->cpu && machine->threads && rvp_machine_load_named(machine);
	if (!roofline->has_limits)
		say_why(roofline, process);
}

/* ---- rows ---- */

static void put(struct rvp_roofline *roofline, enum rvp_roofline_group group, const char *name,
		const struct rvp_roofline_work *work)
{
	struct rvp_roofline_row *row = &roofline->rows[roofline->count++];

	*row = (struct rvp_roofline_row){.group = group, .work = *work};
	snprintf(row->name, sizeof row->name, "%s", name);
	row->figures = rvp_roofline_of(work, roofline->has_limits ? &roofline->machine : NULL);
}

/* Steps with products in them: those outside of windows had none that were seen. */
static void count_steps(const struct rvp_steps *steps, const struct rvp_blas_work *work, int phase,
			struct rvp_roofline_work *to)
{
	for (size_t i = 0; i < steps->count; i++) {
		const struct rvp_step *step = &steps->steps[i];

		if (!(work->step_flops[i] > 0) || (phase >= 0 && step->phase != (uint32_t)phase))
			continue;
		to->count++;
		to->ns += step->end_ns - step->begin_ns;
	}
}

static void add_products(const struct rvp_blas_sum *types, struct rvp_blas_sum *all, enum rvp_blas_type *of)
{
	for (int type = 0; type < RVP_BLAS_TYPES; type++) {
		if (types[type].calls)
			*of = all->calls && *of != (enum rvp_blas_type)type ? RVP_BLAS_TYPES : (enum rvp_blas_type)type;
		rvp_blas_sum_add(all, &types[type]);
	}
}

/* `phase` -1: all. */
static void put_steps(struct rvp_roofline *roofline, const struct rvp_steps *steps, const struct rvp_blas_work *blas,
		      int phase, const char *name)
{
	struct rvp_roofline_work work = {.type = RVP_BLAS_TYPES};
	struct rvp_blas_sum sum = {0};

	count_steps(steps, blas, phase, &work);
	if (!work.count)
		return;
	for (int i = 0; i < RVP_STEP_PHASE_COUNT; i++)
		if (phase < 0 || i == phase)
			add_products(blas->in_steps[i], &sum, &work.type);
	work.flops = sum.flops;
	work.bytes = sum.least_bytes;
	work.least_s = sum.least_s;
	put(roofline, RVP_ROOFLINE_STEPS, name, &work);
}

static void put_products(struct rvp_roofline *roofline, const struct rvp_blas_work *blas, int class, int type)
{
	const struct rvp_blas_sum *sum = &blas->types[class][type];
	struct rvp_roofline_work work = {.count = sum->calls,
					 .ns = sum->untimed_calls ? 0 : rvp_covered_ns(&blas->covered[class][type]),
					 .flops = sum->flops,
					 .bytes = sum->least_bytes,
					 .least_s = sum->least_s,
					 .type = (enum rvp_blas_type)type};
	char name[32];

	if (!sum->calls)
		return;
	snprintf(name, sizeof name, "%s %s", rvp_blas_class_names[class], rvp_blas_type_names[type]);
	roofline->has_cut_times |= blas->covered[class][type].cut_count > 0;
	put(roofline, RVP_ROOFLINE_CALLS, name, &work);
}

void rvp_roofline_fill(struct rvp_roofline *roofline, const struct rvp_steps *steps, const struct rvp_blas_work *work,
		       const struct rvp_kernels *kernels)
{
	put_steps(roofline, steps, work, -1, "all");
	for (int phase = RVP_STEP_PHASE_NONE + 1; phase < RVP_STEP_PHASE_COUNT; phase++)
		put_steps(roofline, steps, work, phase, rvp_step_phase_texts[phase]);
	for (int class = 0; class < RVP_BLAS_CLASSES; class++)
		for (int type = 0; type < RVP_BLAS_TYPES; type++)
			put_products(roofline, work, class, type);
	for (int class = 0; kernels && class < RVP_KERNEL_CLASS_COUNT; class++)
		if (kernels->by_class[class].count)
			put(roofline, RVP_ROOFLINE_KERNELS, rvp_kernel_class_names[class],
			    &(struct rvp_roofline_work){.count = kernels->by_class[class].count,
							.ns = kernels->by_class[class].ns,
							.flops = NAN,
							.bytes = NAN});
}
