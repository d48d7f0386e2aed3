/* SPDX-License-Identifier: MIT */
/* rvprof_timers.h: timers inside of parallel work: where the time of each thread, or of each block of a kernel
 * (rvprof_device.cuh), goes. C11 and later, C++17 and later.
 *
 *     enum { READ, COMPUTE, REGIONS };
 *     static const char *const names[] = {"read", "compute"};
 *     RVPROF_TIMERS(timers, "step", names, REGIONS, THREADS);
 *
 *     each thread:   uint32_t slot = rvprof_timers_take_slot(&timers);      once; or a number of its own
 *                    uint64_t begin = rvprof_ticks();
 *                    ...
 *                    rvprof_timer_store(&timers, READ, slot, begin);        the last time of the step
 *                    rvprof_timer_add(&timers, COMPUTE, slot, begin);       or the sum of all times in it
 *     then, alone:   rvprof_timers_collect(&timers);                        the step is over
 *
 * Under the profiler each value of a step goes into the run: `rvprof report --table timers` has the last values, their running
 * mean and the mean of the sorted ones, trace.json has them in time. Without it rvprof_timers_csv() writes them for
 * `rvprof stats timers`.
 *
 * Rules
 *   - One writer a slot: a cell (region, slot) is written by one thread, without a lock. rvprof_timers_collect, _csv and _clear
 * are called while nobody writes: behind a join or a barrier.
 *   - Nothing is allocated: RVPROF_TIMERS makes room at compile time. A slot or region beyond it is not written and is counted
 * in `beyond` (and as the figure "timers without a slot").
 *   - Ticks are those of the processor's counter (nanoseconds where it has none). What they are in time is measured, once, over
 * two milliseconds in the first collect: struct rvprof_pace. Where it can't be told ns is 0: not known.
 */
#ifndef RVPROF_TIMERS_H
#define RVPROF_TIMERS_H

#include "rvprof.h"

#include <stdio.h>
#include <time.h>

/* What host and device share; rvprof_device.cuh makes it both. */
#ifndef RVPROF_TIMER_FUNCTION
#define RVPROF_TIMER_FUNCTION static inline
#endif

struct rvprof_timer_cell {
	uint64_t ticks;
	uint64_t begin; /* of the first time in it: ticks; of a device ns of its global clock */
	uint64_t count; /* 0: nothing was written */
	uint32_t place; /* 1 + processor or multiprocessor; 0: not known */
	uint32_t unused;
};

/* Cells of a region side by side, and one more behind all, whose count is that of times without a cell. Passed to kernels by
 * value. */
struct rvprof_timer_cells {
	struct rvprof_timer_cell *cells;
	uint32_t regions, slots;
};

/* ticks x ns_per_tick + offset_ns is UNIX ns. ns_per_tick 0: not known. */
struct rvprof_pace {
	double ns_per_tick;
	uint64_t ticks, unix_ns; /* the same moment */
};

struct rvprof_timers {
	const char *category;
	const char *const *names; /* of the regions */
	struct rvprof_timer_cells cells;
	uint32_t taken; /* slots */
	uint64_t beyond; /* times that had no cell, of the steps that are over */
	uint64_t step;
	struct rvprof_pace pace;
};

