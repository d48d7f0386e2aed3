/* SPDX-License-Identifier: MIT */
/* loader_list.h: dl_iterate_phdr, for code that runs in hooks. The loader's short lock around it is not made
 * anew in a child by fork: if another thread had it at that moment, nobody in the child ever gets it.
 *
 *   - A thread of ours that is inside is counted, so a child that has such a count of its parent never asks for
 *     the list: modules that it loads keep their own functions.
 *   - Threads inside of dlopen, or of a dl_iterate_phdr of the program's own, are not seen.
 */
#ifndef RVP_LOADER_LIST_H
#define RVP_LOADER_LIST_H

#include <link.h>

typedef int rvp_object_visit(struct dl_phdr_info *info, size_t bytes, void *argument);

/* As dl_iterate_phdr; 0 where the list can't be had any more. */
int rvp_loader_list(rvp_object_visit *visit, void *argument);

/* In a child by fork; single-threaded. */
void rvp_loader_list_after_fork(void);

#endif
