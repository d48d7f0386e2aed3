/* SPDX-License-Identifier: MIT */
/* symbols_load.h: finds and opens librvprof_symbols.so. */
#ifndef RVP_SYMBOLS_LOAD_H
#define RVP_SYMBOLS_LOAD_H

#include "report/symbols_module.h"

struct rvp_symbols_library {
	void *handle;
	const struct rvp_symbols_table *table; /* NULL: not to be had, and complaint says why */
	char complaint[512];
};

/* `path` NULL: the usual places. A failure leaves table NULL. */
void rvp_symbols_library_open(struct rvp_symbols_library *library, const char *path);
void rvp_symbols_library_close(struct rvp_symbols_library *library);

#endif
