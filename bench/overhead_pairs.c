/* SPDX-License-Identifier: MIT */
/* overhead_pairs.c: ns a malloc/free pair, for bench/overhead.
 *
 *     overhead_pairs THREADS DEPTH PATHS PAIRS [REPEATS [FILE]]
 *
 * THREADS 0: in main, no thread was ever started; 1 and more: in so many started threads, main waits. Up to
 * as many as there are processors, each is bound to one. Every pair is made from DEPTH calls further in, all
 * of which return before the next: PATHS 1 is always the same way down; 16 and 256 choose one of two call
 * sites at random at each of the innermost 4 or 8 levels. Sizes are 16 to 1,039 bytes; 64 blocks are held, so
 * that frees are not all of the last block.
 *
 * Writes to FILE (default: stdout) wall ns and processor ns a pair and thread, of the best of REPEATS
 * (default 5) after one that does not count. The machine's other work makes a repeat slower, never faster.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { HELD = 64, THREADS_MAX = 64 };

static int depth, choices, repeats = 5, thread_count;
static long pairs;
static pthread_barrier_t barrier;

struct worker {
	uint64_t random;
	unsigned turns; /* a bit a level: which call site */
	int processor;
	double wall_ns, cpu_ns;
	void *held[HELD];
};

static uint64_t draw(struct worker *worker)
{
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	return worker->random ^= worker->random << 17;
}

__attribute__((noinline)) static void pair(struct worker *worker)
{
	uint64_t number = draw(worker);
	void **place = &worker->held[number % HELD];

	free(*place);
	*place = malloc(16 + (number >> 32) % 1024);
	__asm__ volatile("" ::: "memory");
}

/* `left` calls further in; the innermost `choices` of them from one of two places. */
__attribute__((noinline)) static void descend(struct worker *worker, int left)
{
	if (left == 0) {
		pair(worker);
	} else if (left <= choices && (worker->turns >> left & 1)) {
		descend(worker, left - 1);
		__asm__ volatile("nop" ::: "memory");
	} else {
		descend(worker, left - 1);
	}
	__asm__ volatile("" ::: "memory");
}

static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void repeat(struct worker *worker)
{
	for (long i = 0; i < pairs; i++) {
		worker->turns = choices ? (unsigned)(draw(worker) >> 20) : 0;
		descend(worker, depth);
	}
}

static void together(void)
{
	if (thread_count > 1)
		pthread_barrier_wait(&barrier);
}

static void bind(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	if (worker->processor >= 0)
		bind(worker->processor);
	repeat(worker);
	for (int i = 0; i < repeats; i++) {
		together();
		double wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);

		repeat(worker);
		wall = (now_ns(CLOCK_MONOTONIC) - wall) / (double)pairs;
		cpu = (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / (double)pairs;
		if (i == 0 || wall < worker->wall_ns)
			worker->wall_ns = wall;
		if (i == 0 || cpu < worker->cpu_ns)
			worker->cpu_ns = cpu;
	}
	return NULL;
}

static void run(struct worker *workers)
{
	pthread_t threads[THREADS_MAX];

	if (thread_count == 0) {
		work(&workers[0]);
		return;
	}
	pthread_barrier_init(&barrier, NULL, (unsigned)thread_count);
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
			exit(1);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
}

static int print(const struct worker *workers, int count, const char *path)
{
	FILE *file = path ? fopen(path, "w") : stdout;
	double wall = 0, cpu = 0;

	for (int i = 0; i < count; i++) {
		wall += workers[i].wall_ns;
		cpu += workers[i].cpu_ns;
	}
	return !file || fprintf(file, "%.2f %.2f\n", wall / count, cpu / count) < 0 || fclose(file) != 0;
}

int main(int count, char **words)
{
	static struct worker workers[THREADS_MAX];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int paths;

	if (count < 5 || count > 7)
		return 2;
	thread_count = atoi(words[1]);
	depth = atoi(words[2]);
	paths = atoi(words[3]);
	pairs = atol(words[4]);
	if (count > 5)
		repeats = atoi(words[5]);
	if (thread_count < 0 || thread_count > THREADS_MAX || pairs < 1 || repeats < 1 ||
	    (paths != 1 && paths != 16 && paths != 256))
		return 2;
	choices = paths == 1 ? 0 : paths == 16 ? 4 : 8;
	for (int i = 0; i < THREADS_MAX; i++) {
		workers[i].random = 88172645463325252u + (uint64_t)i;
		workers[i].processor = thread_count <= processors ? i : -1;
	}
	run(workers);
	return print(workers, thread_count ? thread_count : 1, count > 6 ? words[6] : NULL);
}
