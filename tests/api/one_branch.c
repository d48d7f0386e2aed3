/* SPDX-License-Identifier: MIT */
/* one_branch.c: a function that is nothing but calls of rvprof.h; run.sh reads its code. */
#include <rvprof.h>

void rvp_one_branch(const void *at);

void rvp_one_branch(const void *at)
{
	rvprof_tag(at, 16, "weights", "w");
}
