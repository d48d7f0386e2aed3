/* SPDX-License-Identifier: MIT */
/* trace_device.c: counters of each device's memory by category in trace.json, from the rows that categories.csv has of it: so
 * both say the same. In the tree's root, beside the host's "live by category". */
#include "report/write_trace.h"

#include "report/device_answer.h"
#include "report/trace_events.h"

#include <inttypes.h>

static void put_row(struct rvp_trace *trace, const char *device, const struct rvp_row *row,
		    bool has_category[RVP_CATEGORY_COUNT])
{
	const char *comma = "";

	if (!rvp_trace_begin_event(trace, row->ns))
		return;
	rvp_trace_put(trace, "{\"ph\":\"C\",\"name\":\"%s by category\",\"pid\":%u,\"ts\":%.3f,\"args\":{", device,
		      trace->run->processes[trace->run->root].pid, rvp_trace_us(trace, row->ns));
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		has_category[i] |= i == RVP_CATEGORY_UNKNOWN || row->category_bytes[i] > 0;
		if (rvp_category_is_resident(i) || !has_category[i])
			continue;
		rvp_trace_put(trace, "%s\"%s\":%" PRIu64, comma, rvp_category_names[i], row->category_bytes[i]);
		comma = ",";
	}
	rvp_trace_put(trace, "}}");
}

bool rvp_trace_put_devices(struct rvp_trace *trace, struct rvp_device_answers *devices)
{
	for (size_t i = 0; i < devices->count && trace->run->root != RVP_NO_PROCESS; i++) {
		struct rvp_device_rows *rows = &devices->items[i].rows;
		bool has_category[RVP_CATEGORY_COUNT] = {false};

		for (const struct rvp_row *row; (row = rvp_device_rows_peek(rows)); rvp_device_rows_take(rows))
			put_row(trace, devices->items[i].device->name, row, has_category);
		if (!rvp_device_rows_rewind(rows))
			return false;
	}
	return true;
}
