/* SPDX-License-Identifier: MIT */
/* check_kernels.c: the parts that the reading of device work is made of, each against figures worked out by
 * hand: the device's clock, distributions, busy time, order, occupancy, names and classes. */
#include "report/busy.h"
#include "report/device_clock.h"
#include "report/distribution.h"
#include "report/kernels_names.h"
#include "report/kernels_order.h"
#include "report/occupancy.h"
#include "tests/unit/run_suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- clock ---- */

static struct rvp_device_clock clock_of(const struct rvp_device_bracket *brackets, size_t count)
{
	struct rvp_device_clock clock = {0};

	for (size_t i = 0; i < count; i++)
		ck_assert(rvp_device_clock_add(&clock, &brackets[i]));
	rvp_device_clock_finish(&clock);
	return clock;
}

static uint64_t at(const struct rvp_device_clock *clock, uint64_t device_ns)
{
	size_t hint = 0;

	return rvp_device_unix_ns(clock, device_ns, &hint);
}

/* The tracer's clock is 1,000,000 ahead at first, and slower by a thousandth in the second piece. */
START_TEST(clock_is_linear_between_brackets)
{
	struct rvp_device_clock clock = clock_of((struct rvp_device_bracket[]){{30000000, 30980000, 600},
									       {10000000, 11000000, 100},
									       {20000000, 21000000, 300}},
						 3);
	size_t hint = 0;

	ck_assert(clock.is_tied);
	ck_assert_uint_eq(clock.step_count, 0);
	ck_assert_uint_eq(clock.error_ns, 300);
	ck_assert_uint_eq(at(&clock, 11000000), 10000000);
	ck_assert_uint_eq(at(&clock, 16000000), 15000000);
	ck_assert_uint_eq(at(&clock, 21000000 + 4990000), 25000000); /* half of 9.98 ms is half of 10 ms */
	ck_assert_uint_eq(at(&clock, 10999000), 9999000);            /* before the first */
	ck_assert_uint_eq(at(&clock, 30981000), 30001000);           /* behind the last */
	/* A hint from elsewhere does no harm. */
	ck_assert_uint_eq(rvp_device_unix_ns(&clock, 30981000, &hint), 30001000);
	ck_assert_uint_eq(rvp_device_unix_ns(&clock, 16000000, &hint), 15000000);
	ck_assert(rvp_device_clock_is_beyond(&clock, 10999000));
	ck_assert(!rvp_device_clock_is_beyond(&clock, 11000000));
	ck_assert(rvp_device_clock_is_beyond(&clock, 30980001));
	rvp_device_clock_free(&clock);
}
END_TEST

/* Somebody sets the clock on by a second between two brackets that are 10 s apart. */
START_TEST(clock_tells_a_step)
{
	const uint64_t s = 1000000000;
	struct rvp_device_clock clock = clock_of((struct rvp_device_bracket[]){{10 * s, 10 * s, 100},
									       {20 * s, 21 * s, 100},
									       {30 * s, 31 * s, 100}},
						 3);

	ck_assert_uint_eq(clock.step_count, 1);
	ck_assert_int_eq(clock.largest_step_ns, (int64_t)s);
	ck_assert_uint_eq(clock.error_ns, s);
	ck_assert_uint_eq(at(&clock, 12 * s), 12 * s); /* with the first bracket */
	ck_assert_uint_eq(at(&clock, 20 * s), 19 * s); /* with the second one */
	ck_assert_uint_eq(at(&clock, 22 * s), 21 * s); /* behind it all is well */
	rvp_device_clock_free(&clock);
	/* And back by 15 s: two moments have one time. */
	clock = clock_of(
	    (struct rvp_device_bracket[]){{10 * s, 10 * s, 100}, {20 * s, 5 * s, 100}, {30 * s, 15 * s, 100}},
	    3);
	ck_assert_uint_eq(clock.step_count, 1);
	ck_assert_int_eq(clock.largest_step_ns, -15 * (int64_t)s);
	ck_assert_uint_eq(at(&clock, 7 * s), 22 * s);
	ck_assert_uint_eq(at(&clock, 12 * s), 27 * s); /* of the two the later one */
	ck_assert_uint_eq(clock.slack_ns, 15 * s);
	rvp_device_clock_free(&clock);
}
END_TEST

