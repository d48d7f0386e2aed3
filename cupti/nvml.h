/* SPDX-License-Identifier: MIT */
/* nvml.h: what the driver's management library says of a device's memory: how much of it is this process's, and how much
 * other processes'. Opened at the first look at a device's memory, not earlier, and never closed.
 *
 * Which of the device's processes is this one: the one with our pid; in a container, where the pids are the host's, the only
 * one that there is. Else nobody is, and others can't be told from us either. */
#ifndef RVP_CUPTI_NVML_H
#define RVP_CUPTI_NVML_H

#include <stdbool.h>
#include <stdint.h>

struct rvp_nvml_figures {
	bool has_process; /* false: the rest says nothing */
	uint64_t process_bytes, others_bytes;
};

/* Of the device of this number, as CUDA counts. Between begin_own and end_own. */
struct rvp_nvml_figures rvp_nvml_figures(uint32_t device);

#endif
