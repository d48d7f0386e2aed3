/* SPDX-License-Identifier: MIT */
/* watch.h: the tree of a run, watched from outside into watch.rvl: each process's resident memory over time
 * (WATCH), what it is made of at grown peaks (REGION), and its control group (CGROUP).
 *
 * Rules
 *   - Stamps are CLOCK_MONOTONIC ns (the log's PROCESS record says so); ANCHOR records are first and last.
 *   - What it costs is measured: processor time spent is at most 1 % of the time that has passed, but for the
 * first sample and the last. Between 10 ms and 1 s lie between two samples; sooner while memory moves.
 *   - smaps stalls mmap in the program while it is read: only when the peak has grown by more than 5 % since
 * the last time, or after a quarter of the run so far, and within the same budget.
 *   - Power (meters.h) is sampled each 50 ms, and more rarely where that would take more than half of the 1 %.
 *   - An error ends the watching, never the program: rvp_watch_close tells it.
 */
#ifndef RVP_WATCH_H
#define RVP_WATCH_H

#include "record/status.h"
#include "record/tree.h"

#include <stdint.h>
#include <sys/types.h>

struct rvp_watch;
struct rvp_meters;

/* Begins watch.rvl in `folder` for the program `root`. `tree` must outlive the watch, and so must `power` (NULL: none). */
struct rvp_status rvp_watch_open(struct rvp_watch **watch, const char *folder, struct rvp_tree *tree,
				 pid_t root, struct rvp_meters *power);

/* Samples if it is time. Returns after how many ns it wants to be called again. */
int64_t rvp_watch_step(struct rvp_watch *watch);

/* What it saw. */
struct rvp_watch_sum {
	uint64_t peak_rss_bytes; /* highest sum over the tree at one moment, or of one process's VmHWM */
	uint64_t samples, region_snapshots, cost_ns, elapsed_ns;
};

/* The program ended (`wait_status` of waitpid): last records; the first failure of all. Frees `watch`. */
struct rvp_status rvp_watch_close(struct rvp_watch *watch, int wait_status, struct rvp_watch_sum *sum);

#endif
