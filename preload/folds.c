/* SPDX-License-Identifier: MIT */
/* folds.c: see folds.h. One thread makes the table; what others bring meanwhile waits in two words, and goes
 * to entry 0 with whoever comes next. */
#include "preload/folds.h"

#include "preload/disk.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/sys.h"
#include "record/fold.h"

#include <sys/mman.h>

enum { PROBES = 16 };

static struct rvp_fold_table *_Atomic table;
static _Atomic enum making { NOT_TRIED, MAKING, TRIED } making;
static struct {
	_Atomic uint64_t events, count, bytes;
} waiting;

static void make_table(void)
{
	struct rvp_file_header header = rvp_disk_header(RVP_FOLD_MAGIC);
	struct rvp_fold_table *made = rvp_disk_make("/" RVP_FOLD_FILE, sizeof *made);

	if (made) {
		made->file = header;
		atomic_store(&table, made);
	}
	atomic_store(&making, TRIED);
}

/* The table, and how far its making was just before: who finds none at TRIED knows that none will come. */
static struct rvp_fold_table *get_table(enum making *seen)
{
	struct rvp_fold_table *there = atomic_load(&table);

	*seen = NOT_TRIED;
	if (there)
		return there;
	if (atomic_compare_exchange_strong(&making, seen, MAKING)) {
		make_table();
		*seen = TRIED;
	}
	return atomic_load(&table);
}

static struct rvp_fold *find(struct rvp_fold_table *from, uint64_t key)
{
	uint64_t hash = (key * 0x9e3779b97f4a7c15u) >> 32;

	for (int i = 0; i < PROBES; i++) {
		struct rvp_fold *entry = &from->entry[1 + (hash + (uint64_t)i) % (RVP_FOLD_ENTRIES - 1)];
		uint64_t seen = 0;

		if (atomic_load_explicit(&entry->key, memory_order_relaxed) == key ||
		    atomic_compare_exchange_strong(&entry->key, &seen, key) || seen == key)
			return entry;
	}
	return &from->entry[0];
}

/* x / (1 - exp(-x)): for small x by its series, to x^4 / 720; f(2x) = 2 f(x) / (2 - x / f(x)). */
static double over_chance(double x)
{
	int doublings = 0;
	double f;

	for (; x > 0.03125; x /= 2)
		doublings++;
	f = 1 + x / 2 + x * x / 12;
	for (; doublings; doublings--, x *= 2)
		f = 2 * f / (2 - x / f);
	return f;
}

/* bytes / (1 - exp(-bytes / T)) */
static uint64_t stands_for_bytes(uint64_t bytes)
{
	double mean = (double)rvp_process.sample_bytes;

	return (uint64_t)(mean * over_chance((double)bytes / mean) + 0.5);
}

/* A sample stands for sum / bytes allocs, not a whole number: what one leaves over the next one takes. */
static void add(struct rvp_fold *entry, uint64_t bytes, bool is_sample)
{
	uint64_t sum = is_sample ? stands_for_bytes(bytes) : bytes;
	uint64_t before = atomic_fetch_add_explicit(&entry->alloc_bytes, sum, memory_order_relaxed);

	atomic_fetch_add_explicit(&entry->alloc_count,
				  is_sample ? (before + sum) / bytes - before / bytes : 1,
				  memory_order_relaxed);
}

static void wait_for_table(uint64_t bytes, bool is_sample)
{
	struct rvp_fold one = {0};

	add(&one, bytes, is_sample);
	atomic_fetch_add(&waiting.bytes, one.alloc_bytes);
	atomic_fetch_add(&waiting.count, one.alloc_count);
	atomic_fetch_add(&waiting.events, 1);
}

/* What waited goes to entry 0, or is lost. */
static void end_waiting(struct rvp_fold_table *into)
{
	uint64_t events = atomic_exchange(&waiting.events, 0);

	if (!into) {
		rvp_lose(RVP_LOSS_LOG_BOUND, events);
		return;
	}
	atomic_fetch_add(&into->entry[0].alloc_count, atomic_exchange(&waiting.count, 0));
	atomic_fetch_add(&into->entry[0].alloc_bytes, atomic_exchange(&waiting.bytes, 0));
}

void rvp_fold(struct rvp_path path, uint64_t bytes, bool is_sample)
{
	enum making seen;
	struct rvp_fold_table *into = get_table(&seen);

	if (into)
		add(find(into, rvp_fold_key(path.stack, path.python)), bytes, is_sample);
	else if (seen == MAKING)
		wait_for_table(bytes, is_sample);
	else
		rvp_lose(RVP_LOSS_LOG_BOUND, 1);
	if (atomic_load_explicit(&waiting.events, memory_order_relaxed) && atomic_load(&making) == TRIED)
		end_waiting(atomic_load(&table));
}

void rvp_folds_leave_parent(void)
{
	struct rvp_fold_table *parents = atomic_load(&table);

	if (parents)
		rvp_sys_munmap(parents, sizeof *parents);
	atomic_store(&table, NULL);
	atomic_store(&making, NOT_TRIED);
	atomic_store(&waiting.events, 0);
	atomic_store(&waiting.count, 0);
	atomic_store(&waiting.bytes, 0);
}
