/* SPDX-License-Identifier: MIT */
/* start.c: the constructor. ld.so hands it main's arguments. */
#include "preload/head.h"
#include "preload/process.h"
#include "preload/real.h"

#include <errno.h>

__attribute__((constructor)) static void begin(int argument_count, char **arguments, char **environment)
{
	int error = errno;

	rvp_real_ready();
	rvp_head_keep_environment(environment);
	rvp_process_start(argument_count, arguments, environment);
	errno = error;
}
