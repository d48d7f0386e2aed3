/* SPDX-License-Identifier: MIT */
/* tensor.h: PyTorch tells its profiler of every block that its CUDA allocator gives out or takes back, and of
 * each CPU tensor while a profiler runs (c10::reportMemoryUsageToProfiler). We hear it too, as TENSOR
 * records, and of CUDA as DEVICE_TENSOR ones with the call path of who asked.
 *
 * The import slots of PyTorch's own libraries are pointed to fronts of ours, which hand on to the real one.
 * Whether a profiler runs (memoryProfilingEnabled) is never changed: that would cost the program a lock, a
 * map and log lines.
 *
 * Rules
 *   - The real function is libc10's own, found in its table of symbols by a name that says its parameters:
 * Python loads PyTorch RTLD_LOCAL, so that dlsym finds nothing. A libc10 without a name that we know: nothing
 * is touched, said in an ADAPTER record.
 *   - What is told is looked at before it is believed; the first thing that can't be ends the listening (and
 * is said), never the handing on.
 */
#ifndef RVP_TENSOR_H
#define RVP_TENSOR_H

#include "preload/thread.h"

/* A library of PyTorch is mapped. In phase OURS. */
void rvp_tensor_meet(struct rvp_thread *thread);

#endif
