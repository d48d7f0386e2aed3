/* SPDX-License-Identifier: MIT */
/* Which library a program's NVTX finds in the environment, and where the tool that was there is told. */
#include "preload/injection.h"
#include "tests/unit/preload_double.h"
#include "tests/unit/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "NVTX_INJECTION64_PATH"
#define FORWARD  "RVPROF_NVTX_FORWARD"

static char folder[] = "/tmp/rvprof-injection.XXXXXX", ours[sizeof folder + 32];

static void put_ours(void)
{
	strcpy(folder + sizeof folder - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(rvp_process.library, sizeof rvp_process.library, "%s/librvprof.so", folder);
	snprintf(ours, sizeof ours, "%s/librvprof_nvtx.so", folder);
	fclose(fopen(ours, "w"));
	unsetenv(VARIABLE);
	unsetenv(FORWARD);
}

static void take_ours(void)
{
	unlink(ours);
	rmdir(folder);
}

START_TEST(ours_is_named)
{
	rvp_injection_prepare();
	ck_assert_str_eq(getenv(VARIABLE), ours);
	ck_assert_ptr_null(getenv(FORWARD));
}
END_TEST

START_TEST(the_tool_that_was_there_is_told)
{
	setenv(VARIABLE, "/opt/tool.so", 1);
	rvp_injection_prepare();
	ck_assert_str_eq(getenv(VARIABLE), ours);
	ck_assert_str_eq(getenv(FORWARD), "/opt/tool.so");
}
END_TEST

START_TEST(a_child_finds_it_done)
{
	setenv(VARIABLE, "/other/path/librvprof_nvtx.so", 1);
	setenv(FORWARD, "/opt/tool.so", 1);
	rvp_injection_prepare();
	ck_assert_str_eq(getenv(VARIABLE), "/other/path/librvprof_nvtx.so");
	ck_assert_str_eq(getenv(FORWARD), "/opt/tool.so");
}
END_TEST

START_TEST(a_name_that_only_ends_like_ours_is_another)
{
	setenv(VARIABLE, "/opt/notlibrvprof_nvtx.so", 1);
	rvp_injection_prepare();
	ck_assert_str_eq(getenv(FORWARD), "/opt/notlibrvprof_nvtx.so");
}
END_TEST

START_TEST(where_ours_is_not_nothing_changes)
{
	unlink(ours);
	rvp_injection_prepare();
	ck_assert_ptr_null(getenv(VARIABLE));
	setenv(VARIABLE, "/opt/tool.so", 1);
	rvp_injection_prepare();
	ck_assert_str_eq(getenv(VARIABLE), "/opt/tool.so");
	ck_assert_ptr_null(getenv(FORWARD));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("injection");
	TCase *cases = tcase_create("all");

	tcase_add_checked_fixture(cases, put_ours, take_ours);
	tcase_add_test(cases, ours_is_named);
	tcase_add_test(cases, the_tool_that_was_there_is_told);
	tcase_add_test(cases, a_child_finds_it_done);
	tcase_add_test(cases, a_name_that_only_ends_like_ours_is_another);
	tcase_add_test(cases, where_ours_is_not_nothing_changes);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
