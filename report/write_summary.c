/* SPDX-License-Identifier: MIT */
/* write_summary.c: see write_summary.h. Keys and their order are a promise to scripts. */
#include "report/write_summary.h"

#include "report/latency_rows.h"
#include "report/attribution.h"
#include "report/blas_work.h"
#include "report/category_totals.h"
#include "report/cost.h"
#include "report/json_writer.h"
#include "report/kernels_json.h"
#include "report/power.h"
#include "report/output_files.h"
#include "report/rows.h"
#include "report/windows.h"
#include "report/write_device.h"
#include "report/write_ledger.h"

#include <string.h>

struct writer {
	struct rvp_json json;
	const struct rvp_run *run;
	const struct rvp_analysis *answer;
	const struct rvp_ledger *ledger;
	const struct rvp_purposes *purposes; /* NULL: without attribution */
	struct rvp_category_totals totals;
};

/* How the root ended; the last image of it where it was replaced. The watcher's word stands above its own. */
static void write_exit(struct writer *writer)
{
	const struct rvp_run *run = writer->run;
	const struct rvp_process *last = run->root == RVP_NO_PROCESS ? NULL : &run->processes[run->root];
	bool is_signal = run->has_child_end && run->child_how == RVP_ENDING_SIGNAL;

	for (size_t i = 0; last && i < run->process_count; i++)
		if (run->processes[i].pid == last->pid &&
		    run->processes[i].start_ticks == last->start_ticks &&
		    run->processes[i].begin_ns >= last->begin_ns)
			last = &run->processes[i];
	if (!run->has_child_end && (!last || last->end != RVP_END_EXITED))
		return;
	rvp_json_open(&writer->json, "exit", '{');
	rvp_json_number(&writer->json, is_signal ? "signal" : "status",
			run->has_child_end ? run->child_status : last->exit_status);
	rvp_json_close(&writer->json, '}');
}

static void write_run(struct writer *writer)
{
	struct rvp_json *json = &writer->json;
	const struct rvp_run *run = writer->run;

	rvp_json_open(json, "run", '{');
	if (run->id[0])
		rvp_json_string(json, "id", run->id);
	rvp_json_open(json, "command", '[');
	for (size_t i = 0; i < run->command_count; i++)
		rvp_json_string(json, NULL, run->command[i]);
	rvp_json_close(json, ']');
	rvp_json_number(json, "start_unix_us", run->begin_ns / 1000);
	rvp_json_decimal(json, "duration_s", (double)(run->end_ns - run->begin_ns) / 1e9, 6);
	rvp_json_string(json, "mode", run->mode == RVP_MODE_FULL ? "full" : "sampled");
	write_exit(writer);
	rvp_json_bool(json, "complete", run->alive_count == 0);
	rvp_json_number(json, "processes", run->process_count);
	rvp_json_number(json, "processes_alive", run->alive_count);
	rvp_json_number(json, "unfollowed", run->unfollowed);
	rvp_json_string(json, "log", run->is_folded ? "folded" : "whole");
	if (*run->origin.fingerprint)
		rvp_json_string(json, "fingerprint", run->origin.fingerprint);
	rvp_json_close(json, '}');
}

static const char *const counter_keys[] = {
    "alloc_count", "free_count", "alloc_bytes", "alloc_usable_bytes", "free_usable_bytes",
    "map_count",   "map_bytes",  "unmap_count", "unmap_bytes",        "early_count"};
enum { COUNTER_KEYS = sizeof counter_keys / sizeof counter_keys[0] };

