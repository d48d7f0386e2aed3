/* SPDX-License-Identifier: MIT */
/* resident.h: resident memory over time, from snapshots inside (SNAPSHOT), outside (WATCH) and of maps
 * (REGION).
 *
 * The tree's RSS is the sum of each living process's latest sample; shared pages count in each.
 */
#ifndef RVP_REPORT_RESIDENT_H
#define RVP_REPORT_RESIDENT_H

#include "report/match.h"

struct rvp_tree_rss_regions { /* the latest snapshot of maps of a process; bytes by category */
	uint64_t ns;
	uint64_t mapped_bytes[RVP_CATEGORY_COUNT], rss_bytes[RVP_CATEGORY_COUNT];
};

struct rvp_tree_rss_process {
	bool is_alive, is_sampled;
	uint64_t anon_bytes, file_bytes, shmem_bytes, swap_bytes;
	uint64_t peak_bytes;                  /* highest it was told to have been */
	struct rvp_tree_rss_regions *regions; /* NULL: none */
};

struct rvp_tree_rss {
	const struct rvp_run *run;
	struct rvp_tree_rss_process *processes;
	uint64_t rss_bytes, swap_bytes; /* of the tree, now */
	bool is_sampled;                /* some process ever was */
	uint64_t last_sample_ns;
	uint64_t peak_bytes, peak_ns;
	uint64_t region_processes;  /* living ones with regions */
	uint64_t sampled_processes; /* living ones with a sample */
	uint64_t mapped_bytes[RVP_CATEGORY_COUNT], region_bytes[RVP_CATEGORY_COUNT]; /* of the tree, now */
	double byte_ns;                /* integral, for the mean */
	uint64_t first_ns, changed_ns; /* from the first sample on */
	struct rvp_record_CGROUP cgroup;
	bool has_cgroup;
	uint32_t last_watched;        /* process of the last sample from outside, or RVP_NO_PROCESS */
	uint32_t newest_of_pid[1024]; /* by pid modulo 1024: the process that began last, or RVP_NO_PROCESS */
};

/* False without memory. */
bool rvp_tree_rss_open(struct rvp_tree_rss *resident, const struct rvp_run *run);

/* Before the end of a process is taken: what it read at its last hook was true until now. */
void rvp_tree_rss_note_last(struct rvp_tree_rss *resident, uint32_t number, uint64_t ns);

/* Takes an event of kind BEGIN, END or RECORD; true when the tree's RSS may have moved. */
bool rvp_tree_rss_take(struct rvp_tree_rss *resident, const struct rvp_event *event);

/* Highest RSS of the tree that is known of: of the sums, or of one process alone by its own account. */
uint64_t rvp_tree_rss_peak_bytes(const struct rvp_tree_rss *resident);
uint64_t rvp_tree_rss_mean_bytes(const struct rvp_tree_rss *resident, uint64_t end_ns);

void rvp_tree_rss_free(struct rvp_tree_rss *resident);

#endif
