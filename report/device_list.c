/* SPDX-License-Identifier: MIT */
/* device_list.c: see device_list.h. */
#include "report/device_list.h"

#include "report/arena.h"
#include "report/grow.h"
#include "report/run.h"

#include <stdio.h>
#include <string.h>

static struct rvp_met_device *met_as(struct rvp_met_devices *devices, uint64_t ordinal)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->met[i].ordinal == ordinal)
			return &devices->met[i];
	if (!rvp_grow((void **)&devices->met, &devices->room, devices->count + 1, sizeof *devices->met))
		return NULL;
	devices->met[devices->count] = (struct rvp_met_device){.ordinal = (uint32_t)ordinal, .model = ""};
	return &devices->met[devices->count++];
}

static bool note_memory(struct rvp_met_devices *devices, uint64_t ordinal)
{
	struct rvp_met_device *device = ordinal < RVP_DEVICES_MAX ? met_as(devices, ordinal) : NULL;

	if (device)
		device->has_memory = true;
	return device || ordinal >= RVP_DEVICES_MAX;
}

static bool describe(struct rvp_met_devices *devices, struct rvp_arena *arena,
		     const struct rvp_record_DEVICE *record)
{
	struct rvp_met_device *device =
	    record->device < RVP_DEVICES_MAX ? met_as(devices, record->device) : NULL;

	if (!device)
		return record->device >= RVP_DEVICES_MAX;
	device->is_described = true;
	device->memory_bytes = record->memory_bytes;
	device->model = rvp_arena_copy(arena, record->model);
	device->has_uuid = record->uuid.length == RVP_UUID_BYTES;
	if (device->has_uuid)
		memcpy(device->uuid, record->uuid.bytes, RVP_UUID_BYTES);
	return device->model != NULL;
}

bool rvp_devices_note(struct rvp_process *process, struct rvp_arena *arena, const struct rvp_record *record)
{
	struct rvp_met_devices *devices = &process->devices;

	switch (record->kind) {
	case RVP_DEVICE: return describe(devices, arena, &record->DEVICE);
	case RVP_DEVICE_TRACER:
		if (record->DEVICE_TRACER.driver_version)
			devices->driver_version = record->DEVICE_TRACER.driver_version;
		return true;
	case RVP_DEVICE_ALLOC:
		/* Pinned and registered memory is the host's, imported memory another process's. */
		if (record->DEVICE_ALLOC.kind == RVP_DEVICE_MEMORY_PINNED ||
		    record->DEVICE_ALLOC.kind == RVP_DEVICE_MEMORY_REGISTERED ||
		    record->DEVICE_ALLOC.kind == RVP_DEVICE_MEMORY_IMPORTED)
			return true;
		return note_memory(devices, record->DEVICE_ALLOC.device);
	case RVP_DEVICE_TENSOR: return note_memory(devices, record->DEVICE_TENSOR.device);
	case RVP_TENSOR:
		return record->TENSOR.device_type != 1 || note_memory(devices, record->TENSOR.device);
	case RVP_DEVICE_MEMORY: return note_memory(devices, record->DEVICE_MEMORY.device);
	case RVP_DEVICE_REFUSED: return note_memory(devices, record->DEVICE_REFUSED.device);
	default: return true;
	}
}

static bool is_same(const struct rvp_device *device, const struct rvp_met_device *met)
{
	if (device->has_uuid && met->has_uuid)
		return memcmp(device->uuid, met->uuid, RVP_UUID_BYTES) == 0;
	return device->ordinal == met->ordinal;
}

static bool is_taken(const struct rvp_run *run, uint32_t ordinal)
{
	for (size_t i = 0; i < run->device_count; i++)
		if (run->devices[i].ordinal == ordinal)
			return true;
	return false;
}

static void name_device(const struct rvp_run *run, struct rvp_device *device, uint32_t ordinal)
{
	while (is_taken(run, ordinal))
		ordinal++;
	device->ordinal = ordinal;
	snprintf(device->name, sizeof device->name, "cuda:%u", ordinal);
}

static struct rvp_device *device_of(struct rvp_run *run, const struct rvp_met_device *met)
{
	struct rvp_device device = {.model = ""};

	for (size_t i = 0; i < run->device_count; i++)
		if (is_same(&run->devices[i], met))
			return &run->devices[i];
	if (run->device_count == RVP_DEVICES_MAX)
		return NULL;
	name_device(run, &device, met->ordinal);
	run->devices[run->device_count] = device;
	return &run->devices[run->device_count++];
}

static void settle(struct rvp_run *run, struct rvp_process *process, const struct rvp_met_device *met)
{
	struct rvp_device *device = device_of(run, met);

	if (!device)
		return;
	process->devices.numbers[met->ordinal] = (uint8_t)(device - run->devices + 1);
	device->has_memory |= met->has_memory;
	if (met->is_described && !*device->model) {
		device->model = met->model;
		device->memory_bytes = met->memory_bytes;
	}
	if (met->has_uuid && !device->has_uuid) {
		device->has_uuid = true;
		memcpy(device->uuid, met->uuid, RVP_UUID_BYTES);
	}
}

void rvp_devices_settle(struct rvp_run *run)
{
	run->device_count = 0;
	for (size_t i = 0; i < run->process_count; i++)
		for (size_t k = 0; k < run->processes[i].devices.count; k++)
			settle(run, &run->processes[i], &run->processes[i].devices.met[k]);
}

uint32_t rvp_device_number(const struct rvp_process *process, uint64_t ordinal)
{
	return ordinal < RVP_DEVICES_MAX ? process->devices.numbers[ordinal] : 0;
}

uint32_t rvp_device_called(const struct rvp_run *run, const struct rvp_process *process, uint32_t ordinal)
{
	uint32_t number = rvp_device_number(process, ordinal);

	return number ? run->devices[number - 1].ordinal : ordinal;
}
