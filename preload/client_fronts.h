/* SPDX-License-Identifier: MIT */
/* client_fronts.h: the moment at which another client of CUPTI's begins in this process. CUPTI has one subscription and one
 * pair of buffer callbacks a process, and the plugin (librvprof_cupti.so) was there first: the other would fail, and what it
 * prints would be another program's result than without us. So the functions by which a client begins have fronts, by the ways
 * of driver.h (import slots, dlsym): before the real one is called the plugin makes way (record/device.h, `make_way`).
 *
 * Rules
 *   - The real function is called exactly once, with the caller's arguments, behind that; its result goes back untouched.
 *   - The first real one of each is kept; a second libcupti in the process is not fronted.
 *   - The plugin's own calls are no client's: no slot of a library of ours is touched (imports.c).
 */
#ifndef RVP_PRELOAD_CLIENT_FRONTS_H
#define RVP_PRELOAD_CLIENT_FRONTS_H

#include <stdbool.h>

bool rvp_client_known(const char *name);
/* NULL: not one of these, or of another libcupti than the first. */
void *rvp_client_front(const char *name, void *real);

#endif
