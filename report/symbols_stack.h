/* SPDX-License-Identifier: MIT */
/* symbols_stack.h: the call stack of a site as its programmer sees it: native frames with their inlines,
 * Python functions in the place of the interpreter's frames, our own frames left out. */
#ifndef RVP_SYMBOLS_STACK_H
#define RVP_SYMBOLS_STACK_H

#include "report/analysis.h"
#include "report/symbols.h"

struct rvp_stacks;

/* `symbols` and `run` must outlive it. NULL without memory. */
struct rvp_stacks *rvp_stacks_open(struct rvp_symbols *symbols, const struct rvp_run *run);
void rvp_stacks_close(struct rvp_stacks *stacks);

/* Innermost first; count 0 where no stack was recorded (or without memory). The list lives until the call
 * after the next, the texts in it as long as `symbols` and `run`. */
struct rvp_frame_list rvp_stacks_of(struct rvp_stacks *stacks, const struct rvp_site *site);

/* The number by which `symbols` knows a module, kept in *file, which is 0 before the first time. */
size_t rvp_stacks_module_file(struct rvp_symbols *symbols, size_t *file, const struct rvp_module *module);

/* The driver, the tracer and the runtime of CUDA: what lies between a program and its device, by a module's path. */
bool rvp_module_is_way_to_device(const char *path);

/* What can be said about a function by its name alone. */
bool rvp_function_is_python_eval(const char *function); /* the C function that stands for Python frames */
bool rvp_function_is_plumbing(const char *function);    /* an allocator's wrapper or a container's insides */
bool rvp_function_is_entry(const char *function);       /* what every stack ends in: _start and the like */

#endif
