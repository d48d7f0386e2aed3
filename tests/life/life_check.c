/* SPDX-License-Identifier: MIT */
/* life_check.c: holds a run's raw files against what its programs counted themselves (shadow.h).
 *
 * For every process image that has a shadow record and allocated something:
 *   (L1) the tree has an entry of that pid and kind of birth (fork, or a new image), in the same order;
 *   (L2) the exact counters lie between `done` and `begun`; with quiet threads that is equality;
 *   (L3) in full mode the records do too, and no record is said to be lost. With --lossy (a full disk, a
 * limit, a sandbox) records may be fewer, by no more than the losses that are counted, and some must be
 * counted; (L4) torn, missing and broken chunks: none;
 *   (L5) in sampled mode the last OWN_COST of a process that came to its last hook says as many recorded
 * blocks as its records leave live; (L6) one event in 1,021 was timed. Prints the sums, so that a script can
 * hold summary.json against them.
 *
 * With --no-shadow, for programs without a count of their own, records are held against the counters, and
 * (L4).
 *
 * Usage: life_check [--lossy | --loss-allowed] SHADOW RUN_FOLDER | life_check --no-shadow RUN_FOLDER
 */
#include "tests/life/shadow_read.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool lossy, loss_allowed;
static unsigned failures;

static void check(const struct shadow_record *record, const char *what, uint64_t least, uint64_t ours,
		  uint64_t most)
{
	if (ours >= least && ours <= most)
		return;
	failures++;
	printf("not ok: pid %u (%s%s): %s: the program counted %llu to %llu, the run says %llu\n",
	       record->pid, record->program, record->is_fork ? ", by fork" : "", what,
	       (unsigned long long)least, (unsigned long long)most, (unsigned long long)ours);
}

#define CHECK(record, field, ours) check(record, #field, (record)->done.field, ours, (record)->begun.field)

static void check_counters(const struct shadow_record *record, const struct rvp_counters *counters)
{
	CHECK(record, allocs, counters->alloc_count);
	CHECK(record, frees, counters->free_count);
	CHECK(record, alloc_bytes, counters->alloc_bytes);
	CHECK(record, free_usable_bytes, counters->free_usable_bytes);
	/* How large a block really is, is known only when it is there. */
	if (record->begun.allocs == record->done.allocs)
		CHECK(record, alloc_usable_bytes, counters->alloc_usable_bytes);
}

static uint64_t less(uint64_t count, uint64_t fewer)
{
	return count > fewer ? count - fewer : 0;
}

/* Losses of processes that could not make a folder are counted for the tree. */
static uint64_t lost_without_folder(const struct ledger *ledger)
{
	uint64_t sum = 0;

	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		sum += rvp_loss_is_whole[i] ? ledger->loss[i] : 0;
	return sum;
}

static void check_records(const struct ledger *ledger, const struct shadow_record *record,
			  const struct ledger_process *process)
{
	const struct ledger_events *events = &process->events;
	uint64_t lost = process->lost_records + lost_without_folder(ledger), fewer = loss_allowed ? lost : 0;

	check(record, "torn chunks", 0, process->torn_chunks, 0);
	check(record, "missing chunks", 0, process->missing_chunks, 0);
	check(record, "broken chunks", 0, process->broken_chunks, 0);
	if (!loss_allowed)
		check(record, "lost records", 0, lost, 0);
	check(record, "records of allocs", less(record->done.allocs, fewer), events->allocs,
	      record->begun.allocs);
	check(record, "records of frees", less(record->done.frees, fewer), events->frees,
	      record->begun.frees);
	if (!fewer)
		check(record, "bytes in records", record->done.alloc_bytes, events->alloc_bytes,
		      record->begun.alloc_bytes);
}

/* Of a child by fork the table holds its parent's blocks too, which its own log does not tell. Threads beside
 * the one that ends the process may each be in an event, and make more of them behind the snapshot. */
static void check_own_cost(const struct shadow_record *record, const struct ledger_process *process)
{
	const struct ledger_events *events = &process->events;
	uint64_t live = events->allocs + events->samples - events->frees;
	uint64_t beside = process->late_events + (process->thread_count > 1 ? process->thread_count - 1 : 0);

	if (process->mode == RVP_MODE_FULL || process->is_fork || !events->exits || process->lost_records)
		return;
	check(record, "OWN_COST at the end", 1, process->own_cost_count, UINT64_MAX);
	check(record, "recorded blocks in OWN_COST", less(live, beside), process->recorded_blocks,
	      live + beside);
}

/* One alloc or free in 1,021 of each thread is timed and stands for so many; of a realloc only its alloc, of handlers
 * none. In sampled mode one in 13 of those that go the long way, all records among them, but for the first few. In a child by fork each thread counts on
 * from the last one of a thread of its parent's. */
