/* SPDX-License-Identifier: MIT */
/* blas.h: fronts for products of matrices (record/blas.def): a BLAS_CALL record each, with the shape. Reached
 * by the import slots of the modules that call them (imports.c); nothing is exported.
 *
 *   - Of calls in each other (a C interface that calls the Fortran one) the outermost has the record.
 *   - Calls within one module have no import slot, and are not seen: a BLAS that is linked into a framework.
 *   - In a pause (pause.h) there are none.
 */
#ifndef RVP_BLAS_H
#define RVP_BLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names in order; NULL behind the last. */
const char *rvp_blas_name(size_t number);
bool rvp_blas_known(const char *name);

/* What a slot for `name` should hold that leads to the function at `real`; NULL: it stays as it is. */
void *rvp_blas_front(const char *name, uintptr_t real);

#endif
