/* SPDX-License-Identifier: MIT */
/* run_suite.h: the end of every main of a unit test. */
#ifndef RVP_RUN_SUITE_H
#define RVP_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Runs and frees it; the program's exit status. */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
