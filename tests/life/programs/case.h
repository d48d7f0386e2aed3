/* SPDX-License-Identifier: MIT */
/* case.h: the cases of the program `life`: each a way of living or ending that has broken a profiler before.
 * `life NAME` runs one; what it prints and its status must be the same with us as without. */
#ifndef RVP_TESTS_CASE_H
#define RVP_TESTS_CASE_H

#include <stddef.h>

struct life_case {
	const char *name;
	int (*run)(void); /* its status */
};

/* One table a file, ended by a NULL name. */
extern const struct life_case ending_cases[], birth_cases[], limit_cases[], thread_cases[], module_cases[],
    descriptor_cases[], read_cases[];

/* Allocations of every family and of sizes from 0 to 300 KiB, `rounds` times about 20; leaves nothing. */
void churn(int rounds);

/* Waits for `pid` and prints how it ended: "NAME: exited 3", "NAME: signal 9". */
void print_end(const char *name, int pid);

/* Prints by write(2): no stdio buffer that a child could inherit. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
