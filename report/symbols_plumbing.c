/* SPDX-License-Identifier: MIT */
/* symbols_plumbing.c: which functions say nothing about why memory was wanted: allocators' wrappers,
 * containers, the interpreter's way of calling, and what every stack ends in. Text reports skip them; JSON
 * has them all.
 *
 * Names are compared by their beginning, behind a return type ("void std::vector<..>::push_back(..)"). */
#include "report/symbols_stack.h"

#include <string.h>

static const char *const plumbing[] = {
    "std::",
    "__gnu_cxx::",
    "operator new",
    "alloc::",
    "core::",
    "std[",
    "alloc[",
    "core[",
    "<alloc::",
    "<core::",
    "<std::",
    "hashbrown::",
    "<hashbrown::",
    "<&dyn core::",
    "__rust_",
    "__rdl_",
    "__rustc",
    "_PyObject_",
    "PyObject_Call",
    "PyObject_Vectorcall",
    "_PyFunction_Vectorcall",
    "_PyMem_",
    "PyMem_",
    "PyObject_Malloc",
    "PyObject_Realloc",
    "PyObject_Calloc",
    "_PyEval_Vector",
    "_PyEval_EvalFrame",
    "PyEval_EvalCode",
    "method_vectorcall",
    "cfunction_call",
    "cfunction_vectorcall",
    "PyVectorcall_Call",
    "g_malloc",
    "g_realloc",
    "g_slice_alloc",
    "xmalloc",
    "xcalloc",
    "xrealloc",
    "__libc_alloc",
    "__interceptor_",
    "c10::alloc_cpu",
    "c10::DefaultCPUAllocator",
    "c10::cuda::CUDACachingAllocator",
    "c10::CachingDeviceAllocator",
    "posix_memalign",
    "aligned_alloc",
};
static const char *const plumbing_whole[] = {
    "malloc", "calloc",  "realloc",  "reallocarray",  "memalign", "valloc",
    "strdup", "strndup", "__strdup", "__GI___strdup", "asprintf", "vasprintf",
};
static const char *const entries[] = {
    "_start",  "__libc_start_main", "__libc_start_call_main", "clone",         "clone3",
    "__clone", "__clone3",          "start_thread",           "__GI___clone3", "__libc_start_main_impl",
};

enum { COUNT_OF_PLUMBING = sizeof plumbing / sizeof *plumbing };
enum { COUNT_OF_WHOLE = sizeof plumbing_whole / sizeof *plumbing_whole };
enum { COUNT_OF_ENTRIES = sizeof entries / sizeof *entries };

/* Where the qualified name begins: behind the last space outside of brackets and before the parameters. */
static const char *qualified_name(const char *function)
{
	const char *name = function;
	int depth = 0;

	if (*function == '<') /* Rust: <T as Trait>::f */
		return function;
	for (const char *at = function; *at && !(depth == 0 && *at == '('); at++) {
		if (strncmp(at, "operator", 8) == 0)
			return depth == 0 ? name : function;
		depth += *at == '<';
		depth -= *at == '>';
		if (*at == ' ' && depth == 0)
			name = at + 1;
	}
	return name;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

bool rvp_function_is_plumbing(const char *function)
{
	const char *name = qualified_name(function);

	for (size_t i = 0; i < COUNT_OF_PLUMBING; i++)
		if (strncmp(name, plumbing[i], strlen(plumbing[i])) == 0)
			return true;
	return is_one_of(name, plumbing_whole, COUNT_OF_WHOLE);
}

bool rvp_module_is_way_to_device(const char *path)
{
	static const char *const names[] = {"libcuda.so", "libcupti.so", "libcudart.so", "libcudadebugger.so"};
	const char *name = rvp_symbols_base_name(path);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool rvp_function_is_entry(const char *function)
{
	return is_one_of(function, entries, COUNT_OF_ENTRIES);
}
