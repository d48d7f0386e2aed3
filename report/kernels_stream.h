/* SPDX-License-Identifier: MIT */
/* kernels_stream.h: the work of all devices of a run, one piece after the other in order of start: kernels, copies,
 * memsets, graphs that ran as a whole; and what the host did for it: launches, calls, waits; and the tracer's overhead.
 *
 * The log has them in the order in which they were told of, by several threads, minutes late perhaps. Chunks of the log are
 * read in order of their earliest time; what is earlier than all that is still to be read is handed out, the rest is carried
 * on. Where the order is so wild that the rest outgrows a window, the earliest RVP_WINDOW pieces behind the last ones are
 * picked from all chunks that reach into it, window by window; a chunk is read for each of these then, and where chunks are
 * read many times over windows grow up to RVP_WINDOW_MAX. So memory is that of three windows, whatever comes.
 *
 * Rules
 *   - Times are UNIX ns where the process's clock is tied; else they count from the run's begin.
 *   - What the host did stands a millisecond too early in the order (never later than what it led to): two clocks that
 *     disagree by less do not part a launch from its kernel.
 *   - Work without a time (rvp_is_timeless) comes last; has_start is false.
 *   - Numbers of stacks are those of the process's tables.
 */
#ifndef RVP_REPORT_KERNELS_STREAM_H
#define RVP_REPORT_KERNELS_STREAM_H

#include "report/kernels_defs.h"
#include "report/run.h"

enum { RVP_WINDOW = 1 << 16, RVP_WINDOW_MAX = 1 << 20 };
static const uint64_t rvp_host_lead_ns = 1000000;

struct rvp_activity {
	uint64_t start_ns, duration_ns; /* the duration as told, never scaled */
	uint64_t end_ns;                /* by our clock, as the start: what touches there touches here */
	uint64_t correlation; /* 0: none */
	uint64_t bytes;       /* of a copy or memset; of a launch: how many it stands for */
	uint64_t node;        /* of a graph; 0: none */
	uint64_t queued_ns,
	    submitted_ns; /* of a kernel, before its start; 0: not told. Of a sync: event in queued_ns */
	uint32_t process;
	uint32_t device, context, stream, graph;
	uint32_t number; /* shape of a kernel; function of a launch or call; kind of a sync or overhead;
			    memset's value */
	uint32_t tid;    /* of a launch, call or overhead */
	uint32_t stack, python;                      /* of a launch */
	uint32_t from_device, to_device;             /* of a copy between devices: 1 + the device */
	uint32_t result;                             /* of a call or wait */
	uint8_t kind;                                /* enum rvp_kind */
	uint8_t flaw;                                /* enum rvp_device_flaw */
	uint8_t copy_kind, source_kind, target_kind; /* of a copy; of a memset target_kind */
	bool has_start;
	bool has_device; /* false of a host's wait, call, launch */
};

struct rvp_kernel_stream;

/* NULL without memory. A run without device records is an empty stream. */
struct rvp_kernel_stream *rvp_kernel_stream_open(const struct rvp_run *run);

/* False at the end, and without memory: see rvp_kernel_stream_failed. */
bool rvp_kernel_stream_next(struct rvp_kernel_stream *stream, struct rvp_activity *activity);
bool rvp_kernel_stream_failed(const struct rvp_kernel_stream *stream);

/* How many records were decoded to hand out so many. */
uint64_t rvp_kernel_stream_decoded(const struct rvp_kernel_stream *stream);
void rvp_kernel_stream_close(struct rvp_kernel_stream *stream);

/* Whether any process of the run has records of device work, or of how devices were followed. */
bool rvp_run_has_devices(const struct rvp_run *run);

#endif
