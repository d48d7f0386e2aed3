/* SPDX-License-Identifier: MIT */
/* reasons.c: see reasons.h. */
#include "cupti/reasons.h"

#include "cupti/abi.h"

#include <stdio.h>

const char *rvp_reason_of(int result, char *into, size_t bytes)
{
	switch (result) {
	case RVP_CUPTI_UNKNOWN: return "there is no driver that CUPTI can use";
	case RVP_CUPTI_NOT_COMPATIBLE: return "this libcupti does not fit the driver; use the one of the driver's CUDA version or older";
	case RVP_CUPTI_INSUFFICIENT_PRIVILEGES:
	case RVP_CUPTI_VIRTUALIZED_PRIVILEGES:
		return "this user may not trace; see NVIDIA's ERR_NVGPUCTRPERM page (NVreg_RestrictProfilingToAdminUsers=0, or "
		       "CAP_SYS_ADMIN in the container)";
	case RVP_CUPTI_OLD_PROFILER_API: return "the program uses the old profiler interface, which shuts CUPTI's tracing out";
	case RVP_CUPTI_MULTIPLE_SUBSCRIBERS: return "another tool has CUPTI's one subscription";
	case RVP_CUPTI_VIRTUALIZED_DEVICE: return "CUPTI does not trace on this virtual GPU";
	case RVP_CUPTI_CONFIDENTIAL_COMPUTING: return "CUPTI does not trace in confidential-computing mode";
	case RVP_CUPTI_CMP_DEVICE: return "CUPTI does not trace on mining cards (CMP)";
	case RVP_CUPTI_MIG_DEVICE: return "CUPTI does not trace on this MIG instance";
	case RVP_CUPTI_SLI_DEVICE: return "CUPTI does not trace on SLI devices";
	case RVP_CUPTI_WSL_DEVICE: return "CUPTI does not trace in this WSL; its device settings must allow profiling";
	case RVP_CUPTI_OUT_OF_MEMORY: return "CUPTI had no memory";
	default: snprintf(into, bytes, "CUPTI said error %d", result); return into;
	}
}
