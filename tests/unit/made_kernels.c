/* SPDX-License-Identifier: MIT */
/* made_kernels.c: see made_kernels.h. */
#include "tests/unit/made_kernels.h"

#define TEXT(literal)                       \
	{                                   \
		literal, sizeof literal - 1 \
	}

static void put_clock(struct maker_thread *thread, uint64_t us)
{
	MAKE(thread, DEVICE_CLOCK, 0, .stamp = us * 1000, .device_ns = KERNELS_AT(us), .width_ns = 400);
}

void put_device(struct maker_thread *thread)
{
	put_clock(thread, 2);
	MAKE(thread, DEVICE_TRACER, 16, .stamp = 3000, .source = RVP_DEVICE_SOURCE_CUPTI,
	     .tier = RVP_DEVICE_TIER_FULL, .tracer_version = 130001, .driver_version = 13000,
	     .kinds = (1 << RVP_DEVICE_BIT_COUNT) - 1, .reason = TEXT("made"));
	MAKE(thread, DEVICE, 32, .stamp = 3000, .device = 0, .memory_bytes = 1 << 30, .multiprocessors = 4,
	     .compute = 90, .warp_threads = 32, .threads = 2048, .registers = 65536, .shared_bytes = 233472,
	     .blocks = 32, .model = TEXT("Made \"Device\""));
	MAKE(thread, DEVICE_CONTEXT, 0, .stamp = 3000, .context = 1, .device = 0, .default_stream = 7);
	MAKE(thread, DEVICE_NAME, 64, .number = 1, .text = TEXT("__cudaLaunchKernel_ptsz_v13000"));
	MAKE(thread, DEVICE_NAME, 64, .number = 2, .text = TEXT("_Z5sgemmILi128EEvPKfPf"));
	MAKE(thread, DEVICE_NAME, 64, .number = 3, .text = TEXT("softmax,\"quoted\""));
	MAKE(thread, DEVICE_NAME, 64, .number = 4, .text = TEXT("layer_norm"));
	MAKE(thread, DEVICE_NAME, 64, .number = 5, .text = TEXT("cuGraphLaunch"));
	MAKE(thread, DEVICE_NAME, 64, .number = 6, .text = TEXT("cudaMemcpyAsync_v3020"));
	MAKE(thread, KERNEL_SHAPE, 0, .shape = 1, .name = 2, .device = 0, .context = 1, .grid_x = 8,
	     .grid_y = 4, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1, .registers = 128,
	     .static_bytes = 1024, .dynamic_bytes = 16384);
	MAKE(thread, KERNEL_SHAPE, 0, .shape = 2, .name = 3, .device = 0, .context = 1, .grid_x = 32,
	     .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1, .registers = 32);
	MAKE(thread, KERNEL_SHAPE, 0, .shape = 3, .name = 4, .device = 0, .context = 1, .grid_x = 1,
	     .grid_y = 1, .grid_z = 1, .block_x = 64, .block_y = 1, .block_z = 1, .registers = 16);
}

static void put_launch(struct maker_thread *thread, uint64_t us, uint64_t correlation, uint64_t function,
		       uint64_t stack)
{
	MAKE(thread, LAUNCH, 0, .stamp = us * 1000, .correlation = correlation, .function = function,
	     .duration_ns = 5000, .stack = stack, .stands_for = 1);
}

static void put_kernel(struct maker_thread *thread, uint64_t shape, uint64_t stream, uint64_t correlation,
		       uint64_t us, uint64_t length_us, uint64_t node)
{
	MAKE(thread, KERNEL, 0, .start_ns = KERNELS_AT(us), .duration_ns = length_us * 1000,
	     .correlation = correlation, .shape = shape, .stream = stream, .graph = node ? 5 : 0,
	     .node = node);
}

/* As CUPTI would: out of order, and after the launches. */
static void put_work(struct maker_thread *thread)
{
	put_kernel(thread, 2, 8, 3, 14000, 2000, 0);
	MAKE(thread, DEVICE_COPY, 0, .start_ns = KERNELS_AT(12000), .duration_ns = 1250000, .correlation = 1,
	     .bytes = 4096, .kind = 1, .source_kind = 1, .target_kind = 3, .device = 0, .context = 1,
	     .stream = 9);
	put_kernel(thread, 1, 7, 2, 13000, 2000, 0);
	put_kernel(thread, 2, 7, 4, 22000, 2000, 52);
	put_kernel(thread, 1, 7, 4, 21000, 1000, 51);
	MAKE(thread, DEVICE_SET, 0, .start_ns = KERNELS_AT(25000), .duration_ns = 500000, .correlation = 5,
	     .bytes = 64, .memory_kind = 3, .device = 0, .context = 1, .stream = 7);
	put_kernel(thread, 3, 7, 6, 27000, 1000, 0);
	MAKE(thread, KERNEL, 0, .start_ns = 0, .correlation = 7, .shape = 2, .stream = 8,
	     .flaw = RVP_DEVICE_FLAW_ZERO_TIME);
	MAKE(thread, KERNEL, 0, .start_ns = KERNELS_AT(29000), .correlation = 8, .shape = 2, .stream = 8,
	     .flaw = RVP_DEVICE_FLAW_BACKWARD);
	MAKE(thread, DEVICE_SYNC, 0, .start_ns = KERNELS_AT(17000), .duration_ns = 7020000, .correlation = 9,
	     .kind = 3, .context = 1, .stream = 7);
	MAKE(thread, DEVICE_OVERHEAD, 0, .start_ns = KERNELS_AT(16500), .duration_ns = 100000,
	     .kind = 1 << 16);
}

static void put_step(struct maker_thread *thread, uint64_t ms, uint64_t kind)
{
	MAKE(thread, STEP, 16, .stamp = ms * KERNELS_MS, .kind = kind, .source = RVP_SOURCE_API);
}

struct maker made_kernels(void)
{
	struct maker maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	for (uint64_t i = 1; i <= 5; i++)
		MAKE(thread, NODE, 0, .node = i, .parent = i / 2, .pc = 0x400000 + i * 64);
	put_device(thread);
	MAKE(thread, GRAPH_NODE, 0, .stamp = 4000, .graph = 2, .node = 21, .kind = 0, .stack = 4);
	MAKE(thread, GRAPH_NODE, 0, .stamp = 5000, .graph = 5, .node = 51, .original = 21, .kind = 0,
	     .stack = 5);
	put_step(thread, 10, RVP_STEP_BEGIN);
	put_launch(thread, 11000, 1, 6, 1);
	put_launch(thread, 12500, 2, 1, 2);
	put_launch(thread, 12600, 3, 1, 3);
	put_launch(thread, 19000, 4, 5, 1);
	put_step(thread, 20, RVP_STEP_END);
	put_step(thread, 20, RVP_STEP_BEGIN);
	put_launch(thread, 24050, 5, 6, 1);
	put_step(thread, 30, RVP_STEP_END);
	put_work(thread);
	put_clock(thread, 40000);
	return maker;
}
