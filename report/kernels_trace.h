/* SPDX-License-Identifier: MIT */
/* kernels_trace.h: work of devices in a Chrome trace, by the names and keys that PyTorch's profiler (Kineto)
 * writes, so that what reads its traces reads these: categories kernel, gpu_memcpy, gpu_memset, cuda_runtime,
 * cuda_driver, cuda_sync, overhead; flows "ac2g" from a call to what it led to.
 *
 *   - A device is a process of the trace, a stream a thread of it. Pids of devices are their numbers, unless
 * a real process could have such a one or several processes used devices: then they begin beyond any real
 * pid.
 *   - Slices of one row never cross: what overlaps a piece of its own stream stands on a row "stream 7
 * (overlap 1)". No duration is cut to fit.
 *   - Calls stand on a row of their own beside their thread's ("CUDA calls of thread T"), since their times
 * are of another clock than those of scopes; for HTA on the thread's own, where nothing else is.
 *   - A kernel says where it was launched: the range ("range"), the Python line ("python_function"), and the number of the
 * call path ("site"), whose frames ("stack", "python") stand at the first kernel that has it.
 *   - Pieces without a time are not drawn; they are counted in the trace's metadata.
 *   - In trace.json they get two fifths of the file; what does not fit is counted there.
 *
 * For HolisticTraceAnalysis (`is_hta`): one process alone, each kernel of a graph with a correlation of its
 * own and a launch slice of its own (HTA joins one to one), steps as "ProfilerStep#N".
 */
#ifndef RVP_REPORT_KERNELS_TRACE_H
#define RVP_REPORT_KERNELS_TRACE_H

#include "report/kernels.h"
#include "report/write_trace.h"

struct rvp_kernel_row;

struct rvp_kernel_trace {
	struct rvp_kernel_sink sink;
	struct rvp_trace *trace;
	const struct rvp_kernels *kernels;    /* the figures that are summed meanwhile */
	const struct rvp_kernel_clock *clock; /* theirs */
	uint32_t only;                        /* this process alone; RVP_NO_PROCESS: all */
	bool is_hta;
	uint64_t most_bytes; /* of the pieces here */
	uint64_t bytes, cut_count, untimed_count;
	uint64_t *calls_from_ns; /* by process: from when on calls were recorded each */
	struct rvp_kernel_row *rows;
	size_t row_count, row_room;
	struct rvp_key_places row_keys; /* of the rows, with their numbers */
	struct rvp_key_places pid_keys; /* pids of rows */
	bool *told_sites; /* by number: whether its call path stands in the trace */
	size_t told_site_count;
	uint64_t next_correlation; /* for kernels of graphs; is_hta */
	uint32_t pid_base;
	bool no_memory;
};

/* `only`, `is_hta`, as above. False without memory. */
bool rvp_kernel_trace_open(struct rvp_kernel_trace *kernel_trace, struct rvp_trace *trace,
			   const struct rvp_kernels *kernels, uint32_t only, bool is_hta);
void rvp_kernel_trace_close(struct rvp_kernel_trace *kernel_trace);

/* The keys of the trace's head that tell of devices, each with a comma behind it; nothing in a run without
 * any. `only`: of this process. */
void rvp_kernel_trace_head(struct rvp_trace *trace, uint32_t only);

/* The pid by which the rows of a device go; `base` is 0 where that is the device's own number. */
uint32_t rvp_kernel_trace_pid_base(const struct rvp_run *run, uint32_t only);
uint32_t rvp_kernel_trace_pid(uint32_t base, uint32_t process, uint32_t device);

/* Where a piece of work was launched, as arguments with a comma before each (kernels_trace_origin.c). */
void rvp_kernel_trace_put_origin(struct rvp_kernel_trace *kernel_trace, const struct rvp_work *work);

/* Kineto's name of a copy: "Memcpy HtoD (Pageable -> Device)", or of a memset. */
const char *rvp_copy_name(const struct rvp_activity *activity, char *text, size_t text_bytes);

#endif
