/* SPDX-License-Identifier: MIT */
/* python_rows.c: see python_rows.h. */
#include "preload/python_rows.h"

#include "preload/adapter_calls.h"
#include "preload/emit.h"
#include "preload/loader_list.h"
#include "preload/mark_stamp.h"
#include "preload/own.h"
#include "preload/python_frames.h"
#include "preload/quick.h"
#include "preload/rows.h"
#include "preload/torch_rows.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

enum { PYTHON_FILE_INPUT = 257 };
enum { ARGUMENTS_AS_TUPLE = 1, ARGUMENTS_NONE = 4, ARGUMENTS_ONE = 8, ARGUMENTS_FAST = 0x80 };
enum { EVENT_CALL = 0, EVENT_RETURN = 3 };                               /* PyTrace_CALL, PyTrace_RETURN */
enum { CODES = 1024, PAGES = 64, FRAMES_MAX = 512, FAILURES_MAX = 100 }; /* codes: a power of two */

typedef int profile_function(void *object, void *frame, int what, void *argument);

/* What the adapter needs not: exported by every CPython from 3.9 on, but for those of the profile function's
 * way. */
#define MORE_CALLS(F)                                            \
	F(PyEval_GetFrame, void *, (void))                       \
	F(PyEval_SetProfile, void, (profile_function *, void *)) \
	F(PyFrame_GetBack, void *, (void *frame))                \
	F(PyFrame_GetCode, void *, (void *frame))                \
	F(PyGILState_Check, int, (void))                         \
	F(PyInterpreterState_Get, void *, (void))                \
	F(PyInterpreterState_ThreadHead, void *, (void *))       \
	F(PySys_GetObject, void *, (const char *name))           \
	F(PyThreadState_Get, void *, (void))                     \
	F(PyThreadState_Next, void *, (void *))                  \
	F(PyThreadState_Swap, void *, (void *))

static struct {
#define CALL(name, returns, parameters) returns(*name) parameters;
	MORE_CALLS(CALL)
#undef CALL
} more;

static const struct {
	const char *name;
	size_t offset;
} more_rows[] = {
#define CALL(name, returns, parameters) {#name, offsetof(__typeof__(more), name)},
    MORE_CALLS(CALL)
#undef CALL
};

static struct rvp_python_calls *const python = &rvp_python_calls;

static const char rows_text[] =
#include "rvprof_rows.inc"
    ;

/* What a thread remembers; for one process and interpreter (key). */
struct place {
	uint64_t key;
	uint32_t window; /* in which it had an event last, as this thread: */
	uint32_t tid;
	uint64_t pages[PAGES];
	struct rvp_python_seen seen[RVP_PYTHON_SEEN];
	struct {
		struct rvp_python_code_words words;
		uint32_t number; /* 0: empty */
	} codes[CODES];
};

/* ---- codes ---- */

static uint64_t key_of(const struct rvp_python *interpreter)
{
	return rvp_process.number << 32 | atomic_load_explicit(&interpreter->serial, memory_order_relaxed);
}

/* NULL: there is no memory, counted. */
static struct place *place_of(struct rvp_thread *thread, const struct rvp_python *interpreter)
{
	struct place *place = thread->rows;

	if (__builtin_expect(place && place->key == key_of(interpreter), 1))
		return place;
	if (!place)
		place = thread->rows = rvp_own_map(sizeof *place);
	if (!place) {
		rvp_lose(RVP_LOSS_NO_MEMORY, 1);
		return NULL;
	}
	memset(place, 0, sizeof *place);
	place->key = key_of(interpreter);
	return place;
}