#define RVPROF_TIMERS(variable, category, names, regions, slots)                          \
	static struct rvprof_timer_cell variable##_cells_[(size_t)(regions) * (slots) + 1]; \
	static struct rvprof_timers variable = {                                        \
	    category, names, {variable##_cells_, regions, slots}, 0, 0, 0, {0, 0, 0}}

/* ---- cells ---- */

/* NULL: there is none. */
RVPROF_TIMER_FUNCTION struct rvprof_timer_cell *rvprof_timer_cell_at(const struct rvprof_timer_cells *cells, uint32_t region,
								     uint32_t slot)
{
	return region < cells->regions && slot < cells->slots ? &cells->cells[(size_t)region * cells->slots + slot] : NULL;
}

RVPROF_TIMER_FUNCTION struct rvprof_timer_cell *rvprof_timer_beyond_cell(const struct rvprof_timer_cells *cells)
{
	return &cells->cells[(size_t)cells->regions * cells->slots];
}

/* `is_sum`: beside what the cell has already. Ticks that went back count nothing. */
RVPROF_TIMER_FUNCTION void rvprof_timer_cell_put(struct rvprof_timer_cell *cell, int is_sum, uint64_t begin,
						 uint64_t ticks, uint32_t place)
{
	if (!is_sum || !cell->count)
		cell->begin = begin;
	cell->ticks = is_sum ? cell->ticks + ticks : ticks;
	cell->count = is_sum ? cell->count + 1 : 1;
	cell->place = place;
}

/* ---- clocks of the host ---- */

static inline uint64_t rvprof_unix_ns(void)
{
	struct timespec now;

	return timespec_get(&now, TIME_UTC) == TIME_UTC ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec : 0;
}

static inline uint64_t rvprof_ticks(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
	return __builtin_ia32_rdtsc();
#else
	return rvprof_unix_ns();
#endif
}

/* At the end of what is timed, with 1 + the processor that it ended on. */
static inline uint64_t rvprof_ticks_and_place(uint32_t *place)
{
#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
	uint32_t processor;
	uint64_t ticks = __builtin_ia32_rdtscp(&processor);

	*place = (processor & 0xfff) + 1; /* as Linux numbers them; the node is above */
	return ticks;
#else
	*place = 0;
	return rvprof_ticks();
#endif
}

/* The same moment on both clocks: the narrowest of some tries. */
static inline void rvprof_clock_pair(uint64_t *ticks, uint64_t *unix_ns)
{
	uint64_t narrowest = UINT64_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		uint64_t before = rvprof_ticks(), ns = rvprof_unix_ns(), behind = rvprof_ticks();

		if (behind - before >= narrowest)
			continue;
		narrowest = behind - before;
		*ticks = before + narrowest / 2;
		*unix_ns = ns;
	}
}

/* A pair now, and one two milliseconds later. Not known where the clock was set meanwhile. */
static inline struct rvprof_pace rvprof_pace_measure(void)
{
	struct rvprof_pace pace = {0, 0, 0};
	uint64_t ticks = 0, ns = 0;

	rvprof_clock_pair(&ticks, &ns);
	do
		rvprof_clock_pair(&pace.ticks, &pace.unix_ns);
	while (pace.unix_ns >= ns && pace.unix_ns < ns + 2000000);
	if (pace.unix_ns > ns && pace.ticks > ticks && pace.unix_ns < ns + 1000000000u)
		pace.ns_per_tick = (double)(pace.unix_ns - ns) / (double)(pace.ticks - ticks);
	return pace;
}

static inline uint64_t rvprof_pace_unix_ns(const struct rvprof_pace *pace, uint64_t ticks)
{
	double ns = ticks < pace->ticks ? (double)(pace->ticks - ticks) * pace->ns_per_tick
					: (double)(ticks - pace->ticks) * pace->ns_per_tick;

	return ticks < pace->ticks ? pace->unix_ns - (uint64_t)ns : pace->unix_ns + (uint64_t)ns;
}

/* ---- timers on threads ---- */

static inline uint32_t rvprof_timers_take_slot(struct rvprof_timers *timers)
{
	return __atomic_fetch_add(&timers->taken, 1, __ATOMIC_RELAXED);
}

static inline void rvprof_timer_put(struct rvprof_timers *timers, uint32_t region, uint32_t slot, uint64_t begin, int is_sum)
{
	uint32_t place;
	uint64_t now = rvprof_ticks_and_place(&place);
	struct rvprof_timer_cell *cell = rvprof_timer_cell_at(&timers->cells, region, slot);

	if (cell)
		rvprof_timer_cell_put(cell, is_sum, begin, now > begin ? now - begin : 0, place);
	else
		__atomic_fetch_add(&rvprof_timer_beyond_cell(&timers->cells)->count, 1, __ATOMIC_RELAXED);
}

/* From `begin` to now is what this region took in this step; what was there before is gone. */
static inline void rvprof_timer_store(struct rvprof_timers *timers, uint32_t region, uint32_t slot, uint64_t begin)
{
	rvprof_timer_put(timers, region, slot, begin, 0);
}

/* From `begin` to now beside what was there before in this step. */
static inline void rvprof_timer_add(struct rvprof_timers *timers, uint32_t region, uint32_t slot, uint64_t begin)
{
	rvprof_timer_put(timers, region, slot, begin, 1);
}

static inline void rvprof_timers_clear(struct rvprof_timers *timers)
{
	size_t count = (size_t)timers->cells.regions * timers->cells.slots + 1, i;

	for (i = 0; i < count; i++)
		timers->cells.cells[i].count = timers->cells.cells[i].ticks = 0;
}

/* Tells the profiler of one cell. */
static inline void rvprof_timer_tell(const struct rvprof_timers *timers, uint32_t source, uint32_t region, uint32_t slot,
				     uint64_t ns, uint64_t begin_ns)
{
	const struct rvprof_timer_cell *cell = rvprof_timer_cell_at(&timers->cells, region, slot);
	const struct rvprof_timer_value value = {source,      slot, cell->place, 0,	 timers->step,
						 cell->ticks, cell->count, ns,	 begin_ns, timers->names[region],
						 timers->category, NULL};

	(void)value;
	RVPROF_TELL_(timer(&value));
}

/* What the step's times without a cell come to; said once they are there, as a figure of the program. */
static inline void rvprof_timers_take_beyond(struct rvprof_timers *timers)
{
	uint64_t count = rvprof_timer_beyond_cell(&timers->cells)->count;

	timers->beyond += count;
	if (count)
		RVPROF_TELL_(metric("timers without a slot", (double)timers->beyond));
	timers->step++;
}

/* The step is over: its values go to the profiler, and the cells are empty. */
static inline void rvprof_timers_collect(struct rvprof_timers *timers)
{
	uint32_t region, slot;

	if (rvprof_active() && !timers->pace.ns_per_tick)
		timers->pace = rvprof_pace_measure();
	for (region = 0; rvprof_active() && region < timers->cells.regions; region++)
		for (slot = 0; slot < timers->cells.slots; slot++) {
			const struct rvprof_timer_cell *cell = rvprof_timer_cell_at(&timers->cells, region, slot);
			double ns = (double)cell->ticks * timers->pace.ns_per_tick;

			if (cell->count)
				rvprof_timer_tell(timers, RVPROF_TIMER_THREADS, region, slot, (uint64_t)ns,
						  ns > 0 ? rvprof_pace_unix_ns(&timers->pace, cell->begin) : 0);
		}
	rvprof_timers_take_beyond(timers);
	rvprof_timers_clear(timers);
}

/* In double quotes, those inside doubled. */
static inline void rvprof_csv_text_(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"%c" : "%c", *text);
	fputc('"', out);
}

/* The step's values as rows of CSV, for `rvprof stats timers`: before they are collected. The head comes before step 0. */
static inline void rvprof_timers_csv(const struct rvprof_timers *timers, FILE *out)
{
	uint32_t region, slot;

	if (!timers->step)
		fputs("step,slot,value,timer\n", out);
	for (region = 0; region < timers->cells.regions; region++)
		for (slot = 0; slot < timers->cells.slots; slot++) {
			const struct rvprof_timer_cell *cell = rvprof_timer_cell_at(&timers->cells, region, slot);

			if (!cell->count)
				continue;
			fprintf(out, "%llu,%lu,%llu,", (unsigned long long)timers->step, (unsigned long)slot,
				(unsigned long long)cell->ticks);
			rvprof_csv_text_(timers->names[region], out);
			fputc('\n', out);
		}
}

#endif