/* Set to and fro all the time: a moment goes with the last bracket that is not behind it, found by looking at each. */
START_TEST(a_clock_that_is_set_often)
{
	enum { BRACKETS = 300 };
	const uint64_t s = 1000000000;
	struct rvp_device_bracket brackets[BRACKETS];
	struct rvp_device_clock clock;

	for (uint64_t i = 0; i < BRACKETS; i++)
		brackets[i] = (struct rvp_device_bracket){(1000 + i) * s, (1000 + 3 * i - 400 * (i * 7 % 4 == 1)) * s, 100};
	clock = clock_of(brackets, BRACKETS);
	ck_assert_uint_gt(clock.step_count, BRACKETS / 2);
	for (uint64_t i = 1; i < BRACKETS; i++) {
		uint64_t moment = brackets[i].device_ns + s / 4;
		size_t last = BRACKETS - 1;

		while (last && brackets[last].device_ns > moment)
			last--;
		if (moment - brackets[last].device_ns > s / 2 && last + 1 < BRACKETS)
			last++; /* beyond the middle: the next one's */
		ck_assert_uint_eq(at(&clock, moment), brackets[last].unix_ns + (moment - brackets[last].device_ns));
	}
	rvp_device_clock_free(&clock);
}
END_TEST

START_TEST(clock_without_brackets_says_so)
{
	struct rvp_device_clock clock = clock_of(NULL, 0);

	ck_assert(!clock.is_tied);
	ck_assert_uint_eq(at(&clock, 77), 77);
	ck_assert(rvp_device_clock_is_beyond(&clock, 77));
	rvp_device_clock_free(&clock);
	clock =
	    clock_of((struct rvp_device_bracket[]){{500, 900, 20}, {500, 910, 4}}, 2); /* the narrower one */
	ck_assert(clock.is_tied);
	ck_assert_uint_eq(at(&clock, 1000), 590);
	ck_assert_uint_eq(clock.error_ns, 2);
	rvp_device_clock_free(&clock);
}
END_TEST

/* ---- distribution ---- */

START_TEST(distribution_by_hand)
{
	static const uint64_t values[] = {4, 8, 15, 16, 23, 42};
	struct rvp_distribution distribution = {0};

	for (size_t i = 0; i < 6; i++)
		rvp_distribution_add(&distribution, values[(i * 5 + 2) % 6]);
	ck_assert_uint_eq(distribution.count, 6);
	ck_assert_uint_eq(distribution.sum, 108);
	ck_assert_uint_eq(distribution.least, 4);
	ck_assert_uint_eq(distribution.most, 42);
	ck_assert_double_eq(rvp_distribution_mean(&distribution), 18);
	ck_assert_double_eq(rvp_distribution_median(&distribution), 15.5);
	/* Squares of the distances are 196 + 100 + 9 + 4 + 25 + 576 = 910; of five. */
	ck_assert_double_eq_tol(rvp_distribution_deviation(&distribution), sqrt(182), 1e-12);
	rvp_distribution_add(&distribution, 99);
	ck_assert_double_eq(rvp_distribution_median(&distribution), 16);
	rvp_distribution_free(&distribution);
}
END_TEST

START_TEST(distribution_of_many)
{
	struct rvp_distribution distribution = {0};

	for (uint64_t i = 0; i < 100000; i++)
		rvp_distribution_add(&distribution,
				     1 + i * 7919 % 100000 * 1000); /* 1, 1001, .. 99,999,001 */
	ck_assert(distribution.is_histogram);
	ck_assert_uint_eq(distribution.least, 1);
	ck_assert_uint_eq(distribution.most, 99999001);
	ck_assert_double_eq_tol(rvp_distribution_median(&distribution), 49999501, 49999501 * 0.004);
	/* Of 0 .. n-1 times 1000: 1000 sqrt(n (n + 1) / 12). */
	ck_assert_double_eq_tol(rvp_distribution_deviation(&distribution),
				1000 * sqrt(100000.0 * 100001 / 12), 0.01);
	rvp_distribution_free(&distribution);
	/* Small ones have a bucket each. */
	for (int i = 0; i < 3000; i++)
		rvp_distribution_add(&distribution, i % 3 ? 255 : 12);
	ck_assert_double_eq(rvp_distribution_median(&distribution), 255);
	rvp_distribution_free(&distribution);
	for (int i = 0; i < 2000; i++)
		rvp_distribution_add(&distribution, UINT64_MAX - 7);
	ck_assert_double_eq(rvp_distribution_median(&distribution), (double)(UINT64_MAX - 7));
	rvp_distribution_free(&distribution);
}
END_TEST