/* 0: it could not be read. */
static uint32_t number_of(struct rvp_thread *thread, struct rvp_python *interpreter, struct place *place,
			  uint64_t code)
{
	struct rvp_memory memory = {.pages = place->pages, .page_count = PAGES};
	struct rvp_python_code_words words = {.address = code};
	uint32_t at = (uint32_t)(code >> 4 ^ code >> 14) & (CODES - 1);

	if (__builtin_expect(place->codes[at].words.address == code && place->codes[at].number &&
				 rvp_python_code_is(&interpreter->layout, &place->codes[at].words),
			     1))
		return place->codes[at].number;
	if (!rvp_python_code_read(interpreter, &memory, &words))
		return 0;
	place->codes[at].number = rvp_python_code_number(interpreter, thread, &memory, place->seen, &words);
	place->codes[at].words = words;
	return place->codes[at].number;
}

/* ---- records ---- */

static void put(struct rvp_thread *thread, enum rvp_python_call kind, uint32_t code)
{
	if (rvp_rows_has_room(thread))
		RVP_EMIT(thread, PYTHON_CALL, 0, .stamp = rvp_mark_stamp(thread, false), .kind = kind,
			 .code = code);
}

/* With the code at its end too: where threads of another make take turns on one of the interpreter's
 * (greenlets), the innermost function is not always the one that is left. */
static void put_call_of(struct rvp_thread *thread, struct rvp_python *interpreter, struct place *place,
			enum rvp_python_call kind, uint64_t code)
{
	uint32_t number = number_of(thread, interpreter, place, code);

	if (!number)
		rvp_lose(RVP_LOSS_PYTHON, 1);
	put(thread, kind, number);
}

/* Codes of the frames around this one, innermost first; with itself where it is about to be left. */
static unsigned open_codes(void *frame, bool is_leaving, uint64_t codes[FRAMES_MAX])
{
	unsigned count = 0;
	void *at = frame;

	if (!at)
		return 0;
	python->Py_IncRef(at);
	while (at && count < FRAMES_MAX) {
		void *back = more.PyFrame_GetBack(at), *code = more.PyFrame_GetCode(at);

		if (at != frame || is_leaving)
			codes[count++] = (uint64_t)code; /* the frame holds it */
		python->Py_DecRef(code);
		python->Py_DecRef(at);
		at = back;
	}
	if (at)
		python->Py_DecRef(at);
	return count;
}

static bool is_first_here(uint32_t window)
{
	const struct rvp_thread *thread = rvp_local.thread;
	const struct place *place = thread ? thread->rows : NULL;

	return !place || place->window != window || place->tid != thread->tid;
}

static void put_open(struct rvp_thread *thread, struct rvp_python *interpreter, struct place *place,
		     const uint64_t *codes, unsigned count)
{
	while (count-- > 0)
		put_call_of(thread, interpreter, place, RVP_PYTHON_CALL_OPEN, codes[count]);
}

/* An event of a thread that had none in this window. */
static __attribute__((noinline)) void note_first(enum rvp_python_call kind, uint64_t code, void *frame)
{
	uint64_t codes[FRAMES_MAX];
	unsigned count =
	    open_codes(frame ? frame : more.PyEval_GetFrame(), kind == RVP_PYTHON_CALL_END, codes);
	struct rvp_python *interpreter = rvp_python_current();
	struct rvp_thread *thread = interpreter ? rvp_enter_for_mark() : NULL;
	struct place *place = thread ? place_of(thread, interpreter) : NULL;

	if (place) {
		put_open(thread, interpreter, place, codes, count);
		place->window = rvp_rows_window();
		place->tid = thread->tid;
		if (kind != RVP_PYTHON_CALL_OPEN)
			put_call_of(thread, interpreter, place, kind, code);
	}
	if (thread)
		rvp_leave(thread);
}

