/* SPDX-License-Identifier: MIT */
/* symbols_stack.c: see symbols_stack.h.
 *
 * Merging. A Python function called from Python pushes no C frame since 3.11, so one
 * _PyEval_EvalFrameDefault on the native stack stands for all Python frames up to and including the next
 * that was entered from C (is_entry).
 *
 *   (M1) Every Python frame appears exactly once, in order. Those for which no eval frame is left (a
 *        native walk that was cut, an interpreter without symbols) come behind the last native frame
 *        that is not the program's entry.
 *   (M2) An eval frame for which no Python frame is left stays, as any native frame.
 *   (M3) _PyEval_Vector and _PyEval_EvalFrame around a replaced eval frame go with it.
 *
 * A node's names are kept with the module that they came from: after a dlclose another library may have
 * its address. */
#include "report/symbols_stack.h"

#include "report/python_lines.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 4096 }; /* a damaged log may have a loop */

struct native {
	const struct rvp_module *module; /* NULL: not looked up yet, or in none */
	struct rvp_frame_list list;
};
struct process_names {
	size_t *files;             /* by module: its number in symbols, plus 1; 0: not asked */
	struct native *natives;    /* by node */
	struct rvp_frame *pythons; /* by Python node; function NULL: not asked */
};
struct rvp_stacks {
	struct rvp_symbols *symbols;
	const struct rvp_run *run;
	struct process_names *processes;
	struct rvp_frame *frames; /* of the answer under way, or the last one */
	size_t count, room;
	struct rvp_frame *before; /* of the one before */
	size_t before_room;
	bool is_failed; /* no memory for the answer under way */
};

struct rvp_stacks *rvp_stacks_open(struct rvp_symbols *symbols, const struct rvp_run *run)
{
	struct rvp_stacks *stacks = calloc(1, sizeof *stacks);

	if (!stacks)
		return NULL;
	stacks->symbols = symbols;
	stacks->run = run;
	stacks->processes = calloc(run->process_count + 1, sizeof *stacks->processes);
	if (stacks->processes)
		return stacks;
	free(stacks);
	return NULL;
}

void rvp_stacks_close(struct rvp_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->run->process_count; i++) {
		free(stacks->processes[i].files);
		free(stacks->processes[i].natives);
		free(stacks->processes[i].pythons);
	}
	free(stacks->processes);
	free(stacks->frames);
	free(stacks->before);
	free(stacks);
}

static bool prepare(struct process_names *names, const struct rvp_process *process)
{
	if (names->files)
		return true;
	names->natives = calloc(process->node_count + 1, sizeof *names->natives);
	names->pythons = calloc(process->python_node_count + 1, sizeof *names->pythons);
	if (names->natives && names->pythons)
		names->files = calloc(process->module_count + 1, sizeof *names->files);
	if (names->files)
		return true;
	free(names->natives);
	free(names->pythons);
	*names = (struct process_names){0};
	return false;
}

static void push(struct rvp_stacks *stacks, const struct rvp_frame *frame)
{
	if (stacks->count == stacks->room) {
		size_t room = stacks->room ? stacks->room * 2 : 128;
		struct rvp_frame *grown = reallocarray(stacks->frames, room, sizeof *grown);

		if (!grown) {
			stacks->is_failed = true;
			return;
		}
		stacks->frames = grown;
		stacks->room = room;
	}
	stacks->frames[stacks->count++] = *frame;
}

size_t rvp_stacks_module_file(struct rvp_symbols *symbols, size_t *file, const struct rvp_module *module)
{
	if (!*file)
		*file = rvp_symbols_add_file(symbols,
					     &(struct rvp_symbols_identity){
						 .path = module->path,
						 .build_id = module->build_id,
						 .build_id_bytes = module->build_id_bytes,
						 .file_bytes = module->file_bytes,
						 .modified_ns = module->modified_ns,
					     }) +
			1;
	return *file - 1;
}

static struct rvp_frame_list native_of(struct rvp_stacks *stacks, const struct rvp_process *process,
				       uint32_t number, uint64_t ns)
{
	struct process_names *names = &stacks->processes[process->number];
	const struct rvp_node *node = rvp_node_at(process, number);
	struct native *native = &names->natives[number];
	const struct rvp_module *known = native->module;

	if (known && known->load_ns <= ns && ns < known->unload_ns)
		return native->list;
	native->module = rvp_module_at(process, node->pc - !node->exact, ns);
	if (!native->module)
		native->list = rvp_symbols_find_nowhere(stacks->symbols, node->pc);
	else
		native->list = rvp_symbols_find(
		    stacks->symbols,
		    rvp_stacks_module_file(stacks->symbols, &names->files[native->module - process->modules],
					   native->module),
		    native->module->bias, node->pc, node->exact);
	return native->list;
}

static struct rvp_frame python_frame(const struct rvp_process *process, const struct rvp_python_node *node)
{
	const struct rvp_code *code = rvp_code_at(process, node->code);
	struct rvp_frame frame = {.function = "[unknown Python code]", .kind = RVP_FRAME_PYTHON};
	struct rvp_python_lines lines;

