/* SPDX-License-Identifier: MIT */
/* made_device.h: a made run with devices that was read: one answer for the host and one for each device. */
#ifndef RVP_TESTS_MADE_DEVICE_H
#define RVP_TESTS_MADE_DEVICE_H

#include "tests/unit/attributed.h"

enum { MADE_DEVICES_MAX = 4, MADE_MOMENTS_MAX = 16 };

struct made_device {
	struct maker maker;
	struct maker_thread *thread; /* of the first process */
	struct attributed host;
	struct rvp_analysis answers[MADE_DEVICES_MAX]; /* by device, from 0 */
	size_t count;
	uint64_t moments_ns[MADE_MOMENTS_MAX];
	size_t moment_count;
};

void made_device_begin(struct made_device *it);
/* What is live then will be asked for: stamps in order. Which moment it is. */
size_t made_device_ask(struct made_device *it, uint64_t stamp);
void made_device_read(struct made_device *it);
void made_device_end(struct made_device *it);

/* Live bytes at a moment: of a device, of all purposes or of one ("allocator/pool"). */
uint64_t made_device_live(const struct made_device *it, size_t device, size_t moment);
uint64_t made_device_live_of(const struct made_device *it, size_t device, const char *purpose, size_t moment);

#endif
