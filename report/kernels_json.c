/* SPDX-License-Identifier: MIT */
/* kernels_json.c: see kernels_json.h. */
#include "report/kernels_json.h"

#include "report/kernels_verdict.h"

static const char *const flaw_names[RVP_DEVICE_FLAW_COUNT] = {
    [RVP_DEVICE_FLAW_ZERO_TIME] = "zero_time",
    [RVP_DEVICE_FLAW_BACKWARD] = "backward",
    [RVP_DEVICE_FLAW_UNFINISHED] = "unfinished",
    [RVP_DEVICE_FLAW_OUT_OF_WINDOW] = "out_of_window",
};

static void write_us(struct rvp_json *json, const char *key, uint64_t ns)
{
	rvp_json_decimal(json, key, (double)ns / 1e3, 3);
}

static void write_sum(struct rvp_json *json, const char *key, const struct rvp_kernel_sum *sum,
		      bool has_bytes)
{
	if (!sum->count)
		return;
	rvp_json_open(json, key, '{');
	rvp_json_number(json, "count", sum->count);
	write_us(json, "total_us", sum->ns);
	if (has_bytes)
		rvp_json_number(json, "bytes", sum->bytes);
	rvp_json_close(json, '}');
}

static void write_distribution(struct rvp_json *json, const char *key, struct rvp_distribution *distribution)
{
	if (!distribution->count)
		return;
	rvp_json_open(json, key, '{');
	rvp_json_number(json, "n", distribution->count);
	rvp_json_decimal(json, "mean_ns", rvp_distribution_mean(distribution), 1);
	if (!distribution->no_memory)
		rvp_json_decimal(json, "median_ns", rvp_distribution_median(distribution), 1);
	rvp_json_number(json, "min_ns", distribution->least);
	rvp_json_number(json, "max_ns", distribution->most);
	rvp_json_close(json, '}');
}

static void write_flaws(struct rvp_json *json, const struct rvp_kernels *kernels)
{
	uint64_t sum = 0;

	for (int i = 1; i < RVP_DEVICE_FLAW_COUNT; i++)
		sum += kernels->flaws[i];
	if (!sum)
		return;
	rvp_json_open(json, "flawed", '{');
	rvp_json_number(json, "kernels", kernels->flawed_kernels);
	for (int i = 1; i < RVP_DEVICE_FLAW_COUNT; i++)
		if (kernels->flaws[i])
			rvp_json_number(json, flaw_names[i], kernels->flaws[i]);
	rvp_json_close(json, '}');
}

static void write_clock(struct rvp_json *json, const struct rvp_kernel_clock *clock)
{
	rvp_json_open(json, "clock", '{');
	rvp_json_bool(json, "tied", clock->is_tied);
	rvp_json_number(json, "brackets", clock->brackets);
	if (clock->is_tied)
		write_us(json, "error_us", clock->error_ns);
	if (clock->steps) {
		rvp_json_number(json, "steps", clock->steps);
		rvp_json_decimal(json, "largest_step_us", (double)clock->largest_step_ns / 1e3, 3);
	}
	if (clock->beyond)
		rvp_json_number(json, "beyond_brackets", clock->beyond);
	rvp_json_close(json, '}');
}

static void write_idle(struct rvp_json *json, const struct rvp_kernel_device *device)
{
	rvp_json_open(json, "idle", '{');
	for (int i = 0; i < RVP_IDLE_COUNT; i++)
		if (device->idle_ns[i])
			rvp_json_decimal(json, rvp_idle_names[i], (double)device->idle_ns[i] / 1e3, 3);
	rvp_json_close(json, '}');
}

static void write_device(struct rvp_json *json, const struct rvp_run *run, struct rvp_kernel_device *device)
{
	char name[32];

	snprintf(name, sizeof name, "cuda:%u", device->called);
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "name", name);
	rvp_json_number(json, "pid", run->processes[device->process].pid);
	write_us(json, "span_us", device->last_ns - device->first_ns);
	write_us(json, "busy_us", device->all.ns);
	write_us(json, "kernels_busy_us", device->kernels.ns);
	write_us(json, "copies_busy_us", device->copies.ns);
	write_us(json, "overlap_us", rvp_kernel_overlap_ns(device));
	write_us(json, "exposed_communication_us", rvp_kernel_exposed_comm_ns(device));
	write_us(json, "idle_us", rvp_kernel_device_idle_ns(device));
	write_idle(json, device);
	write_distribution(json, "gaps", &device->gaps);
	if (*rvp_kernel_bound(device))
		rvp_json_string(json, "bound", rvp_kernel_bound(device));
	rvp_json_close(json, '}');
}

