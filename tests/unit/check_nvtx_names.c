/* SPDX-License-Identifier: MIT */
/* Names that NVTX's handles stand for: found again, the last one wins, and all together have a bound. */
#include "cupti/nvtx_names.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, NAMES = 2000 };

START_TEST(nothing_before_it_is_open)
{
	ck_assert_ptr_null(rvp_nvtx_names_put(RVP_NVTX_STRING, NULL, 0, "a", NULL));
	ck_assert_ptr_null(rvp_nvtx_names_find(RVP_NVTX_STRING, &rvp_nvtx_names_find, 0));
}
END_TEST

START_TEST(a_name_is_found_by_its_number)
{
	const void *one, *two;
	int domain;

	ck_assert(rvp_nvtx_names_open() && rvp_nvtx_names_open());
	one = rvp_nvtx_names_put(RVP_NVTX_STRING, NULL, 0, "one", NULL);
	two = rvp_nvtx_names_put(RVP_NVTX_STRING, NULL, 0, "two", NULL);
	ck_assert_ptr_ne(one, two);
	ck_assert_str_eq(rvp_nvtx_names_find(RVP_NVTX_STRING, one, 0), "one");
	ck_assert_str_eq(rvp_nvtx_names_find(RVP_NVTX_STRING, two, 0), "two");
	ck_assert_ptr_null(rvp_nvtx_names_find(RVP_NVTX_DOMAIN, one, 0));
	ck_assert_ptr_null(rvp_nvtx_names_find(RVP_NVTX_STRING, one, 1));
	rvp_nvtx_names_put(RVP_NVTX_CATEGORY, &domain, 7, "domain", "category");
	ck_assert_str_eq(rvp_nvtx_names_find(RVP_NVTX_CATEGORY, &domain, 7), "domain/category");
	rvp_nvtx_names_put(RVP_NVTX_CATEGORY, &domain, 7, "domain", "another");
	ck_assert_str_eq(rvp_nvtx_names_find(RVP_NVTX_CATEGORY, &domain, 7), "domain/another");
	ck_assert_ptr_null(rvp_nvtx_names_find(RVP_NVTX_CATEGORY, NULL, 7));
}
END_TEST

static void *put_many(void *argument)
{
	static _Atomic size_t wrong;
	char name[32];

	for (int i = 0; i < NAMES; i++) {
		const void *number;

		snprintf(name, sizeof name, "%zu %d", (size_t)argument, i);
		number = rvp_nvtx_names_put(RVP_NVTX_STRING, NULL, 0, name, NULL);
		wrong += strcmp(rvp_nvtx_names_find(RVP_NVTX_STRING, number, 0), name) != 0;
	}
	return (void *)wrong;
}

START_TEST(threads_find_what_they_put)
{
	pthread_t threads[THREADS];
	void *wrong;

	ck_assert(rvp_nvtx_names_open());
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, put_many, (void *)(size_t)i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
}
END_TEST

START_TEST(names_have_a_bound)
{
	static char lengthy[5000];
	const void *first, *number;
	size_t count = 0;

	ck_assert(rvp_nvtx_names_open());
	memset(lengthy, 'x', sizeof lengthy - 1);
	first = number = rvp_nvtx_names_put(RVP_NVTX_STRING, NULL, 0, lengthy, NULL);
	ck_assert_uint_eq(strlen(rvp_nvtx_names_find(RVP_NVTX_STRING, first, 0)), 1024);
	for (; number; count++)
		number = rvp_nvtx_names_put(RVP_NVTX_STRING, NULL, 0, lengthy, NULL);
	ck_assert_uint_gt(count, 3000);
	ck_assert_uint_lt(count, RVP_NVTX_NAMES_BYTES / 1024);
	for (int i = 0; i < 100000; i++)
		ck_assert_ptr_null(rvp_nvtx_names_put(RVP_NVTX_STRING, NULL, 0, lengthy, lengthy));
	ck_assert_uint_eq(strlen(rvp_nvtx_names_find(RVP_NVTX_STRING, first, 0)), 1024);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nvtx_names");
	TCase *cases = tcase_create("all");

	tcase_add_test(cases, nothing_before_it_is_open);
	tcase_add_test(cases, a_name_is_found_by_its_number);
	tcase_add_test(cases, threads_find_what_they_put);
	tcase_add_test(cases, names_have_a_bound);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
