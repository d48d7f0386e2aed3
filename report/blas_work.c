/* SPDX-License-Identifier: MIT */
/* blas_work.c: see blas_work.h. */
#include "report/blas_work.h"

#include "report/run_source.h"

#include <math.h>
#include <stdlib.h>

/* False: the pace of its clock is not known. */
static bool ticks_ns(const struct rvp_run *run, uint32_t process, uint64_t ticks, uint64_t *ns)
{
	const struct rvp_clock_line *line = &run->source->clock.lines[run->processes[process].clock];

	*ns = line->is_guessed ? 0 : (uint64_t)((double)ticks * line->ns_per_tick);
	return !line->is_guessed;
}

static struct rvp_blas_sum sum_of(const struct rvp_blas_work *work, const struct rvp_record_BLAS_CALL *call,
				  enum rvp_blas_type type)
{
	const struct rvp_blas_limits *limits = &work->limits[type];
	struct rvp_blas_sum sum = {.calls = call->count,
				   .flops = rvp_blas_flops(call),
				   .least_bytes = rvp_blas_least_bytes(call)};

	if (limits->flops_per_s > 0 && limits->bytes_per_s > 0)
		sum.least_s = fmax(sum.flops / limits->flops_per_s, sum.least_bytes / limits->bytes_per_s);
	return sum;
}

void rvp_blas_sum_add(struct rvp_blas_sum *to, const struct rvp_blas_sum *sum)
{
	to->calls += sum->calls;
	to->ns += sum->ns;
	to->untimed_calls += sum->untimed_calls;
	to->flops += sum->flops;
	to->least_bytes += sum->least_bytes;
	to->least_s += sum->least_s;
}

static void add_to_step(struct rvp_blas_work *work, uint32_t process, uint64_t begin_ns, enum rvp_blas_type type,
			const struct rvp_blas_sum *sum)
{
	int64_t number = rvp_step_at(work->steps, begin_ns);
	const struct rvp_step *step = number >= 0 ? &work->steps->steps[number] : NULL;

	if (!step || step->process != process || begin_ns > step->end_ns)
		return;
	work->step_flops[number] += sum->flops;
	rvp_blas_sum_add(&work->in_steps[step->phase][type], sum);
}

static void add(struct rvp_blas_work *work, const struct rvp_blas *function, const struct rvp_moment *moment)
{
	const struct rvp_record_BLAS_CALL *call = &moment->record->BLAS_CALL;
	enum rvp_blas_type type = rvp_blas_type_of(function);
	struct rvp_blas_sum sum = sum_of(work, call, type);
	uint64_t begin_ns;

	sum.untimed_calls = ticks_ns(work->run, moment->process, call->ticks, &sum.ns) ? 0 : call->count;
	begin_ns = moment->ns > sum.ns ? moment->ns - sum.ns : 0;
	rvp_blas_sum_add(&work->all, &sum);
	rvp_blas_sum_add(&work->classes[function->class], &sum);
	rvp_blas_sum_add(&work->types[function->class][type], &sum);
	rvp_covered_add(&work->covered[function->class][type], begin_ns, moment->ns);
	add_to_step(work, moment->process, begin_ns, type, &sum);
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_blas_work *work = (struct rvp_blas_work *)observer;
	const struct rvp_moment *moment = event->moment;
	const struct rvp_blas *function;

	(void)state;
	if (event->kind != RVP_EVENT_RECORD || moment->record->kind != RVP_BLAS_CALL ||
	    moment->process == RVP_NO_PROCESS)
		return;
	function = rvp_blas_at(moment->record->BLAS_CALL.function);
	if (function)
		add(work, function, moment);
	else
		work->unknown++;
}

static bool minds(struct rvp_observer *observer, uint32_t process)
{
	(void)observer, (void)process;
	return false;
}

bool rvp_blas_work_open(struct rvp_blas_work *work, const struct rvp_run *run, const struct rvp_steps *steps)
{
	*work = (struct rvp_blas_work){.observer = {.see = see, .minds = minds}, .run = run, .steps = steps};
	work->step_flops = calloc(steps->count + 1, sizeof *work->step_flops);
	return work->step_flops != NULL;
}

size_t rvp_blas_work_steps(const struct rvp_blas_work *work, double *sum, double *least, double *most)
{
	size_t count = 0;

	*sum = *least = *most = 0;
	for (size_t i = 0; i < work->steps->count; i++) {
		double flops = work->step_flops[i];

		if (!(flops > 0))
			continue;
		*sum += flops;
		*least = count && *least < flops ? *least : flops;
		*most = *most > flops ? *most : flops;
		count++;
	}
	return count;
}

static void write_sum(struct rvp_json *json, const struct rvp_blas_sum *sum)
{
	rvp_json_decimal(json, "flops", sum->flops, 0);
	rvp_json_number(json, "calls", sum->calls);
	if (sum->ns)
		rvp_json_decimal(json, "time_us", (double)sum->ns / 1e3, 3);
}

static void write_classes(struct rvp_json *json, const struct rvp_blas_work *work)
{
	rvp_json_open(json, "classes", '{');
	for (int i = 0; i < RVP_BLAS_CLASSES; i++) {
		if (!work->classes[i].calls)
			continue;
		rvp_json_open(json, rvp_blas_class_names[i], '{');
		write_sum(json, &work->classes[i]);
		rvp_json_decimal(json, "share",
				 work->all.flops > 0 ? work->classes[i].flops / work->all.flops : 0, 6);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, '}');
}

void rvp_blas_work_write_json(struct rvp_json *json, const struct rvp_blas_work *work)
{
	double sum, least, most;
	size_t count = rvp_blas_work_steps(work, &sum, &least, &most);

	if (!work->all.calls)
		return;
	rvp_json_open(json, "work", '{');
	write_sum(json, &work->all);
	write_classes(json, work);
	if (count) {
		rvp_json_open(json, "steps", '{');
		rvp_json_number(json, "count", count);
		rvp_json_decimal(json, "mean_flops", sum / (double)count, 0);
		rvp_json_decimal(json, "min_flops", least, 0);
		rvp_json_decimal(json, "max_flops", most, 0);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, '}');
}

void rvp_blas_work_close(struct rvp_blas_work *work)
{
	free(work->step_flops);
	work->step_flops = NULL;
	for (int class = 0; class < RVP_BLAS_CLASSES; class++)
		for (int type = 0; type < RVP_BLAS_TYPES; type++)
			rvp_covered_free(&work->covered[class][type]);
}
