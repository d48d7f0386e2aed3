/* SPDX-License-Identifier: MIT */
/* symbols.h: from a recorded pc to the functions that it stands for, innermost first, with file and line.
 *
 * Files are opened at the first address in them, at most once, and every address is looked up at most once.
 * Without librvprof_symbols.so (or libdw) everything still works and answers with module and offset.
 */
#ifndef RVP_SYMBOLS_H
#define RVP_SYMBOLS_H

#include "record/status.h"
#include "report/symbols_module.h"

#include <stddef.h>

enum rvp_frame_kind {
	RVP_FRAME_FUNCTION, /* function is its name; file and line where known */
	RVP_FRAME_NAMELESS, /* in a module that has no name for it: function is "[libfoo.so+0x12]" */
	RVP_FRAME_UNKNOWN,  /* in no module: "[unknown 0x7f..]" */
	RVP_FRAME_PYTHON,   /* a Python function; module is NULL */
};

struct rvp_frame {
	const char *function; /* never NULL */
	const char *file;     /* NULL: not known */
	const char *module;   /* path as recorded; NULL: none */
	uint64_t offset;      /* in the module: pc minus bias */
	uint32_t line;        /* 0: not known */
	uint8_t kind;         /* enum rvp_frame_kind */
	uint8_t is_inline;    /* 1: inlined into the next frame */
	uint64_t hash;        /* of function, file and line: rvp_frame_hash */
};

struct rvp_frame_list {
	const struct rvp_frame *frames;
	size_t count;
};

/* What frame.hash is; equal frames have equal ones. */
uint64_t rvp_frame_hash(const struct rvp_frame *frame);

struct rvp_symbols;

/* `module_path`: librvprof_symbols.so; NULL: looked for beside the program and where it is installed. A
 * failure to open it is no error but told by rvp_symbols_complaint. NULL only without memory. */
struct rvp_symbols *rvp_symbols_open(const char *module_path);
void rvp_symbols_close(struct rvp_symbols *symbols);

/* Why names are missing for everything: one sentence; NULL when they are not. */
const char *rvp_symbols_complaint(const struct rvp_symbols *symbols);

/* The number by which rvp_symbols_find knows a file; the same identity gets the same number. Texts are
 * copied. */
size_t rvp_symbols_add_file(struct rvp_symbols *symbols, const struct rvp_symbols_identity *identity);

/* Frames at `pc` in a load of `file` at `bias`, at least one. `is_exact`: pc is the instruction's own
 * address, else it is the one behind a call. Without memory: count 0. What it returns lives until
 * rvp_symbols_close. */
struct rvp_frame_list rvp_symbols_find(struct rvp_symbols *symbols, size_t file, uint64_t bias, uint64_t pc,
				       bool is_exact);

/* Only the name of the function at an address of `file` (pc minus bias, minus 1 for a return address), by its
 * own symbol table: quick. Equal functions are equal pointers; NULL: no name. */
const char *rvp_symbols_name_at(struct rvp_symbols *symbols, size_t file, uint64_t address);

/* Whether it can name any function of `file`. */
bool rvp_symbols_has_names(struct rvp_symbols *symbols, size_t file);

/* The frame of a pc that is in no module. */
struct rvp_frame_list rvp_symbols_find_nowhere(struct rvp_symbols *symbols, uint64_t pc);

/* Files whose state (see symbols_module.h) is `state`, of those that were looked into; their paths into
 * paths[]. */
size_t rvp_symbols_files_in_state(const struct rvp_symbols *symbols, enum rvp_symbols_state state,
				  const char **paths, size_t room);

/* A mangled name of C++ or Rust as people write it, malloc'ed; NULL when it is none, or without the module.
 */
char *rvp_symbols_readable_name(const struct rvp_symbols *symbols, const char *name);

/* `path` without "/./", "//" and "/x/.." into `tidy`, cut to fit; returns it. */
char *rvp_path_tidy(const char *path, char *tidy, size_t tidy_bytes);

/* The part of `path` behind the last slash. */
const char *rvp_symbols_base_name(const char *path);

#endif
