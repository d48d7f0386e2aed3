/* SPDX-License-Identifier: MIT */
/* injection.c: librvprof_cupti.so. The CUDA driver opens the library that CUDA_INJECTION64_PATH names when it is
 * initialised, and calls InitializeInjection.
 *
 * Without the profiler in this process nothing is done. A library that the user had named (RVPROF_CUDA_FORWARD) is
 * started too; but where it is a client of CUPTI's it has the one subscription that there is, and we say so.
 */
#include "cupti/client_file.h"
#include "cupti/follower.h"
#include "cupti/tracer.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

const struct rvp_device_api *rvp_recorder;

static bool find_recorder(void)
{
	const struct rvp_device_api *found = dlsym(RTLD_DEFAULT, RVP_DEVICE_API);

	(void)dlerror();
	if (!found || found->version != RVP_DEVICE_API_VERSION || found->bytes < sizeof *found)
		return false;
	rvp_recorder = found;
	return true;
}

/* What its InitializeInjection returned; 1 without one. */
static int start_other(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);
	int (*initialize)(void) = NULL;

	if (library)
		initialize = (int (*)(void))(uintptr_t)dlsym(library, "InitializeInjection");
	(void)dlerror();
	return initialize ? initialize() : 1;
}

static void follow(bool has_client)
{
	if (!rvp_follower_is_active() || rvp_recorder->settings().cuda == RVP_CUDA_OFF)
		return;
	if (has_client)
		rvp_tracer_none("the library that CUDA_INJECTION64_PATH named is a client of CUPTI's, which has but one; unset "
				"it to have rvprof follow the device");
	else
		rvp_tracer_start();
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static _Atomic uint32_t is_done;
	const char *other = getenv("RVPROF_CUDA_FORWARD");
	bool has_other = other && *other, has_client = has_other && rvp_file_is_client(other);
	int result = 1;

	if (atomic_exchange(&is_done, 1))
		return 1;
	if (has_other)
		result = start_other(other);
	if (find_recorder())
		follow(has_client);
	return result;
}
