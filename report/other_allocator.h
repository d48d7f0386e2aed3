/* SPDX-License-Identifier: MIT */
/* other_allocator.h: whether a process has another malloc than glibc's. What is said of heaps, tops and trims is
 * glibc's way, and another's blocks may lie anywhere. Known by the library that brings it, by its name in the
 * process's map; one that is linked into the program itself is not met by our hooks at all.
 */
#ifndef RVP_REPORT_OTHER_ALLOCATOR_H
#define RVP_REPORT_OTHER_ALLOCATOR_H

#include <stddef.h>

/* The name of the library at `path` without folders, where it is an allocator; else NULL. Not terminated. */
const char *rvp_other_allocator(const char *path, size_t length, size_t *name_length);

#endif
