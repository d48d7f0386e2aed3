/* SPDX-License-Identifier: MIT */
/* adapter_calls.c: see adapter_calls.h. */
#define RVPROF_ABSENT /* the table alone */
#include "preload/adapter_calls.h"
#include "preload/adapter_cells.h"
#include "preload/adapter_moved.h"
#include "preload/adapter_steady.h"
#include "preload/process.h"
#include "preload/quick.h"
#include "preload/stamp.h"
#include "rvprof.h"

#include <stdatomic.h>

extern const struct rvprof_api rvprof_api_1;

struct rvp_python_calls rvp_python_calls;

enum { ARGUMENTS_AS_TUPLE = 1 }; /* METH_VARARGS */

static const struct {
	const char *name;
	size_t offset;
} rows[] = {
#define RVP_CALL(name, returns, parameters) {#name, offsetof(struct rvp_python_calls, name)},
    RVP_PYTHON_CALLS(RVP_CALL)
#undef RVP_CALL
	{"PyExc_Exception", offsetof(struct rvp_python_calls, PyExc_Exception)},
	{"PyList_Type", offsetof(struct rvp_python_calls, PyList_Type)},
	{"PyTuple_Type", offsetof(struct rvp_python_calls, PyTuple_Type)},
};

bool rvp_adapter_calls_find(const struct rvp_object *interpreter)
{
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t at = rvp_elf_symbol(interpreter, rows[i].name);

		if (!at)
			return false;
		*(uint64_t *)((char *)&rvp_python_calls + rows[i].offset) = at;
	}
	return true;
}

static void *done(void)
{
	return rvp_python_calls.PyLong_FromLong(0);
}

/* False: an exception is set. */
static bool tell_tag(const char *category, void *address_item, void *name_item)
{
	const char *name = name_item ? rvp_python_calls.PyBytes_AsString(name_item) : NULL;
	const void *address = name && address_item ? rvp_python_calls.PyLong_AsVoidPtr(address_item) : NULL;

	if (address)
		rvprof_api_1.tag(RVPROF_SOURCE_ADAPTER, address, 0, category, name);
	return address || !rvp_python_calls.PyErr_Occurred();
}

static void *tell_tags(void *self, void *arguments)
{
	const char *category;
	void *addresses, *names;
	ssize_t count;

	(void)self;
	if (!rvp_python_calls.PyArg_ParseTuple(arguments, "yOO", &category, &addresses, &names))
		return NULL;
	count = rvp_python_calls.PyList_Size(addresses);
	for (ssize_t i = 0; i < count; i++)
		if (!tell_tag(category, rvp_python_calls.PyList_GetItem(addresses, i),
			      rvp_python_calls.PyList_GetItem(names, i)))
			return NULL;
	return count < 0 ? NULL : done();
}

static void *tell_step(void *self, void *arguments)
{
	unsigned long long seq_len, tokens;
	const char *name;
	int kind, phase;

	(void)self;
	if (!rvp_python_calls.PyArg_ParseTuple(arguments, "iiKKy", &kind, &phase, &seq_len, &tokens, &name))
		return NULL;
	rvprof_api_1.step(RVPROF_SOURCE_ADAPTER, kind, phase, seq_len, tokens, name);
	return done();
}

static void *tell_scope(void *self, void *arguments)
{
	const char *name;
	int kind;

	(void)self;
	if (!rvp_python_calls.PyArg_ParseTuple(arguments, "iy", &kind, &name))
		return NULL;
	rvprof_api_1.scope(kind, RVPROF_SOURCE_ADAPTER, NULL, name, NULL);
	return done();
}

static void *tell_adapter(void *self, void *arguments)
{
	const char *name, *version, *what;
	int state;

	(void)self;
	if (!rvp_python_calls.PyArg_ParseTuple(arguments, "iyyy", &state, &name, &version, &what))
		return NULL;
	rvprof_api_1.adapter(state, name, version, what);
	return done();
}

/* ---- cells ---- */

static bool take_numbers(void *list, int64_t *numbers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		void *item = rvp_python_calls.PyList_GetItem(list, (ssize_t)i);

		if (!item)
			return false;
		numbers[i] = rvp_python_calls.PyLong_AsLongLong(item);
	}
	return !rvp_python_calls.PyErr_Occurred();
}

static bool put_number(void *list, ssize_t at, long long number)
{
	void *item = rvp_python_calls.PyLong_FromLongLong(number);

	return item && rvp_python_calls.PyList_SetItem(list, at, item) == 0; /* it takes the item */
}

static void *list_of_look(const struct rvp_cell_look *look, uint32_t dimensions)
{
	void *list = rvp_python_calls.PyList_New(2 + 2 * (ssize_t)dimensions);
	bool is_good = list && put_number(list, 0, look->changed) && put_number(list, 1, look->again);

	for (ssize_t i = 0; is_good && i < (ssize_t)dimensions; i++)
		is_good =
		    put_number(list, 2 + 2 * i, look->first[i]) && put_number(list, 3 + 2 * i, look->last[i]);
	if (is_good)
		return list;
	if (list)
		rvp_python_calls.Py_DecRef(list);
	return NULL;
}