/* An event: a function is entered or left. `frame` NULL: the interpreter's current one. */
static void note(enum rvp_python_call kind, uint64_t code, void *frame)
{
	struct rvp_python *interpreter = rvp_python_current();
	struct rvp_thread *thread;
	struct place *place;
	int error = errno;

	if (!interpreter || !(rvp_rows_kinds() & RVP_ROWS_PYTHON))
		return;
	if (__builtin_expect(is_first_here(rvp_rows_window()), 0)) {
		note_first(kind, code, frame);
		errno = error;
		return;
	}
	thread = rvp_enter_for_mark();
	if (!thread)
		return;
	place = place_of(thread, interpreter);
	if (place)
		put_call_of(thread, interpreter, place, kind, code);
	rvp_leave(thread);
	errno = error;
}

/* ---- sys.monitoring ---- */

static void *nothing(void)
{
	return python->PyLong_FromLong(0);
}

static void *enter(void *self, void *const *arguments, ssize_t count)
{
	(void)self;
	if (count > 0)
		note(RVP_PYTHON_CALL_BEGIN, (uint64_t)arguments[0], NULL);
	return nothing();
}

static void *leave(void *self, void *const *arguments, ssize_t count)
{
	(void)self;
	if (count > 0)
		note(RVP_PYTHON_CALL_END, (uint64_t)arguments[0], NULL);
	return nothing();
}

/* ---- the profile function ---- */

static void *marker; /* what sys.getprofile says where it is ours: _adopt */

static int on_event(void *object, void *frame, int what, void *argument)
{
	(void)object, (void)argument;
	if (what == EVENT_CALL || what == EVENT_RETURN) {
		void *code = more.PyFrame_GetCode(frame);

		note(what == EVENT_CALL ? RVP_PYTHON_CALL_BEGIN : RVP_PYTHON_CALL_END, (uint64_t)code, frame);
		python->Py_DecRef(code);
	}
	return 0;
}

/* The profile function's object of the thread whose state is in place: borrowed, for comparison alone. */
static void *profile_object(void)
{
	void *get = more.PySys_GetObject("getprofile");
	void *object = get ? python->PyObject_CallObject(get, NULL) : NULL;

	if (object)
		python->Py_DecRef(object);
	else
		python->PyErr_Clear();
	return object;
}

/* All threads' functions of the interpreter: those that have none get ours, or those that have ours none. */
static void set_all(bool is_on)
{
	void *mine = more.PyThreadState_Get();
	void *none = python->Py_BuildValue("");

	for (void *state = more.PyInterpreterState_ThreadHead(more.PyInterpreterState_Get()); state;
	     state = more.PyThreadState_Next(state)) {
		more.PyThreadState_Swap(state);
		if (is_on && profile_object() == none)
			more.PyEval_SetProfile(on_event, marker);
		else if (!is_on && profile_object() == marker)
			more.PyEval_SetProfile(NULL, NULL);
	}
	more.PyThreadState_Swap(mine);
	python->Py_DecRef(none);
}

static void *hook(void *self, void *arguments)
{
	(void)self, (void)arguments;
	set_all(true);
	return nothing();
}

static void *unhook(void *self, void *arguments)
{
	(void)self, (void)arguments;
	set_all(false);
	return nothing();
}

/* A new thread's profile function, by threading.setprofile: it is set for its first event. */
static void *adopt(void *self, void *arguments)
{
	void *frame = NULL, *event = NULL, *argument = NULL;

	(void)self;
	if (!python->PyArg_ParseTuple(arguments, "OOO", &frame, &event, &argument))
		return NULL;
	if (!(rvp_rows_kinds() & RVP_ROWS_PYTHON)) {
		more.PyEval_SetProfile(NULL, NULL);
		return nothing();
	}
	more.PyEval_SetProfile(on_event, marker);
	note_first(RVP_PYTHON_CALL_OPEN, 0, NULL);
	return nothing();
}

/* ---- opening and closing ---- */

static void *open_function, *close_function, *learn_function, *ready_function; /* of the text; owned */

