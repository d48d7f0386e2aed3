/* SPDX-License-Identifier: MIT */
/* adapter_calls.c: see adapter_calls.h. */
#define RVPROF_ABSENT /* the table alone */
#include "preload/adapter_calls.h"
#include "rvprof.h"

extern const struct rvprof_api rvprof_api_1;

struct rvp_python_calls rvp_python_calls;

/* PyMethodDef, the same in every version. */
struct definition {
	const char *name;
	void *(*call)(void *self, void *arguments);
	int flags;
	const char *help;
};
enum { ARGUMENTS_AS_TUPLE = 1 }; /* METH_VARARGS */

static const struct {
	const char *name;
	size_t offset;
} rows[] = {
#define RVP_CALL(name, returns, parameters) {#name, offsetof(struct rvp_python_calls, name)},
    RVP_PYTHON_CALLS(RVP_CALL)
#undef RVP_CALL
	{"PyExc_Exception", offsetof(struct rvp_python_calls, PyExc_Exception)},
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

bool rvp_adapter_calls_put(void *globals)
{
	static struct definition definitions[] = {{"_tags", tell_tags, ARGUMENTS_AS_TUPLE, NULL},
						  {"_step", tell_step, ARGUMENTS_AS_TUPLE, NULL},
						  {"_scope", tell_scope, ARGUMENTS_AS_TUPLE, NULL},
						  {"_adapter", tell_adapter, ARGUMENTS_AS_TUPLE, NULL}};

	for (unsigned i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
		void *call = rvp_python_calls.PyCFunction_NewEx(&definitions[i], NULL, NULL);
		bool is_put =
		    call && rvp_python_calls.PyDict_SetItemString(globals, definitions[i].name, call) == 0;

		if (call)
			rvp_python_calls.Py_DecRef(call);
		if (!is_put)
			return false;
	}
	return true;
}
