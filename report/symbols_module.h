/* SPDX-License-Identifier: MIT */
/* symbols_module.h: what librvprof_symbols.so offers to symbols.c: one table of functions.
 *
 * libdw is heavy, so the code that needs it is a library of its own, opened by the commands that print
 * stacks. This header is all that both sides share; a change of it needs a new RVP_SYMBOLS_ABI.
 *
 * Addresses are the file's own (what addr2line takes): pc minus the bias of the load.
 */
#ifndef RVP_SYMBOLS_MODULE_H
#define RVP_SYMBOLS_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#define RVP_SYMBOLS_ABI    3
#define RVP_SYMBOLS_TABLE  "rvp_symbols_table"
#define RVP_SYMBOLS_MODULE "librvprof_symbols.so"

/* The file as it was when the program ran. */
struct rvp_symbols_identity {
	const char *path;
	const uint8_t *build_id;
	uint64_t build_id_bytes;          /* 0: none was recorded */
	uint64_t file_bytes, modified_ns; /* compared where there is no build-id; 0: not known */
};

enum rvp_symbols_state {
	RVP_SYMBOLS_GOOD,     /* the file is the one that ran */
	RVP_SYMBOLS_REPLACED, /* another file has its path now */
	RVP_SYMBOLS_MISSING,  /* no such file, or none that can be read */
};

/* One function at an address; texts live until the file is closed. */
struct rvp_symbols_hit {
	const char *function; /* demangled; never NULL */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
	bool is_inline;       /* inlined into the function of the next hit */
};

typedef void rvp_symbols_emit(void *context, const struct rvp_symbols_hit *hit);

struct rvp_symbols_file; /* an open file, the module's own */

struct rvp_symbols_table {
	uint32_t abi; /* RVP_SYMBOLS_ABI */
	/* Never NULL but without memory; *state says whether lookups can find anything. */
	struct rvp_symbols_file *(*open)(const struct rvp_symbols_identity *identity,
					 enum rvp_symbols_state *state);
	/* Emits the functions at `address`, innermost first; none where nothing is known. */
	void (*lookup)(struct rvp_symbols_file *file, uint64_t address, rvp_symbols_emit *emit,
		       void *context);
	void (*close)(struct rvp_symbols_file *file);
	/* The name of the function at `address` by the file's own symbol table alone, demangled: no DWARF, no
	 * separate debug file, nothing fetched. One pointer a function; NULL: none. */
	const char *(*name)(struct rvp_symbols_file *file, uint64_t address);
	/* Whether that table names any function at all: not that of a stripped program. */
	bool (*has_names)(struct rvp_symbols_file *file);
	/* A name as people write it, malloc'ed; NULL when `name` is not mangled. */
	char *(*demangle)(const char *name);
};

#endif