/* ---- busy, order ---- */

START_TEST(busy_counts_no_time_twice)
{
	struct rvp_busy busy = {0};

	rvp_busy_add(&busy, 100, 200);
	rvp_busy_add(&busy, 150, 180); /* within */
	rvp_busy_add(&busy, 190, 230); /* 30 of its own */
	rvp_busy_add(&busy, 300, 300);
	rvp_busy_add(&busy, 400, 410);
	ck_assert_uint_eq(busy.ns, 140);
	ck_assert_uint_eq(busy.until_ns, 410);
}
END_TEST

/* Else the time before it would be idle before it, and before the next piece once more. */
START_TEST(what_takes_no_time_moves_the_moment)
{
	struct rvp_busy busy = {0};

	rvp_busy_add(&busy, 100, 200);
	rvp_busy_add(&busy, 300, 300);
	ck_assert_uint_eq(busy.until_ns, 300);
	rvp_busy_add(&busy, 150, 180);
	ck_assert_uint_eq(busy.until_ns, 300);
	ck_assert_uint_eq(busy.ns, 100);
}
END_TEST

START_TEST(order_is_stable)
{
	enum { COUNT = 5000 };
	static struct rvp_order_key keys[COUNT], spare[COUNT];
	uint64_t seed = 88172645463325252u;

	for (uint32_t i = 0; i < COUNT; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		/* Many equal ones, and some that differ in the highest bits alone. */
		keys[i] = (struct rvp_order_key){seed % 700 << (i % 5 ? 0 : 54), i};
	}
	rvp_order(keys, spare, COUNT);
	for (int i = 1; i < COUNT; i++)
		ck_assert(keys[i - 1].key < keys[i].key ||
			  (keys[i - 1].key == keys[i].key && keys[i - 1].number < keys[i].number));
}
END_TEST

/* ---- occupancy ---- */

static const struct rvp_record_DEVICE device = {.multiprocessors = 4,
						.compute = 90,
						.warp_threads = 32,
						.threads = 2048,
						.registers = 65536,
						.shared_bytes = 233472,
						.blocks = 32};

/* 8 warps a block. Warps allow 64 / 8 = 8 blocks; registers 65536 / (128 * 32 * 8) = 2; shared memory
 * 233472 / (17408 + 1024) = 12; so 2 blocks, 16 of 64 warps. The grid has 8 blocks a multiprocessor. */
START_TEST(occupancy_by_registers)
{
	struct rvp_kernel_shape shape = {.grid = {8, 4, 1},
					 .block = {256, 1, 1},
					 .registers = 128,
					 .static_bytes = 1024,
					 .dynamic_bytes = 16384};
	struct rvp_occupancy occupancy = rvp_occupancy_of(&shape, &device);

	ck_assert(occupancy.is_known);
	ck_assert_uint_eq(occupancy.blocks, 2);
	ck_assert_int_eq(occupancy.limit, RVP_OCCUPANCY_BY_REGISTERS);
	ck_assert_double_eq(occupancy.share, 0.25);
	ck_assert_double_eq(occupancy.estimated, 0.25);
	ck_assert_double_eq(occupancy.blocks_per_multiprocessor, 8);
	ck_assert_double_eq(occupancy.warps_per_multiprocessor, 64);
	ck_assert(!rvp_occupancy_of(&shape, NULL).is_known);
}
END_TEST

/* Each of these once divided by 0, or would have. */
START_TEST(occupancy_of_absurd_numbers_is_not_known)
{
	const struct rvp_kernel_shape usual = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .registers = 1u << 31};
	const struct rvp_kernel_shape shapes[] = {
	    {.grid = {1, 1, 1}, .block = {4294967295u, 4294967295u, 1}, .registers = 1},
	    {.grid = {1, 1, 1}, .block = {1u << 31, 1u << 31, 1u << 31}},
	    {.grid = {1, 1, 1}, .block = {32, 0, 1}},
	};
	struct rvp_record_DEVICE absurd = device;

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		ck_assert(!rvp_occupancy_of(&shapes[i], &device).is_known);
	absurd.warp_threads = (uint64_t)1 << 33; /* by the registers: 0 of 64 bits */
	absurd.threads = UINT64_MAX;
	ck_assert(!rvp_occupancy_of(&usual, &absurd).is_known);
	absurd = device;
	absurd.threads = 31;
	ck_assert(!rvp_occupancy_of(&usual, &absurd).is_known);
}
END_TEST

