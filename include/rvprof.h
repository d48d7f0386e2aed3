/* SPDX-License-Identifier: MIT */
/* rvprof.h: a program tells the profiler what its memory is for, and where its steps are. C99 and later, C++.
 *
 *     #include <rvprof.h>
 *
 *     rvprof_scope_begin("kv_cache", "layer 3");          what this thread asks for from here on
 *     cache = malloc(bytes);
 *     rvprof_scope_end();
 *     rvprof_tag(weights, bytes, "weights", "embedding");  what is at this address
 *     for (...) {
 *             rvprof_step_begin("decode", tokens_so_far);
 *             ...
 *             rvprof_step_end();
 *     }
 *
 * There is nothing to link: a program built with this header runs with and without rvprof. Without it each
 * call is one load and one branch. The profiler is looked for once, before main or when the library that
 * holds the call is loaded, by dlsym: with a glibc older than 2.34 that needs -ldl. A program that defines
 * RVPROF_ABSENT before the include gets calls that do nothing at all (so does one for another system than
 * Linux).
 *
 * Rules
 *   - A category is one of: weights kv_cache activation temp gradient optimizer workspace comm graph context
 * input runtime allocator file stack code unknown; a sub-kind may follow a slash ("weights/copy"). NULL: only
 * a name. Any other word is kept and shown, and classifies nothing.
 *   - Scopes, operators and step marks are of the calling thread; each may be called from signal handlers.
 * One that lacks its other half is put right by the reader, and counted.
 *   - Texts are copied; beyond RVPROF_TEXT_BYTES they are cut, and that is counted.
 *   - Nothing here fails, blocks, allocates in the program's heap or changes errno; rvprof_dump alone waits.
 */
#ifndef RVPROF_H
#define RVPROF_H

#include <stddef.h>
#include <stdint.h>

#define RVPROF_TEXT_BYTES 1024

/* Who speaks, and of what: numbers of struct rvprof_api's calls. A program needs none of them. */
enum rvprof_source { RVPROF_SOURCE_API, RVPROF_SOURCE_NVTX, RVPROF_SOURCE_PYTHON, RVPROF_SOURCE_ADAPTER };
enum rvprof_scope_kind {
	RVPROF_SCOPE_BEGIN,
	RVPROF_SCOPE_END,
	RVPROF_SCOPE_OPERATOR_BEGIN,
	RVPROF_SCOPE_OPERATOR_END,
	RVPROF_SCOPE_RANGE_BEGIN,
	RVPROF_SCOPE_RANGE_END
};
enum rvprof_step_kind { RVPROF_STEP_NEXT, RVPROF_STEP_BEGIN, RVPROF_STEP_END, RVPROF_STEP_PHASE };
enum rvprof_phase {
	RVPROF_PHASE_NONE,
	RVPROF_PHASE_LOAD,
	RVPROF_PHASE_WARMUP,
	RVPROF_PHASE_PREFILL,
	RVPROF_PHASE_DECODE,
	RVPROF_PHASE_FORWARD,
	RVPROF_PHASE_BACKWARD,
	RVPROF_PHASE_UPDATE
};
enum rvprof_rows { RVPROF_ROWS_OPERATORS = 1, RVPROF_ROWS_PYTHON = 2, RVPROF_ROWS_SHAPES = 4 };
enum rvprof_adapter { RVPROF_ADAPTER_OFF, RVPROF_ADAPTER_ON, RVPROF_ADAPTER_UNTESTED, RVPROF_ADAPTER_FAILED };

/* A timer's value of a step (rvprof_timers.h). */
enum rvprof_timer_source { RVPROF_TIMER_THREADS, RVPROF_TIMER_BLOCKS, RVPROF_TIMER_EVENTS };
struct rvprof_timer_value {
	uint32_t source; /* enum rvprof_timer_source */
	uint32_t slot;   /* thread, block or stream */
	uint32_t place;  /* 1 + processor or multiprocessor; 0: not known */
	uint32_t unused;
	uint64_t step, ticks, count;   /* ticks: 0, it has none; count: how many times are summed */
	uint64_t ns, begin_ns;         /* 0: not known; begin_ns: UNIX */
	const char *name, *category, *args;
};

/* What librvprof.so shows under the name rvprof_api_1. It only ever grows at its end; `bytes` says how far it
 * goes. Texts may be NULL. For the calls below, and for bindings of other languages. */
