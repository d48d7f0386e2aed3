/* SPDX-License-Identifier: MIT */
/* operators.h: our fronts for operator new and delete, used only where they live beside malloc.
 *
 * libstdc++'s operators call malloc and free, which are hooked. jemalloc, tcmalloc and mimalloc bring
 * operators of their own that do not. Then, and only then, the import slots of all modules that point to
 * those are pointed to ours (imports.c). No symbol is exported for it: a C program must not find an operator
 * new. The same way serves malloc and its kin where an allocator stands before us in the search order.
 */
#ifndef RVP_OPERATORS_H
#define RVP_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>

/* Looks whether the real malloc's module defines the operators that the program gets; by the constructor. */
void rvp_operators_find(void);

/* Whether there is anything to redirect. */
bool rvp_operators_are_beside_malloc(void);

/* Our front for an operator of this name, NULL if it is none that is redirected. */
void *rvp_operators_front(const char *name);

/* True while the allocator's own operator new runs: a mapping that it makes is its own business. */
bool rvp_operators_running(void);

#endif