/* Folded: only counts, alloc_bytes and usable totals; these are the counters anyway. */
static void write_exact(struct writer *writer)
{
	const struct rvp_totals *totals = &writer->answer->totals;
	struct rvp_json *json = &writer->json;

	rvp_json_open(json, "exact", '[');
	for (int i = 0; totals->counters_are_exact && i < COUNTER_KEYS; i++)
		rvp_json_string(json, NULL, counter_keys[i]);
	if (totals->timeline_is_exact) {
		rvp_json_string(json, NULL, "free_bytes");
		rvp_json_string(json, NULL, "peak_live_bytes");
		rvp_json_string(json, NULL, "end_live_bytes");
	}
	rvp_json_close(json, ']');
	rvp_json_open(json, "error_bytes", '{');
	if (totals->error_is_known && !totals->timeline_is_exact) {
		rvp_json_number(json, "free_bytes", totals->free_error_bytes);
		rvp_json_number(json, "peak_live_bytes", totals->peak_error_bytes);
		rvp_json_number(json, "end_live_bytes", totals->end_error_bytes);
	}
	rvp_json_close(json, '}');
}

static void write_totals(struct writer *writer)
{
	const struct rvp_totals *totals = &writer->answer->totals;
	const struct rvp_counters *counters = &totals->counters;
	struct rvp_json *json = &writer->json;

	rvp_json_open(json, "totals", '{');
	rvp_json_number(json, "alloc_count", counters->alloc_count);
	rvp_json_number(json, "free_count", counters->free_count);
	rvp_json_number(json, "alloc_bytes", counters->alloc_bytes);
	rvp_json_number(json, "free_bytes", totals->free_bytes);
	rvp_json_number(json, "alloc_usable_bytes", counters->alloc_usable_bytes);
	rvp_json_number(json, "free_usable_bytes", counters->free_usable_bytes);
	if (totals->peak_ns != RVP_NEVER || totals->timeline_is_exact) {
		rvp_json_number(json, "peak_live_bytes", totals->peak_live_bytes);
		rvp_json_number(json, "peak_unix_us",
				(totals->peak_ns != RVP_NEVER ? totals->peak_ns : writer->run->begin_ns) /
				    1000);
	}
	rvp_json_number(json, "end_live_bytes", totals->end_live_bytes);
	rvp_json_number(json, "map_count", counters->map_count);
	rvp_json_number(json, "map_bytes", counters->map_bytes);
	rvp_json_number(json, "unmap_count", counters->unmap_count);
	rvp_json_number(json, "unmap_bytes", counters->unmap_bytes);
	rvp_json_number(json, "early_count", counters->early_count);
	write_exact(writer);
	rvp_json_close(json, '}');
}

static void write_evidence(struct rvp_json *json, const struct rvp_category_total *total)
{
	rvp_json_open(json, "evidence", '{');
	for (int i = 0; i < RVP_EVIDENCE_COUNT; i++)
		if (total->evidence_bytes[i])
			rvp_json_number(json, rvp_evidence_names[i], total->evidence_bytes[i]);
	rvp_json_close(json, '}');
}

/* Sub-kinds, and what has none under its category's name. */
static void write_sub_kinds(struct writer *writer, int category)
{
	const struct rvp_purposes *purposes = writer->purposes;
	const struct rvp_category_total *bare = &writer->totals.by_purpose[category];
	struct rvp_json *json = &writer->json;
	bool has_sub = false;

	for (uint32_t i = RVP_CATEGORY_COUNT; purposes && i < purposes->count; i++)
		has_sub |= purposes->categories[i] == category && writer->totals.by_purpose[i].max_bytes;
	if (!has_sub)
		return;
	rvp_json_open(json, "sub", '{');
	if (bare->at_peak_bytes)
		rvp_json_number(json, rvp_category_names[category], bare->at_peak_bytes);
	for (uint32_t i = RVP_CATEGORY_COUNT; i < purposes->count; i++)
		if (purposes->categories[i] == category && writer->totals.by_purpose[i].max_bytes)
			rvp_json_number(json, strchr(purposes->names[i], '/') + 1,
					writer->totals.by_purpose[i].at_peak_bytes);
	rvp_json_close(json, '}');
}

