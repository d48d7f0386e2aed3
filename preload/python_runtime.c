/* SPDX-License-Identifier: MIT */
/* python_runtime.c: see python_runtime.h. */
#include "preload/python_runtime.h"

#include "preload/elf_image.h"
#include "preload/own.h"
#include "preload/python_frames.h"


enum { RUNTIME_SCANNED_BYTES = 4096, KEYS_MAX = 1024, MISSES_MAX = 4 };

struct rvp_python rvp_python;
_Atomic uint32_t rvp_python_state = RVP_PYTHON_GIVEN_UP; /* until rvp_python_start */

void rvp_python_start(bool is_wanted)
{
	atomic_store(&rvp_python_state, is_wanted ? RVP_PYTHON_FREE : RVP_PYTHON_GIVEN_UP);
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

	if (!rvp_python_layout_find(version_of(object, &memory), runtime, &memory, &rvp_python.layout))
		return false;
	rvp_python.runtime = runtime;
	rvp_python.code_type = rvp_elf_symbol(object, "PyCode_Type");
	rvp_python.text_type = rvp_elf_symbol(object, "PyUnicode_Type");
	rvp_python.bytes_type = rvp_elf_symbol(object, "PyBytes_Type");
	rvp_python.start = object->start;
	rvp_python.end = object->end;
	atomic_store(&rvp_python.key, 0);
	atomic_store(&rvp_python.misses, 0);
	atomic_store(&rvp_python.is_proven, 0);
	atomic_fetch_add(&rvp_python.serial, 1);
	return rvp_python.code_type && rvp_python.text_type && rvp_python.bytes_type;
}

void rvp_python_meet(const struct rvp_object *object)
{
	uint32_t expected = RVP_PYTHON_FREE;
	uint64_t runtime;

	if (atomic_load_explicit(&rvp_python_state, memory_order_relaxed) != RVP_PYTHON_FREE)
		return;
	runtime = rvp_elf_symbol(object, "_PyRuntime");
	if (!runtime || !atomic_compare_exchange_strong(&rvp_python_state, &expected, RVP_PYTHON_FILLING))
		return;
	if (!fill(object, runtime)) {
		rvp_lose(RVP_LOSS_PYTHON, 1);
		atomic_store(&rvp_python_state, RVP_PYTHON_GIVEN_UP);
		return;
	}
	atomic_store_explicit(&rvp_python_state, RVP_PYTHON_READY, memory_order_release);
}

void rvp_python_lose(uint64_t start, uint64_t end)
{
	if (atomic_load_explicit(&rvp_python_state, memory_order_acquire) == RVP_PYTHON_READY && rvp_python.start >= start &&
	    rvp_python.end <= end)
		atomic_store(&rvp_python_state, RVP_PYTHON_FREE);
}

void rvp_python_runtime_reset(void)
{
	uint32_t filling = RVP_PYTHON_FILLING; /* by a thread that the child does not have */

	atomic_compare_exchange_strong(&rvp_python_state, &filling, RVP_PYTHON_FREE);
}

static bool is_own_state(uint64_t thread_state, struct rvp_memory *memory)
{
	return !(thread_state & 7) && rvp_memory_has(memory, thread_state, rvp_python.layout.thread_bytes) &&
	       rvp_python_state_names_us(&rvp_python, thread_state);
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
		uint64_t found = state_by_word(rvp_python.runtime + at, memory, &key);

		if (!found)
			continue;
		atomic_store(&rvp_python.key, key + 1);
		return found;
	}
	return 0;
}

uint64_t rvp_python_thread_state(struct rvp_python *current, struct rvp_memory *memory)
{
	uint32_t key = atomic_load_explicit(&current->key, memory_order_relaxed);
	uint64_t found = key ? (uint64_t)pthread_getspecific(key - 1) : find_key(memory);

	if (!found || rvp_python_is_ending(current, found))
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
		atomic_store(&rvp_python_state, RVP_PYTHON_GIVEN_UP);
}
