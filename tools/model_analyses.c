/* SPDX-License-Identifier: MIT */
/* model_analyses.c: `rvprof model --scaling`, `--batch-sizes`, `--operations`: TinyTorch's three studies,
 * measured here.
 *
 * What is put right: rates are of the whole batch; the three operations are really run, each its own; what
 * bounds one is found by the machine's limits and not written down beforehand. `gflops_original` is one
 * sample's FLOPs by the batch's time, as the original has it.
 */
#include "tools/model.h"

#include "model/roofline.h"
#include "tools/model_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { ROWS_MAX = 8, FEATURES = 256, BATCH = 32 };

struct row {
	const char *name;
	uint64_t size; /* or the batch */
	struct rvp_forward forward;
	double operations; /* of the batch, elementwise ones too */
	struct rvp_roof roof;
};

struct study {
	struct row rows[ROWS_MAX];
	unsigned count;
	struct rvp_machine machine;
	bool has_machine;
};

static struct rvp_status add_row(struct study *study, const struct rvp_model_wish *wish, const char *name,
				 uint64_t size, const char *spec, const char *input)
{
	struct row *row = &study->rows[study->count];
	struct rvp_measured measured = {0};
	struct rvp_profile_base base;
	struct rvp_network network;
	struct rvp_status status = rvp_network_open(&network, spec, input);

	if (rvp_failed(status))
		return status;
	status = rvp_measure(&network, wish->measure, &measured);
	if (!rvp_failed(status)) {
		base = rvp_profile_base_of(&network, 4);
		base.latency_ms = measured.latency_ms;
		*row = (struct row){.name = name, .size = size, .forward = rvp_forward_of(&base)};
		row->operations = ((double)network.total.flops + (double)network.total.elementwise_flops) *
				  (double)base.batch;
		if (study->has_machine)
			row->roof = rvp_roof_of(&study->machine, row->operations,
						4 * (double)network.total.moved_values, measured.latency_ms);
		study->count++;
		rvp_measured_free(&measured);
	}
	rvp_network_close(&network);
	return status;
}

static double rate(const struct row *row)
{
	return row->operations / 1e6 / fmax(row->forward.latency_ms, 1e-3);
}

static void open_rows(struct rvp_figures *figures, const struct rvp_model_wish *wish, const char *analysis)
{
	rvp_figures_open(figures, wish->is_json, "rvprof.model/1");
	if (!wish->is_json)
		return;
	rvp_json_string(&figures->json, "analysis", analysis);
	rvp_json_open(&figures->json, "rows", '[');
}

/* The closing words follow the rows. */
static void close_rows(struct rvp_figures *figures)
{
	if (figures->is_json) {
		rvp_json_close(&figures->json, ']');
		rvp_json_open(&figures->json, "insights", '[');
	} else {
		putchar('\n');
	}
}

