/* SPDX-License-Identifier: MIT */
/* text_device.c: see text_device.h. */
#include "report/text_device.h"

#include "report/site_name.h"
#include "report/text_categories.h"
#include "report/text_numbers.h"

#include <inttypes.h>

enum { LABEL_COLUMNS = 14, NAME_COLUMNS = 22 };

static void label(const struct rvp_view *view, const char *text)
{
	fprintf(view->out, "  %-*s", LABEL_COLUMNS, text);
}

/* ---- totals ---- */

static void print_peak(const struct rvp_view *view, const struct rvp_analysis *analysis)
{
	char text[RVP_NUMBER_TEXT_BYTES], duration[RVP_NUMBER_TEXT_BYTES];

	if (analysis->tracked_peak_ns == RVP_NEVER)
		return;
	label(view, "peak held");
	fprintf(view->out, "%s after %s\n", rvp_text_bytes(analysis->tracked_peak_bytes, text),
		rvp_text_duration(analysis->tracked_peak_ns - view->run->begin_ns, duration));
	if (analysis->device_peak_live_bytes < analysis->tracked_peak_bytes) {
		label(view, "peak live");
		fprintf(view->out, "%s, without what allocators held and had not given out\n",
			rvp_text_bytes(analysis->device_peak_live_bytes, text));
	}
	if (!analysis->device_peak_managed_bytes)
		return;
	label(view, "");
	fprintf(view->out, "%s of it managed memory, which may lie on the host for a while\n",
		rvp_text_bytes(analysis->device_peak_managed_bytes, text));
}

static void print_counts(const struct rvp_view *view, const struct rvp_analysis *analysis)
{
	const struct rvp_counters *counters = &analysis->totals.counters;
	char text[RVP_NUMBER_TEXT_BYTES];

	label(view, "allocated");
	fprintf(view->out, "%s in ", rvp_text_bytes(counters->alloc_bytes, text));
	fprintf(view->out, "%s allocs\n", rvp_text_count(counters->alloc_count, text));
	label(view, view->run->alive_count ? "live now" : "at the end");
	fprintf(view->out, "%s\n", rvp_text_bytes(analysis->tracked_end_bytes, text));
	if (!analysis->device_unknown_frees)
		return;
	label(view, "frees");
	fprintf(view->out, "%s of what was never seen to be given out: figures may be too low\n",
		rvp_text_count(analysis->device_unknown_frees, text));
}

static void print_segments(const struct rvp_view *view, const struct rvp_device_ledger *ledger)
{
	const struct rvp_device_segments *segments = &ledger->segments_at_end;
	char held[RVP_NUMBER_TEXT_BYTES], given[RVP_NUMBER_TEXT_BYTES], gap[RVP_NUMBER_TEXT_BYTES];

	if (!segments->count)
		return;
	label(view, "allocator");
	fprintf(view->out,
		"at the end it held %s in %" PRIu64 " segment%s, %s of it given out; largest free block %s\n",
		rvp_text_bytes(segments->reserved_bytes, held), segments->count,
		segments->count == 1 ? "" : "s", rvp_text_bytes(segments->allocated_bytes, given),
		rvp_text_bytes(segments->largest_free_bytes, gap));
}

static void print_asker(const struct rvp_view *view, const struct rvp_refusal *refusal)
{
	struct rvp_site site = {.process = refusal->process,
				.stack = refusal->stack,
				.python = refusal->python,
				.first_ns = refusal->ns};
	char place[160];

	if (!refusal->stack && !refusal->python)
		return;
	rvp_site_name(view->run, &site, place, sizeof place);
	label(view, "");
	fputs("  asked for at ", view->out);
	rvp_print_safely(view->out, place, 0);
	fputc('\n', view->out);
}

