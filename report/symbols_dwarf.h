/* SPDX-License-Identifier: MIT */
/* symbols_dwarf.h: functions, inlines and lines of one file's DWARF. Part of librvprof_symbols.so. */
#ifndef RVP_SYMBOLS_DWARF_H
#define RVP_SYMBOLS_DWARF_H

#include "report/symbols_module.h"

#include <elfutils/libdw.h>

struct rvp_dwarf; /* index of one file */

/* Texts made here, freed together. */
struct rvp_symbols_texts {
	char **texts;
	size_t count, room;
};

/* Keeps `text` (malloc'ed) until rvp_symbols_texts_free; returns it, NULL without memory. */
char *rvp_symbols_keep(struct rvp_symbols_texts *texts, char *text);
void rvp_symbols_texts_free(struct rvp_symbols_texts *texts);

/* `name` as people write it: demangled into `texts`, or itself. */
const char *rvp_symbols_readable(struct rvp_symbols_texts *texts, const char *name);

/* The same, malloc'ed; NULL when `name` is not mangled. */
char *rvp_symbols_demangle(const char *name);

/* NULL without memory. `dwarf` must outlive it. */
struct rvp_dwarf *rvp_dwarf_open(Dwarf *dwarf);
void rvp_dwarf_close(struct rvp_dwarf *index);

/* Emits the functions at `address`, innermost first. `outermost` (may be NULL) is the symbol table's word for
 * it, used where DWARF knows the line but not the function. False when DWARF knows nothing of the address. */
bool rvp_dwarf_lookup(struct rvp_dwarf *index, uint64_t address, const char *outermost,
		      struct rvp_symbols_texts *texts, rvp_symbols_emit *emit, void *context);

#endif
