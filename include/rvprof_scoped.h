/* SPDX-License-Identifier: MIT */
/* rvprof_scoped.h: operators around a piece of code, as macros; their names and places of arguments are those of RAF's
 * WITH_BASE_PROFILER. C99 and later, C++, with GCC or Clang.
 *
 *     RVPROF_WITH_BASE_PROFILER(cudaDeviceSynchronize(), "matmul", "ComputationOperator", "64x64;f32", {
 *             matmul(a, b, c);
 *     });
 *     RVPROF_OPERATOR("matmul", NULL, NULL);                 up to the end of the enclosing block
 *
 * Rules
 *   - The code is run once, whether or not the profiler is there. SYNC is evaluated only where it is: before the begin and, where
 * the code comes to its end, before the end: what was started on a device and must be over. It may be empty.
 *   - An operator ends where its block is left: by return, break, goto and C++'s exceptions too.
 *   - With level 2 it is a scope: chrome-be shows it with --level 2 alone. args: parts with a semicolon between them.
 */
#ifndef RVPROF_SCOPED_H
#define RVPROF_SCOPED_H

#include "rvprof.h"

/* What ends the operator or scope: its kind of end, -1: it has not begun. */
static inline int rvprof_probe_enter_(int level, const char *name, const char *category, const char *args)
{
	int kind = level > 1 ? RVPROF_SCOPE_BEGIN : RVPROF_SCOPE_OPERATOR_BEGIN;

	(void)name, (void)category, (void)args;
	if (!rvprof_active())
		return -1;
	RVPROF_TELL_(scope(kind, RVPROF_SOURCE_API, category, name, args));
	return kind + 1;
}

static inline void rvprof_probe_leave_(int *kind)
{
	if (*kind >= 0)
		RVPROF_TELL_(scope(*kind, RVPROF_SOURCE_API, NULL, NULL, NULL));
}

/* `number` tells one from those around it. */
#define RVPROF_PROBE_(number, level, name, category, args)                                            \
	int RVPROF_JOIN_(rvprof_probe_, number) __attribute__((cleanup(rvprof_probe_leave_), unused)) = \
	    rvprof_probe_enter_(level, name, category, args)
#define RVPROF_PROBE_AT_(number, level, name, category, args) RVPROF_PROBE_(number, level, name, category, args)

#define RVPROF_OPERATOR(name, category, args) RVPROF_PROBE_AT_(__COUNTER__, 1, name, category, args)

#define RVPROF_WITH_(number, level, sync, name, category, args, ...)               \
	do {                                                                       \
		const int RVPROF_JOIN_(rvprof_is_told_, number) = rvprof_active(); \
                                                                                   \
		if (RVPROF_JOIN_(rvprof_is_told_, number)) {                       \
			sync;                                                      \
		}                                                                  \
		{                                                                  \
			RVPROF_PROBE_(number, level, name, category, args);        \
			__VA_ARGS__;                                               \
			if (RVPROF_JOIN_(rvprof_is_told_, number)) {               \
				sync;                                              \
			}                                                          \
		}                                                                  \
	} while (0)
#define RVPROF_WITH_AT_(number, level, sync, name, category, args, ...) \
	RVPROF_WITH_(number, level, sync, name, category, args, __VA_ARGS__)

#define RVPROF_WITH_BASE_PROFILER_LEVEL(level, sync, name, category, args, ...) \
	RVPROF_WITH_AT_(__COUNTER__, level, sync, name, category, args, __VA_ARGS__)

#define RVPROF_WITH_BASE_PROFILER(sync, name, category, args, ...) \
	RVPROF_WITH_BASE_PROFILER_LEVEL(1, sync, name, category, args, __VA_ARGS__)

#endif