static void *take_functions(void *self, void *arguments)
{
	(void)self;
	if (!python->PyArg_ParseTuple(arguments, "OOOO", &open_function, &close_function, &learn_function,
				      &ready_function))
		return NULL;
	python->Py_IncRef(open_function);
	python->Py_IncRef(close_function);
	python->Py_IncRef(learn_function);
	python->Py_IncRef(ready_function);
	return nothing();
}

static void *learn_begin(void *self, void *list)
{
	uint64_t samples[RVP_TORCH_SAMPLES];

	(void)self;
	for (int i = 0; i < RVP_TORCH_SAMPLES; i++) {
		void *item = python->PyList_GetItem(list, i);

		if (!item)
			return NULL;
		samples[i] = (uint64_t)python->PyLong_AsVoidPtr(item);
	}
	if (python->PyErr_Occurred())
		return NULL;
	rvp_torch_learn_begin(samples);
	return nothing();
}

static void *learn_end(void *self, void *arguments)
{
	(void)self, (void)arguments;
	return python->PyLong_FromLong(rvp_torch_learn_end());
}

static bool put_call(void *globals, struct rvp_python_definition *definition)
{
	void *call = python->PyCFunction_NewEx(definition, NULL, NULL);
	bool is_put = call && python->PyDict_SetItemString(globals, definition->name, call) == 0;

	if (is_put && definition->call == adopt)
		marker = call; /* and keeps the reference */
	else if (call)
		python->Py_DecRef(call);
	return is_put;
}

static bool put_calls(void *globals)
{
	static struct rvp_python_definition definitions[] = {
	    {"_enter", (void *(*)(void *, void *))(void *)enter, ARGUMENTS_FAST, NULL},
	    {"_leave", (void *(*)(void *, void *))(void *)leave, ARGUMENTS_FAST, NULL},
	    {"_hook", hook, ARGUMENTS_NONE, NULL},
	    {"_unhook", unhook, ARGUMENTS_NONE, NULL},
	    {"_adopt", adopt, ARGUMENTS_AS_TUPLE, NULL},
	    {"_learn_begin", learn_begin, ARGUMENTS_ONE, NULL},
	    {"_learn_end", learn_end, ARGUMENTS_NONE, NULL},
	    {"_rows", take_functions, ARGUMENTS_AS_TUPLE, NULL}};

	for (unsigned i = 0; i < sizeof definitions / sizeof definitions[0]; i++)
		if (!put_call(globals, &definitions[i]))
			return false;
	return true;
}

static bool run_text(void)
{
	void *globals = python->PyDict_New(), *code = NULL, *result = NULL;

	if (globals && rvp_adapter_calls_put_builtins(globals) && put_calls(globals))
		code = python->Py_CompileString(rows_text, "<rvprof>/rvprof_rows.py", PYTHON_FILE_INPUT);
	if (code)
		result = python->PyEval_EvalCode(code, globals, globals);
	if (result)
		python->Py_DecRef(result);
	if (code)
		python->Py_DecRef(code);
	if (globals)
		python->Py_DecRef(globals);
	return result && open_function;
}

static bool find_more(const struct rvp_object *interpreter)
{
	for (unsigned i = 0; i < sizeof more_rows / sizeof more_rows[0]; i++) {
		uint64_t at = rvp_elf_symbol(interpreter, more_rows[i].name);

		if (!at)
			return false;
		*(uint64_t *)((char *)&more + more_rows[i].offset) = at;
	}
	return true;
}

enum found { NO_INTERPRETER, LACKS_SOMETHING, FOUND };

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
	enum found *found = argument;
	struct rvp_object object;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (!rvp_object_find(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, &object) ||
		    !rvp_elf_symbol(&object, "Py_AddPendingCall"))
			return 0;
		*found = rvp_adapter_calls_find(&object) && find_more(&object) ? FOUND : LACKS_SOMETHING;
		rvp_python_meet(&object);
		return 1;
	}
	return 0;
}