static void write_overheads(struct rvp_json *json, const struct rvp_kernels *kernels)
{
	if (!kernels->records[RVP_DEVICE_OVERHEAD])
		return;
	rvp_json_open(json, "tracer_overhead_us", '{');
	for (uint32_t i = 0; i < RVP_OVERHEADS; i++)
		if (kernels->overheads[i].count)
			write_us(json, rvp_overhead_name(i < 2 ? i : (i - 1) << 16),
				 kernels->overheads[i].ns);
	rvp_json_close(json, '}');
}

const char *rvp_kernels_step_by(const struct rvp_kernels *kernels)
{
	if (kernels->step_by_launch && kernels->step_by_time)
		return "launch and time";
	if (kernels->step_by_launch)
		return "launch";
	return kernels->step_by_time ? "time" : "none";
}

static void write_joins(struct rvp_json *json, const struct rvp_kernels *kernels)
{
	if (kernels->step_count) {
		rvp_json_string(json, "step_by", rvp_kernels_step_by(kernels));
		rvp_json_number(json, "step_by_launch", kernels->step_by_launch);
		rvp_json_number(json, "step_by_time", kernels->step_by_time);
		if (kernels->in_other_steps)
			rvp_json_number(json, "in_steps_of_other_processes", kernels->in_other_steps);
	}
	rvp_json_number(json, "without_launch", kernels->without_launch);
	rvp_json_number(json, "without_call_path", kernels->without_path);
	if (kernels->clock_conflicts)
		rvp_json_number(json, "started_before_launch", kernels->clock_conflicts);
	if (kernels->launches.count) {
		rvp_json_open(json, "launches", '{');
		rvp_json_number(json, "recorded", kernels->launches.count);
		rvp_json_number(json, "stand_for", kernels->launches_meant);
		write_us(json, "host_us", kernels->launches.ns);
		rvp_json_close(json, '}');
	}
}

static void write_classes(struct rvp_json *json, const struct rvp_kernels *kernels)
{
	rvp_json_open(json, "by_class", '{');
	for (int i = 0; i < RVP_KERNEL_CLASS_COUNT; i++)
		write_sum(json, rvp_kernel_class_names[i], &kernels->by_class[i], false);
	rvp_json_close(json, '}');
}

void rvp_kernels_write_summary(struct rvp_json *json, const struct rvp_run *run, struct rvp_kernels *kernels)
{
	if (!kernels->has_device)
		return;
	rvp_json_open(json, "kernels", '{');
	rvp_json_number(json, "count", kernels->kernels.count);
	write_us(json, "total_us", kernels->kernels.ns);
	if (kernels->csv_cut_rows) {
		rvp_json_number(json, "csv_rows", kernels->csv_rows);
		rvp_json_number(json, "csv_cut_rows", kernels->csv_cut_rows);
	}
	write_sum(json, "copies", &kernels->copies, true);
	write_sum(json, "memsets", &kernels->sets, true);
	write_sum(json, "graph_runs", &kernels->graph_runs, false);
	write_sum(json, "host_waits", &kernels->syncs, false);
	write_sum(json, "calls", &kernels->calls, false);
	write_classes(json, kernels);
	write_joins(json, kernels);
	write_distribution(json, "launch_latency", &kernels->latency);
	write_distribution(json, "queued", &kernels->queued);
	write_distribution(json, "submitted", &kernels->submitted);
	rvp_json_open(json, "devices", '[');
	for (size_t i = 0; i < kernels->device_count; i++)
		write_device(json, run, &kernels->devices[i]);
	rvp_json_close(json, ']');
	write_overheads(json, kernels);
	write_flaws(json, kernels);
	write_clock(json, &kernels->clock);
	rvp_json_close(json, '}');
}
