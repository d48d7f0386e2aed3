/* SPDX-License-Identifier: MIT */
/* Which library a program's NVTX finds in the environment, and where the tool that was there is told. */
#include "preload/cuda_place.h"
#include "preload/injection.h"
#include "tests/unit/preload_double.h"
#include "tests/unit/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "NVTX_INJECTION64_PATH"
#define FORWARD  "RVPROF_NVTX_FORWARD"

#define CUDA_VARIABLE "CUDA_INJECTION64_PATH"
#define CUDA_FORWARD  "RVPROF_CUDA_FORWARD"

static char folder[] = "/tmp/rvprof-injection.XXXXXX", ours[sizeof folder + 32], ours_cuda[sizeof folder + 32],
	    driver[sizeof folder + 32];

static void put_ours(void)
{
	strcpy(folder + sizeof folder - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(rvp_process.library, sizeof rvp_process.library, "%s/librvprof.so", folder);
	snprintf(ours, sizeof ours, "%s/librvprof_nvtx.so", folder);
	snprintf(ours_cuda, sizeof ours_cuda, "%s/librvprof_cupti.so", folder);
	snprintf(driver, sizeof driver, "%s/libcuda.so.1", folder);
	fclose(fopen(ours, "w"));
	fclose(fopen(ours_cuda, "w"));
	unsetenv(VARIABLE);
	unsetenv(FORWARD);
	unsetenv(CUDA_VARIABLE);
	unsetenv(CUDA_FORWARD);
	unsetenv("LD_LIBRARY_PATH");
	rvp_process.options.cuda = RVP_CUDA_AUTO;
}

static void take_ours(void)
{
	unlink(ours);
	unlink(ours_cuda);
	unlink(driver);
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

/* The driver's library is there from here on. */
static void put_driver(void)
{
	char list[sizeof folder + 32];

	fclose(fopen(driver, "w"));
	snprintf(list, sizeof list, "/nowhere:%s", folder);
	setenv("LD_LIBRARY_PATH", list, 1);
}

START_TEST(without_a_driver_nothing_is_said_of_cuda)
{
	if (rvp_cuda_is_there())
		return; /* this machine has one */
	rvp_injection_prepare();
	ck_assert_ptr_null(getenv(CUDA_VARIABLE));
	setenv(CUDA_VARIABLE, "/opt/tool.so", 1);
	rvp_injection_prepare();
	ck_assert_str_eq(getenv(CUDA_VARIABLE), "/opt/tool.so");
}
END_TEST

START_TEST(with_a_driver_ours_is_named)
{
	put_driver();
	ck_assert(rvp_cuda_is_there());
	rvp_injection_prepare();
	ck_assert_str_eq(getenv(CUDA_VARIABLE), ours_cuda);
	ck_assert_ptr_null(getenv(CUDA_FORWARD));
}
END_TEST

START_TEST(an_injected_library_that_was_there_is_told)
{
	put_driver();
	setenv(CUDA_VARIABLE, "/opt/tool.so", 1);
	rvp_injection_prepare();
	ck_assert_str_eq(getenv(CUDA_VARIABLE), ours_cuda);
	ck_assert_str_eq(getenv(CUDA_FORWARD), "/opt/tool.so");
}
END_TEST

START_TEST(cuda_off_changes_nothing)
{
	put_driver();
	rvp_process.options.cuda = RVP_CUDA_OFF;
	rvp_injection_prepare();
	ck_assert_ptr_null(getenv(CUDA_VARIABLE));
	ck_assert_str_eq(getenv(VARIABLE), ours);
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
	tcase_add_test(cases, without_a_driver_nothing_is_said_of_cuda);
	tcase_add_test(cases, with_a_driver_ours_is_named);
	tcase_add_test(cases, an_injected_library_that_was_there_is_told);
	tcase_add_test(cases, cuda_off_changes_nothing);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