/* Not in one that lies there no more, or is another. */
static bool is_in_interpreter(uintptr_t function)
{
	const struct rvp_python *interpreter = rvp_python_current();

	return interpreter && function >= interpreter->start && function < interpreter->end;
}

/* NULL: it can be. */
static const char *find_interpreter(void)
{
	static const char unreadable[] = "this interpreter's code objects can't be read, or --python off";
	static _Atomic enum found known;
	enum found found = atomic_load(&known);
	if (found == NO_INTERPRETER) {
		rvp_loader_list(visit, &found);
		atomic_store(&known, found);
	}
	if (found == FOUND && !rvp_python_current())
		return unreadable;
	if (found == FOUND && !is_in_interpreter((uintptr_t)python->Py_IsInitialized))
		return "the interpreter that rows know was unloaded";
	if (found == NO_INTERPRETER || (found == FOUND && !python->Py_IsInitialized()))
		return "there is no Python in this process";
	if (found == LACKS_SOMETHING)
		return "this interpreter lacks a function that rows of Python need (3.9 and later have them)";
	return rvp_python_current() ? NULL : unreadable;
}

/* The text of a bytes object that the opening function gave; it is never freed: there are few. NULL: it is
 * empty. */
static const char *said(void *result)
{
	const char *text = result ? python->PyBytes_AsString(result) : "the interpreter refused it";

	if (!*text)
		python->Py_DecRef(result);
	return *text ? text : NULL;
}

enum rvp_python_where rvp_python_rows_where(void)
{
	if (find_interpreter())
		return RVP_PYTHON_NOWHERE;
	return more.PyGILState_Check() ? RVP_PYTHON_HERE : RVP_PYTHON_ELSEWHERE;
}

/* An interpreter that no walk has met is not looked for: this is asked often. */
bool rvp_python_rows_call_soon(int (*call)(void *))
{
	return rvp_python_current() && !rvp_process_is_vfork_child() && !find_interpreter() &&
	       python->Py_AddPendingCall(call, NULL) == 0;
}

/* A function of the text, called with what is pending put aside; NULL: it raised, and that is cleared. */
static void *call_aside(void *const *function)
{
	void *type, *value, *trace, *result = NULL;
	int64_t left = rvp_quick_pause();

	python->PyErr_Fetch(&type, &value, &trace);
	if (*function || run_text())
		result = python->PyObject_CallObject(*function, NULL);
	if (!result)
		python->PyErr_Clear();
	python->PyErr_Restore(type, value, trace);
	rvp_quick_resume(left);
	return result;
}

bool rvp_python_rows_is_ready(void)
{
	static _Atomic unsigned failures; /* very early even our own text does not run */
	void *result = find_interpreter() ? NULL : call_aside(&ready_function);
	bool is_ready;

	if (!result)
		return atomic_fetch_add(&failures, 1) >= FAILURES_MAX; /* so that it is told why */
	is_ready = python->PyLong_AsLongLong(result) != 0;
	python->Py_DecRef(result);
	return is_ready;
}

bool rvp_python_rows_learn_torch(void)
{
	void *result = call_aside(&learn_function);

	if (result)
		python->Py_DecRef(result);
	return result != NULL;
}

/* With the interpreter's lock. NULL: they are on. */
static const char *open_here(void)
{
	return said(call_aside(&open_function));
}

static void close_here(void)
{
	void *result = call_aside(&close_function);

	if (result)
		python->Py_DecRef(result);
}

static bool is_open; /* changed with the interpreter's lock */

void rvp_python_rows_open(uint32_t *kinds, const char **why)
{
	const char *reason = find_interpreter();

	if (!reason)
		reason = open_here();
	is_open = !reason;
	if (!reason)
		return;
	*kinds &= ~(uint32_t)RVP_ROWS_PYTHON;
	*why = reason;
}

void rvp_python_rows_close(void)
{
	if (is_open && rvp_python_rows_where() == RVP_PYTHON_HERE)
		close_here();
	is_open = false;
}
