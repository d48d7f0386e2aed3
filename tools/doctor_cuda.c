/* SPDX-License-Identifier: MIT */
/* doctor_cuda.c: whether a program's use of a GPU can be followed here: the driver's library, its version,
 * devices, CUPTI, NVML, modes in which tracing is refused. A machine without NVIDIA's devices and driver has
 * nothing to be told.
 *
 * The driver is asked in this process and initialised without anybody's injection library; no context is
 * made. */
#include "record/cupti_places.h"
#include "tools/doctor.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CUDA 11.6, whose CUPTI is the oldest that is read (cupti/abi.h); cuda.h, CUresult; nvml.h. */
enum { OLDEST_DRIVER = 11060, SUCCESS = 0, NO_DEVICE = 100 };
enum { NVML_SUCCESS = 0, NVML_FEATURE_ENABLED = 1 };

#define WITHOUT "host memory is recorded, nothing of the device"

static bool is_any(const char *pattern)
{
	glob_t found;
	bool is = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;

	globfree(&found);
	return is;
}

static bool has_device_node(void)
{
	return is_any("/dev/nvidia[0-9]*") || access("/dev/nvidiactl", F_OK) == 0 ||
	       access("/dev/dxg", F_OK) == 0;
}

static void check_version(struct rvp_findings *findings, void *driver)
{
	int (*ask)(int *) = (int (*)(int *))dlsym(driver, "cuDriverGetVersion");
	int version = 0;

	if (ask && ask(&version) == SUCCESS && version < OLDEST_DRIVER)
		rvp_found(findings, RVP_FINDING_LESS, "cuda_old", "install a driver of CUDA 11.6 or later",
			  "the driver is of CUDA %d.%d: kernels can't be followed; memory and launches are",
			  version / 1000, version % 1000 / 10);
}

static void check_start(struct rvp_findings *findings, void *driver)
{
	int (*start)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
	int (*name_of)(int, const char **) = (int (*)(int, const char **))dlsym(driver, "cuGetErrorName");
	int (*text_of)(int, const char **) = (int (*)(int, const char **))dlsym(driver, "cuGetErrorString");
	const char *name = "an error", *text = "";
	int answer = start ? start(0) : SUCCESS;

	if (answer == SUCCESS)
		return;
	if (name_of && name_of(answer, &name) != SUCCESS)
		name = "an error";
	if (text_of && text_of(answer, &text) != SUCCESS)
		text = "";
	rvp_found(findings, answer == NO_DEVICE ? RVP_FINDING_NOTE : RVP_FINDING_LESS,
		  answer == NO_DEVICE ? "cuda_no_device" : "cuda_start",
		  answer == NO_DEVICE
		      ? "if there is one: may you open /dev/nvidia*? in a container: is it given to it?"
		      : "what does nvidia-smi say? after an update of the driver: reboot",
		  "the CUDA driver does not start: %s (%d) %s: " WITHOUT, name, answer, text);
}

static bool is_in_root(const char *root, const char *name)
{
	static const char *const folders[] = {RVP_CUPTI_FOLDERS};
	char path[PATH_MAX];

	for (size_t i = 0; root && *root && i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, sizeof path, "%s%s%s", root, folders[i], name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

static bool is_cupti(const char *name)
{
	static const char *const variables[] = {RVP_CUPTI_ROOT_VARIABLES}, *const roots[] = {RVP_CUPTI_ROOTS};
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);

	if (library) {
		dlclose(library);
		return true;
	}
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		if (is_in_root(getenv(variables[i]), name))
			return true;
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
		if (is_in_root(roots[i], name))
			return true;
	return false;
}

/* Where the plugin looks too; what a Python package brings is found when the program runs. */
static bool has_cupti(void)
{
	static const char *const names[] = {RVP_CUPTI_NAMES};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_cupti(names[i]))
			return true;
	return false;
}

