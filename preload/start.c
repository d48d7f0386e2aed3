/* SPDX-License-Identifier: MIT */
/* start.c: the constructor. ld.so hands it main's arguments. */
#include "preload/driver.h"
#include "preload/head.h"
#include "preload/imports.h"
#include "preload/injection.h"
#include "preload/link_scope.h"
#include "preload/operators.h"
#include "preload/process.h"
#include "preload/real.h"

#include <errno.h>

__attribute__((constructor)) static void begin(int argument_count, char **arguments, char **environment)
{
	int error = errno;

	rvp_real_ready();
	rvp_head_keep_environment(environment);
	atomic_store(&rvp_process.state,
		     RVP_STARTING); /* what we and libc allocate from here on is not counted */
	rvp_operators_find();
	rvp_process_start(argument_count, arguments, environment);
	if (atomic_load(&rvp_process.state) == RVP_READY) {
		rvp_driver_start(rvp_injection_follows_cuda());
		rvp_link_scope_start();
		rvp_imports_refresh();
	}
	errno = error;
}
