/* SPDX-License-Identifier: MIT */
/* meters_nvml.c: power of NVIDIA's devices: the driver's own counter of energy where it has one (Volta and later), else the
 * power that it reads now. All devices that the driver shows count, whether the program uses them or not. */
#include "tools/meters.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SUCCESS = 0, UUID_BYTES = 96 };

static struct {
	int (*start)(void);
	int (*count)(unsigned *count);
	int (*device)(unsigned number, void **device);
	int (*uuid)(void *device, char *text, unsigned bytes);
	int (*energy)(void *device, unsigned long long *millijoules); /* NULL: an old driver */
	int (*power)(void *device, unsigned *milliwatts);
	const char *(*text)(int result);
} nvml;

static int read_energy(struct rvp_meter *figure, uint64_t *value)
{
	unsigned long long millijoules;

	if (nvml.energy(figure->device, &millijoules) != SUCCESS)
		return EIO;
	*value = millijoules * 1000;
	return 0;
}

static int read_power(struct rvp_meter *figure, uint64_t *value)
{
	unsigned milliwatts;

	if (nvml.power(figure->device, &milliwatts) != SUCCESS)
		return EIO;
	*value = (uint64_t)milliwatts * 1000;
	return 0;
}

static void *find(void *library, const char *name)
{
	return dlsym(library, name);
}

static bool find_all(void *library)
{
	*(void **)(void *)&nvml.start = find(library, "nvmlInit_v2");
	*(void **)(void *)&nvml.count = find(library, "nvmlDeviceGetCount_v2");
	*(void **)(void *)&nvml.device = find(library, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)(void *)&nvml.uuid = find(library, "nvmlDeviceGetUUID");
	*(void **)(void *)&nvml.energy = find(library, "nvmlDeviceGetTotalEnergyConsumption");
	*(void **)(void *)&nvml.power = find(library, "nvmlDeviceGetPowerUsage");
	*(void **)(void *)&nvml.text = find(library, "nvmlErrorString");
	return nvml.start && nvml.count && nvml.device && nvml.uuid && nvml.power && nvml.text;
}

static struct rvp_status fail(const char *step, int result)
{
	return rvp_fail_with("measure power by", "nvml", "%s: %s", step, nvml.text(result));
}

/* The counter if it can be read, else the power of now, else neither. */
static struct rvp_status add_device(struct rvp_meters *power, unsigned number)
{
	char what[UUID_BYTES + 32] = "device", uuid[UUID_BYTES] = "";
	struct rvp_meter *figure;
	uint64_t value;
	void *device;
	int result = nvml.device(number, &device);

	if (result != SUCCESS)
		return fail("no device can be opened", result);
	nvml.uuid(device, uuid, sizeof uuid);
	snprintf(what, sizeof what, "device %u %s", number, uuid);
	figure = rvp_meters_add(power, RVP_POWER_MICROJOULES, what);
	if (!figure)
		return rvp_fail_with("measure power by", "nvml", "there are too many figures");
	figure->device = device;
	figure->read = read_energy;
	if (nvml.energy && !figure->read(figure, &value))
		return RVP_OK;
	figure->unit = RVP_POWER_MICROWATTS;
	figure->read = read_power;
	if (!figure->read(figure, &value))
		return RVP_OK;
	return rvp_fail_with("measure power by", "nvml", "%s tells neither energy nor power", what);
}

struct rvp_status rvp_meters_open_nvml(struct rvp_meters *power)
{
	struct rvp_status status = RVP_OK;
	unsigned count = 0;
	int result;

	if (!power->nvml)
		power->nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!power->nvml)
		return rvp_fail_with("measure power by", "nvml",
				     "libnvidia-ml.so.1 is not there: NVIDIA's driver brings it (in a container: "
				     "--gpus all, or NVIDIA_DRIVER_CAPABILITIES=utility,compute)");
	if (!find_all(power->nvml))
		return rvp_fail_with("measure power by", "nvml", "libnvidia-ml.so.1 lacks functions: its driver is too old");
	result = nvml.start();
	if (result == SUCCESS)
		result = nvml.count(&count);
	if (result != SUCCESS)
		return fail("the driver does not answer", result);
	if (!count)
		return rvp_fail_with("measure power by", "nvml", "the driver shows no device");
	for (unsigned i = 0; i < count && !rvp_failed(status); i++)
		status = add_device(power, i);
	return status;
}
