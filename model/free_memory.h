/* SPDX-License-Identifier: MIT */
/* free_memory.h: memory that can be had without swapping. */
#ifndef RVP_MODEL_FREE_MEMORY_H
#define RVP_MODEL_FREE_MEMORY_H

#include <stdint.h>

/* /proc/meminfo's MemAvailable; 0: not to be had. */
uint64_t rvp_free_memory_bytes(void);

#endif
