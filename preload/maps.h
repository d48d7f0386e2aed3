/* SPDX-License-Identifier: MIT */
/* maps.h: records mappings and the program break. Between rvp_enter and rvp_leave. */
#ifndef RVP_MAPS_H
#define RVP_MAPS_H

#include "preload/enter.h"

struct rvp_mapping {
	uint64_t address, bytes, offset;
	int protection, flags;
	int fd; /* -1: anonymous */
};

void rvp_on_map(struct rvp_thread *thread, struct rvp_mapping mapping, struct rvp_caller caller);
void rvp_on_unmap(struct rvp_thread *thread, uint64_t address, uint64_t bytes);
void rvp_on_remap(struct rvp_thread *thread, uint64_t old, uint64_t old_bytes, uint64_t address, uint64_t bytes,
		  struct rvp_caller caller);
void rvp_on_break(struct rvp_thread *thread, uint64_t before, uint64_t after, struct rvp_caller caller);

#endif