/* 100,000 bytes and the system's 1,024 are 101,120 in pieces of 128: 2 blocks of 4 warps; one block for 4
 * processors. */
START_TEST(occupancy_by_shared_memory)
{
	struct rvp_kernel_shape shape = {
	    .grid = {1, 1, 1}, .block = {100, 1, 1}, .registers = 16, .dynamic_bytes = 100000};
	struct rvp_occupancy occupancy = rvp_occupancy_of(&shape, &device);

	ck_assert_int_eq(occupancy.limit, RVP_OCCUPANCY_BY_SHARED);
	ck_assert_uint_eq(occupancy.blocks, 2);
	ck_assert_double_eq(occupancy.share, 8 / 64.0);
	ck_assert_double_eq(occupancy.estimated, 0.25 * 4 / 64);
	shape = (struct rvp_kernel_shape){.grid = {1, 1, 1}, .block = {32, 1, 1}};
	ck_assert_int_eq(rvp_occupancy_of(&shape, &device).limit, RVP_OCCUPANCY_BY_BLOCKS);
	ck_assert_double_eq(rvp_occupancy_of(&shape, &device).share, 0.5);
}
END_TEST

/* ---- names ---- */

static const struct {
	const char *name, *class;
} named[] = {
    {"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"},
    {"void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*, vllm::RankSignals)", "communication"},
    {"ampere_sgemm_128x64_tn", "gemm"},
    {"sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_"
     "kernel__5x_cublas",
     "gemm"},
    {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT", "gemm"},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __half>(cublasLt::cublasSplitKParams<float>)",
     "gemm"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_nn_align8>(..::Params)",
     "gemm"},
    {"void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>(..)", "gemm"},
    {"void mul_mat_vec_q<(ggml_type)12, 1, false>(void const*, void const*, float*)", "gemm"},
    {"triton_mm", "gemm"},
    {"void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, "
     "4>>(flash::Flash_fwd_params)",
     "attention"},
    {"void vllm::paged_attention_v2_kernel<unsigned short, unsigned short, 128, 16>(float*)", "attention"},
    {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<..>::Params)",
     "attention"},
    {"void flash_attn_ext_f16<128, 128, 32>(char const*)", "attention"},
    {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(..)", "convolution"},
    {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckcrs_nhwc_tilesize128x128x32_stage4",
     "convolution"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float)",
     "norm"},
    {"void vllm::rms_norm_kernel<c10::Half>(c10::Half*, c10::Half const*)", "norm"},
    {"void rms_norm_f32<1024>(float const*, float*, int)", "norm"},
    {"void at::native::batch_norm_collect_statistics_kernel<at::native::InvStd, float>(..)", "norm"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
     "std::array<char*, 3ul>>(..)",
     "elementwise"},
    {"triton_poi_fused_add_mul_3", "elementwise"},
    {"void vllm::rotary_embedding_kernel<c10::Half, true>(long const*)", "elementwise"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<..FusedAdamMathFunctor<float, "
     "4>>(..)",
     "elementwise"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
     "float>>>(..)",
     "reduction"},
    {"triton_red_fused_sum_1", "reduction"},
    {"void cub::DeviceRadixSortOnesweepKernel<..>(..)", "reduction"},
    {"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2, 2>(..)",
     "embedding"},
    {"void vllm::reshape_and_cache_flash_kernel<unsigned short, unsigned short>(..)", "embedding"},
    {"void k_get_rows_float<float, float>(float const*, int const*, float*)", "embedding"},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(..)",
     "softmax"},
    {"triton_per_fused__softmax_2", "softmax"},
    {"void soft_max_f32<true, 1024, 1024>(float const*, float*)", "softmax"},
    {"quantize_q8_1(float const*, void*, long, long)", "quantize"},
    {"void kQuantizeBlockwise<__half, 64, 2, 0, 1>(float*)", "quantize"},
    {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4>(..)",
     "sampling"},
    {"void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(..)", "sampling"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, "
     "1ul>>(..)",
     "memset"},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}>(..)",
     "copy"},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3, 64, 64>(..)",
     "copy"},
    {"my_own_kernel(float*)", "other"},
    {"", "other"},
};

