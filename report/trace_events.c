/* SPDX-License-Identifier: MIT */
/* trace_events.c: see trace_events.h. */
#include "report/trace_events.h"

#include "report/text_json.h"

#include <stdarg.h>
#include <string.h>

enum { TAIL_BYTES = 8192, EVENT_BYTES = 4096 };

double rvp_trace_us(const struct rvp_trace *trace, uint64_t ns)
{
	return ns > trace->run->begin_ns ? (double)(ns - trace->run->begin_ns) / 1e3 : 0;
}

__attribute__((format(printf, 2, 3))) void rvp_trace_put(struct rvp_trace *trace, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vfprintf(trace->out, format, arguments);
	va_end(arguments);
	trace->bytes += length > 0 ? (uint64_t)length : 0;
}

/* A text of at most 512 bytes, so that an event is bounded. */
void rvp_trace_put_text(struct rvp_trace *trace, const char *text)
{
	char part[512];
	size_t length = strnlen(text, sizeof part - 1);

	memcpy(part, text, length);
	part[length] = 0;
	rvp_json_text(trace->out, part);
	trace->bytes += 6 * length + 2;
}

bool rvp_trace_is_asked(const struct rvp_trace *trace, uint64_t ns)
{
	return !trace->to_ns || (ns >= trace->from_ns && ns <= trace->to_ns) || ns == trace->run->begin_ns;
}

bool rvp_trace_begin_event(struct rvp_trace *trace, uint64_t ns)
{
	if (!rvp_trace_is_asked(trace, ns))
		return false;
	if (trace->cut_events || trace->bytes + EVENT_BYTES * 8 + TAIL_BYTES > trace->max_bytes) {
		if (!trace->cut_events++)
			trace->cut_ns = ns;
		return false;
	}
	rvp_trace_put(trace, trace->has_events ? ",\n" : "\n");
	trace->has_events = true;
	return true;
}

void rvp_trace_put_slice(struct rvp_trace *trace, uint32_t process, uint32_t tid, uint64_t begin_ns,
			 uint64_t ns, const char *category, const char *name)
{
	rvp_trace_put(trace, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", category);
	rvp_trace_put_text(trace, *name ? name : category);
	rvp_trace_put(trace, ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f",
		      trace->run->processes[process].pid, tid, rvp_trace_us(trace, begin_ns),
		      (double)ns / 1e3);
}
