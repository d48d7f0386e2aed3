/* SPDX-License-Identifier: MIT */
/* modules.c: libraries that come and go. $RVP_PLUGIN and $RVP_PLUGIN2 are two builds of plugin.c. */
#include "tests/life/programs/case.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

typedef void *allocate(size_t bytes, int depth);

static int use_plugin(const char *variable, int flags)
{
	const char *path = getenv(variable);
	void *library = path ? dlopen(path, flags) : NULL;
	allocate *function;
	void *block;

	if (!library)
		return -1;
	*(void **)&function = dlsym(library, "plugin_allocate");
	block = function(1000, 20);
	free(block);
	return dlclose(library);
}

/* Another library on the same base: rules and names of the first must be forgotten. */
static int dlopen_in_a_loop(void)
{
	for (int i = 0; i < 200; i++)
		if (use_plugin(i % 2 ? "RVP_PLUGIN" : "RVP_PLUGIN2", RTLD_NOW) != 0)
			return 96;
	say("200 loads\n");
	return 0;
}

static void *churn_while(void *go_on)
{
	while (__atomic_load_n((int *)go_on, __ATOMIC_RELAXED))
		churn(1);
	return NULL;
}

static int dlopen_beside_threads(void)
{
	pthread_t threads[2];
	int go_on = 1;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, churn_while, &go_on) != 0)
			return 96;
	dlopen_in_a_loop();
	__atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Its malloc is libc's own, not the program's and not ours: its block is freed by the program. */
static int deepbind(void)
{
	churn(3);
	for (int i = 0; i < 20; i++)
		if (use_plugin("RVP_PLUGIN", RTLD_NOW | RTLD_DEEPBIND) != 0)
			return 96;
	say("20 loads\n");
	return 0;
}

/* Nothing that we look up may leave an error behind that the program then takes for its own. */
static int no_error_before_the_first(void)
{
	const char *error = dlerror();

	say("%s\n", error ? error : "no error");
	return 0;
}

static int dlopen_that_fails(void)
{
	for (int i = 0; i < 20; i++)
		if (dlopen("/nonexistent/library.so", RTLD_NOW))
			return 96;
	say("%d\n", dlerror() != NULL);
	say("%d\n", dlsym(RTLD_DEFAULT, "no_such_symbol_anywhere") == NULL);
	say("%d\n", dlerror() != NULL);
	return 0;
}

const struct life_case module_cases[] = {
    {"dlopen_in_a_loop", dlopen_in_a_loop},
    {"dlopen_beside_threads", dlopen_beside_threads},
    {"deepbind", deepbind},
    {"no_error_before_the_first", no_error_before_the_first},
    {"dlopen_that_fails", dlopen_that_fails},
    {0},
};
