/* SPDX-License-Identifier: MIT */
/* kill_loop.h: what kill_loop counts in its mapped file, for kills.c. */
#ifndef RVP_TESTS_KILL_LOOP_H
#define RVP_TESTS_KILL_LOOP_H

#include <stdatomic.h>
#include <stdint.h>

enum { KILL_LOOP_THREADS = 2 };

struct kill_loop_count {
	_Atomic uint32_t tid;
	_Alignas(64) _Atomic uint64_t allocs;
	_Atomic uint64_t frees;
	_Atomic uint64_t alloc_bytes;
};

struct kill_loop_file {
	struct kill_loop_count threads[KILL_LOOP_THREADS];
};

#endif