static void print_refusal(const struct rvp_view *view, const struct rvp_refusal *refusal)
{
	char asked[RVP_NUMBER_TEXT_BYTES], had[RVP_NUMBER_TEXT_BYTES], gap[RVP_NUMBER_TEXT_BYTES],
	    since[RVP_NUMBER_TEXT_BYTES];

	label(view, "");
	fprintf(view->out, "%s after %s, ", rvp_text_bytes(refusal->bytes, asked),
		rvp_text_duration(refusal->ns - view->run->begin_ns, since));
	if (refusal->total_bytes)
		fprintf(view->out, "%s were free, ", rvp_text_bytes(refusal->free_bytes, had));
	if (refusal->segments.count)
		fprintf(view->out, "the allocator's largest free block was %s, ",
			rvp_text_bytes(refusal->segments.largest_free_bytes, gap));
	fputs(refusal->fate == RVP_REFUSAL_FATAL ? "fatal\n" : "survived\n", view->out);
	print_asker(view, refusal);
	for (uint32_t i = 0; i < refusal->event_count; i++) {
		const struct rvp_refusal_event *event = &refusal->events[i];

		label(view, "");
		fprintf(view->out, "  %s before: %s %s (%s)\n",
			rvp_text_duration(refusal->ns - event->ns, since),
			event->is_death ? "given back" : "asked for", rvp_text_bytes(event->bytes, asked),
			rvp_view_purpose_name(view, event->purpose));
	}
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_refusals(const struct rvp_view *view, const struct rvp_device_refusals *refusals)
{
	const struct rvp_refusal *worst = rvp_worst_refusal(refusals);
	char text[RVP_NUMBER_TEXT_BYTES];

	if (refusals->routine_count) {
		label(view, "refused");
		fprintf(view->out, "%s time%s, each met by giving back what was cached: PyTorch's routine\n",
			rvp_text_count(refusals->routine_count, text), plural(refusals->routine_count));
	}
	if (!worst)
		return;
	label(view, "out of memory");
	fprintf(view->out, "%s time%s survived, ", rvp_text_count(refusals->survived_count, text),
		plural(refusals->survived_count));
	fprintf(view->out, "%s time%s fatal; the worst:\n", rvp_text_count(refusals->fatal_count, text),
		plural(refusals->fatal_count));
	print_refusal(view, worst);
}

void rvp_text_device_totals(const struct rvp_view *view, const struct rvp_device_answer *item)
{
	const struct rvp_device *device = item->device;
	char title[256], text[RVP_NUMBER_TEXT_BYTES];

	snprintf(title, sizeof title, "Memory of %s%s%.100s%s%s", device->name, *device->model ? ": " : "",
		 device->model, device->memory_bytes ? ", " : "",
		 device->memory_bytes ? rvp_text_bytes(device->memory_bytes, text) : "");
	rvp_text_title(view, title);
	print_peak(view, &item->analysis);
	print_counts(view, &item->analysis);
	print_segments(view, &item->ledger);
	print_refusals(view, &item->refusals);
}

/* ---- the section ---- */

struct rvp_status rvp_text_devices(const struct rvp_view *view, const struct rvp_device_answers *answers,
				   struct rvp_stacks *stacks)
{
	struct rvp_status status = RVP_OK;

	for (size_t i = 0; i < answers->count && !rvp_failed(status); i++) {
		struct rvp_view device = *view;
		struct rvp_groups groups;

		device.answer = &answers->items[i].analysis;
		device.moment_count = 0;
		rvp_text_device_totals(&device, &answers->items[i]);
		if (device.answer->tracked_peak_ns == RVP_NEVER)
			continue;
		rvp_text_category_table(&device);
		status = rvp_groups_make(&groups, stacks, device.answer, 0);
		if (rvp_failed(status))
			break;
		device.groups = &groups;
		rvp_text_sites(&device, RVP_AT_PEAK, device.more_count);
		rvp_groups_free(&groups);
	}
	return status;
}

/* ---- the ledger ---- */

static void print_row(const struct rvp_view *view, const struct rvp_device_entry *entry, const char *name,
		      uint64_t bytes, const char *what)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	fprintf(view->out, "  %-*s%12s", NAME_COLUMNS, name, rvp_text_bytes(bytes, text));
	fprintf(view->out, "%8s%s%s\n", entry->figure ? rvp_text_share(bytes, entry->driver_bytes, text) : "",
		*what ? "  " : "", what);
}

