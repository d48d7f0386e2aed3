/* SPDX-License-Identifier: MIT */
/* adapter_steady.c: see adapter_steady.h.
 *
 * CLOSED -> open() -> ON: a call of the module begins (hook in the module, none for all) -> after() or the
 * end of the arguments' life -> ON again, or CLOSED if the way was ended meanwhile. All with the
 * interpreter's lock.
 *
 * The arguments go on as a tuple of a type of ours: where the call raises they end without the hook in the
 * module, and that is the call's end too.
 */
#define RVPROF_ABSENT /* the table alone */
#include "preload/adapter_steady.h"
#include "preload/adapter_calls.h"
#include "preload/adapter_moved.h"
#include "rvprof.h"

#include <stddef.h>
#include <stdint.h>

extern const struct rvprof_api rvprof_api_1;

enum { INPUT_LEAST = 64, STILL = 8, STILL_DOUBLED = 2, EQUAL = 2 /* Py_EQ */ };

static struct rvp_python_calls *const python = &rvp_python_calls;
static void *call_type, *hook; /* of the arguments; the hook in the module */
static void *dtype_name, *shape_name, *numel_name;
static void *long_way; /* function(module, args) */
static bool has_failed;

static struct {
	bool is_on;
	void *module, *call; /* addresses alone; call: of the arguments of the one that is open */
	char *thread;        /* of the calls: the place of its thread-local variable */
	/* Owned, until the next open. */
	void *words, *look_words;
	/* In words. */
	const char *name;
	void *hooks, *key, *module_hooks, *module_pre_hooks, *again, *dtype, *shape, *tensor_type;
	void *backward_hooks, *all_backward_hooks, *tracing_state, *tell_input, *watch;
	int has_input, needs_words;
	long long number, until, total, still, next_look, held;
	/* In look_words; places NULL: looked at in Python. */
	struct rvp_moved_words moved;
} steady;

static char *this_thread(void)
{
	static __thread char here __attribute__((tls_model("initial-exec")));

	return &here;
}

static void failed(const char *what)
{
	python->PyErr_Clear();
	if (!has_failed)
		rvprof_api_1.adapter(RVPROF_ADAPTER_FAILED, "torch", "", what);
	has_failed = true;
}

static void *nothing(void)
{
	return python->Py_BuildValue("");
}

static bool is_attribute(void *object, void *name, void *value, bool is_same)
{
	void *found = python->PyObject_GetAttr(object, name);
	bool is_equal =
	    found && (is_same ? found == value : python->PyObject_RichCompareBool(found, value, EQUAL) == 1);

	if (found)
		python->Py_DecRef(found);
	return is_equal;
}

static bool is_tracing(void)
{
	void *state = python->PyObject_CallObject(steady.tracing_state, NULL);
	void *none = nothing();
	bool is_none = state && state == none;

	if (state)
		python->Py_DecRef(state);
	python->Py_DecRef(none);
	return !is_none;
}

static void *type_of(void *object)
{
	void *type = python->PyObject_Type(object);

	python->Py_DecRef(type);
	return type;
}

/* Whether an argument behind the first is a tensor that may be an input of its own. */
static bool has_more_input(void *args, ssize_t count)
{
	for (ssize_t i = 1; i < count; i++) {
		void *item = python->PyTuple_GetItem(args, i), *number;
		long long numel;

		if (type_of(item) != steady.tensor_type)
			continue;
		number = python->PyObject_CallMethodObjArgs(item, numel_name, NULL);
		numel = number ? python->PyLong_AsLongLong(number) : -1;
		if (number)
			python->Py_DecRef(number);
		if (numel < 0 || numel >= INPUT_LEAST)
			return true;
	}
	return false;
}

static bool is_like_last(void *args, ssize_t count)
{
	void *first;

	if (count < 1 || steady.number >= steady.until || steady.thread != this_thread() ||
	    (steady.needs_words && steady.number >= steady.next_look) ||
	    python->PyDict_Size(steady.backward_hooks) != 0 ||
	    python->PyDict_Size(steady.all_backward_hooks) != 0)
		return false;
	first = python->PyTuple_GetItem(args, 0);
	return type_of(first) == steady.tensor_type && is_attribute(first, dtype_name, steady.dtype, true) &&
	       is_attribute(first, shape_name, steady.shape, false) && !is_tracing();
}

static bool tell_input(void *args)
{
	void *done = python->PyObject_CallFunctionObjArgs(steady.tell_input, args, NULL);

	if (done)
		python->Py_DecRef(done);
	return done;
}

static bool put_hooks(void)
{
	if (python->PyObject_SetItem(steady.module_hooks, steady.key, hook) != 0 ||
	    python->PyObject_SetItem(steady.module_pre_hooks, steady.key, steady.again) != 0)
		return false;
	if (python->PyObject_DelItem(steady.hooks, python->PyTuple_GetItem(steady.words, 2)) != 0)
		python->PyErr_Clear(); /* the program took it away */
	return true;
}