	if (code) {
		lines = (struct rvp_python_lines){code->version, code->first_line, code->lines,
						  code->lines_bytes};
		frame.function = code->name;
		frame.file = code->file;
		frame.line = rvp_python_line(&lines, node->instruction);
	}
	frame.hash = rvp_frame_hash(&frame);
	return frame;
}

/* The Python frames that are still to come. */
struct python {
	const struct rvp_process *process;
	struct process_names *names;
	uint32_t number; /* 0: none left */
	size_t depth;
};

static const struct rvp_python_node *python_next(const struct python *python)
{
	return python->depth < DEPTH_MAX ? rvp_python_node_at(python->process, python->number) : NULL;
}

/* Pushes the next Python frame; whether it was entered from C. */
static bool push_python(struct rvp_stacks *stacks, struct python *python)
{
	const struct rvp_python_node *node = python_next(python);
	struct rvp_frame *frame = &python->names->pythons[python->number];

	if (!frame->function)
		*frame = python_frame(python->process, node);
	push(stacks, frame);
	python->number = node->parent;
	python->depth++;
	return node->is_entry;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool rvp_function_is_python_eval(const char *function)
{
	return starts_with(function, "_PyEval_EvalFrameDefault");
}

static bool is_around_eval(const char *function)
{
	return !strcmp(function, "_PyEval_Vector") || !strcmp(function, "_PyEval_EvalFrame");
}

static bool has_eval(const struct rvp_frame_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (rvp_function_is_python_eval(list->frames[i].function))
			return true;
	return false;
}

/* Of the inner end of a stack: our own frames, and those of CUDA's driver, tracer and runtime, which say only that memory
 * of a device was asked for. A host's block that they ask for themselves keeps its stack from them outwards. */
static bool is_ours(const struct rvp_frame *frame)
{
	return frame->module && starts_with(rvp_symbols_base_name(frame->module), "librvprof");
}

static bool is_left_out(const struct rvp_frame *frame, uint32_t device)
{
	return is_ours(frame) || (device && frame->module && rvp_module_is_way_to_device(frame->module));
}

/* Pushes one physical native frame: its functions, or the Python frames that it stands for. */
static void push_native(struct rvp_stacks *stacks, const struct rvp_frame_list *list, struct python *python,
			bool *is_behind_eval, uint32_t device)
{
	if (has_eval(list) && python_next(python)) {
		while (python_next(python) && !push_python(stacks, python))
			;
		*is_behind_eval = true;
		return;
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct rvp_frame *frame = &list->frames[i];

		if (*is_behind_eval && is_around_eval(frame->function))
			continue;
		*is_behind_eval = false;
		if (stacks->count || !is_left_out(frame, device))
			push(stacks, frame);
	}
}

/* (M1) for what is left. */
static void push_left(struct rvp_stacks *stacks, struct python *python)
{
	size_t entries = 0, first = stacks->count;
	struct rvp_frame *moved;

	if (!python_next(python))
		return;
	while (entries < stacks->count &&
	       rvp_function_is_entry(stacks->frames[stacks->count - entries - 1].function))
		entries++;
	while (python_next(python))
		push_python(stacks, python);
	moved = entries ? malloc(entries * sizeof *moved) : NULL;
	if (!moved)
		return; /* in an order that is less pretty */
	memcpy(moved, stacks->frames + first - entries, entries * sizeof *moved);
	memmove(stacks->frames + first - entries, stacks->frames + first,
		(stacks->count - first) * sizeof *stacks->frames);
	memcpy(stacks->frames + stacks->count - entries, moved, entries * sizeof *moved);
	free(moved);
}

/* The frames of the last answer stay for one more. */
static void begin_answer(struct rvp_stacks *stacks)
{
	struct rvp_frame *frames = stacks->before;
	size_t room = stacks->before_room;

	stacks->before = stacks->frames;
	stacks->before_room = stacks->room;
	stacks->frames = frames;
	stacks->room = room;
	stacks->count = 0;
	stacks->is_failed = false;
}

struct rvp_frame_list rvp_stacks_of(struct rvp_stacks *stacks, const struct rvp_site *site)
{
	const struct rvp_process *process;
	const struct rvp_node *node;
	struct python python;
	bool is_behind_eval = false;
	uint32_t number = site->stack;

	begin_answer(stacks);
	if (site->process >= stacks->run->process_count)
		return (struct rvp_frame_list){0};
	process = &stacks->run->processes[site->process];
	if (!prepare(&stacks->processes[site->process], process))
		return (struct rvp_frame_list){0};
	python = (struct python){process, &stacks->processes[site->process], site->python, 0};
	for (size_t depth = 0; depth < DEPTH_MAX && (node = rvp_node_at(process, number)); depth++) {
		struct rvp_frame_list list = native_of(stacks, process, number, site->first_ns);

		push_native(stacks, &list, &python, &is_behind_eval, site->device);
		number = node->parent;
	}
	push_left(stacks, &python);
	return stacks->is_failed ? (struct rvp_frame_list){0}
				 : (struct rvp_frame_list){stacks->frames, stacks->count};
}