static void *look_at_cells(void *self, void *arguments)
{
	struct rvp_cell_tensor tensor = {0};
	struct rvp_cell_look look;
	void *bytes, *address, *sizes, *strides;
	int is_begin, item_bytes;
	ssize_t dimensions;

	(void)self;
	if (!rvp_python_calls.PyArg_ParseTuple(arguments, "OiOiOO", &bytes, &is_begin, &address, &item_bytes,
					       &sizes, &strides))
		return NULL;
	dimensions = rvp_python_calls.PyList_Size(sizes);
	tensor.data = rvp_python_calls.PyLong_AsVoidPtr(address);
	if (dimensions < 0 || rvp_python_calls.PyErr_Occurred())
		return NULL;
	if (dimensions > RVP_CELL_DIMENSIONS || item_bytes <= 0 || !tensor.data ||
	    atomic_load(&rvp_process.locked))
		return rvp_python_calls.PyList_New(0);
	tensor.dimensions = (uint32_t)dimensions;
	tensor.item_bytes = (uint32_t)item_bytes;
	if (!take_numbers(sizes, tensor.sizes, tensor.dimensions) ||
	    !take_numbers(strides, tensor.strides, tensor.dimensions))
		return NULL;
	rvp_cells_look((struct rvp_cell *)rvp_python_calls.PyByteArray_AsString(bytes),
		       (size_t)rvp_python_calls.PyByteArray_Size(bytes) / sizeof(struct rvp_cell), &tensor,
		       is_begin != 0, &look);
	return list_of_look(&look, tensor.dimensions);
}

/* ---- later ---- */

static _Atomic uint64_t due_ns; /* 0: no call waits */
static void *waiting;		/* owned; changed with the interpreter's lock only */

static void *tell_later(void *self, void *arguments)
{
	unsigned long long ns;
	void *function;

	(void)self;
	if (!rvp_python_calls.PyArg_ParseTuple(arguments, "KO", &ns, &function))
		return NULL;
	rvp_python_calls.Py_IncRef(function);
	if (waiting)
		rvp_python_calls.Py_DecRef(waiting);
	waiting = function;
	atomic_store(&due_ns, rvp_monotonic_ns() + ns);
	return done();
}

static void *call_function(void *function, void *arguments)
{
	int64_t left = rvp_quick_pause();
	void *result = rvp_python_calls.PyObject_CallObject(function, arguments);

	rvp_quick_resume(left);
	return result;
}

static void *call_unsampled(void *self, void *arguments)
{
	void *function, *words;

	(void)self;
	if (!rvp_python_calls.PyArg_ParseTuple(arguments, "OO", &function, &words))
		return NULL;
	return call_function(function, words);
}

/* By the interpreter, on its main thread. -1: it raises what is pending now. */
static int call_waiting(void *nothing)
{
	void *function = waiting, *result;

	(void)nothing;
	waiting = NULL;
	if (!function)
		return 0;
	result = call_function(function, NULL);
	rvp_python_calls.Py_DecRef(function);
	if (!result)
		return -1;
	rvp_python_calls.Py_DecRef(result);
	return 0;
}

void rvp_adapter_calls_look(void)
{
	uint64_t due = atomic_load_explicit(&due_ns, memory_order_relaxed);

	if (__builtin_expect(!due, 1) || rvp_monotonic_ns() < due || rvp_process_is_vfork_child() ||
	    !rvp_python_calls.Py_IsInitialized() || !atomic_compare_exchange_strong(&due_ns, &due, 0))
		return;
	if (rvp_python_calls.Py_AddPendingCall(call_waiting, NULL) != 0)
		atomic_store(&due_ns, due); /* its queue is full */
}

/* With the name of the adapter's namespace as its module. */
static bool put(void *globals, struct rvp_python_definition *definition)
{
	void *module = rvp_python_calls.PyUnicode_FromString("rvprof_adapter_torch");
	void *call = module ? rvp_python_calls.PyCFunction_NewEx(definition, NULL, module) : NULL;
	bool is_put = call && rvp_python_calls.PyDict_SetItemString(globals, definition->name, call) == 0;

	if (module)
		rvp_python_calls.Py_DecRef(module);
	if (call)
		rvp_python_calls.Py_DecRef(call);
	return is_put;
}

bool rvp_adapter_calls_put_builtins(void *globals)
{
	void *builtins = rvp_python_calls.PyEval_GetBuiltins();

	return builtins && rvp_python_calls.PyDict_SetItemString(globals, "__builtins__", builtins) == 0;
}

bool rvp_adapter_calls_put(void *globals)
{
	static struct rvp_python_definition definitions[] = {
	    {"_tags", tell_tags, ARGUMENTS_AS_TUPLE, NULL},
	    {"_step", tell_step, ARGUMENTS_AS_TUPLE, NULL},
	    {"_scope", tell_scope, ARGUMENTS_AS_TUPLE, NULL},
	    {"_adapter", tell_adapter, ARGUMENTS_AS_TUPLE, NULL},
	    {"_cells", look_at_cells, ARGUMENTS_AS_TUPLE, NULL},
	    {"_moved", rvp_adapter_moved, ARGUMENTS_AS_TUPLE, NULL},
	    {"_before_call", rvp_adapter_before_call, ARGUMENTS_AS_TUPLE, NULL},
	    {"_steady_long_way", rvp_adapter_steady_long_way, ARGUMENTS_AS_TUPLE, NULL},
	    {"_steady_open", rvp_adapter_steady_open, ARGUMENTS_AS_TUPLE, NULL},
	    {"_steady_end", rvp_adapter_steady_end, ARGUMENTS_AS_TUPLE, NULL},
	    {"_steady_close", rvp_adapter_steady_close, ARGUMENTS_AS_TUPLE, NULL},
	    {"_unsampled", call_unsampled, ARGUMENTS_AS_TUPLE, NULL},
	    {"_later", tell_later, ARGUMENTS_AS_TUPLE, NULL}};

	if (!rvp_adapter_moved_start() || !rvp_adapter_steady_start())
		return false;
	for (unsigned i = 0; i < sizeof definitions / sizeof definitions[0]; i++)
		if (!put(globals, &definitions[i]))
			return false;
	return true;
}
