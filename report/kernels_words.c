/* SPDX-License-Identifier: MIT */
/* kernels_words.c: names for numbers of the tracing interface, as Kineto writes them (kernels_trace.h). */
#include "report/kernels_trace.h"

#include <stdio.h>

/* CUpti_ActivityMemcpyKind. */
static const char *const copy_kinds[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					 "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
/* CUpti_ActivityMemoryKind. */
static const char *const memory_kinds[] = {"Unknown", "Pageable", "Pinned",        "Device",
					   "Array",   "Managed",  "Device Static", "Managed Static"};
/* CUpti_ActivityOverheadKind: a number a 65,536. */
static const char *const overheads[RVP_OVERHEADS] = {
    "Unknown",
    "Driver Compiler",
    "Buffer Flush",
    "Instrumentation",
    "Resource",
    "Runtime Triggered Module Loading",
    "Lazy Function Loading",
    "Command Buffer Full",
    "Activity Buffer Request",
    "UVM Activity Init",
    "Overhead 10",
    "Other Overhead",
};

static const char *memory_kind(uint8_t kind)
{
	return memory_kinds[kind < sizeof memory_kinds / sizeof *memory_kinds ? kind : 0];
}

const char *rvp_copy_name(const struct rvp_activity *activity, char *text, size_t text_bytes)
{
	uint8_t kind = activity->copy_kind;

	if (activity->kind == RVP_DEVICE_SET) {
		snprintf(text, text_bytes, "Memset (%s)", memory_kind(activity->target_kind));
		return text;
	}
	snprintf(text, text_bytes, "Memcpy %s (%s -> %s)",
		 copy_kinds[kind < sizeof copy_kinds / sizeof *copy_kinds ? kind : 0],
		 memory_kind(activity->source_kind), memory_kind(activity->target_kind));
	return text;
}

uint32_t rvp_overhead_number(uint32_t kind)
{
	uint32_t number = kind == 1 ? 1 : kind >> 16 ? (kind >> 16) + 1 : 0;

	return number < RVP_OVERHEADS ? number : RVP_OVERHEADS - 1;
}

const char *rvp_overhead_name(uint32_t kind)
{
	return overheads[rvp_overhead_number(kind)];
}
