/* SPDX-License-Identifier: MIT */
/* folds.c: see folds.h. */
#include "preload/folds.h"

#include "preload/disk.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/sys.h"
#include "record/fold.h"

#include <sys/mman.h>

enum { PROBES = 16 };

static struct rvp_fold_table *_Atomic table;
static _Atomic uint32_t tried;

static void make_table(void)
{
	struct rvp_file_header header = rvp_disk_header(RVP_FOLD_MAGIC);
	struct rvp_fold_table *made = rvp_disk_make("/" RVP_FOLD_FILE, sizeof *made);

	if (!made)
		return;
	made->file = header;
	atomic_store(&table, made);
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

/* bytes / (1 - exp(-bytes / T)) for bytes well below T, by its series; relative error below (bytes / T)^4 / 720. */
static uint64_t stands_for_bytes(uint64_t bytes)
{
	double mean = (double)rvp_process.sample_bytes, x = (double)bytes / mean;

	return (uint64_t)(mean * (1 + x / 2 + x * x / 12) + 0.5);
}

void rvp_fold(struct rvp_path path, uint64_t bytes, bool is_sample)
{
	uint32_t no = 0;
	uint64_t sum = is_sample ? stands_for_bytes(bytes) : bytes;
	struct rvp_fold_table *into;
	struct rvp_fold *entry;

	if (!atomic_load(&table) && atomic_compare_exchange_strong(&tried, &no, 1))
		make_table();
	into = atomic_load(&table);
	if (!into) {
		rvp_lose(RVP_LOSS_LOG_BOUND, 1);
		return;
	}
	entry = find(into, rvp_fold_key(path.stack, path.python));
	atomic_fetch_add_explicit(&entry->alloc_count, is_sample ? sum / bytes : 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&entry->alloc_bytes, sum, memory_order_relaxed);
}

void rvp_folds_leave_parent(void)
{
	struct rvp_fold_table *parents = atomic_load(&table);

	if (parents)
		rvp_sys_munmap(parents, sizeof *parents);
	atomic_store(&table, NULL);
	atomic_store(&tried, 0);
}
