/* SPDX-License-Identifier: MIT */
/* hooks_descriptor.c: close and its kin go round our two descriptors, and tell reads.h that a number is free. A raw system call does not; see descriptor.h. */
#include "preload/descriptor.h"
#include "preload/process.h"
#include "preload/reads.h"
#include "preload/real.h"
#include "preload/sys.h"

#include <errno.h>
#include <unistd.h>

#pragma GCC visibility push(default) /* what this file defines and exports.map names is the library's face */

static bool guard(void)
{
	return atomic_load(&rvp_process.state) == RVP_READY && !atomic_load(&rvp_process.locked);
}

int close(int fd)
{
	if (!rvp_real_ready()) {
		errno = EBADF;
		return (int)rvp_sys_close(fd) ? -1 : 0;
	}
	if (guard() && rvp_descriptor_is_ours(fd)) {
		errno = EBADF; /* as without us: the program never opened it */
		return -1;
	}
	rvp_reads_forget(fd);
	return rvp_real.close(fd);
}

static int close_span(unsigned first, unsigned last, int flags)
{
	long result;

	rvp_reads_forget_span(first, last);
	result = rvp_syscall6(SYS_close_range, first, last, flags, 0, 0, 0);
	if (result == 0)
		return 0;
	errno = (int)-result;
	return -1;
}

/* [first, last] without ours. */
static int close_around(unsigned first, unsigned last, int flags)
{
	int ours[RVP_DESCRIPTOR_COUNT], count = rvp_descriptor_numbers(ours);

	for (int i = 0; i < count; i++) {
		unsigned mine = (unsigned)ours[i];

		if (mine < first || mine > last)
			continue;
		if (mine > first && close_span(first, mine - 1, flags) != 0)
			return -1;
		first = mine + 1;
	}
	return first <= last ? close_span(first, last, flags) : 0;
}

int close_range(unsigned first, unsigned last, int flags)
{
	if (!rvp_real_ready() || !guard() || first > last)
		return close_span(first, last, flags);
	return close_around(first, last, flags);
}

void closefrom(int low)
{
	unsigned first = low < 0 ? 0 : (unsigned)low;

	if (rvp_real_ready() && guard() ? close_around(first, ~0u, 0) == 0 : close_span(first, ~0u, 0) == 0)
		return;
	/* A kernel before 5.9 has no close_range. */
	for (unsigned fd = first; fd < 65536; fd++)
		if (!rvp_descriptor_is_ours((int)fd))
			rvp_sys_close((int)fd);
}

int dup2(int from, int to)
{
	if (!rvp_real_ready()) {
		errno = EBADF;
		return -1;
	}
	if (guard() && from != to)
		rvp_descriptor_make_way(to);
	rvp_reads_forget(to);
	return rvp_real.dup2(from, to);
}

int dup3(int from, int to, int flags)
{
	if (!rvp_real_ready()) {
		errno = EBADF;
		return -1;
	}
	if (guard() && from != to)
		rvp_descriptor_make_way(to);
	rvp_reads_forget(to);
	return rvp_real.dup3(from, to, flags);
}
