/* SPDX-License-Identifier: MIT */
/* op_memory.c: see op_memory.h. */
#include "report/op_memory.h"

#include "report/text_style.h"

#include <inttypes.h>

enum { TAG_COLUMNS = 80, NUMBER_COLUMNS = 15, FIGURE_BYTES = 32 };

static void take(struct rvp_op_memory *memory, const struct rvp_op_trace *trace)
{
	if (!memory->count || trace->used_mb > memory->max_used) {
		memory->max_used = trace->used_mb;
		memory->max_allocated_original = trace->allocated_mb;
		memory->max_trace_idx = (int64_t)memory->count;
	}
	if (!memory->count || trace->allocated_mb > memory->max_allocated)
		memory->max_allocated = trace->allocated_mb;
	memory->num_gc += memory->count && trace->allocated_mb < memory->last_allocated;
	memory->last_allocated = trace->allocated_mb;
	memory->lacks_allocated |= !trace->has_allocated;
	memory->count++;
}

/* %g of what a float of that name prints as. */
static const char *figure(float mb, char text[FIGURE_BYTES])
{
	snprintf(text, FIGURE_BYTES, "%g", (double)mb);
	return text;
}

static void put_padded(FILE *out, const char *text, unsigned columns)
{
	unsigned printed = rvp_print_safely(out, text, 0);

	fprintf(out, "%*s", printed < columns ? (int)(columns - printed) : 0, "");
}

static void put_text(const struct rvp_op_memory *memory, const struct rvp_op_trace *trace, FILE *out)
{
	char used[FIGURE_BYTES], allocated[FIGURE_BYTES];

	if (!memory->count)
		fprintf(out, "Numbers are the in MBs.\n#Trace\t%-*s\t%-*s\t%-*s\n", TAG_COLUMNS, "#Tag",
			NUMBER_COLUMNS, "used", NUMBER_COLUMNS, "alloc");
	fprintf(out, "%-6" PRIu64 "\t", memory->count);
	put_padded(out, trace->tag, TAG_COLUMNS);
	fprintf(out, "\t%-*s\t%-*s\n", NUMBER_COLUMNS, figure(trace->used_mb, used), NUMBER_COLUMNS,
		trace->has_allocated ? figure(trace->allocated_mb, allocated) : "-");
}

static void put_json(const struct rvp_op_memory *memory, const struct rvp_op_trace *trace, struct rvp_json *json)
{
	if (!memory->count)
		rvp_json_open(json, "traces", '[');
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "tag", trace->tag);
	rvp_json_double(json, "used_mb", (double)trace->used_mb);
	if (trace->has_allocated)
		rvp_json_double(json, "allocated_mb", (double)trace->allocated_mb);
	rvp_json_close(json, '}');
}

void rvp_op_memory_put(struct rvp_op_memory *memory, const struct rvp_op_trace *trace, FILE *out, struct rvp_json *json)
{
	if (json)
		put_json(memory, trace, json);
	else
		put_text(memory, trace, out);
	take(memory, trace);
}

static void close_json(const struct rvp_op_memory *memory, struct rvp_json *json)
{
	if (!memory->count)
		rvp_json_open(json, "traces", '[');
	rvp_json_close(json, ']');
	rvp_json_double(json, "max_used", (double)memory->max_used);
	if (!memory->lacks_allocated) {
		rvp_json_double(json, "max_allocated", (double)memory->max_allocated);
		rvp_json_double(json, "max_allocated_original", (double)memory->max_allocated_original);
	}
	rvp_json_signed(json, "max_trace_idx", memory->max_trace_idx);
	if (!memory->lacks_allocated) {
		rvp_json_number(json, "num_gc", memory->num_gc);
		rvp_json_number(json, "num_gc_original", 0);
	}
}

void rvp_op_memory_close(struct rvp_op_memory *memory, FILE *out, struct rvp_json *json)
{
	char text[FIGURE_BYTES];

	if (json) {
		close_json(memory, json);
		return;
	}
	fprintf(out, "%smax_used               %s\n", memory->count ? "\n" : "", figure(memory->max_used, text));
	if (!memory->lacks_allocated) {
		fprintf(out, "max_allocated          %s\n", figure(memory->max_allocated, text));
		fprintf(out, "max_allocated_original %s\n", figure(memory->max_allocated_original, text));
	}
	fprintf(out, "max_trace_idx          %" PRId64 "\n", memory->max_trace_idx);
	if (!memory->lacks_allocated)
		fprintf(out, "num_gc                 %" PRIu64 "\nnum_gc_original        0\n", memory->num_gc);
}
