/* SPDX-License-Identifier: MIT */
/* imports.h: points import slots (GOT entries) of loaded modules to fronts of ours. */
#ifndef RVP_IMPORTS_H
#define RVP_IMPORTS_H

#include <link.h>

/* The address that import slots of this name shall hold; NULL: they stay. */
typedef void *rvp_front_of(const char *name);

/* All slots of one loaded module. */
void rvp_imports_redirect(const struct dl_phdr_info *info, rvp_front_of *front_of);

/* Goes over all modules that were not yet looked at; cheap when nothing was loaded since. Slow path: it takes
 * the loader's own short lock (dl_iterate_phdr). Does nothing where there is nothing to redirect. */
void rvp_imports_refresh(void);

/* The same where nothing says that something was loaded. */
void rvp_imports_look(void);

#endif