static void say(struct rvp_figures *figures, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct rvp_figures *figures, const char *format, ...)
{
	char line[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (figures->is_json)
		rvp_json_string(&figures->json, NULL, line);
	else
		puts(line);
}

static void end(struct rvp_figures *figures)
{
	if (figures->is_json)
		rvp_json_close(&figures->json, ']');
	rvp_figures_close(figures);
}

/* ---- sizes ---- */

static void tell_size(struct rvp_figures *figures, const struct row *row)
{
	const struct rvp_forward *forward = &row->forward;
	struct rvp_json *json = &figures->json;

	if (!figures->is_json) {
		printf("%-6" PRIu64 " %10" PRIu64 " %10" PRIu64 " %12.4f %11.2f %9.2f\n", row->size,
		       forward->parameters, forward->flops, forward->latency_ms, forward->peak_memory_mb,
		       forward->rates.gflops_per_second);
		return;
	}
	rvp_json_open(json, NULL, '{');
	rvp_json_number(json, "size", row->size);
	rvp_json_number(json, "parameters", forward->parameters);
	rvp_json_number(json, "flops", forward->flops);
	rvp_json_number(json, "batch_flops", forward->batch_flops);
	rvp_json_double(json, "latency_ms", forward->latency_ms);
	rvp_json_double(json, "memory_mb", forward->peak_memory_mb);
	rvp_json_double(json, "gflops_per_second", forward->rates.gflops_per_second);
	rvp_json_double(json, "gflops_per_second_original", forward->original.gflops_per_second);
	rvp_json_close(json, '}');
}

/* The average against 10 GFLOP/s is the original's measure; the machine's own limits say more. */
static void close_sizes(struct rvp_figures *figures, const struct study *study)
{
	const struct rvp_forward *first = &study->rows[0].forward,
				 *last = &study->rows[study->count - 1].forward;
	double mean = 0;

	for (unsigned i = 0; i < study->count; i++)
		mean += study->rows[i].forward.rates.gflops_per_second / study->count;
	say(figures, "Memory grows %.1fx from %" PRIu64 " to %" PRIu64 " size",
	    last->peak_memory_mb / fmax(first->peak_memory_mb, 0.001), study->rows[0].size,
	    study->rows[study->count - 1].size);
	say(figures, "Compute efficiency changes %.1fx with size",
	    last->rates.gflops_per_second / fmax(first->rates.gflops_per_second, 0.001));
	say(figures,
	    mean < 10
		? "Low compute efficiency suggests memory-bound workload (%.2f GFLOP/s on average, below 10)"
		: "High compute efficiency suggests compute-bound workload (%.2f GFLOP/s on average)",
	    mean);
	if (study->has_machine)
		say(figures,
		    "By this machine's limits the largest is %s-bound, at %.1f %% of what it could reach",
		    study->rows[study->count - 1].roof.is_memory_bound ? "memory" : "compute",
		    100 * study->rows[study->count - 1].roof.share_of_attainable);
}

static struct rvp_status study_sizes(struct study *study, const struct rvp_model_wish *wish)
{
	static const unsigned sizes[] = {64, 128, 256, 512};
	struct rvp_figures figures;

	for (unsigned i = 0; i < 4; i++) {
		char spec[32], input[32];
		struct rvp_status status;

		snprintf(spec, sizeof spec, "linear(%u,%u)", sizes[i], sizes[i]);
		snprintf(input, sizeof input, "%dx%u", BATCH, sizes[i]);
		status = add_row(study, wish, spec, sizes[i], spec, input);
		if (rvp_failed(status))
			return status;
	}
	open_rows(&figures, wish, "scaling");
	if (!wish->is_json)
		printf("Linear(size, size), batch %d\n%-6s %10s %10s %12s %11s %9s\n", BATCH, "size",
		       "params", "FLOPs", "latency(ms)", "memory(MB)", "GFLOP/s");
	for (unsigned i = 0; i < study->count; i++)
		tell_size(&figures, &study->rows[i]);
	close_rows(&figures);
	close_sizes(&figures, study);
	end(&figures);
	return RVP_OK;
}

/* ---- batches ---- */

static double throughput(const struct row *row)
{
	return (double)row->size * 1000 / fmax(row->forward.latency_ms, 1e-3);
}

static void tell_batch(struct rvp_figures *figures, const struct row *row)
{
	double memory_mb = row->forward.peak_memory_mb, each = throughput(row) / fmax(memory_mb, 0.001);
	struct rvp_json *json = &figures->json;

	if (!figures->is_json) {
		printf("%-6" PRIu64 " %12.4f %23.0f %11.2f %18.1f\n", row->size, row->forward.latency_ms,
		       throughput(row), memory_mb, each);
		return;
	}
	rvp_json_open(json, NULL, '{');
	rvp_json_number(json, "batch", row->size);
	rvp_json_double(json, "latency_ms", row->forward.latency_ms);
	rvp_json_double(json, "throughput_samples_per_second", throughput(row));
	rvp_json_double(json, "memory_mb", memory_mb);
	rvp_json_double(json, "samples_per_second_per_mb", each);
	rvp_json_close(json, '}');
}

static struct rvp_status study_batches(struct study *study, const struct rvp_model_wish *wish)
{
	static const unsigned batches[] = {1, 8, 32, 128};
	const struct row *first = &study->rows[0], *last = &study->rows[3];
	struct rvp_figures figures;

	for (unsigned i = 0; i < 4; i++) {
		char input[32];
		struct rvp_status status;

		snprintf(input, sizeof input, "%ux%d", batches[i], FEATURES);
		status = add_row(study, wish, "batch", batches[i], "linear(256,256)", input);
		if (rvp_failed(status))
			return status;
	}
	open_rows(&figures, wish, "batch_sizes");
	if (!wish->is_json)
		printf("Linear(%d, %d)\n%-6s %12s %23s %11s %18s\n", FEATURES, FEATURES, "batch",
		       "latency(ms)", "throughput(samples/s)", "memory(MB)", "samples/s a MB");
	for (unsigned i = 0; i < study->count; i++)
		tell_batch(&figures, &study->rows[i]);
	close_rows(&figures);
	say(&figures, "Larger batches typically improve throughput but increase memory usage");
	say(&figures, "Here: throughput %.1fx and memory %.1fx from batch 1 to 128",
	    throughput(last) / throughput(first),
	    last->forward.peak_memory_mb / first->forward.peak_memory_mb);
	end(&figures);
	return RVP_OK;
}

/* ---- operations ---- */

static const char *focus(const struct row *row)
{
	return row->roof.is_memory_bound ? "data_locality" : "algorithms";
}

static void tell_operation(struct rvp_figures *figures, const struct row *row)
{
	const char *bound = row->roof.is_memory_bound ? "memory-bound" : "compute-bound";
	struct rvp_json *json = &figures->json;

	if (!figures->is_json) {
		printf("%-16s %12.5f %9.2f %9.3g  %-16s %s\n", row->name, row->forward.latency_ms, rate(row),
		       row->roof.intensity, bound, focus(row));
		return;
	}
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "operation", row->name);
	rvp_json_double(json, "latency_ms", row->forward.latency_ms);
	rvp_json_double(json, "batch_flops", row->operations);
	rvp_json_double(json, "gflops_per_second", rate(row));
	rvp_json_double(json, "intensity_flops_per_byte", row->roof.intensity);
	rvp_json_string(json, "efficiency_class", bound);
	rvp_json_string(json, "optimization_focus", focus(row));
	rvp_json_close(json, '}');
}