/* The arguments as they go on; NULL: it goes the long way. */
static void *begin(void *args)
{
	ssize_t count = python->PyTuple_Size(args);
	void *call;

	if (!is_like_last(args, count) ||
	    ((steady.has_input || has_more_input(args, count)) && !tell_input(args)))
		return NULL;
	call = python->PyObject_CallFunctionObjArgs(call_type, args, NULL);
	if (!call)
		return NULL;
	if (!put_hooks()) {
		python->Py_DecRef(call);
		return NULL;
	}
	steady.total++;
	steady.call = call;
	rvprof_api_1.step(RVPROF_SOURCE_ADAPTER, RVPROF_STEP_BEGIN, RVPROF_PHASE_DECODE, 0, 1, steady.name);
	return call;
}

/* The step's end, however the call ended. */
static void close_call(void)
{
	uint64_t length = steady.held ? (uint64_t)steady.held + 1 : 0;

	steady.call = NULL;
	steady.number++;
	rvprof_api_1.step(RVPROF_SOURCE_ADAPTER, RVPROF_STEP_END, RVPROF_PHASE_NONE, length, 1, "");
	if (python->PyObject_DelItem(steady.module_hooks, steady.key) != 0)
		python->PyErr_Clear();
	if (python->PyObject_DelItem(steady.module_pre_hooks, steady.key) != 0)
		python->PyErr_Clear();
	if (python->PyObject_SetItem(steady.hooks, python->PyTuple_GetItem(steady.words, 2),
				     python->PyTuple_GetItem(steady.words, 3)) != 0)
		failed("the hook could not be put back");
}

static bool take_look_words(void *words)
{
	struct rvp_moved_words *moved = &steady.moved;

	python->Py_IncRef(words);
	if (steady.look_words)
		python->Py_DecRef(steady.look_words);
	steady.look_words = words;
	moved->places = NULL;
	if (python->PyTuple_Size(words) == 0)
		return true;
	return python->PyArg_ParseTuple(words, "OOOOOnnO", &moved->type, &moved->plain, &moved->places,
					&moved->addresses, &moved->names, &moved->count, &moved->length_place,
					&moved->dimension);
}

/* In Python: what is due, and what then is known. */
static bool watch_long(void *output)
{
	void *words = steady.words, *look_words;
	void *found = python->PyObject_CallFunctionObjArgs(steady.watch, output, NULL);
	bool is_open = false, is_good;
	long long still, next_look, held;
	int is_same;

	is_good = found &&
		  python->PyArg_ParseTuple(found, "LLLOi", &still, &next_look, &held, &look_words, &is_same);
	/* It asked what is known here, which ended the way. Another thread may have ended it for good meanwhile, or opened
	 * another. */
	is_open = is_good && is_same && steady.words == words;
	if (is_open) {
		steady.still = still;
		steady.next_look = next_look;
		steady.held = held;
		steady.is_on = true;
		is_good = take_look_words(look_words);
	}
	if (found)
		python->Py_DecRef(found);
	return is_good;
}

/* Calls between looks at what stays where it is, as in Model.watch. */
static long long apart(void)
{
	long long doubled = steady.still / STILL - 1;

	return (long long)STILL << (doubled < STILL_DOUBLED ? doubled : STILL_DOUBLED);
}

/* False: an exception is set. */
static bool watch(void *output)
{
	uint64_t length = 0;
	int moved;

	if (!steady.moved.places)
		return watch_long(output);
	moved = rvp_adapter_moved_look(output, &steady.moved, &length);
	if (moved == RVP_MOVED_SHAPELESS)
		return watch_long(output);
	if (moved < 0)
		return false;
	if (length)
		steady.held = (long long)length;
	steady.still = moved ? 0 : steady.still + 1;
	if (steady.still > STILL)
		steady.next_look = ((steady.number - 1) / apart() + 1) * apart();
	return true;
}

/* PyTorch's hook after the module's call. The values handed in are not looked at: who needs them goes the
 * long way. */
static void *after(void *self, void *arguments, void *words)
{
	(void)self;
	(void)words;
	if (!steady.call || python->PyTuple_Size(arguments) < 3 ||
	    python->PyTuple_GetItem(arguments, 0) != steady.module)
		return nothing();
	close_call();
	if (steady.is_on && steady.number > steady.next_look && !watch(python->PyTuple_GetItem(arguments, 2)))
		failed("after");
	return nothing();
}

/* The arguments are gone: the call was over, or it raised. */
static void arguments_end(void *call)
{
	void *type, *value, *trace;

	if (steady.call != call)
		return;
	python->PyErr_Fetch(&type, &value, &trace);
	close_call();
	python->PyErr_Restore(type, value, trace);
}

/* In a copy of the module, or a pickle: a hook that does nothing. */
static void *reduce_hook(void *self, void *arguments)
{
	(void)self;
	(void)arguments;
	return python->PyObject_CallObject(python->PyTuple_GetItem(steady.words, 4), NULL);
}

