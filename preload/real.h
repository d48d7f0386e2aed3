/* SPDX-License-Identifier: MIT */
/* real.h: the functions behind our hooks, looked up once with RTLD_NEXT, so that an allocator which the
 * program brought (preloaded or linked jemalloc, tcmalloc, mimalloc) stays in place.
 *
 * dlsym may allocate while it looks: calls that come before the table is filled are served by the bootstrap
 * allocator (bootstrap.h).
 */
#ifndef RVP_REAL_H
#define RVP_REAL_H

#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

struct rvp_real {
#define RVP_HOOK(name, returns, parameters, need) returns(*name) parameters;
#include "preload/hooks.def"
	size_t (*malloc_usable_size)(void *);
	bool is_in_program; /* the executable brings its own malloc: its calls cannot be seen, nor half of its
			       blocks */
	bool is_libcs;      /* these malloc, calloc, realloc and free are libc's own */
	bool is_shadowed;   /* a library with an allocator stands before us: the program's malloc is not our
			       hook */
	uintptr_t allocator_low, allocator_high; /* where the code of the real malloc's module lies */
};
extern struct rvp_real rvp_real __attribute__((visibility("hidden")));
/* The same of those behind us alone. */
extern struct rvp_real rvp_real_behind __attribute__((visibility("hidden")));

/* The malloc family for a call from `pc`: one from inside an allocator that stands before us must not come
 * back to it. */
static inline const struct rvp_real *rvp_real_for(uintptr_t pc)
{
	return __builtin_expect(rvp_real.is_shadowed, 0) && pc >= rvp_real.allocator_low &&
		       pc < rvp_real.allocator_high
		   ? &rvp_real_behind
		   : &rvp_real;
}

/* True once the table is filled. Fills it at the first call; false while this very thread is filling it. */
bool rvp_real_ready(void);

/* Whether this is an address in librvprof.so. */
bool rvp_real_is_our_code(const void *code);

/* True while this thread is inside dlsym on our behalf. */
bool rvp_real_is_looking(void);

#endif
