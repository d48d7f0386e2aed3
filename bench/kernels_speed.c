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
#include "record/log_writer.h"
#include "report/kernels.h"
#include "report/write_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SHAPES = 300, STREAMS = 4, STEP_NS = 900 };
static const uint64_t epoch_ns = 1700000000000000000u;

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

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
	RVP_WRITE(writer, KERNEL, 0, .start_ns = epoch_ns + 6000 + number * STEP_NS + next_random() % 500,
		  .duration_ns = 500 + next_random() % 2000, .correlation = 10 + number * 2,
		  .shape = 1 + number % SHAPES, .stream = 7 + number % STREAMS);
}

/* Kernels are told of in blocks, as a buffer of the tracer is. */
static void write_all(struct rvp_log_writer *writer, uint64_t count, bool is_shuffled)
{
	enum { LATE = 1 << 18 };

	for (uint64_t i = 0; i < count; i++) {
		put_launch(writer, i);
		for (uint64_t k = i % LATE == LATE - 1 || i + 1 == count ? i - i % LATE : i + 1; k <= i; k++)
			/* A stride that is prime to the count spreads a chunk over all times. */
			put_kernel(writer, is_shuffled ? k * 7919 % count : k);
	}
	RVP_WRITE(writer, ANCHOR, 0, .stamp = 2000 + count * STEP_NS,
		  .realtime_ns = epoch_ns + 1000 + count * STEP_NS, .monotonic_ns = 2000 + count * STEP_NS,
		  .boottime_ns = 2000 + count * STEP_NS);
}

struct figures {
	uint64_t records;
	double seconds, opening;
};

static struct rvp_status read_once(const char *folder, FILE *csv_file, struct figures *figures)
{
	struct rvp_run *run = NULL;
	struct rvp_kernels kernels;
	struct rvp_kernel_csv csv;
	struct rvp_kernel_sink *sinks[] = {csv_file ? &csv.sink : NULL, NULL};
	double start = seconds();
	struct rvp_status status = rvp_run_open(&run, folder);

	if (rvp_failed(status))
		return status;
	figures->opening = seconds() - start;
	if (csv_file)
		rvp_kernel_csv_open(&csv, run, csv_file);
	status = rvp_kernels_read(&kernels, run, &(struct rvp_kernel_question){.sinks = sinks});
	figures->seconds = seconds() - start;
	if (!rvp_failed(status)) {
		figures->records = kernels.kernels.count + kernels.launches.count;
		rvp_kernels_free(&kernels);
	}
	rvp_run_close(run);
	return status;
}

static int measure(const char *folder, FILE *csv_file, int repeats)
{
	struct figures best = {0}, now = {0};
	struct rusage usage;

	for (int i = 0; i < repeats; i++) {
		struct rvp_status status = read_once(folder, csv_file, &now);
		char line[600];

		if (rvp_failed(status)) {
			fprintf(stderr, "kernels_speed: %s\n", rvp_status_line(&status, line, sizeof line));
			return 1;
		}
		if (!i || now.seconds < best.seconds)
			best = now;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%lu records in %.3f s of processor time (opening %.3f s): %.2f million a second, peak RSS "
	       "%ld MiB\n",
	       best.records, best.seconds, best.opening, (double)best.records / best.seconds / 1e6,
	       usage.ru_maxrss / 1024);
	return 0;
}

static int write_and_measure(uint64_t count, bool is_shuffled, FILE *csv_file, int repeats)
{
	char folder[] = "/tmp/rvprof-bench-XXXXXX", proc[64], path[96];
	struct rvp_log_writer writer;

	if (!count || !mkdtemp(folder))
		return 2;
	snprintf(proc, sizeof proc, "%s/proc.1.0", folder);
	snprintf(path, sizeof path, "%s/" RVP_LOG_FILE, proc);
	mkdir(proc, 0700);
	if (rvp_failed(rvp_log_writer_open(&writer, path, 1, 1)))
		return 2;
	begin(&writer);
	write_all(&writer, count, is_shuffled);
	int result = rvp_failed(rvp_log_writer_close(&writer)) ? 2 : measure(folder, csv_file, repeats);

	unlink(path);
	rmdir(proc);
	rmdir(folder);
	return result;
}

int main(int argc, char **argv)
{
	bool is_shuffled = false;
	FILE *csv_file = NULL;
	int option, repeats = 3;

	while ((option = getopt(argc, argv, "csr:")) != -1)
		if (option == 'c')
			csv_file = fopen("/dev/null", "we");
		else if (option == 's')
			is_shuffled = true;
		else if (option != 'r' || (repeats = atoi(optarg)) < 1)
			return fputs("usage: kernels_speed [-c] [-s] [-r REPEATS] [KERNELS]\n", stderr), 2;
	return write_and_measure(optind < argc ? strtoull(argv[optind], NULL, 10) : 2000000, is_shuffled,
				 csv_file, repeats);
}
