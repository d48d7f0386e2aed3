/* SPDX-License-Identifier: MIT */
/* check_roofline.c: recorded work under limits, by divisions written out, and the time that intervals cover together. */
#include "report/covered.h"
#include "tools/roofline.h"

#include "tests/unit/run_suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* 100 GFLOP/s and 10 GB/s: they meet at 10 FLOPs a byte. */
static const struct rvp_machine limits = {.flops_per_s = 100e9, .bytes_per_s = 10e9};

START_TEST(memory_and_compute)
{
	struct rvp_roofline_work work = {.count = 1, .ns = 200000000, .flops = 2e9, .bytes = 1e9, .type = RVP_BLAS_F32};
	struct rvp_roofline_figures figures = rvp_roofline_of(&work, &limits);

	/* 2 FLOPs a byte: 20 GFLOP/s at the most, 0.1 s; it took 0.2. */
	ck_assert_double_eq(figures.flops_per_s, 10e9);
	ck_assert_double_eq(figures.intensity, 2);
	ck_assert_double_eq(figures.attainable_flops_per_s, 20e9);
	ck_assert_double_eq(figures.least_ms, 100);
	ck_assert_double_eq(figures.share_of_attainable, .5);
	ck_assert_double_eq_tol(figures.share_of_peak, .1, 1e-12);
	ck_assert(figures.has_bound && figures.is_memory_bound);
	/* 50 FLOPs a byte: 0.5 s of computing in 2 s. */
	work = (struct rvp_roofline_work){.count = 1, .ns = 2000000000, .flops = 50e9, .bytes = 1e9, .type = RVP_BLAS_F32};
	figures = rvp_roofline_of(&work, &limits);
	ck_assert(figures.has_bound && !figures.is_memory_bound);
	ck_assert_double_eq(figures.attainable_flops_per_s, 100e9);
	ck_assert_double_eq(figures.share_of_attainable, .25);
	/* Half of each kind, call by call: 0.1 + 0.5 s at the least, though together they would take 0.52. */
	work = (struct rvp_roofline_work){
	    .count = 2, .ns = 1200000000, .flops = 52e9, .bytes = 2e9, .least_s = .6, .type = RVP_BLAS_F32};
	figures = rvp_roofline_of(&work, &limits);
	ck_assert_double_eq(figures.least_ms, 600);
	ck_assert_double_eq(figures.share_of_attainable, .5);
}
END_TEST

START_TEST(what_is_not_known_is_absent)
{
	struct rvp_roofline_work work = {.count = 1, .ns = 1000000000, .flops = 2e9, .bytes = 1e9, .type = RVP_BLAS_F32};
	struct rvp_roofline_figures figures = rvp_roofline_of(&work, NULL);

	ck_assert_double_eq(figures.flops_per_s, 2e9);
	ck_assert_double_eq(figures.intensity, 2);
	ck_assert(isnan(figures.share_of_peak) && isnan(figures.share_of_attainable) && !figures.has_bound);
	work.type = RVP_BLAS_F64; /* not measured in this one */
	figures = rvp_roofline_of(&work, &limits);
	ck_assert_double_eq(figures.flops_per_s, 2e9);
	ck_assert(isnan(figures.share_of_peak) && isnan(figures.least_ms) && !figures.has_bound);
	work.type = RVP_BLAS_TYPES; /* of two */
	ck_assert(!rvp_roofline_of(&work, &limits).has_bound);
	work.type = RVP_BLAS_F32;
	work.ns = 0;
	figures = rvp_roofline_of(&work, &limits);
	ck_assert(isnan(figures.flops_per_s) && isnan(figures.share_of_peak) && isnan(figures.share_of_attainable));
	ck_assert(figures.has_bound && figures.is_memory_bound);
	work = (struct rvp_roofline_work){.count = 5, .ns = 100, .flops = NAN, .bytes = NAN};
	figures = rvp_roofline_of(&work, &limits);
	ck_assert(isnan(figures.flops_per_s) && isnan(figures.intensity) && !figures.has_bound);
}
END_TEST