static void print_categories(const struct rvp_view *view, const struct rvp_device_entry *entry)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(view->attribution);

	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		for (uint32_t k = 0; k < purposes->count; k++)
			if (entry->by_purpose[k] && (int)rvp_purpose_category(purposes, (uint16_t)k) == i)
				print_row(view, entry, rvp_purpose_name(purposes, (uint16_t)k),
					  entry->by_purpose[k],
					  k == RVP_CATEGORY_ALLOCATOR
					      ? "held by a caching allocator and not given out"
					  : k == RVP_CATEGORY_UNKNOWN ? "blocks that nobody has named"
								      : "");
}

static void print_sum(const struct rvp_view *view, const struct rvp_device_entry *entry)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	if (!entry->figure) {
		fputs("  not closable here: neither NVML nor cuMemGetInfo told a figure\n", view->out);
		return;
	}
	fprintf(view->out, "  %-*s%12s\n", NAME_COLUMNS, "unexplained",
		rvp_text_change(rvp_device_unexplained(entry), text));
	fprintf(view->out, "  %-*s%12s%8s  %s\n", NAME_COLUMNS, "what the driver says",
		rvp_text_bytes(entry->driver_bytes, text), "",
		entry->figure == RVP_FIGURE_NVML
		    ? "NVML, of the processes of this run"
		    : "cuMemGetInfo, of the whole device: other processes are in it as far as not told");
}

static void print_entry(const struct rvp_view *view, const char *device, const char *at,
			const struct rvp_device_entry *entry)
{
	char title[256], since[RVP_NUMBER_TEXT_BYTES], text[RVP_NUMBER_TEXT_BYTES];

	if (!entry->is_set)
		return;
	snprintf(title, sizeof title, "Memory of %s at %.64s, after %s", device, at,
		 rvp_text_duration(entry->ns - view->run->begin_ns, since));
	rvp_text_title(view, title);
	print_categories(view, entry);
	if (entry->has_context)
		print_row(view, entry, "context", entry->context_bytes,
			  "the driver's, with modules: derived at the first sample, not counted");
	if (entry->tracer_bytes)
		print_row(view, entry, "rvprof", entry->tracer_bytes, "the tracer's own buffers");
	if (entry->others_bytes)
		print_row(view, entry, "others", entry->others_bytes, "of other processes");
	print_sum(view, entry);
	if (entry->segments.count)
		fprintf(view->out, "  %-*s%12s\n", NAME_COLUMNS, "largest free block",
			rvp_text_bytes(entry->segments.largest_free_bytes, text));
}

void rvp_text_device_ledgers(const struct rvp_view *view, const struct rvp_device_answers *answers)
{
	for (size_t i = 0; i < answers->count; i++) {
		const struct rvp_device_ledger *ledger = &answers->items[i].ledger;
		const char *name = answers->items[i].device->name;
		uint64_t from =
		    ledger->mark_count > RVP_DEVICE_MARKS_MAX ? ledger->mark_count - RVP_DEVICE_MARKS_MAX : 0;

		print_entry(view, name, "its highest sample", &ledger->peak);
		print_entry(view, name, "the end", &ledger->end);
		for (uint64_t k = from; k < ledger->mark_count; k++)
			print_entry(view, name, ledger->marks[k % RVP_DEVICE_MARKS_MAX].label,
				    &ledger->marks[k % RVP_DEVICE_MARKS_MAX]);
		if (!ledger->peak.is_set) {
			char title[64];

			snprintf(title, sizeof title, "Memory of %s", name);
			rvp_text_title(view, title);
			fputs("  not closable here: the driver told no figure\n", view->out);
		}
	}
}
