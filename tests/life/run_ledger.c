/* SPDX-License-Identifier: MIT */
/* run_ledger.c: see run_ledger.h. */
#include "tests/life/run_ledger.h"

#include "record/decode.h"
#include "record/log_reader.h"
#include "record/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 4096 };

/* ---- a set of addresses: open addressing ---- */

struct addresses {
	uint64_t *slots; /* 0: empty */
	size_t room, used;
};

static size_t place_of(const struct addresses *set, uint64_t address)
{
	size_t at = (size_t)(address * 0x9e3779b97f4a7c15 >> 20) & (set->room - 1);

	while (set->slots[at] && set->slots[at] != address)
		at = (at + 1) & (set->room - 1);
	return at;
}

static void put(struct addresses *set, uint64_t address)
{
	size_t at;

	if (set->used * 2 >= set->room) {
		struct addresses bigger = {.room = set->room ? set->room * 2 : 4096};

		bigger.slots = calloc(bigger.room, sizeof *bigger.slots);
		if (!bigger.slots)
			abort();
		for (size_t i = 0; i < set->room; i++)
			if (set->slots[i]) {
				bigger.slots[place_of(&bigger, set->slots[i])] = set->slots[i];
				bigger.used++;
			}
		free(set->slots);
		*set = bigger;
	}
	at = place_of(set, address);
	set->used += set->slots[at] == 0;
	set->slots[at] = address;
}

/* ---- a process's log ---- */

static struct ledger_thread *thread_of(struct ledger_process *process, uint32_t tid)
{
	struct ledger_thread *more;

	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	more = realloc(process->threads, (process->thread_count + 1) * sizeof *more);
	if (!more)
		abort();
	process->threads = more;
	more += process->thread_count++;
	memset(more, 0, sizeof *more);
	more->tid = tid;
	return more;
}

static void count_record(struct ledger_events *events, const struct rvp_record *record)
{
	switch (record->kind) {
	case RVP_ALLOC:
		events->allocs++;
		events->alloc_bytes += record->ALLOC.bytes;
		break;
	case RVP_SAMPLE: events->samples++; break;
	case RVP_FREE: events->frees++; break;
	case RVP_UNFREE: events->frees--; break;
	case RVP_MAP: events->maps++; break;
	case RVP_UNMAP: events->unmaps++; break;
	case RVP_FORK: events->forks++; break;
	case RVP_EXEC: events->execs++; break;
	case RVP_EXIT: events->exits++; break;
	default: break;
	}
}

static void note_own_cost(struct ledger_process *process, const struct rvp_record *record)
{
	process->own_cost_count++;
	if (record->OWN_COST.stamp < process->own_cost_stamp)
		return;
	process->own_cost_stamp = record->OWN_COST.stamp;
	process->recorded_blocks = record->OWN_COST.recorded_blocks;
}

static void read_chunk(struct ledger_process *process, const struct rvp_chunk *chunk)
{
	struct rvp_decoder decoder = rvp_decoder_over(chunk->payload, chunk->payload_bytes);
	struct ledger_thread *thread = thread_of(process, chunk->tid);
	struct rvp_record record;

	while (rvp_decode_next(&decoder, &record)) {
		count_record(&process->events, &record);
		count_record(&thread->events, &record);
		if (record.kind == RVP_OWN_COST)
			note_own_cost(process, &record);
		if (record.kind == RVP_EVENT_COST && record.EVENT_COST.timed_count >= process->timed_count) {
			process->timed_count = record.EVENT_COST.timed_count;
			process->timed_ticks = record.EVENT_COST.timed_ticks;
		}
	}
	process->broken_chunks += decoder.broken;
}

static void read_deferred(struct ledger_process *process, const struct rvp_log *log)
{
	for (size_t i = 0; i < log->deferred_count; i++) {
		const struct rvp_deferred *event = &log->deferred[i];
		struct rvp_record record = {.kind = (enum rvp_kind)event->kind};

		if (event->kind == RVP_ALLOC)
			record.ALLOC.bytes = event->bytes;
		count_record(&process->events, &record);
		count_record(&thread_of(process, log->deferred_tid[i])->events, &record);
	}
}

static void read_slot_counters(struct ledger_process *process, const struct rvp_log *log)
{
	struct rvp_buffers *buffers = log->buffers_copy;
	uint32_t count = buffers ? atomic_load(&buffers->slot_count) : 0;

	for (uint32_t i = 0; i < count; i++) {
		struct rvp_slot *slot = rvp_slot_at(buffers, i);

		if ((char *)slot + buffers->slot_bytes > (char *)buffers + log->buffers_bytes)
			break;
		if (slot->tid)
			rvp_counters_sum(&thread_of(process, slot->tid)->counters, &slot->counters);
	}
}

/* Which frees have no alloc: slots are independent streams here, so a free counts as known when any slot of
 * the process ever gave that address out. Enough to find an invention; order is the report's business. */
static void match_frees(struct ledger_process *process, const struct rvp_log *log)
{
	struct addresses given = {0};

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < log->chunk_count; i++) {
			struct rvp_decoder decoder =
			    rvp_decoder_over(log->chunks[i].payload, log->chunks[i].payload_bytes);
			struct rvp_record record;

			while (rvp_decode_next(&decoder, &record)) {
				if (pass == 0 && record.kind == RVP_ALLOC)
					put(&given, record.ALLOC.address);
				if (pass == 1 && record.kind == RVP_FREE && given.room &&
				    given.slots[place_of(&given, record.FREE.address)] != record.FREE.address)
					process->events.unknown_frees++;
			}
		}
	free(given.slots);
}

