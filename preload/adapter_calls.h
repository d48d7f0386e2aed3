/* SPDX-License-Identifier: MIT */
/* adapter_calls.h: what the adapter's text (python/rvprof_adapter_torch.py) calls, and what is needed of the
 * interpreter for that and for running it.
 *
 * The calls are functions of the interpreter's own kind, made here: ctypes took a microsecond for each word
 * of a decoding step.
 *
 *     _tags(category, [address, ..], [name, ..])     address 0: skipped
 *     _step(kind, phase, seq_len, tokens, name)
 *     _scope(kind, name)
 *     _adapter(state, name, version, what)           texts are bytes; they return 0
 *     _cells(bytearray, is_begin, address, item_bytes, [size, ..], [stride, ..])
 *                                   [changed, again, first, last of each dimension ..] (adapter_cells.h);
 *                                   []: not while the process is locked
 *     _moved(value, type, plain, [place, ..], [address, ..], [name, ..], count, place, dimension)
 *                                   tells kv_cache of the tensors at new addresses, see adapter_moved.h
 *     _before_call, _steady_..      see adapter_steady.h
 *     _unsampled(function, (argument, ..))
 *                                   what the function returns; meanwhile no sample is taken (quick.h)
 *     _later(ns, function)          the interpreter's main thread calls it once so much time is over, at the
 *                                   next look of ours (snapshot.h), between two instructions; one at a time
 *
 * Rules
 *   - A call with something else than these raises what the interpreter raises, as its own functions do.
 *   - No function of the interpreter is called while this library records: it may allocate.
 */
#ifndef RVP_ADAPTER_CALLS_H
#define RVP_ADAPTER_CALLS_H

#include "preload/elf_image.h"

#include <sys/types.h>

/* All of it in the interpreter's stable ABI or as old as Python 3 itself. */
#define RVP_PYTHON_CALLS(F)                                                          \
	F(Py_IsInitialized, int, (void))                                             \
	F(Py_AddPendingCall, int, (int (*call)(void *), void *argument))             \
	F(Py_CompileString, void *, (const char *text, const char *file, int start)) \
	F(PyEval_EvalCode, void *, (void *code, void *globals, void *locals))        \
	F(PyEval_GetBuiltins, void *, (void))                                        \
	F(PyDict_New, void *, (void))                                                \
	F(PyDict_SetItemString, int, (void *dict, const char *key, void *value))     \
	F(PyUnicode_FromString, void *, (const char *text))                          \
	F(PyLong_FromLong, void *, (long value))                                     \
	F(PyLong_AsVoidPtr, void *, (void *number))                                  \
	F(PyBytes_AsString, char *, (void *bytes))                                   \
	F(PyList_Size, ssize_t, (void *list))                                        \
	F(PyList_GetItem, void *, (void *list, ssize_t at))                          \
	F(PyList_New, void *, (ssize_t size))                                        \
	F(PyList_SetItem, int, (void *list, ssize_t at, void *item))                 \
	F(PyTuple_Size, ssize_t, (void *tuple))                                      \
	F(PyTuple_GetItem, void *, (void *tuple, ssize_t at))                        \
	F(PySet_Contains, int, (void *set, void *key))                               \
	F(PyObject_Type, void *, (void *object))                                     \
	F(PyObject_CallMethodObjArgs, void *, (void *object, void *name, ...))       \
	F(PyUnicode_InternFromString, void *, (const char *text))                    \
	F(Py_BuildValue, void *, (const char *format, ...))                          \
	F(PyLong_AsLongLong, long long, (void *number))                              \
	F(PyLong_FromLongLong, void *, (long long value))                            \
	F(PyByteArray_AsString, char *, (void *bytes))                               \
	F(PyByteArray_Size, ssize_t, (void *bytes))                                  \
	F(PyObject_CallObject, void *, (void *callable, void *arguments))            \
	F(PyArg_ParseTuple, int, (void *arguments, const char *format, ...))         \
	F(PyCFunction_NewEx, void *, (void *definition, void *self, void *module))   \
	F(PyErr_Occurred, void *, (void))                                            \
	F(PyErr_ExceptionMatches, int, (void *exception))                            \
	F(PyErr_Clear, void, (void))                                                 \
	F(PyErr_Fetch, void, (void **type, void **value, void **trace))              \
	F(PyErr_Restore, void, (void *type, void *value, void *trace))               \
	F(PyObject_GetAttr, void *, (void *object, void *name))                      \
	F(PyObject_RichCompareBool, int, (void *a, void *b, int operation))          \
	F(PyObject_CallFunctionObjArgs, void *, (void *callable, ...))               \
	F(PyDict_Size, ssize_t, (void *dict))                                        \
	F(PyObject_SetItem, int, (void *object, void *key, void *value))             \
	F(PyObject_DelItem, int, (void *object, void *key))                          \
	F(PyType_FromSpecWithBases, void *, (void *spec, void *bases))               \
	F(Py_IncRef, void, (void *object))                                           \
	F(Py_DecRef, void, (void *object))

struct rvp_python_calls {
#define RVP_CALL(name, returns, parameters) returns(*name) parameters;
	RVP_PYTHON_CALLS(RVP_CALL)
#undef RVP_CALL
	void **PyExc_Exception;
	void *PyList_Type, *PyTuple_Type;
};

extern struct rvp_python_calls rvp_python_calls;

/* PyMethodDef, the same in every version. */
struct rvp_python_definition {
	const char *name;
	void *(*call)(void *self, void *arguments);
	int flags;
	const char *help;
};

/* False: the interpreter in this object lacks one of them. */
bool rvp_adapter_calls_find(const struct rvp_object *interpreter);

/* Asks the interpreter to make the call that _later put off, when it is due. One load when none waits. */
void rvp_adapter_calls_look(void);

/* Before 3.10 a namespace has no builtins of itself. With the interpreter's lock; false: an exception is set. */
bool rvp_adapter_calls_put_builtins(void *globals);

/* Puts the calls into a namespace. With the interpreter's lock; false: an exception is set. */
bool rvp_adapter_calls_put(void *globals);

#endif
