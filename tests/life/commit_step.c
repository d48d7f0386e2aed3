/* SPDX-License-Identifier: MIT */
/* commit_step.c: the commit protocol (record/slot.h) against a SIGKILL at every instruction.
 *
 * A child appends records of known content to the slots of a shared mapping and flushes them to a log. The
 * parent moves it by PTRACE_SINGLESTEP, from the first append to the last, and after every single instruction
 * reads the two files as they are (where a byte of them changed): shared pages belong to the kernel, so that
 * is what a SIGKILL at that instruction would leave.
 *
 *   (C1) What is read is exactly the first n records of each slot, with committed <= n <= committed + 1;
 * `committed` is counted by the child behind each append. (C2) A SIGKILL in earnest at a sample of the steps
 * leaves the same. (C3) Two wrong protocols are found out: one that restarts a slot before it has written,
 * one that commits a record before its bytes. A referee that passes them would prove nothing.
 *
 * Usage: commit_step FOLDER (an existing folder for the files).
 */
#include "tests/life/known.h"

#include "record/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS_MAX = 2, SLOT_BYTES = RVP_SLOT_PAYLOAD_AT + 384 };

enum fault { NO_FAULT, RESTART_BEFORE_WRITE, COMMIT_BEFORE_BYTES };

struct variant {
	const char *name;
	uint32_t slots;
	size_t piece_bytes; /* of a write: a kernel may write less than asked */
	uint64_t records;
	enum fault fault;
	bool new_owner; /* the slots change hands half-way */
};

static const struct variant variants[] = {
    {.name = "one slot, whole writes", .slots = 1, .piece_bytes = SLOT_BYTES, .records = 50},
    {.name = "one slot, writes of 7 bytes", .slots = 1, .piece_bytes = 7, .records = 30},
    {.name = "two slots, writes of 64 bytes", .slots = 2, .piece_bytes = 64, .records = 60},
    {.name = "two slots that change hands", .slots = 2, .piece_bytes = 100, .records = 60, .new_owner = true},
    {.name = "WRONG: restart before write",
     .slots = 1,
     .piece_bytes = 64,
     .records = 50,
     .fault = RESTART_BEFORE_WRITE},
    {.name = "WRONG: commit before bytes",
     .slots = 1,
     .piece_bytes = 64,
     .records = 50,
     .fault = COMMIT_BEFORE_BYTES},
};

struct scene {
	char log_path[4096], buffers_path[4096];
	int log_fd;
	struct rvp_buffers *buffers;
	size_t buffers_bytes;
	_Atomic uint64_t *committed; /* shared with the parent */
};

