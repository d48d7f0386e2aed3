/* SPDX-License-Identifier: MIT */
/* python_runtime.c: see python_runtime.h. */
#include "preload/python_runtime.h"

#include "preload/elf_image.h"
#include "preload/own.h"
#include "preload/python_frames.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FREE, FILLING, READY, GIVEN_UP };
enum { RUNTIME_SCANNED_BYTES = 4096, KEYS_MAX = 1024, MISSES_MAX = 4 };

static struct rvp_python python;
static _Atomic uint32_t state = GIVEN_UP; /* until rvp_python_start */

void rvp_python_start(bool is_wanted)
{
	atomic_store(&state, is_wanted ? FREE : GIVEN_UP);
}

/* As Py_Version says since 3.11; before, by a function that each minor version was the first to have. */
static uint64_t version_of(const struct rvp_object *object, struct rvp_memory *memory)
{
	uint64_t at = rvp_elf_symbol(object, "Py_Version"), version = 0;

	if (at)
		return rvp_memory_bytes(memory, at, &version, sizeof version) ? version : 0;
	if (rvp_elf_symbol(object, "PyModule_AddObjectRef"))
		return 0x030a0000;
	return rvp_elf_symbol(object, "PyModule_AddType") ? 0x03090000 : 0;
}

static bool fill(const struct rvp_object *object, uint64_t runtime)
{
	uint64_t pages[RVP_MEMORY_PAGES] = {0};
	struct rvp_memory memory = {.pages = pages, .page_count = RVP_MEMORY_PAGES};

	if (!rvp_python_layout_find(version_of(object, &memory), runtime, &memory, &python.layout))
		return false;
	python.runtime = runtime;
	python.code_type = rvp_elf_symbol(object, "PyCode_Type");
	python.text_type = rvp_elf_symbol(object, "PyUnicode_Type");
	python.bytes_type = rvp_elf_symbol(object, "PyBytes_Type");
	python.start = object->start;
	python.end = object->end;
	atomic_store(&python.key, 0);
	atomic_store(&python.misses, 0);
	atomic_store(&python.is_proven, 0);
	return python.code_type && python.text_type && python.bytes_type;
}

void rvp_python_meet(const struct rvp_object *object)
{
	uint32_t expected = FREE;
	uint64_t runtime;

	if (atomic_load_explicit(&state, memory_order_relaxed) != FREE)
		return;
	runtime = rvp_elf_symbol(object, "_PyRuntime");
	if (!runtime || !atomic_compare_exchange_strong(&state, &expected, FILLING))
		return;
	if (!fill(object, runtime)) {
		rvp_lose(RVP_LOSS_PYTHON, 1);
		atomic_store(&state, GIVEN_UP);
		return;
	}
	atomic_store_explicit(&state, READY, memory_order_release);
}

void rvp_python_lose(uint64_t start, uint64_t end)
{
	if (atomic_load_explicit(&state, memory_order_acquire) == READY && python.start >= start &&
	    python.end <= end)
		atomic_store(&state, FREE);
}

void rvp_python_runtime_reset(void)
{
	uint32_t filling = FILLING; /* by a thread that the child does not have */

	atomic_compare_exchange_strong(&state, &filling, FREE);
}

struct rvp_python *rvp_python_current(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == READY ? &python : NULL;
}

static bool is_own_state(uint64_t thread_state, struct rvp_memory *memory)
{
	uint64_t interp, id;

	return rvp_memory_word(memory, thread_state + python.layout.thread_interp, &interp) && interp &&
	       rvp_memory_word(memory, thread_state + python.layout.thread_id, &id) &&
	       id == (uint64_t)pthread_self();
}

/* The state by the key in the word at `at`, {1, key}; 0: it is no such word. */
static uint64_t state_by_word(uint64_t at, struct rvp_memory *memory, uint32_t *key)
{
	uint32_t word[2];
	uint64_t value;

	if (!rvp_memory_bytes(memory, at, word, sizeof word) || word[0] != 1 || word[1] >= KEYS_MAX)
		return 0;
	value = (uint64_t)pthread_getspecific(word[1]);
	*key = word[1];
	return value && is_own_state(value, memory) ? value : 0;
}

static uint64_t find_key(struct rvp_memory *memory)
{
	for (uint64_t at = 0; at < RUNTIME_SCANNED_BYTES; at += 4) {
		uint32_t key;
		uint64_t found = state_by_word(python.runtime + at, memory, &key);

		if (!found)
			continue;
		atomic_store(&python.key, key + 1);
		return found;
	}
	return 0;
}

uint64_t rvp_python_thread_state(struct rvp_python *current, struct rvp_memory *memory)
{
	uint32_t key = atomic_load_explicit(&current->key, memory_order_relaxed);
	uint64_t finalizing, found = key ? (uint64_t)pthread_getspecific(key - 1) : find_key(memory);

	if (!found ||
	    !rvp_memory_word(memory, current->runtime + current->layout.runtime_finalizing, &finalizing) ||
	    (finalizing && finalizing != found))
		return 0;
	return is_own_state(found, memory) ? found : 0;
}

void rvp_python_note(struct rvp_python *current, bool is_good)
{
	if (is_good) {
		if (!atomic_load_explicit(&current->is_proven, memory_order_relaxed))
			atomic_store(&current->is_proven, 1);
		return;
	}
	rvp_lose(RVP_LOSS_PYTHON, 1);
	if (!atomic_load(&current->is_proven) && atomic_fetch_add(&current->misses, 1) + 1 >= MISSES_MAX)
		atomic_store(&state, GIVEN_UP);
}
