/* SPDX-License-Identifier: MIT */
/* imports.h: points import slots (GOT entries) of loaded modules to fronts of ours. */
#ifndef RVP_IMPORTS_H
#define RVP_IMPORTS_H

/* Goes over all modules that were not yet looked at; cheap when nothing was loaded since. Slow path: it takes
 * the loader's own short lock (dl_iterate_phdr). Does nothing where there is nothing to redirect. */
void rvp_imports_refresh(void);

#endif
