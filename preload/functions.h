/* SPDX-License-Identifier: MIT */
/* functions.h: fronts for known functions of frameworks (record/functions.def), which tell of steps. They are
 * reached by the import slots of the modules that call them (imports.c); nothing is exported. */
#ifndef RVP_FUNCTIONS_H
#define RVP_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names in order; NULL behind the last. */
const char *rvp_functions_name(size_t number);

/* Whether it is one of these names. */
bool rvp_functions_known(const char *name);

/* Whether a module defines this very name at this very address. */
bool rvp_functions_is_at(const char *name, uintptr_t address);

/* What a slot for `name` should hold that leads to the function at `real`: our front, or NULL, to leave the
 * slot as it is: another function of that name has the front already. */
void *rvp_functions_front(const char *name, uintptr_t real);

#endif