/* Small blocks that no sample met can only be where nobody has named them. */
static uint64_t error_bytes(const struct writer *writer, int category)
{
	const struct rvp_totals *totals = &writer->answer->totals;

	if (totals->timeline_is_exact)
		return 0;
	return category == RVP_CATEGORY_UNKNOWN
		   ? totals->peak_error_bytes
		   : rvp_weight_error_bytes(writer->totals.by_category[category].variance, 0);
}

static void write_block_category(struct writer *writer, int category)
{
	const struct rvp_category_total *total = &writer->totals.by_category[category];
	struct rvp_json *json = &writer->json;

	if (!total->max_bytes && category != RVP_CATEGORY_UNKNOWN)
		return;
	rvp_json_open(json, rvp_category_names[category], '{');
	rvp_json_number(json, "at_peak_bytes", total->at_peak_bytes);
	rvp_json_number(json, "at_end_bytes", total->at_end_bytes);
	rvp_json_number(json, "max_bytes", total->max_bytes);
	rvp_json_number(json, "alloc_count", total->alloc_count);
	if (writer->answer->totals.error_is_known) {
		rvp_json_number(json, "sampled_bytes", total->sampled_bytes);
		rvp_json_number(json, "error_bytes", error_bytes(writer, category));
	}
	write_sub_kinds(writer, category);
	if (writer->purposes)
		write_evidence(json, total);
	rvp_json_close(json, '}');
}

static void write_resident_category(struct writer *writer, int category)
{
	const struct rvp_ledger *ledger = writer->ledger;
	struct rvp_json *json = &writer->json;

	if (!ledger->max_region_bytes[category])
		return;
	rvp_json_open(json, rvp_category_names[category], '{');
	if (ledger->at_live_peak.regions_ns)
		rvp_json_number(json, "at_peak_bytes", ledger->at_live_peak.region_bytes[category]);
	if (ledger->end.regions_ns)
		rvp_json_number(json, "at_end_bytes", ledger->end.region_bytes[category]);
	rvp_json_number(json, "max_bytes", ledger->max_region_bytes[category]);
	rvp_json_close(json, '}');
}

static void write_host(struct writer *writer)
{
	const struct rvp_analysis *answer = writer->answer;
	struct rvp_json *json = &writer->json;

	rvp_json_open(json, "host", '{');
	if (answer->peak_rss_bytes)
		rvp_json_number(json, "peak_rss_bytes", answer->peak_rss_bytes);
	if (answer->mean_rss_bytes)
		rvp_json_number(json, "mean_rss_bytes", answer->mean_rss_bytes);
	rvp_json_open(json, "categories", '{');
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (rvp_category_is_resident(i))
			write_resident_category(writer, i);
		else if (answer->tracked_peak_ns != RVP_NEVER || answer->totals.timeline_is_exact)
			write_block_category(writer, i);
	rvp_json_close(json, '}');
	rvp_ledger_write_keys(json, writer->run, answer, writer->ledger, writer->purposes);
	rvp_json_close(json, '}');
}

static void write_device(struct writer *writer, const struct rvp_device_answer *item)
{
	struct rvp_json *json = &writer->json;

	rvp_json_open(json, NULL, '{');
	rvp_device_write_head(json, item);
	rvp_json_open(json, "categories", '{');
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (!rvp_category_is_resident(i))
			write_block_category(writer, i);
	rvp_json_close(json, '}');
	rvp_device_write_ledger(json, writer->run, item, writer->purposes);
	rvp_device_write_refusals(json, item, writer->purposes);
	rvp_json_close(json, '}');
}

/* By the same words as the host: the writer turns to each device in turn. */
static void write_devices(struct writer *writer, const struct rvp_device_answers *devices)
{
	const struct rvp_analysis *host = writer->answer;

	if (!devices || !devices->count)
		return;
	rvp_json_open(&writer->json, "device", '[');
	for (size_t i = 0; i < devices->count; i++) {
		writer->answer = &devices->items[i].analysis;
		rvp_category_totals(&writer->totals, writer->answer, writer->purposes);
		write_device(writer, &devices->items[i]);
	}
	rvp_json_close(&writer->json, ']');
	writer->answer = host;
	rvp_category_totals(&writer->totals, host, writer->purposes);
}