static struct rvp_rule_list rules;

static void read_pack(void)
{
	int errors = 0;

	ck_assert(!rvp_failed(rvp_rules_read_file(&rules, KERNEL_RULES, NULL, NULL, &errors)));
	ck_assert_int_eq(errors, 0);
	ck_assert_uint_gt(rules.count, 10);
}

START_TEST(names_have_classes)
{
	read_pack();
	const struct rvp_rule *rule = rvp_rules_of_kernel(&rules, named[_i].name);

	ck_assert_msg(!strcmp(rule ? rule->purpose + strlen("kernel/") : "other", named[_i].class),
		      "%s is %s (line %u)", named[_i].name, rule ? rule->purpose : "other",
		      rule ? rule->line : 0);
	rvp_rules_free(&rules);
}
END_TEST

static void note(void *context, const struct rvp_rule_error *error)
{
	snprintf(context, 200, "%u:%u: %s", error->line, error->column, error->text);
}

START_TEST(rules_of_kernels_are_checked)
{
	char said[200] = "";
	const char *mine = "kernel/attention \"mine\": kernel \"my_*\" not kernel \"*_copy\" because \"x\"\n";

	ck_assert_int_eq(rvp_rules_read_text(&rules, "my.rules", mine, strlen(mine), note, said), 0);
	ck_assert_ptr_nonnull(rvp_rules_of_kernel(&rules, "my_kernel"));
	ck_assert_ptr_null(rvp_rules_of_kernel(&rules, "my_copy"));
	ck_assert_ptr_null(rvp_rules_of_kernel(&rules, "not_my_kernel"));
	mine = "kernel/gemm \"a\": frame \"f\" because \"x\"\n";
	ck_assert_int_eq(rvp_rules_read_text(&rules, "my.rules", mine, strlen(mine), note, said), 1);
	ck_assert_ptr_nonnull(strstr(said, "`kernel` as the only conditions"));
	mine = "weights \"a\": kernel \"f\" because \"x\"\n";
	ck_assert_int_eq(rvp_rules_read_text(&rules, "my.rules", mine, strlen(mine), note, said), 1);
	ck_assert_ptr_nonnull(strstr(said, "no `kernel` in a rule for blocks"));
	mine = "kernel/nothing \"a\": kernel \"f\" because \"x\"\n";
	ck_assert_int_eq(rvp_rules_read_text(&rules, "my.rules", mine, strlen(mine), note, said), 1);
	rvp_rules_free(&rules);
}
END_TEST

START_TEST(functions_have_their_plain_names)
{
	static const char *const pairs[][2] = {
	    {"__cudaLaunchKernel_ptsz_v13000", "cudaLaunchKernel"},
	    {"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
	    {"cuLaunchKernelEx_ptsz", "cuLaunchKernelEx"},
	    {"cudaMemcpyAsync_v3020", "cudaMemcpyAsync"},
	    {"cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2"},
	    {"", ""},
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		char name[64];

		rvp_device_function_name((struct rvp_text){pairs[i][0], strlen(pairs[i][0])}, name,
					 sizeof name);
		ck_assert_str_eq(name, pairs[i][1]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernels");
	TCase *test = tcase_create("parts");

	tcase_add_test(test, clock_is_linear_between_brackets);
	tcase_add_test(test, clock_tells_a_step);
	tcase_add_test(test, a_clock_that_is_set_often);
	tcase_add_test(test, clock_without_brackets_says_so);
	tcase_add_test(test, distribution_by_hand);
	tcase_add_test(test, distribution_of_many);
	tcase_add_test(test, busy_counts_no_time_twice);
	tcase_add_test(test, what_takes_no_time_moves_the_moment);
	tcase_add_test(test, order_is_stable);
	tcase_add_test(test, occupancy_by_registers);
	tcase_add_test(test, occupancy_of_absurd_numbers_is_not_known);
	tcase_add_test(test, occupancy_by_shared_memory);
	tcase_add_loop_test(test, names_have_classes, 0, sizeof named / sizeof *named);
	tcase_add_test(test, rules_of_kernels_are_checked);
	tcase_add_test(test, functions_have_their_plain_names);
	suite_add_tcase(suite, test);
	return run_suite(suite);
}
