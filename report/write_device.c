/* SPDX-License-Identifier: MIT */
/* write_device.c: see write_device.h. A key that was not measured is absent. */
#include "report/write_device.h"

#include "report/rows.h"
#include "report/write_ledger.h"

void rvp_device_write_head(struct rvp_json *json, const struct rvp_device_answer *item)
{
	const struct rvp_analysis *analysis = &item->analysis;
	const struct rvp_device_segments *segments = &item->ledger.segments_at_end;

	rvp_json_string(json, "name", item->device->name);
	if (*item->device->model)
		rvp_json_string(json, "model", item->device->model);
	if (item->device->memory_bytes)
		rvp_json_number(json, "memory_bytes", item->device->memory_bytes);
	if (analysis->tracked_peak_ns != RVP_NEVER) {
		rvp_json_number(json, "peak_held_bytes", analysis->tracked_peak_bytes);
		rvp_json_number(json, "peak_unix_us", analysis->tracked_peak_ns / 1000);
		rvp_json_number(json, "peak_live_bytes", analysis->device_peak_live_bytes);
	}
	rvp_json_number(json, "end_live_bytes", analysis->tracked_end_bytes);
	rvp_json_number(json, "alloc_count", analysis->totals.counters.alloc_count);
	if (analysis->device_peak_managed_bytes)
		rvp_json_number(json, "managed_at_peak_bytes", analysis->device_peak_managed_bytes);
	if (analysis->device_unknown_frees)
		rvp_json_number(json, "unknown_free_count", analysis->device_unknown_frees);
	if (!segments->count)
		return;
	rvp_json_open(json, "allocator_at_end", '{');
	rvp_json_number(json, "reserved_bytes", segments->reserved_bytes);
	rvp_json_number(json, "allocated_bytes", segments->allocated_bytes);
	rvp_json_number(json, "largest_free_bytes", segments->largest_free_bytes);
	if (segments->told_reserved_bytes) {
		rvp_json_number(json, "told_reserved_bytes", segments->told_reserved_bytes);
		rvp_json_number(json, "told_allocated_bytes", segments->told_allocated_bytes);
	}
	rvp_json_close(json, '}');
}

/* ---- the ledger ---- */

static void write_row(struct rvp_json *json, const char *name, uint64_t bytes, bool is_derived)
{
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "name", name);
	rvp_json_number(json, "bytes", bytes);
	if (is_derived)
		rvp_json_bool(json, "derived", true);
	rvp_json_close(json, '}');
}

static void write_rows(struct rvp_json *json, const struct rvp_device_entry *entry,
		       const struct rvp_purposes *purposes)
{
	uint32_t count = purposes ? purposes->count : RVP_CATEGORY_COUNT;

	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		for (uint32_t k = 0; k < count; k++)
			if (entry->by_purpose[k] &&
			    (purposes ? (int)rvp_purpose_category(purposes, (uint16_t)k) : (int)k) == i)
				write_row(json,
					  purposes ? rvp_purpose_name(purposes, (uint16_t)k)
						   : rvp_category_names[k],
					  entry->by_purpose[k], false);
	if (entry->has_context)
		write_row(json, "context", entry->context_bytes, true);
	if (entry->tracer_bytes)
		write_row(json, "rvprof", entry->tracer_bytes, false);
	if (entry->others_bytes)
		write_row(json, "others", entry->others_bytes, false);
}

static void write_entry(struct rvp_json *json, const char *at, const struct rvp_device_entry *entry,
			uint64_t end_ns, const struct rvp_purposes *purposes)
{
	if (!entry->is_set)
		return;
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "at", at);
	rvp_json_number(json, "t_unix_us", entry->ns / 1000);
	rvp_json_number(json, "age_us", end_ns > entry->ns ? (end_ns - entry->ns) / 1000 : 0);
	rvp_json_string(json, "figure", rvp_device_figure_names[entry->figure]);
	if (entry->figure)
		rvp_json_number(json, entry->figure == RVP_FIGURE_NVML ? "process_bytes" : "used_bytes",
				entry->driver_bytes);
	if (entry->total_bytes) {
		rvp_json_number(json, "total_bytes", entry->total_bytes);
		rvp_json_number(json, "free_bytes", entry->free_bytes);
	}
	rvp_json_open(json, "rows", '[');
	write_rows(json, entry, purposes);
	rvp_json_close(json, ']');
	if (entry->segments.count)
		rvp_json_number(json, "largest_free_bytes", entry->segments.largest_free_bytes);
	if (entry->figure)
		rvp_json_signed(json, "unexplained_bytes", rvp_device_unexplained(entry));
	rvp_json_close(json, '}');
}

