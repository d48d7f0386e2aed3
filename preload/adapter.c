/* SPDX-License-Identifier: MIT */
/* adapter.c: see adapter.h.
 *
 * AWAY -> WAITING (libtorch_python is mapped) -> INVITED (the call is queued) -> the call runs, once. A child
 * by fork has the queue of its parent, and a parent's adapter.
 */
#define RVPROF_ABSENT /* the table alone */
#include "rvprof.h"
#include "preload/adapter.h"
#include "preload/adapter_calls.h"
#include "preload/emit.h"
#include "preload/loader_list.h"
#include "preload/process.h"
#include "preload/quick.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

extern const struct rvprof_api rvprof_api_1;

enum { AWAY, WAITING, INVITED, OVER };
enum { PYTHON_FILE_INPUT = 257 }; /* Py_file_input, the same in every version */

static _Atomic uint32_t state;
static struct rvp_python_calls *const python = &rvp_python_calls;

static const char adapter_text[] =
#include "rvprof_adapter_torch.inc"
    ;

/* What the loader's list shows. */
struct view {
	bool has_torch;  /* libtorch_python is mapped */
	bool is_missing; /* an interpreter, without something that is needed */
	bool has_interpreter;
};

static uint64_t first_byte(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			return info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	return 0;
}

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct view *view = argument;
	struct rvp_object object;
	uint64_t first = first_byte(info);

	(void)size;
	if (info->dlpi_name && strstr(info->dlpi_name, "libtorch_python.so"))
		view->has_torch = true;
	if (view->has_interpreter || !first || !rvp_object_find(first, &object) ||
	    !rvp_elf_symbol(&object, "Py_AddPendingCall"))
		return 0;
	view->has_interpreter = rvp_adapter_calls_find(&object);
	view->is_missing = !view->has_interpreter;
	return 0;
}

static bool name_it(void *globals)
{
	void *name = python->PyUnicode_FromString("rvprof_adapter_torch");
	bool is_named = name && python->PyDict_SetItemString(globals, "__name__", name) == 0;

	if (name)
		python->Py_DecRef(name);
	return is_named;
}

static bool run_text(void *globals)
{
	void *code, *result;

	if (!name_it(globals) || !rvp_adapter_calls_put_builtins(globals) || !rvp_adapter_calls_put(globals))
		return false;
	code = python->Py_CompileString(adapter_text, "<rvprof>/rvprof_adapter_torch.py", PYTHON_FILE_INPUT);
	if (!code)
		return false;
	result = python->PyEval_EvalCode(code, globals, globals);
	python->Py_DecRef(code);
	if (!result)
		return false;
	python->Py_DecRef(result);
	return true;
}

/* By the interpreter, on its main thread, between two instructions, without a pending exception. -1: it
 * raises what is pending now. */
static int arrive(void *nothing)
{
	int64_t left = rvp_quick_pause();
	void *globals = python->PyDict_New();
	bool is_here = globals && run_text(globals);

	(void)nothing;
	rvp_quick_resume(left);
	if (globals)
		python->Py_DecRef(globals);
	if (is_here || !python->PyErr_Occurred())
		return 0;
	if (!python->PyErr_ExceptionMatches(*python->PyExc_Exception))
		return -1;
	python->PyErr_Clear();
	rvprof_api_1.adapter(RVPROF_ADAPTER_FAILED, "torch", "", "the adapter could not be started");
	return 0;
}

void rvp_adapter_look(void)
{
	uint32_t expected = WAITING;

	rvp_adapter_calls_look();
	if (__builtin_expect(atomic_load_explicit(&state, memory_order_relaxed) != WAITING, 1) ||
	    rvp_process_is_vfork_child() || !python->Py_IsInitialized() ||
	    !atomic_compare_exchange_strong(&state, &expected, INVITED))
		return;
	if (python->Py_AddPendingCall(arrive, NULL) != 0)
		atomic_store(&state, WAITING); /* its queue is full */
}

static void tell(struct rvp_thread *thread, uint64_t what_state, const char *what)
{
	struct rvp_text name = {"torch", 5}, text = {what, strlen(what)};

	RVP_EMIT(thread, ADAPTER, name.length + text.length, .stamp = rvp_last_stamp(thread), .state = what_state,
		 .name = name, .what = text);
}

static void stay_away(struct rvp_thread *thread, uint64_t what_state, const char *what)
{
	uint32_t expected = AWAY;

	if (atomic_compare_exchange_strong(&state, &expected, OVER))
		tell(thread, what_state, what);
}

void rvp_adapter_meet(struct rvp_thread *thread)
{
	struct view view = {0};
	uint32_t expected = AWAY;

	if (atomic_load(&state) != AWAY || atomic_load(&rvp_process.locked))
		return;
	rvp_loader_list(visit, &view);
	if (!view.has_torch || (!view.has_interpreter && !view.is_missing))
		return; /* a C++ program, or not yet all of it */
	if (!rvp_process.options.adapters)
		stay_away(thread, RVP_ADAPTER_OFF, "--no-adapters");
	else if (view.is_missing)
		stay_away(thread, RVP_ADAPTER_OFF,
			  "this interpreter lacks a function that the adapter needs");
	else if (atomic_compare_exchange_strong(&state, &expected, WAITING))
		rvp_adapter_look();
}