static uint64_t stamp_of_event(const struct rvp_record *record)
{
	return record->kind == RVP_ALLOC    ? record->ALLOC.stamp
	       : record->kind == RVP_SAMPLE ? record->SAMPLE.stamp
	       : record->kind == RVP_FREE   ? record->FREE.stamp
					    : 0;
}

/* Other threads may go on behind the last snapshot. */
static void count_late_events(struct ledger_process *process, const struct rvp_log *log)
{
	for (size_t i = 0; i < log->chunk_count; i++) {
		struct rvp_decoder decoder =
		    rvp_decoder_over(log->chunks[i].payload, log->chunks[i].payload_bytes);
		struct rvp_record record;

		while (rvp_decode_next(&decoder, &record))
			process->late_events += stamp_of_event(&record) > process->own_cost_stamp;
	}
}

static struct rvp_status read_log(struct ledger_process *process, const char *folder)
{
	struct rvp_log log;
	struct rvp_status status = rvp_log_open_folder(&log, folder);

	if (rvp_failed(status))
		return status;
	for (size_t i = 0; i < log.chunk_count; i++)
		read_chunk(process, &log.chunks[i]);
	read_deferred(process, &log);
	read_slot_counters(process, &log);
	match_frees(process, &log);
	count_late_events(process, &log);
	rvp_counters_sum(&process->counters, &log.counters);
	memcpy(process->loss, log.loss, sizeof process->loss);
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		process->lost_records += rvp_loss_is_whole[i] ? log.loss[i] : 0;
	process->torn_chunks = log.torn_chunks;
	process->missing_chunks = log.missing_chunks;
	process->log_bytes = log.log_bytes;
	process->lost_records += log.torn_chunks + log.missing_chunks + process->broken_chunks;
	rvp_log_close(&log);
	return RVP_OK;
}

/* ---- the tree ---- */

static struct rvp_status read_process(struct ledger_process *process, struct rvp_tree *tree, uint32_t number,
				      const char *run_folder)
{
	struct rvp_tree_entry *entry = rvp_tree_entry_at(tree, number);
	uint32_t folder = atomic_load(&entry->folder);
	char path[NAME_BYTES];

	*process = (struct ledger_process){.entry = number,
					   .pid = entry->pid,
					   .state = atomic_load(&entry->state),
					   .exit_how = entry->exit_how,
					   .exit_status = entry->exit_status,
					   .has_folder = folder != 0,
					   .is_fork = entry->is_fork,
					   .mode = entry->mode,
					   .counters = entry->counters};
	rvp_counters_sum(&process->counters, &entry->spill);
	if (!folder)
		return RVP_OK;
	snprintf(path, sizeof path, "%s/" RVP_PROC_FORMAT, run_folder, entry->pid, folder - 1);
	return read_log(process, path);
}

static struct rvp_status read_tree(struct ledger *ledger, struct rvp_tree *tree, size_t bytes,
				   const char *run_folder)
{
	uint32_t count = atomic_load(&tree->next_entry);

	if (count > tree->entry_count)
		count = tree->entry_count;
	if (bytes < rvp_tree_bytes(count))
		return rvp_fail_with("read", run_folder, "its table of processes is cut");
	ledger->mode = tree->mode;
	ledger->is_folded = atomic_load(&tree->folded);
	ledger->log_bytes = atomic_load(&tree->log_bytes);
	ledger->max_log_bytes = tree->max_log_bytes;
	ledger->unfollowed = atomic_load(&tree->unfollowed);
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		ledger->loss[i] = atomic_load(&tree->loss[i]);
	ledger->processes = calloc(count + 1, sizeof *ledger->processes);
	if (!ledger->processes)
		return rvp_fail("read", run_folder, ENOMEM);
	for (; ledger->count < count; ledger->count++) {
		struct rvp_status status = read_process(&ledger->processes[ledger->count], tree,
							(uint32_t)ledger->count, run_folder);

		if (rvp_failed(status))
			return status;
	}
	return RVP_OK;
}

struct rvp_status ledger_read(struct ledger *ledger, const char *run_folder)
{
	char path[NAME_BYTES];
	struct rvp_status status;
	struct stat file;
	void *map;
	int fd;

	memset(ledger, 0, sizeof *ledger);
	snprintf(path, sizeof path, "%s/" RVP_TREE_FILE, run_folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &file) != 0)
		return rvp_fail("open", path, errno);
	map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return rvp_fail("map", path, errno);
	status = rvp_file_header_check(map, RVP_TREE_MAGIC, path);
	if (!rvp_failed(status))
		status = read_tree(ledger, map, (size_t)file.st_size, run_folder);
	munmap(map, (size_t)file.st_size);
	return status;
}

void ledger_free(struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->count; i++)
		free(ledger->processes[i].threads);
	free(ledger->processes);
	memset(ledger, 0, sizeof *ledger);
}

const struct ledger_process *ledger_find(const struct ledger *ledger, uint32_t pid, unsigned image)
{
	for (size_t i = 0; i < ledger->count; i++)
		if (ledger->processes[i].pid == pid && image-- == 0)
			return &ledger->processes[i];
	return NULL;
}

const struct ledger_thread *ledger_thread(const struct ledger_process *process, uint32_t tid)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	return NULL;
}