struct rvprof_api {
	uint32_t version; /* 1 */
	uint32_t bytes;   /* of this struct */
	/* 1: this process is being recorded. */
	int (*active)(void);
	void (*scope_begin)(int source, const char *category, const char *name);
	void (*scope_end)(int source);
	void (*op_begin)(int source, const char *name, const char *category, const char *args);
	void (*op_end)(int source);
	/* A range that may end on another thread, and overlap others. */
	void (*range_begin)(int source, uint64_t id, const char *category, const char *name);
	void (*range_end)(int source, uint64_t id);
	/* bytes 0: the whole block. */
	void (*tag)(int source, const void *address, size_t bytes, const char *category, const char *name);
	/* kind: enum rvprof_step_kind; phase: enum rvprof_phase; seq_len, tokens: 0 when not known. */
	void (*step)(int source, int kind, int phase, uint64_t seq_len, uint64_t tokens, const char *name);
	void (*label)(int source, const char *text);
	/* A label with the process's memory of this moment. */
	void (*snapshot)(const char *label);
	void (*metric)(const char *name, double value);
	/* A framework was met. state: enum rvprof_adapter. */
	void (*adapter)(int state, const char *name, const char *version, const char *what);
	/* Any of scopes, operators and ranges, with all that its record holds. kind: enum rvprof_scope_kind.
	 */
	void (*scope)(int kind, int source, const char *category, const char *name, const char *args);
	/* level 0: blocks are recorded no more, until one above it. */
	void (*record)(int level);
	void (*clear)(void);
	int (*dump)(const char *path);
	/* From here on calls are recorded one by one: enum rvprof_rows, or'd; 0: no more. What is recorded then. */
	int (*rows)(int kinds);
	void (*timer)(const struct rvprof_timer_value *value);
};

/* Labels that `record` and `clear` leave, for the times of `rvprof report`: the second one has a number behind it. */
#define RVPROF_LABEL_STOPPED "recording stopped"
#define RVPROF_LABEL_STARTED "recording goes on"
#define RVPROF_LABEL_CLEAR   "clear "

#if defined(__linux__) && defined(__GNUC__) && !defined(RVPROF_ABSENT)

#include <dlfcn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One a program or library, however many of its files include this. */
__attribute__((weak, visibility("hidden"))) const struct rvprof_api *rvprof_found_api;

__attribute__((constructor(101), unused)) static void rvprof_find_api(void)
{
	const struct rvprof_api *api;

	if (rvprof_found_api)
		return;
	api = (const struct rvprof_api *)dlsym((void *)0 /* RTLD_DEFAULT, which strict C hides */,
					       "rvprof_api_1");
	if (!api)
		(void)dlerror(); /* the program's next dlerror() is about the program */
	else if (api->version == 1 && api->bytes >= sizeof(struct rvprof_api))
		rvprof_found_api = api;
}

#ifdef __cplusplus
}
#endif

#else
static const struct rvprof_api *const rvprof_found_api = 0;
#endif

#if defined(__GNUC__)
#define RVPROF_IS_FOUND_ (__builtin_expect(rvprof_found_api != 0, 0))
#else
#define RVPROF_IS_FOUND_ (rvprof_found_api != 0)
#endif
#define RVPROF_TELL_(call)                      \
	do {                                    \
		if (RVPROF_IS_FOUND_)           \
			rvprof_found_api->call; \
	} while (0)

/* What this thread asks for is of `category`, up to rvprof_scope_end(). Scopes nest. */
static inline void rvprof_scope_begin(const char *category, const char *name)
{
	(void)category, (void)name;
	RVPROF_TELL_(scope_begin(RVPROF_SOURCE_API, category, name));
}

static inline void rvprof_scope_end(void)
{
	RVPROF_TELL_(scope_end(RVPROF_SOURCE_API));
}

/* What the block at `ptr` is for; bytes 0: all of it. A later tag of the same address holds from then on. */
static inline void rvprof_tag(const void *ptr, size_t bytes, const char *category, const char *name)
{
	(void)ptr, (void)bytes, (void)category, (void)name;
#if defined(__GNUC__)
	__asm__("" : "+r"(ptr)); /* a block may be tagged before anything is in it, and compilers warn of that */
#endif
	RVPROF_TELL_(tag(RVPROF_SOURCE_API, ptr, bytes, category, name));
}

