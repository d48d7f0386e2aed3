/* SPDX-License-Identifier: MIT */
/* measure.c: see measure.h. */
#include "model/measure.h"

#include "model/profile.h"
#include "record/clock_ns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { LAYER_WARMUP = 3, LAYER_RUNS = 10 };

static double run_ms(struct rvp_runner *runner)
{
	uint64_t begin_ns = rvp_clock_ns(CLOCK_MONOTONIC);

	rvp_runner_run(runner);
	return (double)(rvp_clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e6;
}

static void sum_up(struct rvp_measured *measured, double *times_ms, unsigned count)
{
	double mean = 0, squares = 0;

	for (unsigned i = 0; i < count; i++)
		mean += times_ms[i] / count;
	for (unsigned i = 0; i < count; i++)
		squares += (times_ms[i] - mean) * (times_ms[i] - mean);
	measured->latency_ms = rvp_median(times_ms, count);
	measured->least_ms = count ? times_ms[0] : NAN;
	measured->most_ms = count ? times_ms[count - 1] : NAN;
	measured->std_ms = count ? sqrt(squares / count) : NAN;
}

static bool time_whole(struct rvp_runner *runner, struct rvp_measure_wish wish, struct rvp_measured *measured)
{
	double *times_ms = calloc(wish.iterations + 1, sizeof *times_ms);

	if (!times_ms)
		return false;
	for (unsigned i = 0; i < wish.warmup; i++)
		rvp_runner_run(runner);
	for (unsigned i = 0; i < wish.iterations; i++)
		times_ms[i] = run_ms(runner);
	sum_up(measured, times_ms, wish.iterations);
	free(times_ms);
	return true;
}

/* times[layer][run]. */
static bool time_layers(struct rvp_runner *runner, struct rvp_measured *measured)
{
	size_t count = runner->network->count;
	double(*times_ms)[LAYER_RUNS] = calloc(count, sizeof *times_ms);

	runner->layer_ns = calloc(count, sizeof *runner->layer_ns);
	measured->layer_ms = calloc(count, sizeof *measured->layer_ms);
	if (times_ms && runner->layer_ns && measured->layer_ms) {
		for (int run = -LAYER_WARMUP; run < LAYER_RUNS; run++) {
			rvp_runner_run(runner);
			for (size_t i = 0; run >= 0 && i < count; i++)
				times_ms[i][run] = (double)runner->layer_ns[i] / 1e6;
		}
		for (size_t i = 0; i < count; i++)
			measured->layer_ms[i] = rvp_median(times_ms[i], LAYER_RUNS);
	}
	free(times_ms);
	free(runner->layer_ns);
	runner->layer_ns = NULL;
	return measured->layer_ms != NULL;
}

struct rvp_status rvp_measure(const struct rvp_network *network, struct rvp_measure_wish wish,
			      struct rvp_measured *measured)
{
	struct rvp_blas blas;
	struct rvp_runner runner;
	struct rvp_status status = rvp_blas_open(&blas);

	*measured = (struct rvp_measured){.latency_ms = NAN};
	if (rvp_failed(status))
		return status;
	if (wish.threads)
		blas.set_threads(wish.threads);
	measured->threads = blas.threads();
	status = rvp_runner_open(&runner, network, &blas);
	if (!rvp_failed(status)) {
		if (!time_whole(&runner, wish, measured) || !time_layers(&runner, measured))
			status = rvp_fail("run", "the model", ENOMEM);
		rvp_runner_close(&runner);
	}
	rvp_blas_close(&blas);
	if (rvp_failed(status))
		rvp_measured_free(measured);
	return status;
}

void rvp_measured_free(struct rvp_measured *measured)
{
	free(measured->layer_ms);
	measured->layer_ms = NULL;
}