static void close_operations(struct rvp_figures *figures, const struct study *study)
{
	const struct row *best = study->rows, *worst = study->rows;
	unsigned memory_bound = 0;

	for (unsigned i = 0; i < study->count; i++) {
		best = rate(&study->rows[i]) > rate(best) ? &study->rows[i] : best;
		worst = rate(&study->rows[i]) < rate(worst) ? &study->rows[i] : worst;
		memory_bound += study->rows[i].roof.is_memory_bound;
	}
	say(figures, "Most efficient: %s (%.2f GFLOP/s)", best->name, rate(best));
	say(figures, "Least efficient: %s (%.2f GFLOP/s)", worst->name, rate(worst));
	say(figures, 2 * memory_bound > study->count
			 ? "Focus on memory optimization: data locality, bandwidth, caching"
			 : "Focus on compute optimization: better algorithms, vectorization");
	say(figures, "Each is placed by this machine's %.1f GFLOP/s and %.1f GB/s",
	    study->machine.flops_per_s / 1e9, study->machine.bytes_per_s / 1e9);
}

static struct rvp_status study_operations(struct study *study, const struct rvp_model_wish *wish)
{
	static const struct {
		const char *name, *spec;
	} operations[] = {
	    {"Elementwise", "add"}, {"Matrix Multiply", "linear(256,256,bias=0)"}, {"Reduction", "sum"}};
	struct rvp_figures figures;
	struct rvp_status status = RVP_OK;

	if (!study->has_machine)
		status = rvp_machine_measure(&study->machine, true);
	study->has_machine = true;
	for (unsigned i = 0; !rvp_failed(status) && i < 3; i++)
		status = add_row(study, wish, operations[i].name, 0, operations[i].spec, "32x256");
	if (rvp_failed(status))
		return status;
	open_rows(&figures, wish, "operations");
	if (!wish->is_json)
		printf("input 32x256\n%-16s %12s %9s %9s  %-16s %s\n", "operation", "latency(ms)", "GFLOP/s",
		       "FLOPs/B", "efficiency class", "optimization focus");
	for (unsigned i = 0; i < study->count; i++)
		tell_operation(&figures, &study->rows[i]);
	close_rows(&figures);
	close_operations(&figures, study);
	end(&figures);
	return RVP_OK;
}

struct rvp_status rvp_model_analyse(struct rvp_model_wish *wish)
{
	struct study study = {.count = 0};

	study.has_machine = rvp_model_machine(wish, &study.machine);
	switch (wish->analysis) {
	case RVP_ANALYSIS_SCALING: return study_sizes(&study, wish);
	case RVP_ANALYSIS_BATCH_SIZES: return study_batches(&study, wish);
	default: return study_operations(&study, wish);
	}
}
