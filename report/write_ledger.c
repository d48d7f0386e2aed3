/* SPDX-License-Identifier: MIT */
/* write_ledger.c: see write_ledger.h. */
#include "report/write_ledger.h"

#include "report/site_name.h"

#include <string.h>

struct writer {
	struct rvp_json *json;
	const struct rvp_run *run;
	const struct rvp_analysis *answer;
	const struct rvp_ledger *ledger;
	const struct rvp_purposes *purposes;
};

static void open_row(struct writer *writer, const char *name, const struct rvp_ledger_amount *amount)
{
	rvp_json_open(writer->json, NULL, '{');
	rvp_json_string(writer->json, "name", name);
	rvp_json_number(writer->json, "bytes", amount->bytes);
	rvp_json_number(writer->json, "resident_bytes", amount->resident_bytes);
}

static void write_row(struct writer *writer, const char *name, const struct rvp_ledger_amount *amount)
{
	open_row(writer, name, amount);
	rvp_json_close(writer->json, '}');
}

static struct rvp_ledger_amount category_sum(const struct writer *writer, const struct rvp_ledger_sums *sums,
					     int category)
{
	struct rvp_ledger_amount sum = sums->by_purpose[category];

	for (uint32_t i = RVP_CATEGORY_COUNT; writer->purposes && i < writer->purposes->count; i++) {
		if (writer->purposes->categories[i] != category)
			continue;
		sum.bytes += sums->by_purpose[i].bytes;
		sum.resident_bytes += sums->by_purpose[i].resident_bytes;
	}
	return sum;
}

static void write_files(struct writer *writer, const struct rvp_ledger_sums *sums)
{
	open_row(writer, rvp_ledger_part_names[RVP_PART_FILE], &sums->parts[RVP_PART_FILE]);
	rvp_json_open(writer->json, "files", '[');
	for (uint32_t i = 0; i < sums->file_count; i++)
		write_row(writer, sums->files[i].name, &sums->files[i].amount);
	rvp_json_close(writer->json, ']');
	rvp_json_close(writer->json, '}');
}

static void write_parts(struct writer *writer, const struct rvp_ledger_sums *sums)
{
	for (int i = 0; i < RVP_PART_COUNT; i++) {
		const struct rvp_ledger_amount *amount = &sums->parts[i];

		if (!amount->bytes && !amount->resident_bytes)
			continue;
		if (i == RVP_PART_FILE)
			write_files(writer, sums);
		else
			write_row(writer, rvp_ledger_part_names[i], amount);
	}
}

static void write_categories(struct writer *writer, const struct rvp_ledger_sums *sums)
{
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		struct rvp_ledger_amount sum = category_sum(writer, sums, i);

		if (sum.bytes || sum.resident_bytes || i == RVP_CATEGORY_UNKNOWN)
			write_row(writer, rvp_category_names[i], &sum);
	}
}

/* From REGION records or an RSS sample alone: heap and anonymous memory are one row. */
static void write_regions(struct writer *writer, const struct rvp_ledger_entry *entry)
{
	struct rvp_json *json = writer->json;

	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		bool is_unknown = i == RVP_CATEGORY_UNKNOWN;

		if (!is_unknown && !entry->mapped_bytes[i] && !entry->region_bytes[i])
			continue;
		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "name", rvp_category_names[i]);
		rvp_json_number(json, "bytes", is_unknown ? entry->live_bytes : entry->mapped_bytes[i]);
		if (entry->regions_ns)
			rvp_json_number(json, "resident_bytes", entry->region_bytes[i]);
		rvp_json_close(json, '}');
	}
}