/* A step begins here and lasts to the next call, or to the end. */
static inline void rvprof_step(void)
{
	RVPROF_TELL_(step(RVPROF_SOURCE_API, RVPROF_STEP_NEXT, RVPROF_PHASE_NONE, 0, 0, 0));
}

/* A step up to rvprof_step_end(); seq_len: tokens attended to, 0: not known. */
static inline void rvprof_step_begin(const char *name, uint64_t seq_len)
{
	(void)name, (void)seq_len;
	RVPROF_TELL_(step(RVPROF_SOURCE_API, RVPROF_STEP_BEGIN, RVPROF_PHASE_NONE, seq_len, 0, name));
}

static inline void rvprof_step_end(void)
{
	RVPROF_TELL_(step(RVPROF_SOURCE_API, RVPROF_STEP_END, RVPROF_PHASE_NONE, 0, 0, 0));
}

/* An operator, up to rvprof_op_end(). Operators nest, among themselves and with scopes. */
static inline void rvprof_op_begin(const char *name, const char *category, const char *args)
{
	(void)name, (void)category, (void)args;
	RVPROF_TELL_(op_begin(RVPROF_SOURCE_API, name, category, args));
}

static inline void rvprof_op_end(void)
{
	RVPROF_TELL_(op_end(RVPROF_SOURCE_API));
}

/* The process's memory of this moment, under a name. */
static inline void rvprof_snapshot(const char *label)
{
	(void)label;
	RVPROF_TELL_(snapshot(label));
}

/* A figure of the program's own: loss, accuracy, tokens a second. */
static inline void rvprof_metric(const char *name, double value)
{
	(void)name, (void)value;
	RVPROF_TELL_(metric(name, value));
}

/* Blocks that are born from here on are counted and not recorded, up to rvprof_start(1): no stack, no purpose, not in
 * live bytes. All counters stay exact, known blocks end as ever, marks are recorded; how many blocks were passed over
 * stands under `lost` ("paused"), and what depends on them is not called exact. With `rvprof run --capture program` it is
 * so from the start. */
static inline void rvprof_stop(void)
{
	RVPROF_TELL_(record(0));
}

/* Recording goes on; it is on from the begin. A window that --schedule or a time keeps closed stays closed. level 0 is
 * rvprof_stop(); with level 2 the calls of Python functions and of
 * PyTorch's operators are recorded one by one, until the next start of another level or stop; levels above 2 are as 2. */
static inline void rvprof_start(int level)
{
	(void)level;
	RVPROF_TELL_(record(level));
}

/* A moment from which a report can start: `rvprof report --from "clear 1"` (2, 3, ... for later calls). */
static inline void rvprof_clear(void)
{
	RVPROF_TELL_(clear());
}

/* Writes the outputs of all that was recorded so far, as they are at the end of a run, into the folder `path`, which
 * is made where it is not there; NULL: into the run folder. Waits for it, at most RVPROF_EXIT_WAIT seconds. 0: they
 * are there; -1: they are not. Not for signal handlers. */
static inline int rvprof_dump(const char *path)
{
	(void)path;
	return RVPROF_IS_FOUND_ ? rvprof_found_api->dump(path) : -1;
}

/* 1 when this process is being recorded; also between rvprof_stop and rvprof_start. */
static inline int rvprof_active(void)
{
	return RVPROF_IS_FOUND_ ? rvprof_found_api->active() : 0;
}

/* RVPROF_SCOPE("name"): a scope without category up to the end of the enclosing block. */
#if defined(__GNUC__)
static inline void rvprof_scope_leave_(char *unused)
{
	(void)unused;
	rvprof_scope_end();
}
static inline char rvprof_scope_enter_(const char *name)
{
	rvprof_scope_begin(0, name);
	return 0;
}
#define RVPROF_JOIN_(a, b) a##b
#define RVPROF_SCOPE_(n, line)                                                                         \
	char RVPROF_JOIN_(rvprof_scope_, line) __attribute__((cleanup(rvprof_scope_leave_), unused)) = \
	    rvprof_scope_enter_(n)
#define RVPROF_SCOPE(name) RVPROF_SCOPE_(name, __LINE__)
#endif

#endif
