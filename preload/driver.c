/* SPDX-License-Identifier: MIT */
/* driver.c: see driver.h: which function gets which front. What the fronts do: driver_fronts.c. */
#include "preload/driver.h"

#include "preload/arch/x86_64/jump.h"
#include "preload/client_fronts.h"
#include "preload/driver_fronts.h"

#include <dlfcn.h>
#include <string.h>

static const struct {
	const char *name, *base;
	int since;
	bool is_per_thread;
} rows[RVP_DRIVER_COUNT] = {
#define RVP_DRIVER(name, base, since, per_thread) [RVP_DRIVER_##name] = {#name, base, since, per_thread},
#include "preload/driver.def"
};

enum { PER_THREAD_DEFAULT_STREAM = 2 }; /* cuda.h, CUdriverProcAddress_flags */

static bool is_wanted;

void rvp_driver_start(bool wanted)
{
	is_wanted = wanted;
}

bool rvp_driver_is_wanted(void)
{
	return is_wanted;
}

/* dlsym's own handles are small numbers, RTLD_DEFAULT and RTLD_NEXT: who asks decides what they mean. */
static void *look_up(void *handle, const char *name)
{
	void *real = dlsym(handle, name), *front = real ? rvp_driver_front(name, real) : NULL;

	return front ? front : real;
}

RVP_MACHINE_DLSYM_FRONT(rvp_driver_dlsym, look_up, dlsym)
extern void *rvp_driver_dlsym(void *handle, const char *name);

static int number_of(const char *name)
{
	if (name[0] != 'c' || name[1] != 'u')
		return -1;
	for (int i = 0; i < RVP_DRIVER_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return i;
	return -1;
}

bool rvp_driver_known(const char *name)
{
	return strcmp(name, "dlsym") == 0 || number_of(name) >= 0 || rvp_client_known(name);
}

void *rvp_driver_front(const char *name, void *real)
{
	int number;

	if (strcmp(name, "dlsym") == 0)
		return (void *)rvp_driver_dlsym;
	number = number_of(name);
	return number < 0 ? rvp_client_front(name, real) : rvp_driver_front_of((enum rvp_driver_call)number, real);
}

/* The newest of this base name that this version of CUDA had. */
static int row_for(const char *base, int version, uint64_t flags)
{
	bool is_per_thread = flags & PER_THREAD_DEFAULT_STREAM;
	int found = -1;

	for (int i = 0; i < RVP_DRIVER_COUNT; i++)
		if (strcmp(rows[i].base, base) == 0 && rows[i].since <= version &&
		    (found < 0 || rows[i].since > rows[found].since ||
		     rows[i].is_per_thread > rows[found].is_per_thread) &&
		    (is_per_thread || !rows[i].is_per_thread))
			found = i;
	return found;
}

void *rvp_driver_front_for(const char *base, int version, uint64_t flags, void *real)
{
	int row = base && real && version <= RVP_DRIVER_VERSION_KNOWN ? row_for(base, version, flags) : -1;
	void *front = row < 0 ? NULL : rvp_driver_front_of((enum rvp_driver_call)row, real);

	return front ? front : real;
}
