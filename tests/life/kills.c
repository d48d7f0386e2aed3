/* SPDX-License-Identifier: MIT */
/* kills.c: SIGKILL at random moments, and then what the raw files say against what the program counted.
 *
 *   (K1) Full mode: for each thread counted <= recorded <= counted + 1, of allocs and of frees. Below is a
 * loss, above an invention. A record is an ALLOC or FREE in the log or a buffer, or a deferred event in its
 * slot. (K2) Either mode: the exact counters hold the same bounds for the process. (K3) A way of dying is a
 * SIGKILL of the process, or of process 1 of a PID namespace, which ends all in it. (K4) A round in which the
 * program had counted nothing yet proves nothing: at most a quarter of the rounds may be so.
 *
 * Usage: kills LIBRARY KILL_LOOP full|sampled THREADS ROUNDS [pidns] SCRATCH
 */
#include "tests/life/kill_loop.h"
#include "tests/life/run_ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct plan {
	const char *library, *program, *mode, *scratch;
	int threads, rounds;
	bool pid_namespace;
	unsigned seed;
};

struct tally {
	unsigned losses, inventions, idle, unreadable;
	uint64_t events;
};

static char count_path[4096], run_path[4096];

static void die(const char *what)
{
	fprintf(stderr, "kills: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct kill_loop_file *make_count_file(void)
{
	int fd = open(count_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct kill_loop_file *counts;

	if (fd < 0 || ftruncate(fd, sizeof *counts) != 0)
		die(count_path);
	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		die("mmap");
	close(fd);
	return counts;
}

static void be_the_program(const struct plan *plan)
{
	char threads[8];

	snprintf(threads, sizeof threads, "%d", plan->threads);
	setenv("LD_PRELOAD", plan->library, 1);
	setenv("RVPROF_MODE", plan->mode, 1);
	setenv("RVPROF_OUTPUT", run_path, 1);
	setenv("RVPROF_FINALIZE", "0", 1);
	setenv("RVPROF_MAX_LOG", "4GiB", 1);
	if (plan->pid_namespace && (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
				    mount("proc", "/proc", "proc", 0, NULL) != 0))
		_exit(77);
	execl(plan->program, plan->program, count_path, threads, (char *)NULL);
	_exit(127);
}

static pid_t start(const struct plan *plan)
{
	pid_t child;

	fflush(stdout);
	if (!plan->pid_namespace) {
		child = fork();
	} else {
		/* A fork into new namespaces: the child is process 1 there. */
		child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
	}
	if (child < 0 && plan->pid_namespace && errno == EPERM)
		exit(77);
	if (child < 0)
		die("fork");
	if (child == 0)
		be_the_program(plan);
	return child;
}

static void wait_ns(long most)
{
	struct timespec wait = {.tv_nsec = random() % most};

	nanosleep(&wait, NULL);
}

/* Every eighth kill comes at any time since the program was started, its loading included; the others once it
 * has begun to allocate. */
static void wait_a_random_time(int round, const struct kill_loop_file *counts)
{
	if (round % 8 == 0) {
		wait_ns(30000000);
		return;
	}
	for (int turn = 0; turn < 10000 && !counts->threads[0].allocs; turn++)
		wait_ns(2000000);
	wait_ns(40000000);
}

static void compare(struct tally *tally, const char *what, int round, uint64_t counted, uint64_t recorded,
		    uint64_t in_flight)
{
	tally->events += counted;
	if (recorded >= counted && recorded <= counted + in_flight)
		return;
	printf("round %d: %s: counted %llu, recorded %llu\n", round, what, (unsigned long long)counted,
	       (unsigned long long)recorded);
	if (recorded < counted)
		tally->losses++;
	else
		tally->inventions++;
}

static void compare_thread(struct tally *tally, const struct ledger_process *process,
			   const struct kill_loop_count *count, int round)
{
	static const struct ledger_thread none;
	const struct ledger_thread *thread = ledger_thread(process, count->tid);

	if (!thread)
		thread = &none;
	compare(tally, "allocs of a thread", round, count->allocs, thread->events.allocs, 1);
	compare(tally, "frees of a thread", round, count->frees, thread->events.frees, 1);
}

/* The exact counters of the process: between what all threads had done and what they had begun, and what the
 * main thread's pthread_create allocated (at most 2 a thread). */
static void compare_counters(struct tally *tally, const struct ledger_process *process,
			     const struct kill_loop_file *counts, int threads, int round)
{
	uint64_t allocs = 0, frees = 0, workers = threads ? (uint64_t)threads : 1;

	for (int i = 0; i < KILL_LOOP_THREADS; i++) {
		allocs += counts->threads[i].allocs;
		frees += counts->threads[i].frees;
	}
	compare(tally, "alloc_count", round, allocs, process->counters.alloc_count,
		workers + 2 * (uint64_t)threads);
	compare(tally, "free_count", round, frees, process->counters.free_count, workers);
}

static void judge(struct tally *tally, const struct plan *plan, const struct kill_loop_file *counts,
		  int round)
{
	struct ledger ledger;
	struct rvp_status status = ledger_read(&ledger, run_path);
	bool idle = counts->threads[0].allocs + counts->threads[1].allocs == 0;
	char line[512];

	tally->idle += idle;
	if (!rvp_failed(status) && ledger.count == 1) {
		compare_counters(tally, &ledger.processes[0], counts, plan->threads, round);
		for (int i = 0; i < KILL_LOOP_THREADS && !strcmp(plan->mode, "full"); i++)
			if (counts->threads[i].tid)
				compare_thread(tally, &ledger.processes[0], &counts->threads[i], round);
		if (ledger.processes[0].lost_records) {
			printf("round %d: %llu records said to be lost\n", round,
			       (unsigned long long)ledger.processes[0].lost_records);
			tally->losses++;
		}
	} else if (!idle) {
		printf("round %d: %s\n", round,
		       rvp_failed(status) ? rvp_status_line(&status, line, sizeof line)
					  : "no process in the table");
		tally->unreadable++;
	}
	ledger_free(&ledger);
}

static void remove_run(void)
{
	char command[4200];

	snprintf(command, sizeof command, "rm -rf '%s'", run_path);
	if (system(command) != 0)
		die(command);
}

static void round_of(struct tally *tally, const struct plan *plan, int round)
{
	struct kill_loop_file *counts = make_count_file();
	pid_t child = start(plan);
	int status;

	wait_a_random_time(round, counts);
	kill(child, SIGKILL);
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		exit(77);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
		printf("round %d: the program ended by itself, status %x\n", round, status);
		tally->unreadable++;
	}
	judge(tally, plan, counts, round);
	munmap(counts, sizeof *counts);
	remove_run();
}

static struct plan read_plan(int count, char **words)
{
	struct plan plan = {.seed = getenv("RVP_SEED") ? (unsigned)atoi(getenv("RVP_SEED"))
						       : (unsigned)time(NULL)};

	if (count < 7 || count > 8) {
		fprintf(stderr,
			"usage: kills LIBRARY KILL_LOOP full|sampled THREADS ROUNDS [pidns] SCRATCH\n");
		exit(2);
	}
	plan.library = words[1];
	plan.program = words[2];
	plan.mode = words[3];
	plan.threads = atoi(words[4]);
	plan.rounds = atoi(words[5]);
	plan.pid_namespace = count == 8;
	plan.scratch = words[count - 1];
	return plan;
}

int main(int count, char **words)
{
	struct plan plan = read_plan(count, words);
	struct tally tally = {0};
	bool good;

	snprintf(count_path, sizeof count_path, "%s/counts", plan.scratch);
	snprintf(run_path, sizeof run_path, "%s/run", plan.scratch);
	srandom(plan.seed);
	for (int round = 0; round < plan.rounds; round++)
		round_of(&tally, &plan, round);
	good = !tally.losses && !tally.inventions && !tally.unreadable &&
	       tally.idle * 4 <= (unsigned)plan.rounds && plan.rounds > 0;
	printf("%s: %d kills%s, %s, %d threads: %u losses, %u inventions, %u unreadable, %u before the first "
	       "event, "
	       "%llu events (seed %u)\n",
	       good ? "ok" : "not ok", plan.rounds, plan.pid_namespace ? " of a PID namespace" : "",
	       plan.mode, plan.threads, tally.losses, tally.inventions, tally.unreadable, tally.idle,
	       (unsigned long long)tally.events, plan.seed);
	return good ? 0 : 1;
}