static void die(const char *what)
{
	fprintf(stderr, "commit_step: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int make_file(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
		die(path);
	return fd;
}

static void set_scene(struct scene *scene, const char *folder, const struct variant *variant)
{
	struct rvp_file_header header = {.pid = 1};
	int fd;

	snprintf(scene->log_path, sizeof scene->log_path, "%s/" RVP_LOG_FILE, folder);
	snprintf(scene->buffers_path, sizeof scene->buffers_path, "%s/" RVP_BUFFER_FILE, folder);
	scene->log_fd = make_file(scene->log_path, 0);
	rvp_file_header_seal(&header, RVP_LOG_MAGIC);
	if (pwrite(scene->log_fd, &header, sizeof header, 0) != sizeof header)
		die(scene->log_path);
	scene->buffers_bytes = RVP_BUFFER_HEADER_BYTES + variant->slots * SLOT_BYTES;
	fd = make_file(scene->buffers_path, scene->buffers_bytes);
	scene->buffers = mmap(NULL, scene->buffers_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	scene->committed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (scene->buffers == MAP_FAILED || scene->committed == MAP_FAILED)
		die("mmap");
	close(fd);
	rvp_file_header_seal(&header, RVP_BUFFER_MAGIC);
	scene->buffers->file = header;
	scene->buffers->slot_bytes = SLOT_BYTES;
	scene->buffers->slot_count = variant->slots;
	scene->buffers->log_tail = sizeof header;
	for (uint32_t i = 0; i < variant->slots; i++) {
		struct rvp_slot *slot = rvp_slot_at(scene->buffers, i);

		slot->serial = i + 1;
		slot->tid = 100 + i;
		slot->word = rvp_word(1, 0);
	}
}

static void clear_scene(struct scene *scene)
{
	close(scene->log_fd);
	munmap(scene->buffers, scene->buffers_bytes);
	munmap((void *)scene->committed, 4096);
	unlink(scene->log_path);
	unlink(scene->buffers_path);
}

/* ---- the child ---- */

static void write_pieces(const struct scene *scene, const char *from, size_t bytes, size_t piece)
{
	uint64_t at = atomic_fetch_add(&scene->buffers->log_tail, rvp_chunk_room(bytes));

	while (bytes) {
		size_t part = bytes < piece ? bytes : piece;

		if (pwrite(scene->log_fd, from, part, (off_t)at) != (ssize_t)part)
			_exit(3);
		from += part;
		at += part;
		bytes -= part;
	}
}

static void flush(const struct scene *scene, const struct variant *variant, uint32_t number,
		  struct rvp_delta *delta)
{
	struct rvp_slot *slot = rvp_slot_at(scene->buffers, number);
	size_t bytes = rvp_slot_seal(slot, number, delta->stamp);

	if (variant->fault == RESTART_BEFORE_WRITE)
		rvp_slot_restart(slot);
	write_pieces(scene, (const char *)rvp_slot_chunk(slot), bytes, variant->piece_bytes);
	if (variant->fault != RESTART_BEFORE_WRITE)
		rvp_slot_restart(slot);
	*delta = (struct rvp_delta){0};
}

static void append(const struct scene *scene, const struct variant *variant, uint64_t record,
		   struct rvp_delta *delta)
{
	uint32_t number = (uint32_t)(record % variant->slots);
	struct rvp_slot *slot = rvp_slot_at(scene->buffers, number);
	uint8_t *room = rvp_slot_room(slot, SLOT_BYTES, KNOWN_MAX_BYTES);
	uint8_t copy[KNOWN_MAX_BYTES];
	struct rvp_delta before;

	if (!room) {
		flush(scene, variant, number, delta);
		room = rvp_slot_room(slot, SLOT_BYTES, KNOWN_MAX_BYTES);
	}
	if (variant->fault == COMMIT_BEFORE_BYTES) {
		before = *delta;
		rvp_slot_commit(slot, room + (known_put(copy, &before, record) - copy));
		known_put(room, delta, record);
	} else {
		rvp_slot_commit(slot, known_put(room, delta, record));
	}
	atomic_store(scene->committed, record + 1);
}

/* As a thread that takes over a dead one's slot does: flush what is there, then the new serial. */
static void change_hands(const struct scene *scene, const struct variant *variant, struct rvp_delta *delta)
{
	for (uint32_t i = 0; i < variant->slots; i++) {
		flush(scene, variant, i, &delta[i]);
		rvp_slot_at(scene->buffers, i)->serial += 100;
		rvp_slot_at(scene->buffers, i)->tid += 100;
	}
}

static void be_the_child(const struct scene *scene, const struct variant *variant)
{
	struct rvp_delta delta[SLOTS_MAX] = {{0}};

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (uint64_t record = 0; record < variant->records; record++) {
		if (variant->new_owner && record == variant->records / 2)
			change_hands(scene, variant, delta);
		append(scene, variant, record, &delta[record % variant->slots]);
	}
	_exit(0);
}

/* ---- the parent ---- */

/* What is wrong with the files at this moment: NULL when nothing is. */
static const char *judge(const struct scene *scene, const struct variant *variant)
{
	static char line[512];
	struct rvp_log log;
	struct rvp_status status = rvp_log_open(&log, scene->log_path, scene->buffers_path);
	uint64_t committed = atomic_load(scene->committed), count;
	const char *wrong;

	if (rvp_failed(status))
		return rvp_status_line(&status, line, sizeof line);
	wrong = known_prefix(&log, variant->slots, &count);
	if (!wrong && count < committed)
		wrong = "a committed record is lost";
	if (!wrong && count > committed + 1)
		wrong = "more records than were appended";
	rvp_log_close(&log);
	return wrong;
}

static pid_t start_child(const struct scene *scene, const struct variant *variant)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		die("fork");
	if (child == 0)
		be_the_child(scene, variant);
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		die("the child did not stop");
	return child;
}

/* Moves the child by one instruction: false when it is gone. */
static bool step(pid_t child)
{
	int status = 0;

	if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child)
		die("step");
	return WIFSTOPPED(status);
}

