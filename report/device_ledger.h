/* SPDX-License-Identifier: MIT */
/* device_ledger.h: what a device's memory consisted of where the driver said how much there was
 * (DEVICE_MEMORY): at the sample with the highest figure, at the last one, at marks. An observer of a pass
 * over that device's memory.
 *
 * The driver's figure is NVML's of the processes of the run, where each that uses the device was told of;
 * else cuMemGetInfo's, total less free, in which other processes are a row as far as they were told of; else
 * there is none and nothing closes. Rows:
 *   - categories of blocks, with what allocators keep (`allocator`, `allocator/pool`);
 *   - context: what a process held at its first sample beyond its known blocks and the tracer: derived, by
 * process. The sample stands behind the record of the call in which the context was met. Where contexts are added or end
 * while others live it is derived anew, at the next sample, and what had no row before still has none;
 *   - rvprof: the tracer's own buffers on the device;
 *   - others: of other processes, with cuMemGetInfo alone.
 * What no row has is unexplained; negative where rows hold more than the driver said.
 */
#ifndef RVP_REPORT_DEVICE_LEDGER_H
#define RVP_REPORT_DEVICE_LEDGER_H

#include "report/device_blocks.h"
#include "report/observer.h"

enum rvp_device_figure { RVP_FIGURE_NONE, RVP_FIGURE_NVML, RVP_FIGURE_MEMINFO };
extern const char *const rvp_device_figure_names[]; /* none, nvml, cuMemGetInfo */

struct rvp_device_entry {
	bool is_set;
	uint64_t ns;
	enum rvp_device_figure figure;
	uint64_t driver_bytes;            /* by the figure */
	uint64_t total_bytes, free_bytes; /* cuMemGetInfo's; 0: not told */
	uint64_t live_bytes;              /* of all purposes */
	uint64_t by_purpose[RVP_PURPOSES_MAX];
	uint64_t context_bytes, tracer_bytes, others_bytes;
	bool has_context;
	struct rvp_device_segments segments; /* of a caching allocator, at this moment */
	char label[64];                      /* of a mark */
};

enum { RVP_DEVICE_MARKS_MAX = 16 };

struct rvp_device_process {
	bool is_sampled, is_alive, has_context, has_context_bytes;
	uint64_t context_bytes;
	size_t contexts;    /* of which context_bytes was derived */
	int64_t rest_bytes; /* at its last sample, what had no row: NVML's figure alone */
	struct rvp_record_DEVICE_MEMORY last;
};

struct rvp_device_ledger {
	struct rvp_observer observer;
	struct rvp_device_entry peak, end, marks[RVP_DEVICE_MARKS_MAX];
	uint64_t mark_count; /* ever */
	struct rvp_device_segments
	    segments_at_end; /* when the last process that had any ended; count 0: none did */
	/* While the pass goes on. */
	const struct rvp_run *run;
	uint32_t device;
	struct rvp_device_process *processes;
	struct rvp_record_MARK mark; /* the last label; its text holds until the run is closed */
	uint64_t held_ns;            /* of a sample that is not in an entry yet */
	uint32_t held_process, held_stream;
	bool has_held;
};

/* False without memory. */
bool rvp_device_ledger_open(struct rvp_device_ledger *ledger, const struct rvp_run *run, uint32_t device);
void rvp_device_ledger_close(struct rvp_device_ledger *ledger);

/* The driver's figure less all rows; only where there is a figure. */
int64_t rvp_device_unexplained(const struct rvp_device_entry *entry);

#endif