static void write_cost(struct writer *writer)
{
	const struct rvp_counters *counters = &writer->answer->totals.counters;
	struct rvp_json *json = &writer->json;
	uint64_t own_bytes = 0, log_bytes = 0;
	double percent;

	for (size_t i = 0; i < writer->run->process_count; i++) {
		own_bytes += writer->run->processes[i].own_bytes;
		log_bytes += writer->run->processes[i].log_bytes;
	}
	rvp_json_open(json, "cost", '{');
	rvp_json_number(json, "events",
			counters->alloc_count + counters->free_count + counters->map_count +
			    counters->unmap_count);
	if (own_bytes)
		rvp_json_number(json, "own_bytes", own_bytes);
	rvp_json_number(json, "log_bytes", log_bytes);
	if (rvp_cost_percent(writer->run, &percent))
		rvp_json_decimal(json, "estimated_overhead_percent", percent, 2);
	rvp_json_close(json, '}');
}

static void write_lost(struct writer *writer)
{
	const struct rvp_totals *totals = &writer->answer->totals;
	struct rvp_json *json = &writer->json;

	rvp_json_open(json, "lost", '{');
	rvp_json_number(json, "records", totals->lost_records);
	rvp_json_open(json, "reasons", '{');
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		if (totals->loss[i])
			rvp_json_number(json, rvp_loss_names[i], totals->loss[i]);
	rvp_json_close(json, '}');
	rvp_json_close(json, '}');
}

static void write_verdicts(struct writer *writer, const struct rvp_verdicts *verdicts)
{
	struct rvp_json *json = &writer->json;

	rvp_json_open(json, "verdicts", '[');
	for (size_t i = 0; verdicts && i < verdicts->count; i++) {
		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "id", verdicts->sentences[i].id);
		rvp_json_string(json, "text", verdicts->sentences[i].text);
		rvp_json_number(json, "bytes", verdicts->sentences[i].bytes);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

void rvp_summary_write(FILE *out, const struct rvp_run *run, const struct rvp_analysis *answer,
		       const struct rvp_ledger *ledger, struct rvp_attribution *attribution,
		       const struct rvp_verdicts *verdicts, const struct rvp_device_answers *devices,
		       struct rvp_kernels *kernels, const struct rvp_blas_work *work,
		       const struct rvp_power_answer *power, const struct rvp_outputs *outputs)
{
	struct writer writer = {.json.out = out,
				.run = run,
				.answer = answer,
				.ledger = ledger,
				.purposes = attribution ? rvp_attribution_purposes(attribution) : NULL};

	rvp_category_totals(&writer.totals, answer, writer.purposes);
	rvp_json_open(&writer.json, NULL, '{');
	rvp_json_string(&writer.json, "schema", "rvprof.summary/1");
	write_run(&writer);
	write_totals(&writer);
	write_host(&writer);
	write_devices(&writer, devices);
	rvp_windows_write_json(&writer.json, run);
	rvp_latency_write_json(&writer.json, run, attribution ? rvp_attribution_steps(attribution)
							 : &(struct rvp_steps){.source = "none"});
	if (power)
		rvp_power_write_json(&writer.json, power);
	if (kernels)
		rvp_kernels_write_summary(&writer.json, run, kernels);
	if (work)
		rvp_blas_work_write_json(&writer.json, work);
	rvp_metrics_write_json(&run->metrics, &writer.json);
	write_verdicts(&writer, verdicts);
	write_cost(&writer);
	write_lost(&writer);
	if (outputs)
		rvp_outputs_write_missing(&writer.json, outputs);
	rvp_json_close(&writer.json, '}');
	fputc('\n', out);
}
