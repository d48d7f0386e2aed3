/* SPDX-License-Identifier: MIT */
/* calibrate.c: what a machine can be made to do: best of many, since whatever else runs can only take away.
 */
#include "model/blas.h"
#include "model/free_memory.h"
#include "model/layer_loops.h"
#include "model/machine.h"
#include "record/clock_ns.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- products ---- */

static const unsigned sizes[] = {256, 512, 1024, 1536, 2048};
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes, QUICK_SIZES = 3, LARGEST = 2048, ROUNDS_MAX = 5 };
static const uint64_t enough_ns = 150000000, longest_ns = 15000000000;

struct products {
	const struct rvp_blas *blas;
	float *a, *b, *c;
	int size_count;
};

static bool room_for_products(struct products *products)
{
	size_t bytes = (size_t)LARGEST * LARGEST * sizeof(float);

	products->a = aligned_alloc(64, bytes);
	products->b = aligned_alloc(64, bytes);
	products->c = aligned_alloc(64, bytes);
	if (!products->a || !products->b || !products->c)
		return false;
	for (size_t i = 0; i < (size_t)LARGEST * LARGEST; i++)
		products->a[i] = products->b[i] = (float)(i % 17) * 0.01f;
	return true;
}

static void multiply(const struct products *products, int size, bool is_f64)
{
	if (!is_f64) {
		rvp_blas_product(products->blas, size, size, size, products->a, products->b, 0, products->c);
		return;
	}
	products->blas->dgemm(101, RVP_BLAS_PLAIN, RVP_BLAS_PLAIN, size, size, size, 1, (const double *)products->a, size,
			      (const double *)products->b, size, 0, (double *)products->c, size);
}

/* Once to warm up, then until three are done and enough time is gone; the shortest counts. */
static double best_of_size(const struct products *products, unsigned size, bool is_f64, uint64_t long_ns)
{
	uint64_t least_ns = UINT64_MAX, begin_ns, all_ns = rvp_clock_ns(CLOCK_MONOTONIC);

	for (int turn = -1; turn < 3 || rvp_clock_ns(CLOCK_MONOTONIC) - all_ns < long_ns; turn++) {
		uint64_t took_ns;

		begin_ns = rvp_clock_ns(CLOCK_MONOTONIC);
		multiply(products, (int)size, is_f64);
		took_ns = rvp_clock_ns(CLOCK_MONOTONIC) - begin_ns;
		if (turn >= 0 && took_ns < least_ns)
			least_ns = took_ns ? took_ns : 1;
	}
	return 2.0 * size * size * size / (double)least_ns * 1e9;
}

/* 1, 2, 4, .., all. */
static unsigned more_threads(unsigned count, unsigned all)
{
	return count == all ? 0 : count * 2 < all ? count * 2 : all;
}

static void measure_round(struct rvp_machine *machine, const struct products *products, uint64_t long_ns)
{
	for (unsigned threads = 1; threads; threads = more_threads(threads, machine->threads)) {
		products->blas->set_threads((int)threads);
		for (int i = 0; i < products->size_count; i++) {
			double rate = best_of_size(products, sizes[i], false, long_ns);

			if (rate <= machine->flops_per_s)
				continue;
			machine->flops_per_s = rate;
			machine->gemm_size = sizes[i];
			machine->gemm_threads = threads;
		}
	}
}

/* Until a round finds nothing better by a hundredth: other programs come and go. */
static void measure_products(struct rvp_machine *machine, const struct products *products, int rounds,
			     uint64_t long_ns)
{
	uint64_t begin_ns = rvp_clock_ns(CLOCK_MONOTONIC);

	for (int round = 0; round < rounds && rvp_clock_ns(CLOCK_MONOTONIC) - begin_ns < longest_ns;
	     round++) {
		double before = machine->flops_per_s;

		measure_round(machine, products, long_ns);
		if (round && machine->flops_per_s < before * 1.01)
			break;
	}
}

/* In the same room, so of half the size; every double is one that computes as fast as others. */
static void measure_doubles(struct rvp_machine *machine, const struct products *products, uint64_t long_ns)
{
	double *a = (double *)products->a, *b = (double *)products->b;

	if (!products->blas->dgemm)
		return;
	for (size_t i = 0; i < (size_t)LARGEST * LARGEST / 2; i++)
		a[i] = b[i] = (double)(i % 17) * 0.01;
	products->blas->set_threads((int)machine->gemm_threads);
	for (int i = 0; i < QUICK_SIZES; i++)
		machine->f64_flops_per_s = fmax(machine->f64_flops_per_s, best_of_size(products, sizes[i], true, long_ns));
}

static struct rvp_status calibrate_products(struct rvp_machine *machine, bool quick)
{
	struct products products = {.size_count = quick ? QUICK_SIZES : SIZE_COUNT};
	struct rvp_blas blas;
	struct rvp_status status = rvp_blas_open(&blas);

	if (rvp_failed(status))
		return status;
	products.blas = &blas;
	if (room_for_products(&products)) {
		measure_products(machine, &products, quick ? 1 : ROUNDS_MAX, quick ? enough_ns / 8 : enough_ns);
		measure_doubles(machine, &products, quick ? enough_ns / 8 : enough_ns);
	} else {
		status = rvp_fail("measure", "products", ENOMEM);
	}
	free(products.a);
	free(products.b);
	free(products.c);
	rvp_blas_close(&blas);
	return status;
}

/* ---- bytes ---- */

enum { TRIAD_TURNS = 8 };

