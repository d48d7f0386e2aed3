/* SPDX-License-Identifier: MIT */
/* run_maker.c: see run_maker.h. Failures end the test program: there is nothing to test then. */
#include "tests/unit/run_maker.h"

#include "record/event_encode.h"
#include "record/log_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void need(int is_true, const char *what)
{
	if (is_true)
		return;
	perror(what);
	abort();
}

struct maker maker_open(void)
{
	struct maker maker = {.folder = "/tmp/rvprof-unit-XXXXXX"};

	need(mkdtemp(maker.folder) != NULL, "mkdtemp");
	maker.tree.entry_count = MAKER_PROCESSES_MAX;
	maker.tree.mode = RVP_MODE_FULL;
	snprintf(maker.tree.run_id, sizeof maker.tree.run_id, "0123456789abcdef0123456789abcdef");
	snprintf(maker.tree.boot_id, sizeof maker.tree.boot_id, "no-boot-of-this-machine");
	snprintf(maker.tree.exe, sizeof maker.tree.exe, "app");
	memcpy(maker.tree.command, "./app\0--size\0", 13);
	maker.tree.command_bytes = 13;
	return maker;
}

static void make_slot(struct maker_process *process, uint32_t number)
{
	struct rvp_slot *slot = rvp_slot_at(process->buffers, number);

	slot->tid = process->pid + number;
	slot->serial = number + 1;
	atomic_store(&slot->word, rvp_word(1, 0));
	process->threads[number] = (struct maker_thread){.process = process, .slot = slot, .number = number};
}

static struct maker_process *add(struct maker *maker, uint32_t pid)
{
	struct maker_process *process = calloc(1, sizeof *process);
	size_t bytes = RVP_BUFFER_HEADER_BYTES + (size_t)MAKER_THREADS_MAX * RVP_SLOT_BYTES;

	need(process != NULL && maker->process_count < MAKER_PROCESSES_MAX, "calloc");
	process->maker = maker;
	process->pid = pid;
	process->buffers = calloc(1, bytes);
	need(process->buffers != NULL, "calloc");
	process->buffers->slot_bytes = RVP_SLOT_BYTES;
	process->buffers->file.pid = pid;
	process->buffers->tree_entry = maker->process_count;
	snprintf(process->folder, sizeof process->folder, "%s/" RVP_PROC_FORMAT, maker->folder, pid, 0);
	process->entry = (struct rvp_tree_entry){.pid = pid,
						 .start_ticks = pid,
						 .folder = 1,
						 .state = RVP_ENTRY_EXITED,
						 .mode = RVP_MODE_FULL,
						 .begin_realtime_ns = MAKER_EPOCH_NS + 1000,
						 .end_realtime_ns = MAKER_EPOCH_NS + MAKER_END_NS};
	snprintf(process->entry.exe, sizeof process->entry.exe, "app");
	maker->processes[maker->process_count++] = process;
	return process;
}

static void put_anchor(struct maker_thread *thread, uint64_t stamp)
{
	MAKE(thread, ANCHOR, 0, .stamp = stamp, .realtime_ns = MAKER_EPOCH_NS + stamp, .monotonic_ns = stamp,
	     .boottime_ns = stamp + 77);
}

struct maker_process *maker_add_with(struct maker *maker, uint32_t pid, struct rvp_record_PROCESS record)
{
	struct maker_process *process = add(maker, pid);
	struct maker_thread *thread = maker_thread(process);
	uint8_t *at = maker_room(thread, rvp_record_max_bytes(256));

	record.pid = pid;
	record.clock = RVP_CLOCK_MONOTONIC;
	process->entry.is_fork = (uint32_t)record.is_fork;
	process->entry.parent_pid = (uint32_t)record.parent_pid;
	process->entry.mode = (uint32_t)record.mode;
	process->entry.begin_realtime_ns = MAKER_EPOCH_NS + record.stamp;
	maker_commit(thread, rvp_put_PROCESS(at, &thread->delta, &record), RVP_PROCESS, 0);
	put_anchor(thread, record.stamp);
	return process;
}

struct maker_process *maker_add(struct maker *maker, uint32_t pid)
{
	return maker_add_with(maker, pid,
			      (struct rvp_record_PROCESS){.stamp = 1000,
							  .parent_pid = 1,
							  .start_ticks = pid,
							  .page_bytes = 4096,
							  .mode = RVP_MODE_FULL,
							  .exe = {"/usr/bin/app", 12}});
}

struct maker_thread *maker_thread(struct maker_process *process)
{
	uint32_t number = process->thread_count++;

	need(number < MAKER_THREADS_MAX, "threads");
	make_slot(process, number);
	atomic_store(&process->buffers->slot_count, number + 1);
	return &process->threads[number];
}

