/* SPDX-License-Identifier: MIT */
/* timers.c: rvprof_timers.h on threads, and rvprof_scoped.h. Two steps of two threads, each region with times of its own: the cells'
 * ticks are set by hand behind what the timers measured, to the worked example of docs/metrics.md, so that its views are known.
 * Compiled as C11 and as C++17. */
#include <rvprof_scoped.h>
#include <rvprof_timers.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { READ, COMPUTE, REGIONS, THREADS = 2, TURNS = 3, STEPS = 2 };

static const char *const names[] = {"read", "compute, \"f32\""};
RVPROF_TIMERS(timers, "on threads", names, REGIONS, THREADS);
static volatile unsigned work;

static void spin(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		work = work + 1;
}

static void *in_thread(void *of)
{
	uint32_t slot = rvprof_timers_take_slot(&timers);
	uint64_t begin = rvprof_ticks();

	(void)of;
	spin(1000);
	rvprof_timer_store(&timers, READ, slot, begin);
	rvprof_timer_store(&timers, READ, slot, rvprof_ticks()); /* the last write stays */
	for (int i = 0; i < TURNS; i++) {
		begin = rvprof_ticks();
		spin(10000);
		rvprof_timer_add(&timers, COMPUTE, slot, begin);
	}
	rvprof_timer_add(&timers, COMPUTE, THREADS, begin); /* there is no such slot */
	return NULL;
}

/* 1: each cell holds what its thread did in this step. */
static int is_right(void)
{
	for (uint32_t slot = 0; slot < THREADS; slot++) {
		const struct rvprof_timer_cell *once = rvprof_timer_cell_at(&timers.cells, READ, slot);
		const struct rvprof_timer_cell *sum = rvprof_timer_cell_at(&timers.cells, COMPUTE, slot);

		if (once->count != 1 || sum->count != TURNS || sum->ticks <= once->ticks || sum->begin < once->begin ||
		    !once->place)
			return 0;
	}
	return rvprof_timer_beyond_cell(&timers.cells)->count == THREADS;
}

/* 1: sums are sums, and a store forgets them. */
static int adds_up(void)
{
	struct rvprof_timer_cell cell = {0, 0, 0, 0, 0};
	int right;

	rvprof_timer_cell_put(&cell, 1, 10, 5, 1);
	rvprof_timer_cell_put(&cell, 1, 20, 7, 2);
	right = cell.ticks == 12 && cell.begin == 10 && cell.count == 2 && cell.place == 2;
	rvprof_timer_cell_put(&cell, 0, 30, 3, 1);
	return right && cell.ticks == 3 && cell.begin == 30 && cell.count == 1;
}

static int step(int number)
{
	static const uint64_t worked[STEPS][THREADS] = {{4, 2}, {2, 6}};
	pthread_t threads[THREADS];
	int right;

	timers.taken = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, in_thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	right = is_right();
	for (uint32_t slot = 0; slot < THREADS; slot++)
		rvprof_timer_cell_at(&timers.cells, READ, slot)->ticks = worked[number][slot] * 1000000;
	rvprof_timers_csv(&timers, stdout);
	rvprof_timers_collect(&timers);
	return right;
}

static int leaves_early(int turns)
{
	RVPROF_WITH_BASE_PROFILER(work = work + 1, "leaves early", "test", "a;b", {
		if (turns)
			return turns;
	});
	return 0;
}

int main(void)
{
	static int syncs;
	int right = adds_up(), told;

	for (int i = 0; i < STEPS; i++)
		right = step(i) && right;
	RVPROF_OPERATOR("whole", NULL, NULL);
	RVPROF_WITH_BASE_PROFILER(syncs++, "matmul", "ComputationOperator", "64x64;\"f32\"", { told = 1, spin(10); });
	RVPROF_WITH_BASE_PROFILER_LEVEL(2, , "second level", "VM", "x", spin(10));
	RVPROF_WITH_BASE_PROFILER(, "outer", "test", NULL, {
		RVPROF_WITH_BASE_PROFILER(, "inner", "test", NULL, spin(10));
		RVPROF_OPERATOR("rest of the block", "test", NULL);
		spin(10);
	});
	leaves_early(1);
	leaves_early(0);
	fprintf(stderr, "right %d beyond %d steps %d syncs %d\n", right && told, (int)timers.beyond, (int)timers.step, syncs);
	return 0;
}
