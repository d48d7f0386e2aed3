/* SPDX-License-Identifier: MIT */
/* end.c: see end.h. */
#include "cupti/end.h"

#include "cupti/follower.h"
#include "cupti/tracer.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { STACK_BYTES = 1 << 20 };
static const uint64_t exit_ns = 10000000000u;

static sem_t asked, answered;
static _Atomic uint32_t has_thread, is_over, is_again;

static void *sleep_until_the_end(void *nothing)
{
	(void)nothing;
	prctl(PR_SET_NAME, "rvprof-device");
	while (sem_wait(&asked) != 0)
		;
	rvp_tracer_end();
	sem_post(&answered);
	return NULL;
}

static void make_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all, before;

	if (sem_init(&asked, 0, 0) || sem_init(&answered, 0, 0) || pthread_attr_init(&attributes))
		return;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attributes, sleep_until_the_end, NULL) == 0)
		atomic_store(&has_thread, 1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

static struct timespec in(uint64_t ns)
{
	struct timespec when;

	clock_gettime(CLOCK_REALTIME, &when);
	ns += (uint64_t)when.tv_nsec;
	when.tv_sec += (time_t)(ns / 1000000000u);
	when.tv_nsec = (long)(ns % 1000000000u);
	return when;
}

static bool wait_for_it(uint64_t most_ns)
{
	struct timespec until = in(most_ns);
	uint64_t begin = rvp_now_ns();

	/* A signal's handler that comes between is none of ours. */
	while (sem_timedwait(&answered, &until) != 0)
		if (rvp_now_ns() - begin >= most_ns)
			return false;
	return true;
}

void rvp_end_now(uint64_t most_ns)
{
	if (!rvp_follower_is_active() || atomic_exchange(&is_over, 1))
		return;
	if (!atomic_load(&has_thread)) {
		rvp_tracer_end();
		return;
	}
	sem_post(&asked);
	if (wait_for_it(most_ns))
		return;
	rvp_recorder->lose(RVP_LOSS_DEVICE_LATE, 1);
	rvp_recorder->say("CUDA: what the tracer still held did not come in time at the end; it is not in the report");
}

static void at_exit(void)
{
	rvp_end_now(exit_ns);
}

void rvp_end_prepare(void)
{
	make_thread();
	atexit(at_exit);
}

void rvp_end_prepare_again(void)
{
	if (!atomic_exchange(&is_again, 1))
		atexit(at_exit);
}