/* Half the peak in f64: 5 FLOPs a byte are enough to be bound by computing. */
START_TEST(doubles_have_a_peak_of_their_own)
{
	struct rvp_machine both = limits;
	struct rvp_roofline_work work = {.count = 1, .ns = 2000000000, .flops = 50e9, .bytes = 8e9, .type = RVP_BLAS_F64};
	struct rvp_roofline_figures figures;

	both.f64_flops_per_s = 50e9;
	figures = rvp_roofline_of(&work, &both);
	ck_assert(figures.has_bound && !figures.is_memory_bound);
	ck_assert_double_eq(figures.share_of_peak, .5);
	ck_assert_double_eq(figures.least_ms, 1000);
	work.type = RVP_BLAS_F32; /* 6.25 FLOPs a byte of 10 */
	figures = rvp_roofline_of(&work, &both);
	ck_assert(figures.is_memory_bound);
	ck_assert_double_eq(figures.share_of_peak, .25);
}
END_TEST

START_TEST(least_bytes_of_a_product)
{
	struct rvp_record_BLAS_CALL call = {.function = 0, .m = 2, .n = 3, .k = 4, .count = 5};

	ck_assert_double_eq(rvp_blas_least_bytes(&call), (2 * 4 + 4 * 3 + 2 * 3) * 4 * 5);
	call.function = 3; /* zgemm */
	ck_assert_double_eq(rvp_blas_least_bytes(&call), (2 * 4 + 4 * 3 + 2 * 3) * 16 * 5);
	call.function = 999;
	ck_assert_double_eq(rvp_blas_least_bytes(&call), 0);
	for (unsigned i = 0; rvp_blas_at(i); i++)
		ck_assert_str_eq(rvp_blas_type_names[rvp_blas_type_of(rvp_blas_at(i))], rvp_blas_at(i)->type);
}
END_TEST

/* ---- covered ---- */

enum { NS = 4000 };

/* The referee: a byte for each ns. */
START_TEST(covered_as_if_painted)
{
	static unsigned char painted[NS];
	struct rvp_covered covered = {.spans = NULL};
	uint64_t count = 0;

	srand((unsigned)_i + 1);
	for (int i = 0; i < NS; i++)
		painted[i] = 0;
	for (int i = 0; i < 150; i++) {
		uint64_t begin = (uint64_t)(rand() % NS), end = begin + (uint64_t)(rand() % (_i % 2 ? 20 : 200));

		end = end < NS ? end : NS;
		rvp_covered_add(&covered, begin, end);
		for (uint64_t ns = begin; ns < end; ns++)
			painted[ns] = 1;
	}
	for (int i = 0; i < NS; i++)
		count += painted[i];
	ck_assert_uint_eq(rvp_covered_ns(&covered), count);
	ck_assert_uint_eq(covered.cut_count, 0);
	for (size_t i = 1; i < covered.count; i++)
		ck_assert(covered.spans[i].begin_ns > covered.spans[i - 1].end_ns);
	rvp_covered_free(&covered);
}
END_TEST

START_TEST(very_many_take_a_mib)
{
	struct rvp_covered covered = {.spans = NULL};
	uint64_t count = 3 * RVP_COVERED_MOST;

	for (uint64_t i = 0; i < count; i++)
		rvp_covered_add(&covered, 10 * i, 10 * i + 3);
	ck_assert_uint_eq(rvp_covered_ns(&covered), 3 * count);
	ck_assert(covered.count <= RVP_COVERED_MOST && covered.cut_count == 0);
	/* One beside all of them: what is settled lacks its gaps, and that is counted. */
	rvp_covered_add(&covered, 0, 10 * count);
	ck_assert_uint_eq(covered.cut_count, 1);
	ck_assert(rvp_covered_ns(&covered) < 10 * count && rvp_covered_ns(&covered) > 3 * count);
	rvp_covered_free(&covered);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("roofline");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, memory_and_compute);
	tcase_add_test(tests, what_is_not_known_is_absent);
	tcase_add_test(tests, doubles_have_a_peak_of_their_own);
	tcase_add_test(tests, least_bytes_of_a_product);
	tcase_add_loop_test(tests, covered_as_if_painted, 0, 20);
	tcase_add_test(tests, very_many_take_a_mib);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
