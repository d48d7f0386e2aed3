/* SPDX-License-Identifier: MIT */
#include "tests/unit/recorder_double.h"

#include "preload/own.h"
#include "preload/emit.h"
#include "preload/framework.h"
#include "preload/process.h"
#include "record/decode.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct rvp_process rvp_process;
__thread struct rvp_local rvp_local __attribute__((tls_model("initial-exec")));
struct double_node *double_nodes, *double_python_nodes;
struct double_module *double_modules;
struct double_code *double_codes;
unsigned double_record_count, double_fails, double_map_refused;
_Atomic uint64_t double_lost[RVP_LOSS_COUNT];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct rvp_counters counters;
static _Atomic uint64_t own_bytes;

void *rvp_own_map(size_t bytes)
{
	void *at;

	if (double_map_refused && --double_map_refused == 0)
		return NULL;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	own_bytes += at == MAP_FAILED ? 0 : bytes;
	return at == MAP_FAILED ? NULL : at;
}

void rvp_own_unmap(void *address, size_t bytes)
{
	own_bytes -= bytes;
	munmap(address, bytes);
}

uint64_t rvp_own_bytes(void)
{
	return own_bytes;
}

void rvp_lose(enum rvp_loss reason, uint64_t count)
{
	atomic_fetch_add(&double_lost[reason], count);
}

uint64_t rvp_stamp(void)
{
	return rvp_machine_stamp();
}

static void *table(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void copy_text(char *to, size_t room, struct rvp_text text)
{
	size_t length = text.length < room - 1 ? text.length : room - 1;

	if (length)
		memcpy(to, text.bytes, length);
	to[length] = 0;
}

/* Of a table of the double's own. */
static uint64_t within(uint64_t number, uint64_t most)
{
	if (number < most)
		return number;
	fprintf(stderr, "number %lu is too big for the double, which has room for %lu\n", number, most);
	abort();
}

static void take_load(const struct rvp_record_MODULE_LOAD *load)
{
	struct double_module *module = &double_modules[within(load->module, DOUBLE_MODULES_MAX)];

	module->bias = load->bias;
	module->start = load->start;
	module->end = load->end;
	module->inode = load->inode;
	module->build_id_bytes = (unsigned)load->build_id.length;
	module->loads++;
	copy_text(module->path, sizeof module->path, load->path);
}

static void take_code(const struct rvp_record_CODE *record)
{
	struct double_code *code = &double_codes[within(record->code, DOUBLE_CODES_MAX)];

	code->first_line = (unsigned)record->first_line;
	code->version = (unsigned)record->version;
	code->lines_bytes = (unsigned)record->lines.length;
	code->is_defined++;
	copy_text(code->name, sizeof code->name, record->name);
	copy_text(code->file, sizeof code->file, record->file);
}

static void take(const struct rvp_record *record)
{
	double_record_count++;
	switch (record->kind) {
	case RVP_NODE:
		double_nodes[within(record->NODE.node, DOUBLE_NODES_MAX)] = (struct double_node){
		    (uint32_t)record->NODE.parent, (uint32_t)record->NODE.exact, record->NODE.pc, 1, 0};
		break;
	case RVP_PYTHON_NODE:
		double_python_nodes[within(record->PYTHON_NODE.node, DOUBLE_NODES_MAX)] = (struct double_node){
		    (uint32_t)record->PYTHON_NODE.parent, (uint32_t)record->PYTHON_NODE.instruction,
		    record->PYTHON_NODE.code, 1, (uint32_t)record->PYTHON_NODE.is_entry};
		break;
	case RVP_MODULE_LOAD: take_load(&record->MODULE_LOAD); break;
	case RVP_MODULE_UNLOAD: double_modules[record->MODULE_UNLOAD.module].unloads++; break;
	case RVP_CODE: take_code(&record->CODE); break;
	default: fprintf(stderr, "a record of kind %d from the walk\n", record->kind); abort();
	}
}

void double_collect(void)
{
	struct rvp_thread *thread = double_thread();
	struct rvp_decoder decoder =
	    rvp_decoder_over(rvp_slot_payload(thread->slot), rvp_slot_length(thread->slot));
	struct rvp_record record;

	pthread_mutex_lock(&lock);
	while (rvp_decode_next(&decoder, &record))
		take(&record);
	if (decoder.broken) {
		fprintf(stderr, "the walk wrote a record that cannot be read\n");
		abort();
	}
	pthread_mutex_unlock(&lock);
	rvp_slot_restart(thread->slot);
	thread->delta = (struct rvp_delta){0};
}

uint8_t *rvp_emit_flush(struct rvp_thread *thread, uint64_t bytes)
{
	double_collect();
	return rvp_slot_room(thread->slot, RVP_SLOT_BYTES, bytes);
}

static void find_stack(struct rvp_thread *thread)
{
	pthread_attr_t attributes;
	void *low;
	size_t bytes;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &bytes);
	pthread_attr_destroy(&attributes);
	thread->stack_low = (uint64_t)low;
	thread->stack_high = (uint64_t)low + bytes;
}

/* Frameworks are no concern of a walk. */
void rvp_framework_meet(struct rvp_thread *thread, const struct rvp_object *object)
{
	(void)thread, (void)object;
}

struct rvp_thread *double_thread(void)
{
	if (!double_nodes) {
		double_nodes = table(DOUBLE_NODES_MAX * sizeof *double_nodes);
		double_python_nodes = table(DOUBLE_NODES_MAX * sizeof *double_nodes);
		double_modules = table(DOUBLE_MODULES_MAX * sizeof *double_modules);
		double_codes = table(DOUBLE_CODES_MAX * sizeof *double_codes);
	}
	if (!rvp_local.thread) {
		rvp_local.thread = calloc(1, sizeof *rvp_local.thread);
		rvp_local.counters = &counters;
		rvp_local.thread->slot = calloc(1, RVP_SLOT_BYTES);
		rvp_slot_restart(rvp_local.thread->slot);
		find_stack(rvp_local.thread);
	}
	return rvp_local.thread;
}

void double_reset(void)
{
	rvp_slot_restart(double_thread()->slot);
	double_thread()->delta = (struct rvp_delta){0};
	memset(double_nodes, 0, 65536 * sizeof *double_nodes);
	memset(double_python_nodes, 0, 65536 * sizeof *double_nodes);
	memset(double_modules, 0, DOUBLE_MODULES_MAX * sizeof *double_modules);
	memset(double_codes, 0, 4096 * sizeof *double_codes);
}
