/* SPDX-License-Identifier: MIT */
/* loader_list.c: see loader_list.h. */
#include "preload/loader_list.h"

#include <stdatomic.h>
#include <stdbool.h>

static _Atomic unsigned inside;
static _Atomic bool is_lost;

int rvp_loader_list(rvp_object_visit *visit, void *argument)
{
	int result;

	if (atomic_load(&is_lost))
		return 0;
	atomic_fetch_add(&inside, 1);
	result = dl_iterate_phdr(visit, argument);
	atomic_fetch_sub(&inside, 1);
	return result;
}

void rvp_loader_list_after_fork(void)
{
	if (atomic_load(&inside))
		atomic_store(&is_lost, true);
}
