/* SPDX-License-Identifier: MIT */
/* client_fronts.c: see client_fronts.h. Types are CUPTI's by their shape: pointers and a 32-bit result. */
#include "preload/client_fronts.h"

#include "preload/device.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { SUBSCRIBE, SUBSCRIBE_V2, REGISTER, CALLS };

static void *_Atomic reals[CALLS];

static int subscribe(void *subscriber, void *callback, void *user)
{
	int (*real)(void *, void *, void *) = (int (*)(void *, void *, void *))atomic_load(&reals[SUBSCRIBE]);

	rvp_device_make_way();
	return real(subscriber, callback, user);
}

static int subscribe_v2(void *subscriber, void *callback, void *user, void *names)
{
	int (*real)(void *, void *, void *, void *) =
	    (int (*)(void *, void *, void *, void *))atomic_load(&reals[SUBSCRIBE_V2]);

	rvp_device_make_way();
	return real(subscriber, callback, user, names);
}

static int register_callbacks(void *asks, void *gives)
{
	int (*real)(void *, void *) = (int (*)(void *, void *))atomic_load(&reals[REGISTER]);

	rvp_device_make_way();
	return real(asks, gives);
}

static const struct {
	const char *name;
	void *front;
} rows[CALLS] = {
    [SUBSCRIBE] = {"cuptiSubscribe", (void *)subscribe},
    [SUBSCRIBE_V2] = {"cuptiSubscribe_v2", (void *)subscribe_v2},
    [REGISTER] = {"cuptiActivityRegisterCallbacks", (void *)register_callbacks},
};

static int number_of(const char *name)
{
	if (strncmp(name, "cupti", 5) != 0)
		return -1;
	for (int i = 0; i < CALLS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return i;
	return -1;
}

bool rvp_client_known(const char *name)
{
	return number_of(name) >= 0;
}

void *rvp_client_front(const char *name, void *real)
{
	int number = number_of(name);
	void *none = NULL;

	if (number < 0 || !real || real == rows[number].front)
		return NULL;
	if (!atomic_compare_exchange_strong(&reals[number], &none, real) && none != real)
		return NULL;
	return rows[number].front;
}
