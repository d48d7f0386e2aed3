/* SPDX-License-Identifier: MIT */
/* nvml.c: libnvidia-ml.so.1: devices, their memory, and who uses it. In a container it tells pids of the
 * host, which are nobody's here; it can also be there and refuse. */
#include "tests/fakes/engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

enum {
	OK = 0,
	UNINITIALIZED = 1,
	INVALID = 2,
	NOT_SUPPORTED = 3,
	NO_PERMISSION = 4,
	TOO_SMALL = 7,
	NO_DRIVER = 9
};
enum { HOST_PID_AHEAD = 100000, OTHER_PID = 4242 };

struct memory { /* nvmlMemory_t */
	unsigned long long total, free, used;
};
struct memory_v2 { /* nvmlMemory_v2_t */
	unsigned int version;
	unsigned long long total, reserved, free, used;
};
struct process { /* nvmlProcessInfo_t, of _v2 and _v3 */
	unsigned int pid;
	unsigned long long bytes;
	unsigned int gpu_instance, compute_instance;
};

static bool is_initialized;
static int places[SIM_DEVICES]; /* their addresses are the handles */

static const struct sim_engine *engine(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY);
	CUresult (*find)(const void **, const CUuuid *) =
	    library ? (CUresult(*)(const void **, const CUuuid *))dlsym(library, "cuGetExportTable") : NULL;
	const void *table = NULL;
	CUuuid id;

	memcpy(id.bytes, SIM_ENGINE_ID, sizeof id.bytes);
	return find && find(&table, &id) == CUDA_SUCCESS ? table : NULL;
}

SHOWN int nvmlInit_v2(void);
SHOWN int nvmlInit_v2(void)
{
	if (!engine() || engine()->scenario()->nvml == SIM_NVML_ABSENT)
		return NO_DRIVER;
	is_initialized = true;
	return OK;
}

SHOWN int nvmlShutdown(void);
SHOWN int nvmlShutdown(void)
{
	return is_initialized ? OK : UNINITIALIZED;
}

SHOWN const char *nvmlErrorString(int result);
SHOWN const char *nvmlErrorString(int result)
{
	return result == OK              ? "Success"
	       : result == NOT_SUPPORTED ? "Not Supported"
	       : result == NO_PERMISSION ? "Insufficient Permissions"
	       : result == NO_DRIVER     ? "Driver Not Loaded"
	       : result == TOO_SMALL     ? "Insufficient Size"
	       : result == UNINITIALIZED ? "Uninitialized"
					 : "Invalid Argument";
}

SHOWN int nvmlDeviceGetCount_v2(unsigned int *count);
SHOWN int nvmlDeviceGetCount_v2(unsigned int *count)
{
	if (!is_initialized)
		return UNINITIALIZED;
	*count = (unsigned int)engine()->scenario()->devices;
	return OK;
}

SHOWN int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device);
SHOWN int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	if (!is_initialized)
		return UNINITIALIZED;
	if (index >= engine()->scenario()->devices)
		return INVALID;
	*device = &places[index];
	return OK;
}

/* "GPU-" and the uuid in hexadecimal with four dashes. */
static void write_uuid(unsigned int index, char text[48])
{
	unsigned char bytes[16] = "simulated-gpu-0";
	int at = snprintf(text, 48, "GPU-");

	bytes[14] = (unsigned char)('0' + index);
	for (unsigned int i = 0; i < 16; i++)
		at += snprintf(text + at, (size_t)(48 - at), "%s%02x",
			       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

SHOWN int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length);
SHOWN int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length)
{
	char text[48];

	if (!is_initialized)
		return UNINITIALIZED;
	write_uuid((unsigned int)((int *)device - places), text);
	if (length <= strlen(text))
		return TOO_SMALL;
	memcpy(uuid, text, strlen(text) + 1);
	return OK;
}

SHOWN int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
SHOWN int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	char text[48];

	if (!is_initialized)
		return UNINITIALIZED;
	for (unsigned int i = 0; i < engine()->scenario()->devices; i++) {
		write_uuid(i, text);
		if (strcmp(text, uuid) == 0)
			return nvmlDeviceGetHandleByIndex_v2(i, device);
	}
	return INVALID;
}

static uint64_t used(void *device)
{
	return engine()->device_used((uint32_t)((int *)device - places));
}

SHOWN int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
SHOWN int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
	if (!is_initialized)
		return UNINITIALIZED;
	memory->total = engine()->scenario()->memory_bytes;
	memory->used = used(device) + engine()->scenario()->others_bytes;
	memory->free = memory->total - memory->used;
	return OK;
}

SHOWN int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory);
SHOWN int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory)
{
	struct memory plain;
	int result = nvmlDeviceGetMemoryInfo(device, &plain);

	memory->total = plain.total;
	memory->reserved = 0;
	memory->free = plain.free;
	memory->used = plain.used;
	return result;
}

SHOWN int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count, struct process *rows);
SHOWN int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count, struct process *rows)
{
	const struct sim_scenario *scenario;
	unsigned int needed, room = *count;

	if (!is_initialized)
		return UNINITIALIZED;
	scenario = engine()->scenario();
	if (scenario->nvml == SIM_NVML_NO_PROCESSES)
		return NO_PERMISSION;
	needed = scenario->others_bytes ? 2 : 1;
	*count = needed;
	if (room < needed)
		return TOO_SMALL;
	memset(rows, 0, needed * sizeof *rows);
	rows[0].pid = (unsigned int)getpid() + (scenario->nvml == SIM_NVML_CONTAINER ? HOST_PID_AHEAD : 0);
	rows[0].bytes = used(device);
	if (needed == 2) {
		rows[1].pid = OTHER_PID;
		rows[1].bytes = scenario->others_bytes;
	}
	return OK;
}

/* Device i draws 200 + 50 i watts, always: its energy is that of the time since the machine began. */
static uint64_t milliwatts(void *device)
{
	return 200000 + 50000 * (uint64_t)((int *)device - places);
}

SHOWN int nvmlDeviceGetPowerUsage(void *device, unsigned int *power);
SHOWN int nvmlDeviceGetPowerUsage(void *device, unsigned int *power)
{
	if (!is_initialized)
		return UNINITIALIZED;
	*power = (unsigned int)milliwatts(device);
	return engine()->scenario()->nvml == SIM_NVML_NO_POWER ? NOT_SUPPORTED : OK;
}

SHOWN int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
SHOWN int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
	struct timespec now;

	if (!is_initialized)
		return UNINITIALIZED;
	if (engine()->scenario()->nvml >= SIM_NVML_NO_ENERGY)
		return NOT_SUPPORTED;
	clock_gettime(CLOCK_MONOTONIC, &now);
	*millijoules = milliwatts(device) * (uint64_t)now.tv_sec + milliwatts(device) * (uint64_t)(now.tv_nsec / 1000) / 1000000;
	return OK;
}

SHOWN int nvmlSystemGetDriverVersion(char *version, unsigned int length);
SHOWN int nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	return !is_initialized                                               ? UNINITIALIZED
	       : snprintf(version, length, "580.00.simulated") < (int)length ? OK
									     : TOO_SMALL;
}
