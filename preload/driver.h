/* SPDX-License-Identifier: MIT */
/* driver.h: CUDA's memory and launches, seen at the driver's own functions: for the programs where CUPTI can't be had (no
 * library, another subscriber, no rights). Memory comes with its call path; launches are counted, kernels' times can't be
 * known.
 *
 * The driver's functions come to a program by three ways, and each gets our fronts: import slots of modules that are
 * linked with libcuda; dlsym, by its import slots (a runtime that is linked statically asks so); cuGetProcAddress, which
 * both of these lead to.
 *
 * Rules
 *   - Only where a driver's library is on the machine, and --cuda is not off. Elsewhere no slot is touched.
 *   - A front is handed out only in place of a function whose arguments are known: by its exported name, or asked for with a
 *     version up to RVP_DRIVER_VERSION_KNOWN. What is not known is handed out as it is.
 *   - Our dlsym jumps into the real one, so that RTLD_NEXT means what its caller meant; it only takes names that begin with
 *     "cu", of handles that are none of dlsym's own words.
 *   - Silent from the moment that CUPTI tells of memory and launches itself (rvp_driver_yield): then a front is one load and
 *     one jump more.
 */
#ifndef RVP_PRELOAD_DRIVER_H
#define RVP_PRELOAD_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

enum { RVP_DRIVER_VERSION_KNOWN = 13000 };

/* Once, before any import slot is looked at: whether there will be fronts at all. */
void rvp_driver_start(bool is_wanted);
bool rvp_driver_is_wanted(void);

/* Whether import slots of this name get a front. */
bool rvp_driver_known(const char *name);
/* What the slot shall hold that leads to `real`; NULL: it stays. */
void *rvp_driver_front(const char *name, void *real);

/* CUPTI's plugin tells from here on, or no more. */
void rvp_driver_yield(bool is_told_by_cupti);
/* Launches that went through the fronts while they were not silent. */
uint64_t rvp_driver_launches(void);

#endif
