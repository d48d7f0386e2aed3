/* SPDX-License-Identifier: MIT */
/* blas_work.c: see blas_work.h. */
#include "report/blas_work.h"

#include "report/run_source.h"

#include <stdlib.h>

static uint64_t ticks_ns(const struct rvp_run *run, uint32_t process, uint64_t ticks)
{
	const struct rvp_clock_line *line = &run->source->clock.lines[run->processes[process].clock];

	return line->is_guessed ? 0 : (uint64_t)((double)ticks * line->ns_per_tick);
}

static void add(struct rvp_blas_sum *sum, uint64_t count, double flops, uint64_t ns)
{
	sum->calls += count;
	sum->flops += flops;
	sum->ns += ns;
}

static void add_to_step(struct rvp_blas_work *work, uint32_t process, uint64_t begin_ns, double flops)
{
	int64_t number = rvp_step_at(work->steps, begin_ns);

	if (number >= 0 && work->steps->steps[number].process == process &&
	    begin_ns <= work->steps->steps[number].end_ns)
		work->step_flops[number] += flops;
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_blas_work *work = (struct rvp_blas_work *)observer;
	const struct rvp_moment *moment = event->moment;
	const struct rvp_record_BLAS_CALL *call;
	const struct rvp_blas *function;
	uint64_t ns;

	(void)state;
	if (event->kind != RVP_EVENT_RECORD || moment->record->kind != RVP_BLAS_CALL ||
	    moment->process == RVP_NO_PROCESS)
		return;
	call = &moment->record->BLAS_CALL;
	function = rvp_blas_at(call->function);
	if (!function) {
		work->unknown++;
		return;
	}
	ns = ticks_ns(work->run, moment->process, call->ticks);
	add(&work->all, call->count, rvp_blas_flops(call), ns);
	add(&work->classes[function->class], call->count, rvp_blas_flops(call), ns);
	add_to_step(work, moment->process, moment->ns > ns ? moment->ns - ns : 0, rvp_blas_flops(call));
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
}
