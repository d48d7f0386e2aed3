/* SPDX-License-Identifier: MIT */
/* made_roofline_run.c: makes a run whose products are known, as the folder FOLDER, of a machine that says it is "Example CPU"
 * with 4 processors.
 *
 *     step                 call                                     took
 *     prefill, 1 ms        sgemm 100 x 100 x 100                    50 us
 *     decode, 0.1 ms       sgemv of 100 x 100                       10.2 us
 *     decode, 0.1 ms       sgemv of 100 x 100, twice at once, two threads: the second 5.1 us later
 *     forward, 1 ms        dgemm 100 x 100 x 100                    100 us (the name is no phase of a step)
 *     warm-up              nothing
 *     none                 sgemm 100 x 100 x 100                    50 us
 *     none                 a function that is not known */
#include "tests/unit/run_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000, SGEMM = 0, DGEMM = 1, SGEMV = 7 };

static struct rvp_text text(const char *words)
{
	return (struct rvp_text){words, strlen(words)};
}

static void say(struct maker_thread *thread, uint64_t us, enum rvp_step_kind kind, const char *name)
{
	MAKE(thread, STEP, 16, .stamp = us * US, .kind = kind, .source = RVP_SOURCE_API, .name = text(name));
}

static void step(struct maker_thread *thread, uint64_t begin_us, uint64_t end_us, const char *name)
{
	say(thread, begin_us, RVP_STEP_BEGIN, name);
	say(thread, end_us, RVP_STEP_END, name);
}

static void product(struct maker_thread *thread, uint64_t end_ns, uint64_t ns, unsigned function)
{
	MAKE(thread, BLAS_CALL, 99, .stamp = end_ns, .ticks = ns, .function = function, .m = 100,
	     .n = function == SGEMV ? 1 : 100, .k = 100, .count = 1);
}

int main(int argc, char **argv)
{
	struct maker maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *one = &process->threads[0], *two = maker_thread(process);
	char command[512];

	if (argc != 2)
		return 2;
	MAKE(one, MACHINE, 99, .cpu_count = 4, .memory_bytes = 1u << 30, .host = text("example"), .kernel = text("1"),
	     .cpu = text("Example CPU"));
	step(one, 100000, 101000, "prefill");
	step(one, 110000, 110100, "decode");
	say(one, 120000, RVP_STEP_BEGIN, "decode");
	product(one, 120025100, 10200, SGEMV);
	say(one, 120100, RVP_STEP_END, "decode");
	step(one, 130000, 131000, "forward");
	step(one, 140000, 141000, "warmup");
	product(two, 100060000, 50000, SGEMM);
	product(two, 110020000, 10200, SGEMV);
	product(two, 120020000, 10200, SGEMV);
	product(two, 130200000, 100000, DGEMM);
	product(two, 150000000, 50000, SGEMM);
	product(two, 160000000, 50000, 999);
	maker_close(&maker);
	snprintf(command, sizeof command, "mv '%s' '%.300s'", maker.folder, argv[1]);
	return system(command) ? 1 : 0;
}
