/* SPDX-License-Identifier: MIT */
/* resident.c: see resident.h.
 *
 * Invariant (G1): rss_bytes, swap_bytes, mapped_bytes and region_bytes are the sums over the living
 * processes.
 */
#include "report/resident.h"

#include "report/run_source.h"

#include <stdlib.h>
#include <string.h>

bool rvp_tree_rss_open(struct rvp_tree_rss *resident, const struct rvp_run *run)
{
	*resident = (struct rvp_tree_rss){
	    .run = run, .processes = calloc(run->process_count + 1, sizeof *resident->processes)};
	for (size_t i = 0; resident->processes && i < run->process_count; i++)
		resident->processes[i].peak_bytes = run->processes[i].peak_rss_bytes;
	memset(resident->newest_of_pid, 0xff, sizeof resident->newest_of_pid);
	resident->last_watched = RVP_NO_PROCESS;
	return resident->processes != NULL;
}

static uint64_t total_of(const struct rvp_tree_rss_process *process)
{
	return process->anon_bytes + process->file_bytes + process->shmem_bytes;
}

static void see_change(struct rvp_tree_rss *resident, uint64_t ns)
{
	if (!resident->first_ns)
		resident->first_ns = resident->changed_ns = ns;
	resident->byte_ns += (double)resident->rss_bytes * (double)(ns - resident->changed_ns);
	resident->changed_ns = ns;
}

/* A sample without its parts: anon holds all. */
static void set_sample(struct rvp_tree_rss *resident, uint32_t number, uint64_t ns,
		       const struct rvp_tree_rss_process *sample)
{
	struct rvp_tree_rss_process *process = &resident->processes[number];

	see_change(resident, ns);
	resident->rss_bytes += total_of(sample) - total_of(process);
	resident->swap_bytes += sample->swap_bytes - process->swap_bytes;
	process->anon_bytes = sample->anon_bytes;
	process->file_bytes = sample->file_bytes;
	process->shmem_bytes = sample->shmem_bytes;
	process->swap_bytes = sample->swap_bytes;
	if (sample->peak_bytes > process->peak_bytes)
		process->peak_bytes = sample->peak_bytes;
	resident->sampled_processes += !process->is_sampled;
	process->is_sampled = resident->is_sampled = true;
	resident->last_sample_ns = ns;
	if (resident->rss_bytes > resident->peak_bytes) {
		resident->peak_bytes = resident->rss_bytes;
		resident->peak_ns = ns;
	}
}

static void begin(struct rvp_tree_rss *resident, uint32_t number, uint64_t ns)
{
	const struct rvp_process *process = &resident->run->processes[number];

	resident->processes[number].is_alive = true;
	resident->newest_of_pid[process->pid % 1024] = number;
	if (process->first_rss_bytes)
		set_sample(resident, number, ns,
			   &(struct rvp_tree_rss_process){.anon_bytes = process->first_rss_bytes});
}

static void drop_regions(struct rvp_tree_rss *resident, struct rvp_tree_rss_process *process)
{
	struct rvp_tree_rss_regions *regions = process->regions;

	if (!regions)
		return;
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		resident->mapped_bytes[i] -= regions->mapped_bytes[i];
		resident->region_bytes[i] -= regions->rss_bytes[i];
	}
	resident->region_processes--;
	free(regions);
	process->regions = NULL;
}

static void end(struct rvp_tree_rss *resident, uint32_t number, uint64_t ns)
{
	struct rvp_tree_rss_process *process = &resident->processes[number];

	if (process->is_sampled)
		see_change(resident, ns);
	resident->sampled_processes -= process->is_sampled;
	resident->rss_bytes -= total_of(process);
	resident->swap_bytes -= process->swap_bytes;
	drop_regions(resident, process);
	*process = (struct rvp_tree_rss_process){.peak_bytes = process->peak_bytes};
}

static bool is_watched(const struct rvp_tree_rss *resident, uint32_t number, uint64_t pid,
		       uint64_t start_ticks)
{
	const struct rvp_process *process = &resident->run->processes[number];

	return resident->processes[number].is_alive && process->pid == pid &&
	       (!start_ticks || !process->start_ticks || process->start_ticks == start_ticks);
}

/* The living process of this pid that began last; a process that was replaced by exec keeps pid and start. */
static uint32_t find_watched(const struct rvp_tree_rss *resident, uint64_t pid, uint64_t start_ticks)
{
	uint32_t best = resident->newest_of_pid[pid % 1024];

	if (best != RVP_NO_PROCESS && is_watched(resident, best, pid, start_ticks))
		return best;
	best = RVP_NO_PROCESS;
	for (uint32_t i = 0; i < resident->run->process_count; i++)
		if (is_watched(resident, i, pid, start_ticks) &&
		    (best == RVP_NO_PROCESS ||
		     resident->run->processes[i].begin_ns >= resident->run->processes[best].begin_ns))
			best = i;
	return best;
}

/* SNAPSHOT and WATCH have the same names for the same things. */
#define SEEN_BY(record)                                                           \
	(&(struct rvp_tree_rss_process){.anon_bytes = (record)->rss_anon_bytes,   \
					.file_bytes = (record)->rss_file_bytes,   \
					.shmem_bytes = (record)->rss_shmem_bytes, \
					.swap_bytes = (record)->swap_bytes,       \
					.peak_bytes = (record)->peak_rss_bytes})