static void check_event_cost(const struct shadow_record *record, const struct ledger_process *process)
{
	const struct rvp_counters *counters = &process->counters;
	uint64_t before = process->is_fork ? 1020 * process->thread_count : 0;
	uint64_t most = before + counters->alloc_count + counters->free_count;
	uint64_t least = process->mode == RVP_MODE_FULL ? counters->alloc_count / 1021 * 1021
							: counters->recorded_count / 1021 * 1000;
	bool must = process->thread_count == 1 && process->events.exits && !process->lost_records &&
		    !process->loss[RVP_LOSS_REENTRANT] && !process->is_fork;

	check(record, "timed events", must ? least : 0, process->timed_count, most);
	check(record, "ticks of timed events", process->timed_count > 1021, process->timed_ticks,
	      process->timed_count * 60000);
}

static void check_process(const struct ledger *ledger, const struct shadow_record *record, bool *taken)
{
	const struct ledger_process *process = shadow_process(ledger, record, taken);

	if (!process) {
		if (record->done.allocs + record->done.frees)
			check(record, "entries in the table of processes", 1, 0, 1);
		return;
	}
	check_counters(record, &process->counters);
	if (process->mode == RVP_MODE_FULL)
		check_records(ledger, record, process);
	check_own_cost(record, process);
	check_event_cost(record, process);
}

static uint64_t counted_losses(const struct ledger *ledger)
{
	uint64_t sum = lost_without_folder(ledger);

	for (size_t i = 0; i < ledger->count; i++)
		sum += ledger->processes[i].lost_records;
	return sum;
}

static void print_sums(const struct ledger *ledger, uint32_t images)
{
	struct rvp_counters sum = {0};

	for (size_t i = 0; i < ledger->count; i++)
		rvp_counters_sum(&sum, &ledger->processes[i].counters);
	printf("%s: images %u entries %zu alloc_count %llu free_count %llu alloc_bytes %llu lost %llu\n",
	       failures ? "not ok" : "ok", images, ledger->count, (unsigned long long)sum.alloc_count,
	       (unsigned long long)sum.free_count, (unsigned long long)sum.alloc_bytes,
	       (unsigned long long)counted_losses(ledger));
}

/* A shadow record that says what the counters say. */
static void check_itself(const struct ledger *ledger, const struct ledger_process *process)
{
	struct shadow_record record = {
	    .pid = process->pid, .is_fork = process->is_fork, .program = "no shadow"};

	record.done.allocs = record.begun.allocs = process->counters.alloc_count;
	record.done.frees = record.begun.frees = process->counters.free_count;
	record.done.alloc_bytes = record.begun.alloc_bytes = process->counters.alloc_bytes;
	if (process->mode == RVP_MODE_FULL)
		check_records(ledger, &record, process);
	check_own_cost(&record, process);
}

static void check_all(const struct ledger *ledger, const struct shadow_file *shadow)
{
	bool *taken = calloc(ledger->count + 1, sizeof *taken);

	if (!taken)
		abort();
	for (uint32_t i = 0; shadow && i < shadow_count(shadow); i++)
		check_process(ledger, &shadow->records[i], taken);
	for (size_t i = 0; !shadow && i < ledger->count; i++)
		check_itself(ledger, &ledger->processes[i]);
	if (!shadow && !ledger->count)
		check(&(struct shadow_record){.pid = 0}, "processes", 1, 0, 1);
	if (lossy && !counted_losses(ledger)) {
		failures++;
		printf("not ok: nothing was lost, or a loss was not counted\n");
	}
	print_sums(ledger, shadow ? shadow->next : 0);
	free(taken);
}

int main(int count, char **words)
{
	bool has_shadow = true;
	struct rvp_status status;
	struct ledger ledger;
	char line[512];
	int at = 1;

	for (; at < count && words[at][0] == '-'; at++) {
		lossy |= !strcmp(words[at], "--lossy");
		loss_allowed |= lossy || !strcmp(words[at], "--loss-allowed");
		has_shadow &= strcmp(words[at], "--no-shadow") != 0;
	}
	if (count - at != 1 + has_shadow) {
		fprintf(
		    stderr,
		    "usage: life_check [--lossy | --loss-allowed] SHADOW RUN | life_check --no-shadow RUN\n");
		return 2;
	}
	status = ledger_read(&ledger, words[count - 1]);
	if (rvp_failed(status)) {
		printf("not ok: %s\n", rvp_status_line(&status, line, sizeof line));
		return 1;
	}
	check_all(&ledger, has_shadow ? shadow_open(words[at]) : NULL);
	ledger_free(&ledger);
	return failures ? 1 : 0;
}