void rvp_device_write_ledger(struct rvp_json *json, const struct rvp_run *run,
			     const struct rvp_device_answer *item, const struct rvp_purposes *purposes)
{
	const struct rvp_device_ledger *ledger = &item->ledger;
	uint64_t from =
	    ledger->mark_count > RVP_DEVICE_MARKS_MAX ? ledger->mark_count - RVP_DEVICE_MARKS_MAX : 0;

	rvp_json_open(json, "ledger", '[');
	write_entry(json, "peak", &ledger->peak, run->end_ns, purposes);
	write_entry(json, "end", &ledger->end, run->end_ns, purposes);
	for (uint64_t i = from; i < ledger->mark_count; i++)
		write_entry(json, ledger->marks[i % RVP_DEVICE_MARKS_MAX].label,
			    &ledger->marks[i % RVP_DEVICE_MARKS_MAX], run->end_ns, purposes);
	rvp_json_close(json, ']');
}

/* ---- refusals ---- */

static void write_events(struct rvp_json *json, const struct rvp_refusal *refusal,
			 const struct rvp_purposes *purposes)
{
	rvp_json_open(json, "last_events", '[');
	for (uint32_t i = 0; i < refusal->event_count; i++) {
		const struct rvp_refusal_event *event = &refusal->events[i];

		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "event", event->is_death ? "free" : "alloc");
		rvp_json_number(json, "t_unix_us", event->ns / 1000);
		rvp_json_number(json, "bytes", event->bytes);
		rvp_json_string(json, "category",
				purposes ? rvp_purpose_name(purposes, event->purpose)
					 : rvp_category_names[RVP_CATEGORY_UNKNOWN]);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

static void write_refusal(struct rvp_json *json, const struct rvp_refusal *refusal,
			  const struct rvp_purposes *purposes)
{
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "fate", refusal->fate == RVP_REFUSAL_FATAL ? "fatal" : "survived");
	rvp_json_number(json, "t_unix_us", refusal->ns / 1000);
	rvp_json_number(json, "requested_bytes", refusal->bytes);
	rvp_json_number(json, "tries", refusal->tries);
	rvp_json_number(json, "error", refusal->error);
	if (refusal->total_bytes) {
		rvp_json_number(json, "total_bytes", refusal->total_bytes);
		rvp_json_number(json, "free_bytes", refusal->free_bytes);
	}
	if (refusal->segments.count)
		rvp_json_number(json, "largest_free_bytes", refusal->segments.largest_free_bytes);
	rvp_json_number(json, "live_bytes", refusal->live_bytes);
	rvp_json_open(json, "categories", '{');
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (refusal->category_bytes[i])
			rvp_json_number(json, rvp_category_names[i], refusal->category_bytes[i]);
	rvp_json_close(json, '}');
	write_events(json, refusal, purposes);
	rvp_json_close(json, '}');
}

void rvp_device_write_refusals(struct rvp_json *json, const struct rvp_device_answer *item,
			       const struct rvp_purposes *purposes)
{
	const struct rvp_device_refusals *refusals = &item->refusals;
	uint64_t from =
	    refusals->kept_count > RVP_REFUSALS_KEPT ? refusals->kept_count - RVP_REFUSALS_KEPT : 0;

	if (!refusals->count)
		return;
	rvp_json_open(json, "refused", '{');
	rvp_json_number(json, "count", refusals->count);
	rvp_json_number(json, "routine_count", refusals->routine_count);
	rvp_json_number(json, "survived_count", refusals->survived_count);
	rvp_json_number(json, "fatal_count", refusals->fatal_count);
	rvp_json_open(json, "snapshots", '[');
	for (uint64_t i = from; i < refusals->kept_count; i++)
		write_refusal(json, &refusals->kept[i % RVP_REFUSALS_KEPT], purposes);
	rvp_json_close(json, ']');
	rvp_json_close(json, '}');
}

/* ---- all ledgers ---- */

void rvp_ledgers_write_json(FILE *out, const struct rvp_run *run, const struct rvp_ledger *ledger,
			    const struct rvp_analysis *answer, const struct rvp_device_answers *devices,
			    const struct rvp_purposes *purposes)
{
	struct rvp_json json = {.out = out};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.ledger/1");
	if (ledger)
		rvp_ledger_write_keys(&json, run, answer, ledger, purposes);
	if (devices->count)
		rvp_json_open(&json, "device", '[');
	for (size_t i = 0; i < devices->count; i++) {
		rvp_json_open(&json, NULL, '{');
		rvp_json_string(&json, "name", devices->items[i].device->name);
		rvp_device_write_ledger(&json, run, &devices->items[i], purposes);
		rvp_device_write_refusals(&json, &devices->items[i], purposes);
		rvp_json_close(&json, '}');
	}
	if (devices->count)
		rvp_json_close(&json, ']');
	rvp_json_close(&json, '}');
	fputc('\n', out);
}
