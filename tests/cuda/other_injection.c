/* SPDX-License-Identifier: MIT */
/* other_injection.c: a library that a user names in CUDA_INJECTION64_PATH. It says that it was started; as a CLIENT it asks
 * for CUPTI's subscription, too. */
#include <dlfcn.h>
#include <stdio.h>

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
#ifdef CLIENT
	fprintf(stderr, "the user's client is started: %d\n", dlsym(RTLD_DEFAULT, "cuptiSubscribe") != NULL);
#else
	fprintf(stderr, "the user's library is started\n");
#endif
	return 1;
}
