/* SPDX-License-Identifier: MIT */
/* check_model_machine.c: a machine's limits: kept and read again, not believed of another machine, and where
 * work stands under them. The expected figures are divisions written out. */
#include "model/roofline.h"
#include "model/user_cache.h"
#include "tests/unit/own_cache.h"
#include "tests/unit/run_suite.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *text)
{
	struct rvp_machine machine;
	char path[PATH_MAX];
	FILE *file;

	rvp_machine_name(&machine);
	rvp_machine_path(&machine, path);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

START_TEST(keeping)
{
	struct rvp_machine machine, again;
	char path[PATH_MAX];
	struct stat about;

	ck_assert(!rvp_machine_load(&again));
	rvp_machine_name(&machine);
	ck_assert(machine.threads > 0 && machine.processor[0]);
	machine.flops_per_s = 123.456e9;
	machine.bytes_per_s = 7.5e9;
	machine.f64_flops_per_s = 61.5e9;
	machine.gemm_size = 1024;
	machine.gemm_threads = 2;
	machine.triad_threads = 1;
	machine.others_percent = 12.5;
	machine.triad_bytes = 1ull << 33;
	machine.measured_unix_s = 1700000000;
	ck_assert(!rvp_failed(rvp_machine_save(&machine)));
	ck_assert(rvp_machine_load(&again));
	ck_assert_mem_eq(&machine, &again, sizeof machine);
	rvp_machine_path(&machine, path);
	ck_assert_int_eq(stat(path, &about), 0);
	*strrchr(path, '/') = 0;
	ck_assert_int_eq(stat(path, &about), 0);
	ck_assert_int_eq(about.st_mode & 0777, 0700);
}
END_TEST

START_TEST(not_believed)
{
	struct rvp_machine machine;
	char text[400];

	ck_assert(!rvp_failed(rvp_machine_save((rvp_machine_name(&machine), &machine))));
	put("");
	ck_assert(!rvp_machine_load(&machine));
	put("rvprof calibration 9\nflops_per_s 1e9\nbytes_per_s 1e9\n");
	ck_assert(!rvp_machine_load(&machine));
	put("rvprof calibration 1\nprocessor Another\nflops_per_s 1e9\nbytes_per_s 1e9\n");
	ck_assert(!rvp_machine_load(&machine));
	put("rvprof calibration 1\nflops_per_s 1e9\n");
	ck_assert(!rvp_machine_load(&machine));
	put("rvprof calibration 1\nflops_per_s nan\nbytes_per_s 1e9\n");
	ck_assert(!rvp_machine_load(&machine));
	put("rvprof calibration 1\nflops_per_s -1\nbytes_per_s 1e9\n");
	ck_assert(!rvp_machine_load(&machine));
	rvp_machine_name(&machine);
	snprintf(text, sizeof text, "rvprof calibration 1\nprocessor %s\nflops_per_s 2e9\nbytes_per_s 1e9\n",
		 machine.processor);
	put(text);
	ck_assert(rvp_machine_load(&machine));
	ck_assert_double_eq(machine.flops_per_s, 2e9);
}
END_TEST

START_TEST(places)
{
	char path[PATH_MAX];

	rvp_user_cache_path("x", "a b/../c", path);
	ck_assert_str_eq(strrchr(path, '/'), "/x-a-b----c");
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", "/nowhere", 1);
	rvp_user_cache_path("x", "a", path);
	ck_assert_str_eq(path, "/nowhere/.cache/rvprof/x-a");
	unsetenv("HOME");
	rvp_user_cache_path("x", "a", path);
	ck_assert_str_eq(path, "");
	setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
	ck_assert(rvp_failed(rvp_machine_save(&(struct rvp_machine){.processor = "p"})));
}
END_TEST

/* 100 GFLOP/s and 10 GB/s: the balance is 10 FLOPs a byte. */
START_TEST(limits)
{
	struct rvp_machine machine = {.flops_per_s = 100e9, .bytes_per_s = 10e9};
	struct rvp_roof roof = rvp_roof_of(&machine, 2e9, 1e9, 200);

	ck_assert_double_eq(roof.intensity, 2);
	ck_assert(roof.is_memory_bound);
	ck_assert_double_eq(roof.attainable_flops_per_s, 20e9);
	ck_assert_double_eq(roof.least_ms, 100);
	ck_assert_double_eq(roof.share_of_attainable, .5);
	ck_assert_double_eq_tol(roof.share_of_peak, .1, 1e-12);
	roof = rvp_roof_of(&machine, 50e9, 1e9, NAN);
	ck_assert(!roof.is_memory_bound);
	ck_assert_double_eq(roof.attainable_flops_per_s, 100e9);
	ck_assert_double_eq(roof.least_ms, 500);
	ck_assert(isnan(roof.share_of_attainable) && isnan(roof.share_of_peak));
	/* At the balance both limits are reached at once: compute. */
	ck_assert(!rvp_roof_of(&machine, 10e9, 1e9, NAN).is_memory_bound);
	/* Work without FLOPs has a limit too. */
	roof = rvp_roof_of(&machine, 0, 1e9, 200);
	ck_assert(roof.is_memory_bound);
	ck_assert_double_eq(roof.share_of_attainable, .5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_machine");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, set_folder, remove_folder);
	tcase_add_test(tests, keeping);
	tcase_add_test(tests, not_believed);
	tcase_add_test(tests, places);
	tcase_add_test(tests, limits);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
