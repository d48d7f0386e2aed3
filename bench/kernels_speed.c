/* SPDX-License-Identifier: MIT */
/* kernels_speed.c: how fast work of devices is read: from the log to joined, summed and ordered kernels, and
 * kernels.csv.
 *
 *     kernels_speed [-c] [-s] [-r REPEATS] [KERNELS]    of a log that it writes: kernels of four streams and
 * 300 shapes, each with its launch, told a quarter of a second late
 *
 * -c writes kernels.csv too (to /dev/null); -s tells them in the worst order: every chunk has some of all
 * times. Prints a line: records of work, seconds of processor time of the best repeat, how much of it was
 * opening, records a second, and the peak RSS.
 */
#include "bench/speed.h"
#include "report/kernels.h"
#include "report/write_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHAPES = 300, STREAMS = 4, STEP_NS = 900 };
static const uint64_t epoch_ns = 1700000000000000000u;

struct question {
	uint64_t count;
	bool is_shuffled;
	FILE *csv_file; /* NULL: none is written */
};

static void begin(struct rvp_log_writer *writer)
{
	RVP_WRITE(writer, PROCESS, 64, .stamp = 1000, .pid = 1, .mode = RVP_MODE_FULL,
		  .clock = RVP_CLOCK_MONOTONIC, .page_bytes = 4096, .exe = {"/bench", 6});
	RVP_WRITE(writer, ANCHOR, 0, .stamp = 1000, .realtime_ns = epoch_ns, .monotonic_ns = 1000,
		  .boottime_ns = 1000);
	RVP_WRITE(writer, DEVICE_CLOCK, 0, .stamp = 1000, .device_ns = epoch_ns, .width_ns = 200);
	RVP_WRITE(writer, DEVICE_NAME, 64, .number = 1, .text = {"cudaLaunchKernel_v7000", 22});
	for (uint64_t i = 1; i <= SHAPES; i++) {
		char name[64];

		RVP_WRITE(writer, DEVICE_NAME, 64, .number = 1 + i,
			  .text = {name, (uint64_t)snprintf(name, sizeof name, "_Z11gemm_kernelILi%luEEvPf",
							    i % 97)});
		RVP_WRITE(writer, KERNEL_SHAPE, 0, .shape = i, .name = 1 + i, .grid_x = i, .grid_y = 1,
			  .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1, .registers = 64);
	}
}

static void put_launch(struct rvp_log_writer *writer, uint64_t number)
{
	RVP_WRITE(writer, LAUNCH, 0, .stamp = 2000 + number * STEP_NS, .correlation = 10 + number * 2,
		  .function = 1, .duration_ns = 400, .stack = 1 + number % 200, .stands_for = 1);
}

static void put_kernel(struct rvp_log_writer *writer, uint64_t number)
{
	RVP_WRITE(writer, KERNEL, 0, .start_ns = epoch_ns + 6000 + number * STEP_NS + speed_random() % 500,
		  .duration_ns = 500 + speed_random() % 2000, .correlation = 10 + number * 2,
		  .shape = 1 + number % SHAPES, .stream = 7 + number % STREAMS);
}

/* Kernels are told of in blocks, as a buffer of the tracer is. */
static void write_all(struct rvp_log_writer *writer, void *context)
{
	enum { LATE = 1 << 18 };
	const struct question *question = context;
	uint64_t count = question->count;

	begin(writer);
	for (uint64_t i = 0; i < count; i++) {
		put_launch(writer, i);
		for (uint64_t k = i % LATE == LATE - 1 || i + 1 == count ? i - i % LATE : i + 1; k <= i; k++)
			/* A stride that is prime to the count spreads a chunk over all times. */
			put_kernel(writer, question->is_shuffled ? k * 7919 % count : k);
	}
	RVP_WRITE(writer, ANCHOR, 0, .stamp = 2000 + count * STEP_NS,
		  .realtime_ns = epoch_ns + 1000 + count * STEP_NS, .monotonic_ns = 2000 + count * STEP_NS,
		  .boottime_ns = 2000 + count * STEP_NS);
}

static struct rvp_status read_once(const char *folder, void *context, struct speed_figures *figures)
{
	FILE *csv_file = ((const struct question *)context)->csv_file;
	struct rvp_run *run = NULL;
	struct rvp_kernels kernels;
	struct rvp_kernel_csv csv;
	struct rvp_kernel_sink *sinks[] = {csv_file ? &csv.sink : NULL, NULL};
	double start = speed_seconds();
	struct rvp_status status = rvp_run_open(&run, folder);

	if (rvp_failed(status))
		return status;
	figures->opening = speed_seconds() - start;
	if (csv_file)
		rvp_kernel_csv_open(&csv, run, csv_file, UINT64_MAX);
	status = rvp_kernels_read(&kernels, run, &(struct rvp_kernel_question){.sinks = sinks});
	figures->seconds = speed_seconds() - start;
	if (!rvp_failed(status)) {
		figures->count = kernels.kernels.count + kernels.launches.count;
		rvp_kernels_free(&kernels);
	}
	rvp_run_close(run);
	return status;
}

int main(int argc, char **argv)
{
	struct question question = {.count = 2000000};
	struct speed speed = {"kernels_speed", "records", 3, read_once, write_all, &question};
	int option;

	while ((option = getopt(argc, argv, "csr:")) != -1)
		if (option == 'c')
			question.csv_file = fopen("/dev/null", "we");
		else if (option == 's')
			question.is_shuffled = true;
		else if (option != 'r' || (speed.repeats = atoi(optarg)) < 1)
			return fputs("usage: kernels_speed [-c] [-s] [-r REPEATS] [KERNELS]\n", stderr), 2;
	if (optind < argc)
		question.count = strtoull(argv[optind], NULL, 10);
	return question.count ? speed_write_and_measure(&speed) : 2;
}