/* Whether a reader could see anything else than at the last call: the log of one writer only grows, so its
 * length says whether it changed. Most instructions change nothing, and reading costs a hundred times a step.
 */
static bool has_changed(const struct scene *scene, void *last_buffers, off_t *last_length,
			uint64_t *last_committed)
{
	struct stat log;
	bool same;

	if (fstat(scene->log_fd, &log) != 0)
		die("fstat");
	same = log.st_size == *last_length && atomic_load(scene->committed) == *last_committed &&
	       memcmp(last_buffers, scene->buffers, scene->buffers_bytes) == 0;
	*last_length = log.st_size;
	*last_committed = atomic_load(scene->committed);
	memcpy(last_buffers, scene->buffers, scene->buffers_bytes);
	return !same;
}

/* Every instruction of the variant; the number of steps, and the first thing that was wrong. */
static uint64_t walk_through(const struct variant *variant, const char *folder, const char **wrong)
{
	char last[RVP_BUFFER_HEADER_BYTES + SLOTS_MAX * SLOT_BYTES] = "";
	uint64_t steps = 0, last_committed = 0;
	off_t last_length = 0;
	struct scene scene;
	pid_t child;

	set_scene(&scene, folder, variant);
	child = start_child(&scene, variant);
	*wrong = NULL;
	for (; !*wrong && step(child); steps++)
		if (has_changed(&scene, last, &last_length, &last_committed))
			*wrong = judge(&scene, variant);
	if (*wrong) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	} else if (atomic_load(scene.committed) != variant->records) {
		*wrong = "the child did not get to its end";
	}
	clear_scene(&scene);
	return steps;
}

static const char *kill_at(const struct variant *variant, const char *folder, uint64_t steps)
{
	struct scene scene;
	const char *wrong;
	pid_t child;

	set_scene(&scene, folder, variant);
	child = start_child(&scene, variant);
	while (steps-- && step(child))
		;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	wrong = judge(&scene, variant);
	clear_scene(&scene);
	return wrong;
}

static bool passes(const struct variant *variant, const char *folder)
{
	const char *wrong;
	uint64_t steps = walk_through(variant, folder, &wrong);

	if (variant->fault != NO_FAULT) {
		printf("%s: %s: step %llu: %s\n", wrong ? "ok" : "not ok", variant->name,
		       (unsigned long long)steps, wrong ? wrong : "not found out");
		return wrong;
	}
	for (int i = 1; i <= 8 && !wrong; i++)
		wrong = kill_at(variant, folder, steps * (uint64_t)i / 9);
	printf("%s: %s: %llu steps%s%s\n", wrong ? "not ok" : "ok", variant->name, (unsigned long long)steps,
	       wrong ? ": " : "", wrong ? wrong : "");
	return !wrong;
}

/* Parent and child on one processor: a step then is a switch and no call across processors (a third of the
 * time). */
static void stay_on_one_processor(void)
{
	int processor = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor < 0 ? 0 : processor, &one);
	sched_setaffinity(0, sizeof one, &one);
}

int main(int count, char **words)
{
	bool all = true;

	if (count != 2) {
		fprintf(stderr, "usage: commit_step FOLDER\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	stay_on_one_processor();
	for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
		all &= passes(&variants[i], words[1]);
	return all ? 0 : 1;
}
