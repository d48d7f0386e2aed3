/* SPDX-License-Identifier: MIT */
/* fronts.h: our hooks of the malloc family under names that nobody can put himself before (hooks_alloc.c). */
#ifndef RVP_FRONTS_H
#define RVP_FRONTS_H

#include <malloc.h>
#include <stdlib.h>

#define RVP_FRONTS(X)                                                                               \
	X(malloc)                                                                                   \
	X(free) X(calloc) X(realloc) X(reallocarray) X(aligned_alloc) X(memalign) X(posix_memalign) \
	    X(valloc) X(pvalloc)

#define RVP_FRONT(name) extern __typeof__(name) rvp_front_##name __attribute__((visibility("hidden")));
RVP_FRONTS(RVP_FRONT)
#undef RVP_FRONT

#endif
