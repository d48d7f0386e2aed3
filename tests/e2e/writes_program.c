/* SPDX-License-Identifier: MIT */
/* writes_program.c: stores that are there from the start, what looks like them, and what programs do to
 * memory while somebody follows its writes. Prints a sum of what the stores hold in the end.
 *
 * Usage: writes_program CASE [marked]
 *   tokens, transposed, pages    two stores each of PLACES rows: by row, by column, rows of two pages
 *   lone                         one store, as a log has it
 *   decoys                       scratch and moments that are rewritten, a block that nobody writes
 *   realloc, mremap              two stores that grow in the middle
 *   unmap, discard, huge, fork, fill, threads   two stores, and that beside them
 *   marked                       each step is marked by rvprof_step(); else a step is a malloc and a free
 */
#define _GNU_SOURCE
#include "rvprof.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 150, WIDTH = 512, PLACES = 400, BYTES = WIDTH * PLACES * 4, MIDDLE = STEPS / 2 };
enum { ROW_OF_PAGES = 2048, BYTES_OF_PAGES = ROW_OF_PAGES * 4 * (STEPS + 10) };

static float *stores[2];
static size_t bytes = BYTES;
static const char *what;

static int is(const char *name)
{
	return strcmp(what, name) == 0;
}

static void *checked(void *block)
{
	if (!block || block == MAP_FAILED)
		exit(3);
	return block;
}

static void *map(size_t length)
{
	return checked(mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static float value(int store, int step, int i)
{
	return (float)(store + 1) + (float)step * 0.37f + (float)i * 0.011f;
}

static void append(int store, int step)
{
	float *at = stores[store];

	if (is("pages")) {
		for (int i = 0; i < ROW_OF_PAGES; i++)
			at[(size_t)step * ROW_OF_PAGES + (size_t)i] = value(store, step, i);
		return;
	}
	for (int i = 0; i < WIDTH; i++)
		at[is("transposed") ? i * PLACES + step : step * WIDTH + i] = value(store, step, i);
}

/* ---- what is done in the middle ---- */

static void grow(int store)
{
	if (is("mremap"))
		stores[store] = checked(mremap(stores[store], bytes, bytes * 2, MREMAP_MAYMOVE));
	else
		stores[store] = checked(realloc(stores[store], bytes * 2));
}

static char *spare;

static void unmap(void)
{
	char *other;

	munmap(spare, BYTES);
	other = checked(
	    mmap(spare, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	for (int i = 0; i < BYTES; i += 4096)
		if (other[i])
			exit(4);
	memset(other, 7, BYTES);
}

static void discard(void)
{
	memset(spare, 5, BYTES);
	madvise(spare, BYTES, MADV_DONTNEED);
	for (int i = 0; i < BYTES; i += 512)
		if (spare[i])
			exit(5);
}

static void fork_here(void)
{
	float before = stores[0][0];
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		for (size_t i = 0; i < bytes / 4; i++)
			stores[0][i] = 99;
		free(checked(malloc(100000)));
		_exit(stores[0][0] == 99 ? 17 : 1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 17 ||
	    stores[0][0] != before)
		exit(6);
}

static void fill(void)
{
	int zero = open("/dev/zero", O_RDONLY), none = open("/dev/null", O_WRONLY);

	memset(spare, 3, BYTES);
	if (read(zero, spare, BYTES) != BYTES || write(none, spare, BYTES) != BYTES)
		exit(7);
	for (int i = 0; i < BYTES; i++)
		if (spare[i])
			exit(8);
	close(zero);
	close(none);
}

static void *churn(void *unused)
{
	for (int i = 0; i < 300; i++) {
		char *block = checked(malloc(300000 + (size_t)i * 100));

		memset(block, i, 300000);
		block = checked(realloc(block, 700000));
		if (block[299999] != (char)i)
			exit(9);
		free(block);
	}
	return unused;
}

static void in_the_middle(void)
{
	if (is("realloc") || is("mremap")) {
		grow(0);
		grow(1);
		bytes *= 2;
	} else if (is("unmap")) {
		unmap();
	} else if (is("discard")) {
		discard();
	} else if (is("fork")) {
		fork_here();
	} else if (is("fill")) {
		fill();
	}
}

/* ---- the program ---- */

static void open_stores(void)
{
	bytes = is("pages") ? BYTES_OF_PAGES : BYTES;
	for (int i = 0; i < 2 - is("lone"); i++)
		stores[i] = is("mremap") ? map(bytes) : checked(calloc(1, bytes));
	if (is("huge"))
		for (int i = 0; i < 2; i++) {
			free(stores[i]);
			stores[i] = checked(aligned_alloc(1 << 21, bytes = 1 << 23));
			madvise(stores[i], bytes, MADV_HUGEPAGE);
			memset(stores[i], 0, bytes);
		}
	spare = map(BYTES);
}

static float *scratch, *moments, *still;

static void open_decoys(void)
{
	scratch = checked(calloc(1, BYTES));
	moments = checked(calloc(1, BYTES));
	still = checked(malloc(BYTES));
	memset(still, 1, BYTES);
}

static void rewrite(int step)
{
	for (int i = 0; i < BYTES / 4; i += 3)
		scratch[i] = value(0, step, i);
	for (int i = 0; i < BYTES / 4; i++)
		moments[i] = 0.9f * moments[i] + value(1, step, i);
}

static void one_step(int step)
{
	static const struct timespec pause = {0, 3000000};

	for (int i = 0; i < 2; i++)
		if (stores[i])
			append(i, step);
	if (scratch)
		rewrite(step);
	for (int i = 0; i < 16; i++)
		free(checked(malloc(1000 + (size_t)i)));
	nanosleep(&pause, NULL);
}

static double sum(void)
{
	double all = 0;

	for (int i = 0; i < 2; i++)
		for (size_t j = 0; stores[i] && j < bytes / 4; j++)
			all += stores[i][j] * (double)(j % 1000 + 1);
	return all;
}

int main(int argc, char **argv)
{
	int marked = argc > 2;
	pthread_t threads[3];

	what = argc > 1 ? argv[1] : "tokens";
	open_stores();
	if (is("decoys"))
		open_decoys();
	for (int i = 0; i < 3 && is("threads"); i++)
		pthread_create(&threads[i], NULL, churn, NULL);
	for (int step = 0; step < STEPS; step++) {
		if (marked)
			rvprof_step();
		if (step == (marked ? 12 : MIDDLE))
			in_the_middle();
		one_step(step);
	}
	for (int i = 0; i < 3 && is("threads"); i++)
		pthread_join(threads[i], NULL);
	printf("sum %.6g\nstore_bytes=%zu\n", sum(), bytes * (size_t)(2 - is("lone")));
	return 0;
}
