/* SPDX-License-Identifier: MIT */
/* python_runtime.h: the interpreter in this process: where its runtime lies, and the calling thread's state
 * in it.
 *
 * It is found by its symbols when its module is first met in a walk. The thread's state is the value of the
 * key that PyGILState_Ensure uses; the key is the one word of the runtime whose value, in this thread, is a
 * thread state that names this thread. A thread that gave the GIL away keeps its frames, and nobody else
 * touches them: they are read all the same.
 */
#ifndef RVP_PYTHON_RUNTIME_H
#define RVP_PYTHON_RUNTIME_H

#include "preload/python_layout.h"
#include "preload/unwind_find.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct rvp_python {
	struct rvp_python_layout layout;
	uint64_t runtime;
	uint64_t code_type, text_type, bytes_type;
	uint64_t start, end;     /* of its module */
	_Atomic uint32_t key;    /* pthread key + 1; 0: not known yet */
	_Atomic uint32_t misses; /* walks that failed before the first that succeeded */
	_Atomic uint32_t is_proven;
	_Atomic uint32_t serial; /* of this interpreter, among those of the process */
};

extern struct rvp_python rvp_python;
extern _Atomic uint32_t rvp_python_state __attribute__((visibility("hidden")));
enum { RVP_PYTHON_FREE, RVP_PYTHON_FILLING, RVP_PYTHON_READY, RVP_PYTHON_GIVEN_UP };

/* NULL: no interpreter is known, or none that can be read. */
static inline struct rvp_python *rvp_python_current(void)
{
	bool is_ready = atomic_load_explicit(&rvp_python_state, memory_order_acquire) == RVP_PYTHON_READY;

	return __builtin_expect(is_ready, 0) ? &rvp_python : NULL;
}

/* Whether a state names this thread. */
static inline bool rvp_python_state_names_us(const struct rvp_python *python, uint64_t thread_state)
{
	const struct rvp_python_layout *layout = &python->layout;

	return *(const uint64_t *)(thread_state + layout->thread_interp) &&
	       *(const uint64_t *)(thread_state + layout->thread_id) == (uint64_t)pthread_self();
}

/* Whether the interpreter is being finalized by another thread than that of the state. The runtime is data of the
 * interpreter's own module, and was read when the key was found. */
static inline bool rvp_python_is_ending(const struct rvp_python *python, uint64_t thread_state)
{
	uint64_t finalizing = *(const uint64_t *)(python->runtime + python->layout.runtime_finalizing);

	return finalizing && finalizing != thread_state;
}

/* Whether `known`, which rvp_python_thread_state told this thread, is still its state. */
static inline bool rvp_python_state_is(const struct rvp_python *python, uint64_t known)
{
	uint32_t key = atomic_load_explicit(&python->key, memory_order_relaxed);

	return known && key && (uint64_t)pthread_getspecific(key - 1) == known && !rvp_python_is_ending(python, known) &&
	       rvp_python_state_names_us(python, known);
}

/* Address of the thread's state; 0: it has none, or the interpreter is being finalized by another thread. */
uint64_t rvp_python_thread_state(struct rvp_python *python, struct rvp_memory *memory);

/* In a child by fork; single-threaded. */
void rvp_python_runtime_reset(void);

/* Says how a walk went: an interpreter that never could be read is given up, PYTHON lost once. */
void rvp_python_note(struct rvp_python *python, bool is_good);

#endif
