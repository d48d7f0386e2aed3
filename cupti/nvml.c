/* SPDX-License-Identifier: MIT */
/* nvml.c: see nvml.h. A device is found by its UUID: NVML counts devices in another order than CUDA, and all of them. */
#include "cupti/nvml.h"

#include "cupti/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { SUCCESS = 0, ROWS = 64, UUID_BYTES = 16, UUID_TEXT_BYTES = 64 };
enum { UNTRIED, TRYING, READY, ABSENT };

struct process { /* nvml.h, nvmlProcessInfo_t, of the functions' _v2 and _v3 */
	unsigned pid;
	unsigned long long bytes; /* ULLONG_MAX: not told */
	unsigned gpu_instance, compute_instance;
};

static struct {
	int (*start)(void);
	int (*device_of)(const char *uuid, void **device);
	int (*processes_of)(void *device, unsigned *count, struct process *rows);
} nvml;
static _Atomic int state;

static bool find(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)(void *)&nvml.start = dlsym(library, "nvmlInit_v2");
	*(void **)(void *)&nvml.device_of = dlsym(library, "nvmlDeviceGetHandleByUUID");
	*(void **)(void *)&nvml.processes_of = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
	if (!nvml.processes_of)
		*(void **)(void *)&nvml.processes_of = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v2");
	return nvml.start && nvml.device_of && nvml.processes_of && nvml.start() == SUCCESS;
}

/* One thread tries; the others go without for that look. */
static bool is_ready(void)
{
	int untried = UNTRIED;

	if (atomic_compare_exchange_strong(&state, &untried, TRYING))
		atomic_store(&state, find() ? READY : ABSENT);
	return atomic_load(&state) == READY;
}

static void put_uuid(char text[UUID_TEXT_BYTES], const char *kind, const uint8_t u[UUID_BYTES])
{
	snprintf(text, UUID_TEXT_BYTES, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", kind, u[0],
		 u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

/* A part of a divided device (MIG) has a UUID of its own. */
static void *handle_of(uint32_t device)
{
	uint8_t uuid[UUID_BYTES];
	char text[UUID_TEXT_BYTES];
	void *handle = NULL;

	if (!rvp_driver.cuDeviceGetUuid_v2 || rvp_driver.cuDeviceGetUuid_v2(uuid, (int)device) != RVP_CU_SUCCESS)
		return NULL;
	put_uuid(text, "GPU", uuid);
	if (nvml.device_of(text, &handle) == SUCCESS)
		return handle;
	put_uuid(text, "MIG", uuid);
	return nvml.device_of(text, &handle) == SUCCESS ? handle : NULL;
}

/* -1: none that is sure to be this process. */
static int own_row(const struct process *rows, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (rows[i].pid == (unsigned)getpid())
			return (int)i;
	return count == 1 ? 0 : -1;
}

struct rvp_nvml_figures rvp_nvml_figures(uint32_t device)
{
	struct rvp_nvml_figures figures = {0};
	struct process rows[ROWS];
	unsigned count = ROWS;
	void *handle = is_ready() ? handle_of(device) : NULL;
	int own;

	if (!handle || nvml.processes_of(handle, &count, rows) != SUCCESS || count > ROWS)
		return figures;
	own = own_row(rows, count);
	if (own < 0 || rows[own].bytes == ULLONG_MAX)
		return figures;
	figures.has_process = true;
	figures.process_bytes = rows[own].bytes;
	for (unsigned i = 0; i < count; i++)
		if ((int)i != own && rows[i].bytes != ULLONG_MAX)
			figures.others_bytes += rows[i].bytes;
	return figures;
}