struct piece {
	double *a;
	const double *b, *c;
	size_t count;
	pthread_barrier_t *together;
	unsigned turns;
	uint64_t *least_ns; /* of the first piece alone */
};

static void *run_piece(void *argument)
{
	const struct piece *piece = argument;

	/* The first turn touches the pages and does not count. */
	for (unsigned turn = 0; turn <= piece->turns; turn++) {
		uint64_t begin_ns, took_ns;

		pthread_barrier_wait(piece->together);
		begin_ns = rvp_clock_ns(CLOCK_MONOTONIC);
		rvp_triad(piece->a, piece->b, piece->c, piece->count);
		pthread_barrier_wait(piece->together);
		took_ns = rvp_clock_ns(CLOCK_MONOTONIC) - begin_ns;
		if (turn && piece->least_ns && took_ns < *piece->least_ns)
			*piece->least_ns = took_ns ? took_ns : 1;
	}
	return NULL;
}

/* Bytes a second of so many threads, 0 without memory for them. */
static double triad_rate(double *arrays, size_t count, unsigned threads, unsigned turns)
{
	struct piece *pieces = calloc(threads, sizeof *pieces);
	pthread_t *ids = calloc(threads, sizeof *ids);
	pthread_barrier_t together;
	uint64_t least_ns = UINT64_MAX;
	size_t each = count / threads;
	unsigned begun = 1;

	if (pieces && ids && pthread_barrier_init(&together, NULL, threads) == 0) {
		for (unsigned i = 0; i < threads; i++)
			pieces[i] = (struct piece){arrays + i * each,
						   arrays + count + i * each,
						   arrays + 2 * count + i * each,
						   each,
						   &together,
						   turns,
						   i ? NULL : &least_ns};
		while (begun < threads && pthread_create(&ids[begun], NULL, run_piece, &pieces[begun]) == 0)
			begun++;
		/* Those that wait for one that could not begin are left to the process's end. */
		if (begun == threads) {
			run_piece(&pieces[0]);
			for (unsigned i = 1; i < threads; i++)
				pthread_join(ids[i], NULL);
			pthread_barrier_destroy(&together);
		} else {
			return 0;
		}
	}
	free(pieces);
	free(ids);
	return least_ns == UINT64_MAX
		   ? 0
		   : (double)(each * threads * 3 * sizeof(double)) / (double)least_ns * 1e9;
}

/* Values an array: the three together four times the last cache, 192 MiB at least, a quarter of what is free
 * at most. */
static size_t triad_count(void)
{
	long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
	uint64_t bytes = cache > 0 ? (uint64_t)cache * 4 : 0, free_bytes = rvp_free_memory_bytes();

	if (bytes < 192 << 20)
		bytes = 192 << 20;
	if (free_bytes && bytes > free_bytes / 4)
		bytes = free_bytes / 4;
	return bytes / (3 * sizeof(double)) & ~(size_t)511;
}

static struct rvp_status calibrate_bytes(struct rvp_machine *machine, unsigned turns)
{
	size_t count = triad_count();
	double *arrays = count ? aligned_alloc(4096, count * 3 * sizeof *arrays) : NULL;

	if (!arrays)
		return rvp_fail("measure", "memory", ENOMEM);
	for (size_t i = 0; i < count * 3; i++)
		arrays[i] = (double)(i & 7);
	machine->triad_bytes = count * 3 * sizeof *arrays;
	for (unsigned threads = 1; threads; threads = more_threads(threads, machine->threads)) {
		double rate = triad_rate(arrays, count, threads, turns);

		if (rate <= machine->bytes_per_s)
			continue;
		machine->bytes_per_s = rate;
		machine->triad_threads = threads;
	}
	free(arrays);
	return machine->bytes_per_s > 0 ? RVP_OK
					: rvp_fail_with("measure", "memory", "no thread could be made");
}

/* ---- what else ran ---- */

struct ticks {
	double all, busy, own;
};

/* Of all processors together; steal is what a hypervisor gave to others. False where /proc/stat says nothing.
 */
static bool read_ticks(struct ticks *ticks)
{
	FILE *file = fopen("/proc/stat", "re");
	unsigned long long user, nice, system, idle, wait, hard, soft, steal;
	struct rusage usage;
	bool is_good = file && fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
				      &system, &idle, &wait, &hard, &soft, &steal) == 8;

	if (file)
		fclose(file);
	if (!is_good || getrusage(RUSAGE_SELF, &usage) != 0)
		return false;
	ticks->busy = (double)(user + nice + system + hard + soft + steal);
	ticks->all = ticks->busy + (double)(idle + wait);
	ticks->own = ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6) *
		     (double)sysconf(_SC_CLK_TCK);
	return true;
}

static double others_percent(const struct ticks *before, const struct ticks *after)
{
	double all = after->all - before->all,
	       others = after->busy - before->busy - (after->own - before->own);

	return all > 0 && others > 0 ? 100 * others / all : 0;
}

struct rvp_status rvp_machine_measure(struct rvp_machine *machine, bool quick)
{
	struct ticks before, after;
	struct rvp_status status;
	bool has_ticks = read_ticks(&before);

	rvp_machine_name(machine);
	status = calibrate_products(machine, quick);
	if (!rvp_failed(status))
		status = calibrate_bytes(machine, quick ? 2 : TRIAD_TURNS);
	machine->measured_unix_s = (uint64_t)time(NULL);
	machine->others_percent = has_ticks && read_ticks(&after) ? others_percent(&before, &after) : NAN;
	return status;
}
