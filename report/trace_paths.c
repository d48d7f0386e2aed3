/* SPDX-License-Identifier: MIT */
/* trace_paths.c: call paths in trace.json, innermost first, as "stack" and "python" (trace_events.h). Files and offsets, no
 * names: those would take symbols, which this file is not to wait for. */
#include "report/trace_events.h"

#include "report/python_lines.h"
#include "report/symbols_stack.h"

#include <inttypes.h>
#include <string.h>

enum { FRAMES_MAX = 8 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_frame(struct rvp_trace *trace, const struct rvp_process *process, const struct rvp_node *node,
		      uint64_t ns)
{
	uint64_t pc = node->pc - !node->exact;
	const struct rvp_module *module = rvp_module_at(process, pc, ns);
	char text[300];

	if (module)
		snprintf(text, sizeof text, "%.240s+0x%" PRIx64, base_name(module->path), pc - module->bias);
	else
		snprintf(text, sizeof text, "0x%" PRIx64, pc);
	rvp_trace_put_text(trace, text);
}

/* The innermost frame that is neither ours nor CUDA's; as in reports (symbols_stack.c). */
static const struct rvp_node *behind_the_way(const struct rvp_process *process, const struct rvp_node *node, uint64_t ns)
{
	for (; node; node = rvp_node_at(process, node->parent)) {
		const struct rvp_module *module = rvp_module_at(process, node->pc - !node->exact, ns);

		if (!module || (strncmp(base_name(module->path), "librvprof", 9) != 0 &&
				!rvp_module_is_way_to_device(module->path)))
			return node;
	}
	return NULL;
}

static void put_stack(struct rvp_trace *trace, const struct rvp_process *process, const struct rvp_node *node, uint64_t ns)
{

	rvp_trace_put(trace, ",\"stack\":[");
	for (int i = 0; node && i < FRAMES_MAX; i++, node = rvp_node_at(process, node->parent)) {
		rvp_trace_put(trace, i ? "," : "");
		put_frame(trace, process, node, ns);
	}
	rvp_trace_put(trace, "]");
}

static void put_python_stack(struct rvp_trace *trace, const struct rvp_process *process, uint32_t python)
{
	const struct rvp_python_node *node = rvp_python_node_at(process, python);

	if (!node)
		return;
	rvp_trace_put(trace, ",\"python\":[");
	for (int i = 0; node && i < FRAMES_MAX; i++, node = rvp_python_node_at(process, node->parent)) {
		const struct rvp_code *code = rvp_code_at(process, node->code);
		char text[400];

		snprintf(text, sizeof text, "%.180s (%.180s:%u)", code ? code->name : "?",
			 code ? code->file : "?", code ? code->first_line : 0);
		rvp_trace_put(trace, i ? "," : "");
		rvp_trace_put_text(trace, text);
	}
	rvp_trace_put(trace, "]");
}

void rvp_trace_put_paths(struct rvp_trace *trace, const struct rvp_process *process, uint32_t stack, uint32_t python,
			 uint64_t ns)
{
	put_stack(trace, process, rvp_node_at(process, stack), ns);
	put_python_stack(trace, process, python);
}

void rvp_trace_put_device_paths(struct rvp_trace *trace, const struct rvp_process *process, uint32_t stack,
				uint32_t python, uint64_t ns)
{
	put_stack(trace, process, behind_the_way(process, rvp_node_at(process, stack), ns), ns);
	put_python_stack(trace, process, python);
}

const char *rvp_trace_python_function(const struct rvp_process *process, uint32_t python, char *text, size_t text_bytes)
{
	const struct rvp_python_node *node = rvp_python_node_at(process, python);
	const struct rvp_code *code = node ? rvp_code_at(process, node->code) : NULL;
	struct rvp_python_lines lines;

	if (!code)
		return NULL;
	lines = (struct rvp_python_lines){code->version, code->first_line, code->lines, code->lines_bytes};
	snprintf(text, text_bytes, "%.240s(%u): %.160s", code->file, rvp_python_line(&lines, node->instruction), code->name);
	return text;
}