void *rvp_adapter_before_call(void *self, void *arguments)
{
	void *module = python->PyTuple_Size(arguments) == 2 ? python->PyTuple_GetItem(arguments, 0) : NULL,
	     *call;

	(void)self;
	if (steady.is_on && module == steady.module && !steady.call) {
		call = begin(python->PyTuple_GetItem(arguments, 1));
		if (call)
			return call;
		if (python->PyErr_Occurred())
			failed("before");
	}
	return long_way ? python->PyObject_CallObject(long_way, arguments) : nothing();
}

void *rvp_adapter_steady_long_way(void *self, void *arguments)
{
	(void)self;
	if (!python->PyArg_ParseTuple(arguments, "O", &long_way))
		return NULL;
	python->Py_IncRef(long_way);
	return nothing();
}

static bool take_words(void *words)
{
	unsigned long long module;
	void *key, *before, *reduce, *look_words;

	if (!python->PyArg_ParseTuple(
		words, "KOOOOOOOOOOOOOOOOyiiLLLLLLO", &module, &steady.hooks, &key, &before, &reduce,
		&steady.key, &steady.module_hooks, &steady.module_pre_hooks, &steady.again, &steady.dtype,
		&steady.shape, &steady.tensor_type, &steady.backward_hooks, &steady.all_backward_hooks,
		&steady.tracing_state, &steady.tell_input, &steady.watch, &steady.name, &steady.has_input,
		&steady.needs_words, &steady.number, &steady.until, &steady.total, &steady.still,
		&steady.next_look, &steady.held, &look_words))
		return false;
	steady.module = (void *)module;
	return take_look_words(look_words);
}

/* What was held for the way before is given back last: that may run code of the program's. */
void *rvp_adapter_steady_open(void *self, void *arguments)
{
	void *old = steady.words;
	bool is_good;

	(void)self;
	if (steady.call)
		close_call();
	steady.words = arguments;
	steady.thread = this_thread();
	python->Py_IncRef(arguments);
	is_good = take_words(arguments);
	steady.is_on = is_good;
	if (old)
		python->Py_DecRef(old);
	return is_good ? nothing() : NULL;
}

/* A call that is open is counted: it ends all the same. */
void *rvp_adapter_steady_end(void *self, void *arguments)
{
	(void)self;
	(void)arguments;
	steady.is_on = false;
	return python->Py_BuildValue("(LLLLL)", steady.number + (steady.call != NULL), steady.total,
				     steady.still, steady.next_look, steady.held);
}

void *rvp_adapter_steady_close(void *self, void *arguments)
{
	(void)self;
	(void)arguments;
	if (steady.call)
		close_call();
	return nothing();
}

/* ---- types ---- */

/* PyType_Slot, PyType_Spec and what they are filled with: of the stable ABI. */
struct type_slot {
	int slot;
	void *function;
};
struct type_spec {
	const char *name;
	int basic_bytes, item_bytes;
	unsigned flags;
	struct type_slot *slots;
};
enum { SLOT_CALL = 50, SLOT_METHODS = 64, SLOT_FINALIZE = 80 };
enum { FLAGS_DEFAULT = 1 << 18, OBJECT_BYTES = 16, NO_ARGUMENTS = 4 /* METH_NOARGS */ };

static void *type_of_arguments(void)
{
	static struct type_slot slots[] = {{SLOT_FINALIZE, arguments_end}, {0, NULL}};
	struct type_spec spec = {"rvprof_adapter_torch.SteadyCall", 0, 0, FLAGS_DEFAULT, slots};
	void *bases = python->Py_BuildValue("(O)", python->PyTuple_Type);
	void *type = bases ? python->PyType_FromSpecWithBases(&spec, bases) : NULL;

	if (bases)
		python->Py_DecRef(bases);
	return type;
}

static void *make_hook(void)
{
	static struct rvp_python_definition methods[] = {{"__reduce__", reduce_hook, NO_ARGUMENTS, NULL},
							 {NULL, NULL, 0, NULL}};
	static struct type_slot slots[] = {{SLOT_CALL, after}, {SLOT_METHODS, methods}, {0, NULL}};
	struct type_spec spec = {"rvprof_adapter_torch.SteadyHook", OBJECT_BYTES, 0, FLAGS_DEFAULT, slots};
	void *type = python->PyType_FromSpecWithBases(&spec, NULL);
	void *made = type ? python->PyObject_CallObject(type, NULL) : NULL;

	if (type)
		python->Py_DecRef(type);
	return made;
}

bool rvp_adapter_steady_start(void)
{
	dtype_name = python->PyUnicode_InternFromString("dtype");
	shape_name = python->PyUnicode_InternFromString("shape");
	numel_name = python->PyUnicode_InternFromString("numel");
	call_type = type_of_arguments();
	hook = make_hook();
	return dtype_name && shape_name && numel_name && call_type && hook;
}