/* Without /proc a snapshot has no RSS, but the highest so far by getrusage. */
static bool take_snapshot(struct rvp_tree_rss *resident, const struct rvp_moment *moment)
{
	const struct rvp_record_SNAPSHOT *record = &moment->record->SNAPSHOT;
	struct rvp_tree_rss_process *process;

	if (moment->process == RVP_NO_PROCESS || !resident->processes[moment->process].is_alive)
		return false;
	process = &resident->processes[moment->process];
	if (!total_of(SEEN_BY(record))) {
		if (record->peak_rss_bytes > process->peak_bytes)
			process->peak_bytes = record->peak_rss_bytes;
		return false;
	}
	set_sample(resident, moment->process, moment->ns, SEEN_BY(record));
	return true;
}

static bool take_watch(struct rvp_tree_rss *resident, const struct rvp_moment *moment)
{
	const struct rvp_record_WATCH *record = &moment->record->WATCH;
	uint32_t number = find_watched(resident, record->pid, record->start_ticks);

	resident->last_watched = number;
	if (number == RVP_NO_PROCESS)
		return false;
	set_sample(resident, number, moment->ns, SEEN_BY(record));
	return true;
}

/* The first row of a snapshot of maps throws the one before away. */
static struct rvp_tree_rss_regions *regions_of(struct rvp_tree_rss *resident, uint32_t number, uint64_t ns)
{
	struct rvp_tree_rss_process *process = &resident->processes[number];

	if (process->regions && process->regions->ns == ns)
		return process->regions;
	drop_regions(resident, process);
	process->regions = calloc(1, sizeof *process->regions);
	if (!process->regions)
		return NULL;
	process->regions->ns = ns;
	resident->region_processes++;
	return process->regions;
}

static bool take_region(struct rvp_tree_rss *resident, const struct rvp_moment *moment)
{
	const struct rvp_record_REGION *record = &moment->record->REGION;
	uint32_t number =
	    moment->process != RVP_NO_PROCESS ? moment->process : find_watched(resident, record->pid, 0);

	if (number == RVP_NO_PROCESS || record->category >= RVP_CATEGORY_COUNT ||
	    !resident->processes[number].is_alive)
		return false;
	struct rvp_tree_rss_regions *regions = regions_of(resident, number, moment->ns);

	if (!regions)
		return false;
	regions->mapped_bytes[record->category] += record->mapped_bytes;
	regions->rss_bytes[record->category] += record->rss_bytes;
	resident->mapped_bytes[record->category] += record->mapped_bytes;
	resident->region_bytes[record->category] += record->rss_bytes;
	return true;
}

static bool take_record(struct rvp_tree_rss *resident, const struct rvp_moment *moment)
{
	switch (moment->record->kind) {
	case RVP_SNAPSHOT: return take_snapshot(resident, moment);
	case RVP_WATCH: return take_watch(resident, moment);
	case RVP_REGION: return take_region(resident, moment);
	case RVP_CGROUP:
		resident->cgroup = moment->record->CGROUP;
		resident->has_cgroup = true;
		return false;
	default: return false;
	}
}

void rvp_tree_rss_note_last(struct rvp_tree_rss *resident, uint32_t number, uint64_t ns)
{
	const struct rvp_process *process = &resident->run->processes[number];
	uint64_t last_bytes = process->end == RVP_END_KILLED ? 0 : process->last_rss_bytes;

	if (last_bytes && resident->processes[number].is_alive)
		set_sample(resident, number, ns, &(struct rvp_tree_rss_process){.anon_bytes = last_bytes});
}

bool rvp_tree_rss_take(struct rvp_tree_rss *resident, const struct rvp_event *event)
{
	const struct rvp_moment *moment = event->moment;

	if (event->kind == RVP_EVENT_RECORD)
		return take_record(resident, moment);
	if (event->kind == RVP_EVENT_BEGIN)
		begin(resident, moment->process, moment->ns);
	else if (event->kind == RVP_EVENT_END)
		end(resident, moment->process, moment->ns);
	else
		return false;
	return true;
}

uint64_t rvp_tree_rss_peak_bytes(const struct rvp_tree_rss *resident)
{
	uint64_t peak = resident->peak_bytes;

	for (size_t i = 0; i < resident->run->process_count; i++)
		if (resident->processes[i].peak_bytes > peak)
			peak = resident->processes[i].peak_bytes;
	return peak;
}

uint64_t rvp_tree_rss_mean_bytes(const struct rvp_tree_rss *resident, uint64_t end_ns)
{
	double last = end_ns > resident->changed_ns ? (double)(end_ns - resident->changed_ns) : 0;
	double span = (double)(resident->changed_ns - resident->first_ns) + last;

	if (!resident->is_sampled)
		return 0;
	if (span <= 0)
		return resident->rss_bytes;
	return (uint64_t)((resident->byte_ns + last * (double)resident->rss_bytes) / span);
}

void rvp_tree_rss_free(struct rvp_tree_rss *resident)
{
	for (size_t i = 0; resident->processes && i < resident->run->process_count; i++)
		free(resident->processes[i].regions);
	free(resident->processes);
	resident->processes = NULL;
}
