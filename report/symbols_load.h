/* SPDX-License-Identifier: MIT */
/* symbols_load.h: finds and opens librvprof_symbols.so. */
#ifndef RVP_SYMBOLS_LOAD_H
#define RVP_SYMBOLS_LOAD_H

#include "report/extension.h"
#include "report/symbols_module.h"

struct rvp_symbols_library {
	struct rvp_extension extension;
	const struct rvp_symbols_table *table; /* NULL: not to be had, and its complaint says why */
};

/* `path` NULL: the usual places. A failure leaves table NULL. */
void rvp_symbols_library_open(struct rvp_symbols_library *library, const char *path);
void rvp_symbols_library_close(struct rvp_symbols_library *library);

#endif
