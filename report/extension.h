/* SPDX-License-Identifier: MIT */
/* extension.h: libraries of ours that only some commands need: opened at that moment, so that nothing but
 * libc is loaded by a command that does without.
 *
 * An extension offers one table, whose first member is the number of its layout. It is looked for beside the
 * program, in the build tree and in ../lib/rvprof; never by the loader's own search path, where another
 * version could lie. */
#ifndef RVP_EXTENSION_H
#define RVP_EXTENSION_H

#include <stdint.h>

struct rvp_extension_kind {
	const char *file;         /* "librvprof_symbols.so" */
	const char *build_folder; /* where the build tree has it: "report" */
	const char *table;        /* its symbol */
	uint32_t abi;
	const char *without; /* what it means that it is not there, before ": " */
};

struct rvp_extension {
	void *handle;
	const void *table;   /* NULL: not to be had, and complaint says why */
	char complaint[512]; /* one line */
};

/* `path` NULL: the usual places. */
void rvp_extension_open(struct rvp_extension *extension, const struct rvp_extension_kind *kind,
			const char *path);
void rvp_extension_close(struct rvp_extension *extension);

#endif