static void check_cupti(struct rvp_findings *findings)
{
	const char *injected = getenv("CUDA_INJECTION64_PATH");

	if (!has_cupti())
		rvp_found(findings, RVP_FINDING_NOTE, "cupti",
			  "install the toolkit's CUPTI (cuda-cupti-12-x, cuda-cupti-13-x), or pip install "
			  "nvidia-cuda-cupti",
			  "no libcupti is installed: unless the program brings its own, as PyTorch does, "
			  "memory and "
			  "launches are recorded, no kernel's time");
	if (injected && *injected && !strstr(injected, "librvprof_cupti.so"))
		rvp_found(
		    findings, RVP_FINDING_NOTE, "cuda_injection",
		    "unset CUDA_INJECTION64_PATH, if it is not wanted",
		    "another tool comes in by CUDA_INJECTION64_PATH (%s): if it uses CUPTI, it has it alone",
		    injected);
}

static void check_devices(struct rvp_findings *findings, void *nvml)
{
	int (*count_of)(unsigned *) = (int (*)(unsigned *))dlsym(nvml, "nvmlDeviceGetCount_v2");
	int (*device_of)(unsigned, void **) =
	    (int (*)(unsigned, void **))dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2");
	int (*mig_of)(void *, unsigned *, unsigned *) =
	    (int (*)(void *, unsigned *, unsigned *))dlsym(nvml, "nvmlDeviceGetMigMode");
	unsigned count = 0, mode, later;
	void *device;

	if (!count_of || !device_of || !mig_of || count_of(&count) != NVML_SUCCESS)
		return;
	for (unsigned i = 0; i < count; i++)
		if (device_of(i, &device) == NVML_SUCCESS && mig_of(device, &mode, &later) == NVML_SUCCESS &&
		    mode == NVML_FEATURE_ENABLED)
			rvp_found(findings, RVP_FINDING_NOTE, "cuda_mig", "",
				  "GPU %u is divided (MIG): CUPTI may refuse to trace kernels; memory is "
				  "recorded, and what "
				  "the driver says is of the part",
				  i);
}

struct confidential { /* nvml.h, nvmlConfComputeSystemState_t */
	unsigned environment, feature, developer_tools;
};

static void check_modes(struct rvp_findings *findings)
{
	void *nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	int (*start)(void) = nvml ? (int (*)(void))dlsym(nvml, "nvmlInit_v2") : NULL;
	int (*state_of)(struct confidential *);
	struct confidential state = {0};

	if (!start || start() != NVML_SUCCESS) {
		rvp_found(findings, RVP_FINDING_NOTE, "nvml", "",
			  "libnvidia-ml.so.1 is not there, or does not start: the device's ledger goes by "
			  "cuMemGetInfo, which "
			  "counts other programs too");
		return;
	}
	state_of = (int (*)(struct confidential *))dlsym(nvml, "nvmlSystemGetConfComputeState");
	if (state_of && state_of(&state) == NVML_SUCCESS && state.feature == NVML_FEATURE_ENABLED &&
	    !state.developer_tools)
		rvp_found(
		    findings, RVP_FINDING_LESS, "cuda_confidential",
		    "set the GPU to its developer-tools mode",
		    "confidential computing is on: CUPTI may not trace; memory and launches are recorded");
	check_devices(findings, nvml);
}

void rvp_doctor_cuda(struct rvp_findings *findings)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!driver && has_device_node())
		rvp_found(findings, RVP_FINDING_LESS, "cuda_driver",
			  "install the driver; in a container: run it with the NVIDIA container toolkit "
			  "(--gpus all)",
			  "there is an NVIDIA device, but libcuda.so.1 is not found: " WITHOUT);
	if (!driver)
		return;
	check_cupti(findings);
	unsetenv("CUDA_INJECTION64_PATH");
	check_version(findings, driver);
	check_start(findings, driver);
	check_modes(findings);
}
