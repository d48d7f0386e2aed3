/* SPDX-License-Identifier: MIT */
/* trace_rows.c: see trace_rows.h. */
#include "report/trace_rows.h"

#include "report/blas.h"
#include "report/run_source.h"
#include "report/trace_events.h"

#include <inttypes.h>
#include <string.h>

/* ---- Python ---- */

static const char *behind(const char *path, const char *part)
{
	const char *found = strstr(path, part), *at = found;

	while (found && (found = strstr(found + 1, part)))
		at = found;
	return at ? at + strlen(part) : NULL;
}

static const char *short_path(const char *path)
{
	const char *at = behind(path, "/site-packages/");

	at = at ? at : behind(path, "/dist-packages/");
	if (at || !(at = behind(path, "/lib/python")))
		return at ? at : path;
	while ((*at >= '0' && *at <= '9') || *at == '.')
		at++;
	return *at == '/' ? at + 1 : path;
}

const char *rvp_trace_python_name(const struct rvp_process *process, uint32_t number,
				  char name[RVP_ROW_NAME_BYTES])
{
	const struct rvp_code *code = rvp_code_at(process, number);

	if (code)
		snprintf(name, RVP_ROW_NAME_BYTES, "%.250s(%u): %.230s", short_path(code->file),
			 code->first_line, code->name);
	else
		snprintf(name, RVP_ROW_NAME_BYTES, "Python function");
	return name;
}

/* ---- shapes ---- */

/* A list in brackets at the text's begin, of numbers or of quoted words, with lists of numbers in it: how
 * long; 0: none. */
static size_t list_length(const char *text, size_t length)
{
	bool is_quoted = false;
	unsigned depth = 0;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (c == '"')
			is_quoted = !is_quoted;
		else if (is_quoted ? c < ' ' || c == '\\' || (unsigned char)c >= 127
				   : !memchr("[],0123456789", c, 13))
			return 0;
		else if (!is_quoted && c == '[')
			depth++;
		else if (!is_quoted && c == ']' && --depth == 0)
			return i + 1;
		if (!depth)
			return 0;
	}
	return 0;
}

bool rvp_trace_put_shapes(struct rvp_trace *trace, struct rvp_text args)
{
	size_t dims = list_length(args.bytes, args.length), types = 0;

	if (dims && dims + 1 < args.length && args.bytes[dims] == ' ')
		types = list_length(args.bytes + dims + 1, args.length - dims - 1);
	if (!types || dims + 1 + types != args.length)
		return false;
	rvp_trace_put(trace, "\"Input Dims\":%.*s,\"Input type\":%.*s", (int)dims, args.bytes, (int)types,
		      args.bytes + dims + 1);
	return true;
}

/* ---- BLAS ---- */

uint64_t rvp_trace_ticks_ns(const struct rvp_run *run, uint32_t process, uint64_t ticks)
{
	const struct rvp_clock_line *line = &run->source->clock.lines[run->processes[process].clock];

	return line->is_guessed ? 0 : (uint64_t)((double)ticks * line->ns_per_tick);
}

void rvp_trace_put_blas(struct rvp_trace *trace, const struct rvp_record_BLAS_CALL *call)
{
	const struct rvp_blas *function = rvp_blas_at(call->function);
	double flops = rvp_blas_flops(call);

	rvp_trace_put(trace, "{\"m\":%" PRIu64 ",\"n\":%" PRIu64 ",\"k\":%" PRIu64, call->m, call->n,
		      call->k);
	if (call->count != 1)
		rvp_trace_put(trace, ",\"count\":%" PRIu64, call->count);
	rvp_trace_put(trace, ",\"type\":\"%s\",\"flops\":%.0f}", function ? function->type : "", flops);
}
