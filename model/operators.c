/* SPDX-License-Identifier: MIT */
/* operators.c: running and timing operators: see operators.h. */
#include "model/operators.h"

#include "model/exact.h"
#include "model/runner.h"
#include "record/clock_ns.h"

#include <pthread.h>
#include <string.h>

bool rvp_operators_compute(const struct rvp_operator *operators, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t layer = 0; layer < operators[i].network.count; layer++)
			if (operators[i].network.layers[layer].kind != RVP_LAYER_IDENTITY)
				return true;
	return false;
}

uint64_t rvp_operators_workspace(const struct rvp_operator *operators, size_t count)
{
	uint64_t values = 0;

	for (size_t i = 0; i < count; i++)
		values = rvp_plus(values, operators[i].network.total.workspace_values);
	return rvp_times(4, values);
}

/* ---- streams ---- */

struct group {
	const struct rvp_operator *operators;
	struct rvp_runner runners[RVP_GROUP_MAX];
	size_t count;
	pthread_barrier_t together;
	bool is_over;
};

struct stream {
	struct group *group;
	int number;
	pthread_t thread;
};

static void run_stream(struct group *group, int number)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->operators[i].stream == number)
			rvp_runner_run(&group->runners[i]);
}

/* Between two meetings a round. */
static void *serve(void *argument)
{
	struct stream *stream = argument;

	for (;;) {
		pthread_barrier_wait(&stream->group->together);
		if (stream->group->is_over)
			return NULL;
		run_stream(stream->group, stream->number);
		pthread_barrier_wait(&stream->group->together);
	}
}

/* The numbers that there are, each once. */
static size_t find_streams(struct group *group, struct stream *streams)
{
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++) {
		size_t at = 0;

		while (at < count && streams[at].number != group->operators[i].stream)
			at++;
		if (at == count)
			streams[count++] =
			    (struct stream){.group = group, .number = group->operators[i].stream};
	}
	return count;
}

static void run_once(struct group *group, const struct stream *streams, size_t stream_count)
{
	if (stream_count > 1)
		pthread_barrier_wait(&group->together);
	run_stream(group, streams[0].number);
	if (stream_count > 1)
		pthread_barrier_wait(&group->together);
}

static void time_group(struct group *group, const struct stream *streams, size_t stream_count,
		       struct rvp_op_wish wish, struct rvp_op_result *result)
{
	for (unsigned i = 0; i < wish.warmup; i++)
		run_once(group, streams, stream_count);
	for (unsigned turn = 0; turn < wish.repeat; turn++) {
		uint64_t begin_ns = rvp_clock_ns(CLOCK_MONOTONIC);

		for (unsigned i = 0; i < wish.number; i++)
			run_once(group, streams, stream_count);
		result->latency_us[turn] =
		    (double)(rvp_clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1000 / wish.number;
	}
	result->count = wish.repeat;
}

/* The first stream is this thread's own. */
static struct rvp_status run_group(struct group *group, struct rvp_op_wish wish, struct rvp_op_result *result)
{
	struct stream streams[RVP_GROUP_MAX];
	size_t count = find_streams(group, streams);

	if (count > 1 && pthread_barrier_init(&group->together, NULL, (unsigned)count) != 0)
		return rvp_fail_with("run", "the streams", "no barrier could be made");
	for (size_t i = 1; i < count; i++)
		if (pthread_create(&streams[i].thread, NULL, serve, &streams[i]) != 0)
			return rvp_fail_with("run", "the streams", "thread %zu of %zu could not be made",
					     i + 1, count);
	time_group(group, streams, count, wish, result);
	if (count > 1) {
		group->is_over = true;
		pthread_barrier_wait(&group->together);
		for (size_t i = 1; i < count; i++)
			pthread_join(streams[i].thread, NULL);
		pthread_barrier_destroy(&group->together);
	}
	return RVP_OK;
}

static struct rvp_status measure(struct group *group, struct rvp_op_wish wish, struct rvp_op_result *result)
{
	struct rvp_blas blas;
	struct rvp_status status = rvp_blas_open(&blas);
	size_t open = 0;

	if (rvp_failed(status))
		return status;
	if (wish.threads)
		blas.set_threads(wish.threads);
	while (open < group->count && !rvp_failed(status)) {
		status = rvp_runner_open(&group->runners[open], &group->operators[open].network, &blas);
		open += !rvp_failed(status);
	}
	if (!rvp_failed(status))
		status = run_group(group, wish, result);
	while (open--)
		rvp_runner_close(&group->runners[open]);
	rvp_blas_close(&blas);
	return status;
}

struct rvp_status rvp_operators_measure(struct rvp_operator *operators, size_t count, struct rvp_op_wish wish,
					struct rvp_op_result *result)
{
	struct group group = {.operators = operators, .count = count};

	memset(result, 0, sizeof *result);
	result->count = wish.repeat;
	if (!rvp_operators_compute(operators, count))
		return RVP_OK;
	result->workspace_bytes = rvp_operators_workspace(operators, count);
	return measure(&group, wish, result);
}
