/* SPDX-License-Identifier: MIT */
/* totals.c: see totals.h. What "exact" takes is told in docs/metrics.md; each condition is one line here. */
#include "report/totals.h"

#include "report/run_source.h"

void rvp_tally_end(struct rvp_tally *tally, struct rvp_amount live, double variance)
{
	tally->has_ended = true;
	tally->at_end = live;
	tally->end_variance = variance;
}

/* Distance of samples; 0 where everything is recorded. */
static uint64_t sampling_mean(const struct rvp_process *process)
{
	return process->mode == RVP_MODE_SAMPLED ? process->sample_bytes : 0;
}

/* Allocs before our constructor: their frees are no loss. A child by fork inherits its parent's. */
static uint64_t early_blocks(const struct rvp_run *run, uint32_t process)
{
	uint64_t sum = 0;

	for (int depth = 0; process != RVP_NO_PROCESS && depth < 64; depth++) {
		sum += run->processes[process].counters.early_count;
		if (!run->processes[process].is_fork)
			break;
		process = run->processes[process].parent;
	}
	return sum;
}

/* Nothing is missing that any total of the timeline could depend on. */
static bool is_whole(const struct rvp_run *run, const struct rvp_process *process)
{
	return process->counters_are_whole && process->lost_records == 0 && !process->was_held && !run->is_folded &&
	       process->counters.fold_count == 0;
}

static bool is_exact(const struct rvp_run *run, const struct rvp_process *process,
		     const struct rvp_totals *totals, const struct rvp_match_counts *counts)
{
	if (process->mode != RVP_MODE_FULL || !is_whole(run, process) || process->end == RVP_END_ALIVE)
		return false;
	return totals->loss[RVP_LOSS_UNKNOWN_FREE] == 0 && !counts->is_unsure &&
	       counts->alloc_count == process->counters.alloc_count &&
	       counts->alloc_bytes == process->counters.alloc_bytes &&
	       counts->free_count == process->counters.free_count;
}

static void count_losses(struct rvp_totals *totals, const struct rvp_run *run, uint32_t process,
			 const struct rvp_match_counts *counts)
{
	uint64_t early = early_blocks(run, process);

	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		totals->loss[i] = run->processes[process].loss[i];
	if (counts->unknown_free > early)
		totals->loss[RVP_LOSS_UNKNOWN_FREE] += counts->unknown_free - early;
	totals->loss[RVP_LOSS_INVERSION] += counts->inversion;
	totals->lost_records = run->processes[process].lost_records;
}

/* Sampled: what was given out is known to the byte, so what was given back is known as well as what is left.
 */
static uint64_t estimated_free_bytes(const struct rvp_process *process, const struct rvp_tally *tally)
{
	uint64_t given = process->counters.alloc_bytes, left = tally->at_end.bytes;

	return (given > left ? given - left : 0) + tally->inherited_free_bytes;
}

void rvp_totals_of_process(struct rvp_totals *totals, const struct rvp_run *run, uint32_t number,
			   const struct rvp_tally *tally, const struct rvp_match_counts *counts)
{
	const struct rvp_process *process = &run->processes[number];
	uint64_t mean = sampling_mean(process);

	*totals = (struct rvp_totals){
	    .counters = process->counters,
	    .counters_are_exact = process->counters_are_whole,
	    .peak_live_bytes = tally->peak_live_bytes,
	    .peak_ns = tally->has_peak ? tally->peak_ns : RVP_NEVER,
	    .end_live_bytes = tally->at_end.bytes,
	    .live_count = tally->at_end.count,
	    .matched_events = counts->alloc_count + counts->free_count,
	};
	count_losses(totals, run, number, counts);
	totals->timeline_is_exact = is_exact(run, process, totals, counts);
	totals->free_bytes = process->mode == RVP_MODE_FULL ? tally->free_bytes + tally->inherited_free_bytes
							    : estimated_free_bytes(process, tally);
	totals->error_is_known =
	    totals->timeline_is_exact || (process->mode == RVP_MODE_SAMPLED && is_whole(run, process));
	totals->end_variance = tally->end_variance;
	totals->peak_sampled_bytes = tally->peak_sampled_bytes;
	totals->peak_error_bytes = rvp_weight_error_bytes(tally->peak_variance, mean);
	totals->end_error_bytes = totals->free_error_bytes =
	    rvp_weight_error_bytes(tally->end_variance, mean);
}

static void add_process(struct rvp_totals *sum, const struct rvp_totals *one)
{
	rvp_counters_sum(&sum->counters, &one->counters);
	sum->counters_are_exact &= one->counters_are_exact;
	sum->timeline_is_exact &= one->timeline_is_exact;
	sum->error_is_known &= one->error_is_known;
	sum->free_bytes += one->free_bytes;
	sum->end_live_bytes += one->end_live_bytes;
	sum->live_count += one->live_count;
	sum->matched_events += one->matched_events;
	sum->lost_records += one->lost_records;
	sum->end_variance += one->end_variance;
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		sum->loss[i] += one->loss[i];
}

void rvp_totals_of_run(struct rvp_totals *totals, const struct rvp_run *run,
		       const struct rvp_totals *processes, const struct rvp_tally *tree)
{
	bool tree_is_whole = run->source->tree != NULL && run->loss[RVP_LOSS_TREE_FULL] == 0;
	uint64_t mean = 0;
	bool is_whole_run = tree_is_whole && run->lost_records == 0;

	*totals = (struct rvp_totals){
	    .counters_are_exact = tree_is_whole,
	    .timeline_is_exact = is_whole_run,
	    .error_is_known = is_whole_run,
	    .peak_live_bytes = tree->peak_live_bytes,
	    .peak_ns = tree->has_peak ? tree->peak_ns : RVP_NEVER,
	    .lost_records = run->lost_records,
	};
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		totals->loss[i] = run->loss[i];
	for (size_t i = 0; i < run->process_count; i++) {
		add_process(totals, &processes[i]);
		if (sampling_mean(&run->processes[i]) > mean)
			mean = sampling_mean(&run->processes[i]);
	}
	totals->peak_sampled_bytes = tree->peak_sampled_bytes;
	totals->peak_error_bytes = rvp_weight_error_bytes(tree->peak_variance, mean);
	totals->end_error_bytes = totals->free_error_bytes =
	    rvp_weight_error_bytes(totals->end_variance, mean);
}
