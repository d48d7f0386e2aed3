/* SPDX-License-Identifier: MIT */
/* device_list.h: the devices of a run. A process counts its devices from 0, after whatever hides some of them
 * from it; so two processes' device 0 may be two devices, and one device may have two numbers. What tells is
 * the UUID.
 *
 * Rules
 *   - A device of the run has a number from 1; 0 stands for the host (rvp_question.device, a block's flags).
 *   - Its name is cuda:N by the number that the first process which met it has for it; where that name is
 * another device's already, the next free one.
 *   - Devices without a UUID are one where their process's numbers are.
 *   - A number of RVP_DEVICES_MAX and more is no device's.
 */
#ifndef RVP_REPORT_DEVICE_LIST_H
#define RVP_REPORT_DEVICE_LIST_H

#include "record/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvp_run;
struct rvp_process;
struct rvp_arena;

enum { RVP_DEVICES_MAX = 64, RVP_UUID_BYTES = 16 };

struct rvp_device {
	char name[16];     /* cuda:0 */
	uint32_t ordinal;  /* of the name */
	const char *model; /* "": not known */
	uint64_t memory_bytes;
	bool has_memory; /* records of its memory are in the run */
	bool has_uuid;
	unsigned char uuid[RVP_UUID_BYTES];
};

/* What a process said of one of its devices. */
struct rvp_met_device {
	uint32_t ordinal;
	bool is_described, has_memory, has_uuid;
	unsigned char uuid[RVP_UUID_BYTES];
	const char *model;
	uint64_t memory_bytes;
};
struct rvp_met_devices {
	struct rvp_met_device *met; /* in order of their first records */
	size_t count, room;
	uint64_t driver_version; /* as cuDriverGetVersion; 0: not told */
	uint8_t numbers[RVP_DEVICES_MAX]; /* by ordinal: the run's number; 0: none */
};

/* While a log is scanned; false without memory. */
bool rvp_devices_note(struct rvp_process *process, struct rvp_arena *arena, const struct rvp_record *record);
/* When all logs are. */
void rvp_devices_settle(struct rvp_run *run);

/* The run's number of a process's device; 0: there is none such. */
uint32_t rvp_device_number(const struct rvp_process *process, uint64_t ordinal);

/* What it is called in this run (cuda:N): ranks that were each given one device all call it 0. */
uint32_t rvp_device_called(const struct rvp_run *run, const struct rvp_process *process, uint32_t ordinal);

#endif