static void write_pss(struct writer *writer)
{
	const struct rvp_pss_round *pss = &writer->ledger->pss;
	struct rvp_json *json = writer->json;

	if (pss->process_count < 2)
		return;
	rvp_json_open(json, "shared", '{');
	rvp_json_number(json, "t_unix_us", pss->ns / 1000);
	rvp_json_number(json, "process_count", pss->process_count);
	rvp_json_number(json, "rss_bytes", pss->rss_bytes);
	rvp_json_number(json, "pss_bytes", pss->pss_bytes);
	rvp_json_open(json, "processes", '[');
	for (uint64_t i = 0; i < pss->process_count && i < RVP_PSS_LISTED_MAX; i++) {
		rvp_json_open(json, NULL, '{');
		rvp_json_number(json, "pid", pss->processes[i].pid);
		rvp_json_number(json, "rss_bytes", pss->processes[i].rss_bytes);
		rvp_json_number(json, "pss_bytes", pss->processes[i].pss_bytes);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
	rvp_json_close(json, '}');
}

static void write_pins(struct writer *writer, const struct rvp_pin *pins, size_t count)
{
	struct rvp_json *json = writer->json;
	char place[160];

	if (!count)
		return;
	rvp_json_open(json, "pins", '[');
	for (size_t i = 0; i < count; i++) {
		struct rvp_site site = rvp_pin_site(&pins[i]);

		rvp_site_name(writer->run, &site, place, sizeof place);
		rvp_json_open(json, NULL, '{');
		rvp_json_number(json, "pid", writer->run->processes[pins[i].process].pid);
		rvp_json_number(json, "bytes", pins[i].bytes);
		rvp_json_number(json, "below_bytes", pins[i].below_bytes);
		rvp_json_number(json, "above_bytes", pins[i].above_bytes);
		rvp_json_string(json, "name",
				writer->purposes ? rvp_purpose_name(writer->purposes, pins[i].purpose)
						 : "unknown");
		rvp_json_string(json, "place", place);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

static void write_entry(struct writer *writer, const char *at, const struct rvp_ledger_entry *entry)
{
	struct rvp_json *json = writer->json;
	uint64_t end_ns = writer->run->end_ns, peak = writer->answer->peak_rss_bytes;

	if (!entry->is_set)
		return;
	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "at", at);
	rvp_json_number(json, "t_unix_us", entry->ns / 1000);
	rvp_json_number(json, "age_us", end_ns > entry->ns ? (end_ns - entry->ns) / 1000 : 0);
	if (entry == &writer->ledger->peak)
		rvp_json_number(json, "peak_missed_bytes",
				peak > entry->rss_bytes ? peak - entry->rss_bytes : 0);
	rvp_json_number(json, "rss_bytes", entry->rss_bytes);
	rvp_json_number(json, "swap_bytes", entry->swap_bytes);
	rvp_json_open(json, "rows", '[');
	if (entry->sums) {
		write_categories(writer, entry->sums);
		write_parts(writer, entry->sums);
	} else {
		write_regions(writer, entry);
	}
	rvp_json_close(json, ']');
	if (rvp_ledger_closes(entry))
		rvp_json_signed(json, "unexplained_bytes", rvp_ledger_entry_unexplained(entry));
	if (entry == &writer->ledger->peak && writer->ledger->peak_has_trimmable)
		rvp_json_number(json, "trimmable_bytes", writer->ledger->peak_trimmable_bytes);
	if (entry == &writer->ledger->end && writer->ledger->end_has_trimmable)
		rvp_json_number(json, "trimmable_bytes", writer->ledger->end_trimmable_bytes);
	if (entry == &writer->ledger->peak)
		write_pins(writer, writer->ledger->peak_pins, writer->ledger->peak_pin_count);
	else if (entry == &writer->ledger->end)
		write_pins(writer, writer->ledger->end_pins, writer->ledger->end_pin_count);
	rvp_json_close(json, '}');
}

static void write_entries(struct writer *writer)
{
	const struct rvp_ledger *ledger = writer->ledger;
	uint64_t from =
	    ledger->mark_count > RVP_LEDGER_MARKS_MAX ? ledger->mark_count - RVP_LEDGER_MARKS_MAX : 0;

	rvp_json_open(writer->json, "ledger", '[');
	write_entry(writer, "peak", &ledger->peak);
	write_entry(writer, "end", &ledger->end);
	for (uint64_t i = from; i < ledger->mark_count; i++) {
		const struct rvp_ledger_entry *entry = &ledger->marks[i % RVP_LEDGER_MARKS_MAX];

		write_entry(writer, entry->label, entry);
	}
	rvp_json_close(writer->json, ']');
}

static void write_cgroup_row(struct writer *writer, const char *name, uint64_t bytes)
{
	rvp_json_open(writer->json, NULL, '{');
	rvp_json_string(writer->json, "name", name);
	rvp_json_number(writer->json, "bytes", bytes);
	rvp_json_close(writer->json, '}');
}

static void write_cgroup(struct writer *writer)
{
	const struct rvp_record_CGROUP *cgroup = &writer->ledger->cgroup;
	struct rvp_cgroup_rows rows;
	struct rvp_json *json = writer->json;

	if (!writer->ledger->has_cgroup)
		return;
	rvp_cgroup_rows(cgroup, &rows);
	rvp_json_open(json, "cgroup", '{');
	rvp_json_number(json, "version", cgroup->version);
	rvp_json_number(json, "current_bytes", cgroup->current_bytes);
	if (cgroup->max_bytes)
		rvp_json_number(json, "max_bytes", cgroup->max_bytes);
	if (cgroup->limit_levels) {
		rvp_json_number(json, "limit_levels_up", cgroup->limit_levels);
		rvp_json_number(json, "limit_current_bytes", cgroup->limit_current_bytes);
	}
	rvp_json_number(json, "reclaimable_bytes", cgroup->reclaimable_bytes);
	rvp_json_number(json, "peak_bytes", writer->ledger->cgroup_peak.current_bytes);
	rvp_json_open(json, "rows", '[');
	for (int i = 0; i < RVP_CGROUP_ROWS; i++)
		write_cgroup_row(writer, rows.names[i], rows.bytes[i]);
	write_cgroup_row(writer, "swap", cgroup->swap_bytes);
	rvp_json_close(json, ']');
	rvp_json_signed(json, "unexplained_bytes", rows.unexplained_bytes);
	rvp_json_close(json, '}');
}

void rvp_ledger_write_keys(struct rvp_json *json, const struct rvp_run *run,
			   const struct rvp_analysis *answer, const struct rvp_ledger *ledger,
			   const struct rvp_purposes *purposes)
{
	struct writer writer = {json, run, answer, ledger, purposes};

	write_entries(&writer);
	write_pss(&writer);
	write_cgroup(&writer);
}
