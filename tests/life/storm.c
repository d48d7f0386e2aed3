/* SPDX-License-Identifier: MIT */
/* storm.c: random moves from a seed: blocks of every family, threads, signals, fork in all its ways, exec,
 * spawn, dlopen, closed descriptors. Its own count is kept by shadow.c; run_storm in run.sh holds ours
 * against it.
 *
 * Usage: storm SEED MOVES [DEPTH]. The same seed makes the same moves (threads interleave as they like). A
 * process makes its moves, waits for its children and threads, and ends in a random way. Children get a seed
 * derived from their parent's and fewer moves; DEPTH bounds the tree. Prints nothing; status 0 when all its
 * children ended as they should.
 */
#include "tests/life/shadow.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { BLOCKS = 200, DEPTH_MAX = 3, CHILD_OK = 33 };

/* One actor: the main flow of a process, or a thread. */
struct actor {
	uint64_t random;
	void *blocks[BLOCKS];
	int moves, depth;
	bool is_thread;
};

static const char *self_path;
static int failures;

static uint64_t draw(struct actor *actor, uint64_t below)
{
	actor->random ^= actor->random << 13;
	actor->random ^= actor->random >> 7;
	actor->random ^= actor->random << 17;
	return actor->random % below;
}

static size_t draw_bytes(struct actor *actor)
{
	switch (draw(actor, 8)) {
	case 0: return 0;
	case 1: return draw(actor, 200000);
	case 2: return draw(actor, 20000);
	default: return draw(actor, 500);
	}
}

/* A child of vfork can use its parent's buffer, but not make one: a record that finds none there is counted
 * as lost. So each process has one before. */
static void have_a_place(void)
{
	void *volatile block = malloc(1 << 20); /* volatile: the compiler may not leave it out */

	free(block);
}

/* ---- blocks ---- */

static void *new_block(struct actor *actor)
{
	size_t bytes = draw_bytes(actor);
	void *block = NULL;

	switch (draw(actor, 8)) {
	case 0: return calloc(1 + draw(actor, 5), bytes);
	case 1: return memalign((size_t)16 << draw(actor, 8), bytes);
	case 2: return aligned_alloc(64, bytes);
	case 3: return posix_memalign(&block, 128, bytes) ? NULL : block;
	case 4: return reallocarray(NULL, 1 + draw(actor, 5), bytes);
	case 5: return draw(actor, 20) ? malloc(bytes) : valloc(bytes);
	default: return malloc(bytes);
	}
}

static void move_block(struct actor *actor)
{
	void **place = &actor->blocks[draw(actor, BLOCKS)];

	if (!*place) {
		*place = new_block(actor);
	} else if (draw(actor, 4) == 0) {
		size_t bytes = draw_bytes(actor);
		void *block = realloc(*place, bytes);

		*place = block; /* of 0 bytes: it is gone */
	} else {
		free(*place);
		*place = NULL;
	}
}

static void move_blocks(struct actor *actor)
{
	for (uint64_t count = 1 + draw(actor, 100); count; count--)
		move_block(actor);
}

static void fail_to_allocate(struct actor *actor)
{
	size_t volatile huge = SIZE_MAX / 2;
	void *block = malloc(huge), *old = actor->blocks[0];

	if (block || calloc(huge, 4) || (old && realloc(old, huge)))
		abort();
}

static void map_and_unmap(struct actor *actor)
{
	size_t bytes = 4096 * (1 + draw(actor, 20));
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at = mremap(at, bytes, bytes * 2, MREMAP_MAYMOVE);
	if (at == MAP_FAILED)
		abort();
	munmap(at, bytes);
	munmap(at + bytes, bytes);
}

/* ---- signals ---- */

static void on_signal(int number)
{
	(void)number;
	free(malloc(50));
}

/* The handler allocates; it is raised where this thread is not inside libc's malloc. */
static void raise_signal(struct actor *actor)
{
	int count = 1 + (int)draw(actor, 5);

	while (count--)
		raise(SIGUSR1);
}

/* ---- libraries and descriptors ---- */

static void load_library(struct actor *actor)
{
	const char *path = getenv(draw(actor, 2) ? "RVP_PLUGIN" : "RVP_PLUGIN2");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	void *(*allocate)(size_t, int);

	if (!library)
		return;
	*(void **)&allocate = dlsym(library, "plugin_allocate");
	free(allocate(100 + draw(actor, 40000), (int)draw(actor, 10)));
	dlclose(library);
}

static void close_descriptors(struct actor *actor)
{
	switch (draw(actor, 3)) {
	case 0: closefrom(3 + (int)draw(actor, 20)); break;
	case 1: close_range(3 + (unsigned)draw(actor, 20), ~0u, 0); break;
	case 2: {
		int fd = open("/dev/null", O_RDONLY);

		if (fd >= 0) {
			dup2(fd, 900 + (int)draw(actor, 100));
			close(fd);
		}
	}
	}
}

/* ---- threads ---- */

static void act(struct actor *actor);

static void *thread_main(void *actor)
{
	act(actor);
	return NULL;
}