uint8_t *maker_room(struct maker_thread *thread, uint64_t bytes)
{
	if (!rvp_slot_room(thread->slot, RVP_SLOT_BYTES, bytes))
		maker_seal(thread);
	return rvp_slot_room(thread->slot, RVP_SLOT_BYTES, bytes);
}

uint8_t *maker_put_event(struct maker_thread *thread, uint8_t *at, int kind, const void *record)
{
	const struct rvp_record_ALLOC *alloc = record;
	const struct rvp_record_FREE *given = record;

	if (!getenv("RVP_MAKE_EVENTS"))
		return NULL;
	if (kind == RVP_ALLOC && alloc->stack <= UINT32_MAX && alloc->python <= UINT32_MAX && alloc->family <= UINT8_MAX)
		return rvp_put_event_alloc(at, &thread->delta, &alloc->stamp, alloc->address, alloc->bytes,
					   (uint32_t)alloc->stack, (uint32_t)alloc->python, (unsigned)alloc->family, false);
	if (kind == RVP_FREE && given->family <= UINT8_MAX)
		return rvp_put_event_free(at, &thread->delta, &given->stamp, given->address, (unsigned)given->family, false);
	return NULL;
}

void maker_commit(struct maker_thread *thread, const uint8_t *end, int kind, uint64_t bytes)
{
	struct rvp_counters *counters = &thread->slot->counters;

	rvp_slot_commit(thread->slot, end);
	if (kind == RVP_ALLOC || kind == RVP_SAMPLE) {
		counters->alloc_count++;
		counters->alloc_bytes += bytes;
		counters->alloc_usable_bytes += (bytes + 23) & ~(uint64_t)15;
	}
	if (kind == RVP_FREE)
		counters->free_count++;
	if (kind == RVP_UNFREE)
		counters->free_count--;
}

void maker_seal(struct maker_thread *thread)
{
	struct maker_process *process = thread->process;
	size_t bytes = rvp_slot_seal(thread->slot, thread->number, thread->delta.stamp);
	size_t room = rvp_chunk_room(bytes);

	process->log = realloc(process->log, process->log_bytes + room);
	need(process->log != NULL, "realloc");
	memset(process->log + process->log_bytes, 0, room);
	memcpy(process->log + process->log_bytes, rvp_slot_chunk(thread->slot), bytes);
	process->log_bytes += room;
	thread->slot->counters.record_count += thread->slot->record_count;
	rvp_slot_restart(thread->slot);
	thread->delta = (struct rvp_delta){0};
}

static void write_file(const char *folder, const char *name, const void *head, size_t head_bytes,
		       const void *rest, size_t rest_bytes)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	need(fd >= 0, path);
	need(write(fd, head, head_bytes) == (ssize_t)head_bytes, path);
	need(rest_bytes == 0 || write(fd, rest, rest_bytes) == (ssize_t)rest_bytes, path);
	close(fd);
}

static void write_process(struct maker_process *process)
{
	struct rvp_file_header header = {.pid = process->pid, .begin_realtime_ns = MAKER_EPOCH_NS};
	size_t bytes = RVP_BUFFER_HEADER_BYTES + (size_t)process->thread_count * RVP_SLOT_BYTES;

	put_anchor(&process->threads[0], MAKER_END_NS);
	need(mkdir(process->folder, 0700) == 0, process->folder);
	rvp_file_header_seal(&header, RVP_LOG_MAGIC);
	write_file(process->folder, RVP_LOG_FILE, &header, sizeof header, process->log, process->log_bytes);
	rvp_file_header_seal(&process->buffers->file, RVP_BUFFER_MAGIC);
	write_file(process->folder, RVP_BUFFER_FILE, process->buffers, bytes, NULL, 0);
}

void maker_close(struct maker *maker)
{
	size_t bytes = rvp_tree_bytes(MAKER_PROCESSES_MAX);
	struct rvp_tree *tree = calloc(1, bytes);

	need(tree != NULL, "calloc");
	maker->tree.root_pid = maker->process_count ? maker->processes[0]->pid : 0;
	maker->tree.next_entry = maker->process_count;
	*tree = maker->tree;
	rvp_file_header_seal(&tree->file, RVP_TREE_MAGIC);
	for (uint32_t i = 0; i < maker->process_count; i++) {
		*rvp_tree_entry_at(tree, i) = maker->processes[i]->entry;
		if (maker->processes[i]->entry.folder)
			write_process(maker->processes[i]);
		free(maker->processes[i]->buffers);
		free(maker->processes[i]->log);
		free(maker->processes[i]);
	}
	write_file(maker->folder, RVP_TREE_FILE, tree, bytes, NULL, 0);
	free(tree);
}

void maker_remove(struct maker *maker)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", maker->folder);
	need(system(command) == 0, command);
}
