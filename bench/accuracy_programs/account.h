/* SPDX-License-Identifier: MIT */
/* account.h: a program's own account of what it asks for, by purpose, as the programs here keep it beside
 * their calls of malloc. It never asks for memory itself, and prints `truth` lines for accuracy_check.
 *
 * What stdio holds is not in it, and would be a peak of its own at the end: stdout writes from a buffer that is
 * nobody's block.
 *
 * A realloc is one step (hold of the difference): the C library may hold both copies for a moment, but the
 * program asked for one.
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum purpose { WEIGHTS, KV_CACHE, ACTIVATION, TEMP, OPTIMIZER, OTHER, PURPOSES };

static int64_t account_now[PURPOSES], account_peak[PURPOSES], account_most[PURPOSES], account_total,
    account_total_peak;
static unsigned long account_steps;

static inline void hold(enum purpose purpose, int64_t bytes)
{
	account_now[purpose] += bytes;
	if (account_now[purpose] > account_most[purpose])
		account_most[purpose] = account_now[purpose];
	account_total += bytes;
	if (account_total > account_total_peak) {
		account_total_peak = account_total;
		memcpy(account_peak, account_now, sizeof account_peak);
	}
}

static inline void let_go(enum purpose purpose, int64_t bytes)
{
	account_now[purpose] -= bytes;
	account_total -= bytes;
}

static inline void account_line(const char *at, const int64_t *bytes)
{
	printf("truth at=%s weights=%lld kv_cache=%lld activation=%lld temp=%lld optimizer=%lld\n", at,
	       (long long)bytes[WEIGHTS], (long long)bytes[KV_CACHE], (long long)bytes[ACTIVATION],
	       (long long)bytes[TEMP], (long long)bytes[OPTIMIZER]);
}

__attribute__((constructor)) static void account_give_stdout_a_buffer(void)
{
	static char buffer[4096];

	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

/* Before anything is given back at the program's end; what is held now is then "the end". */
static inline void account_print(void)
{
	account_line("peak", account_peak);
	account_line("end", account_now);
	account_line("max", account_most);
	printf("truth steps=%lu\n", account_steps);
}

#endif