static void run_threads(struct actor *actor)
{
	enum { MOST = 4 };
	struct actor *others[MOST];
	pthread_t threads[MOST];
	int count = 1 + (int)draw(actor, MOST);

	if (actor->is_thread)
		return;
	for (int i = 0; i < count; i++) {
		others[i] = calloc(1, sizeof *others[i]);
		others[i]->random = actor->random + (uint64_t)i + 1;
		others[i]->moves = (int)draw(actor, 20);
		others[i]->depth = DEPTH_MAX;
		others[i]->is_thread = true;
		if (pthread_create(&threads[i], NULL, thread_main, others[i]) != 0)
			abort();
	}
	for (uint64_t moves = draw(actor, 5); moves; moves--)
		move_blocks(actor);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		/* Blocks that a dead thread gave out. */
		for (int block = 0; block < BLOCKS; block++)
			free(others[i]->blocks[block]);
		free(others[i]);
	}
}

/* ---- processes ---- */

__attribute__((noreturn)) static void end(struct actor *actor, int status)
{
	switch (draw(actor, 4)) {
	case 0: exit(status);
	case 1: _exit(status);
	case 2: quick_exit(status);
	default: syscall(SYS_exit_group, status); abort();
	}
}

static void exec_again(struct actor *actor)
{
	char seed[32], moves[16], depth[16];
	char *const words[] = {(char *)"storm", seed, moves, depth, NULL};

	snprintf(seed, sizeof seed, "%llu", (unsigned long long)(actor->random >> 1));
	snprintf(moves, sizeof moves, "%d", actor->moves / 2);
	snprintf(depth, sizeof depth, "%d", actor->depth);
	if (draw(actor, 3) == 0)
		execl("/nonexistent", "nonexistent", (char *)NULL);
	execv(self_path, words);
	abort();
}

__attribute__((noreturn)) static void be_a_child(struct actor *actor)
{
	actor->random = actor->random * 0x9e3779b97f4a7c15u + 1;
	actor->moves /= 2;
	actor->depth++;
	shadow_mine();
	have_a_place();
	act(actor);
	if (draw(actor, 4) == 0)
		exec_again(actor);
	end(actor, failures ? 1 : CHILD_OK);
}

static void expect_end(pid_t child, int expected)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != expected)
		failures++;
}

static void fork_somehow(struct actor *actor)
{
	pid_t child;

	if (actor->is_thread || actor->depth >= DEPTH_MAX)
		return;
	switch (draw(actor, 3)) {
	case 0: child = _Fork(); break;
	case 1: child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); break;
	default: child = fork();
	}
	if (child == 0)
		be_a_child(actor);
	draw(actor, 1);
	move_blocks(actor);
	expect_end(child, CHILD_OK);
}

/* The child's moves are on the parent's heap. */
static void vfork_somehow(struct actor *actor)
{
	static char *const words[] = {(char *)"true", NULL};
	void *volatile given = NULL;
	void *taken = actor->blocks[1];
	bool execs = draw(actor, 2);
	pid_t child;

	if (actor->is_thread)
		return;
	actor->blocks[1] = NULL;
	child = vfork();
	if (child == 0) {
		given = malloc(123);
		free(taken);
		if (execs)
			execv("/bin/true", words);
		_exit(0);
	}
	free(given);
	expect_end(child, 0);
}

static void spawn_somehow(struct actor *actor)
{
	char seed[32], depth[16];
	char *const words[] = {(char *)"storm", seed, (char *)"5", depth, NULL};
	static char *const other[] = {(char *)"true", NULL};
	pid_t child = -1;

	if (actor->is_thread || actor->depth >= DEPTH_MAX)
		return;
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)(actor->random >> 1));
	snprintf(depth, sizeof depth, "%d", actor->depth + 1);
	if (draw(actor, 2)) {
		if (posix_spawn(&child, self_path, NULL, NULL, words, environ) == 0)
			expect_end(child, CHILD_OK);
	} else if (posix_spawnp(&child, "true", NULL, NULL, other, environ) == 0) {
		expect_end(child, 0);
	}
}

static void act(struct actor *actor)
{
	for (; actor->moves > 0; actor->moves--) {
		switch (draw(actor, 16)) {
		case 0: fork_somehow(actor); break;
		case 1: vfork_somehow(actor); break;
		case 2: spawn_somehow(actor); break;
		case 3: run_threads(actor); break;
		case 4: raise_signal(actor); break;
		case 5: load_library(actor); break;
		case 6: close_descriptors(actor); break;
		case 7: map_and_unmap(actor); break;
		case 8: fail_to_allocate(actor); break;
		default: move_blocks(actor);
		}
	}
}

int main(int count, char **words)
{
	static struct actor actor;

	if (count < 3)
		return 2;
	self_path = "/proc/self/exe";
	actor.random = strtoull(words[1], NULL, 10) * 2 + 1;
	for (int i = 0; i < 10; i++)
		draw(&actor, 2);
	actor.moves = atoi(words[2]);
	actor.depth = count > 3 ? atoi(words[3]) : 0;
	signal(SIGUSR1, on_signal);
	have_a_place();
	act(&actor);
	end(&actor, failures ? 1 : CHILD_OK);
}
