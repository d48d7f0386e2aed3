/* SPDX-License-Identifier: MIT */
/* check_device_blocks.c: made runs with memory of devices: what is live, of which device, for what. Each
 * figure here was added up by hand. */
#include "tests/unit/made_device.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>

static const uint64_t device = 0x7f0000000000, host = 0x7e0000000000;
static struct made_device it;

static void begin(void)
{
	made_device_begin(&it);
}

static void end(void)
{
	made_device_end(&it);
}

static void alloc(uint64_t stamp, enum rvp_device_memory kind, uint64_t address, uint64_t bytes)
{
	MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .kind = kind,
	     .context = 1);
}

static void give_back(uint64_t stamp, enum rvp_device_memory kind, uint64_t address)
{
	MAKE(it.thread, DEVICE_FREE, 0, .stamp = stamp, .address = address, .kind = kind);
}

static void tensor(uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(it.thread, DEVICE_TENSOR, 0, .stamp = stamp, .address = address, .bytes = bytes);
}

static void tensor_end(uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(it.thread, DEVICE_TENSOR, 0, .stamp = stamp, .address = address, .bytes = bytes, .is_free = 1);
}

static void tag(uint64_t stamp, uint64_t address, const char *category)
{
	MAKE(it.thread, TAG, 32, .stamp = stamp, .address = address,
	     .category = {category, strlen(category)});
}

static uint64_t live(size_t moment)
{
	return made_device_live(&it, 0, moment);
}

static uint64_t live_of(const char *purpose, size_t moment)
{
	return made_device_live_of(&it, 0, purpose, moment);
}

START_TEST(plain_blocks_live_and_die)
{
	begin();
	MAKE(it.thread, ALLOC, 0, .stamp = 1500, .address = host, .bytes = 77);
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 1000);
	alloc(3000, RVP_DEVICE_MEMORY_PLAIN, device + 4096, 500);
	give_back(4000, RVP_DEVICE_MEMORY_PLAIN, device);
	alloc(5000, RVP_DEVICE_MEMORY_PLAIN, device, 200);
	made_device_ask(&it, 2500);
	made_device_ask(&it, 4500);
	made_device_read(&it);
	ck_assert_uint_eq(it.count, 1);
	ck_assert_str_eq(it.host.run->devices[0].name, "cuda:0");
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 1500);
	ck_assert_uint_eq(it.answers[0].tracked_peak_ns, MAKER_EPOCH_NS + 3000);
	ck_assert_uint_eq(it.answers[0].tracked_end_bytes, 700);
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_count, 3);
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_bytes, 1700);
	ck_assert_uint_eq(it.answers[0].totals.free_bytes, 1000);
	ck_assert_uint_eq(live(0), 1000);
	ck_assert_uint_eq(live(1), 500);
	/* And nothing of it is the host's. */
	ck_assert_uint_eq(it.host.answer.tracked_peak_bytes, 77);
	ck_assert_uint_eq(it.host.answer.totals.counters.alloc_bytes, 77);
	ck_assert_uint_eq(it.host.answer.totals.end_live_bytes, 77);
	ck_assert(it.host.answer.totals.timeline_is_exact);
	end();
}
END_TEST

/* A second device beside it; sizes of one are not in the other. */
START_TEST(each_device_has_its_own)
{
	begin();
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 1000);
	MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = 2500, .address = device + 8192, .bytes = 30, .device = 1);
	made_device_read(&it);
	ck_assert_uint_eq(it.count, 2);
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 1000);
	ck_assert_uint_eq(it.answers[1].tracked_peak_bytes, 30);
	ck_assert_str_eq(it.host.run->devices[1].name, "cuda:1");
	end();
}
END_TEST

static void describe(struct maker_thread *thread, uint64_t number, const char *uuid)
{
	MAKE(thread, DEVICE, 64, .stamp = 1500, .device = number, .uuid = {uuid, 16}, .model = {"Model", 5});
}

/* Ranks that were each given one device call it 0; what is one by its UUID is one. */
START_TEST(devices_are_told_apart_by_uuid)
{
	struct maker_thread *second, *third;

	begin();
	second = &maker_add(&it.maker, 101)->threads[0];
	third = &maker_add(&it.maker, 102)->threads[0];
	describe(it.thread, 0, "aaaaaaaaaaaaaaaa");
	describe(second, 0, "bbbbbbbbbbbbbbbb");
	describe(third, 3, "aaaaaaaaaaaaaaaa");
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 1000);
	MAKE(second, DEVICE_ALLOC, 0, .stamp = 2000, .address = device, .bytes = 30);
	MAKE(third, DEVICE_ALLOC, 0, .stamp = 2000, .address = device, .bytes = 500, .device = 3);
	made_device_read(&it);
	ck_assert_uint_eq(it.count, 2);
	ck_assert_str_eq(it.host.run->devices[0].name, "cuda:0");
	ck_assert_str_eq(it.host.run->devices[1].name, "cuda:1");
	ck_assert_str_eq(it.host.run->devices[1].model, "Model");
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 1500);
	ck_assert_uint_eq(it.answers[1].tracked_peak_bytes, 30);
	end();
}
END_TEST

START_TEST(what_is_not_the_devices)
{
	begin();
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 1000);
	alloc(2100, RVP_DEVICE_MEMORY_IMPORTED, device + 0x10000, 2000);
	alloc(2200, RVP_DEVICE_MEMORY_REGISTERED, host, 4000);
	alloc(2300, RVP_DEVICE_MEMORY_PINNED, host + 0x10000, 8000);
	give_back(2400, RVP_DEVICE_MEMORY_REGISTERED, host);
	give_back(2500, RVP_DEVICE_MEMORY_IMPORTED, device + 0x10000);
	made_device_read(&it);
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 1000);
	ck_assert_uint_eq(it.answers[0].device_unknown_frees, 0);
	ck_assert_uint_eq(it.host.answer.tracked_peak_bytes, 8000);
	end();
}
END_TEST

/* The driver maps 64 KiB and gives 8 KiB of it: the host has 64 KiB, whoever speaks for which. */
START_TEST(pinned_memory_is_in_its_mapping_once)
{
	begin();
	MAKE(it.thread, MAP, 0, .stamp = 2000, .address = host, .bytes = 65536, .protection = 3,
	     .flags = 0x22);
	alloc(2500, RVP_DEVICE_MEMORY_PINNED, host + 4096, 8192);
	tag(2600, host + 4096, "input");
	give_back(4000, RVP_DEVICE_MEMORY_PINNED, host + 4096);
	MAKE(it.thread, UNMAP, 0, .stamp = 6000, .address = host, .bytes = 65536);
	alloc(7000, RVP_DEVICE_MEMORY_PLAIN, device, 1);
	made_device_ask(&it, 3000);
	made_device_ask(&it, 5000);
	made_device_ask(&it, 6500);
	made_device_read(&it);
	ck_assert_uint_eq(it.host.answer.moment_live_bytes[0], 65536);
	ck_assert_uint_eq(attributed_live(&it.host, "input", 0), 8192);
	ck_assert_uint_eq(it.host.answer.moment_live_bytes[1], 65536);
	ck_assert_uint_eq(attributed_live(&it.host, "input", 1), 0);
	ck_assert_uint_eq(it.host.answer.moment_live_bytes[2], 0);
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 1);
	end();
}
END_TEST

/* Handles of arrays are no addresses: they may stand closer than the arrays are large. */
START_TEST(arrays_and_managed_memory)
{
	begin();
	alloc(2000, RVP_DEVICE_MEMORY_ARRAY, host, 1000);
	alloc(2100, RVP_DEVICE_MEMORY_ARRAY, host + 64, 2000);
	alloc(2200, RVP_DEVICE_MEMORY_MANAGED, device, 500);
	alloc(2300, RVP_DEVICE_MEMORY_PLAIN, host, 7); /* an address that looks like a handle */
	give_back(3000, RVP_DEVICE_MEMORY_ARRAY, host);
	made_device_read(&it);
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 3507);
	ck_assert_uint_eq(it.answers[0].device_peak_managed_bytes, 500);
	ck_assert_uint_eq(it.answers[0].tracked_end_bytes, 2507);
	ck_assert_uint_eq(it.answers[0].device_unknown_frees, 0);
	end();
}
END_TEST

/* An array is known by its handle: one whose free failed is there, and its next free is its end. */
START_TEST(an_array_whose_free_failed)
{
	begin();
	alloc(2000, RVP_DEVICE_MEMORY_ARRAY, host, 1000);
	give_back(3000, RVP_DEVICE_MEMORY_ARRAY, host);
	MAKE(it.thread, DEVICE_UNFREE, 0, .stamp = 3100, .address = host);
	made_device_ask(&it, 3050);
	made_device_ask(&it, 3500);
	give_back(4000, RVP_DEVICE_MEMORY_ARRAY, host);
	made_device_ask(&it, 4500);
	made_device_read(&it);
	ck_assert_uint_eq(live(0), 0);
	ck_assert_uint_eq(live(1), 1000);
	ck_assert_uint_eq(live(2), 0);
	ck_assert_uint_eq(it.answers[0].device_unknown_frees, 0);
	end();
}
END_TEST

START_TEST(frees_that_fail_and_frees_of_nothing)
{
	begin();
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 1000);
	give_back(3000, RVP_DEVICE_MEMORY_PLAIN, device);
	MAKE(it.thread, DEVICE_UNFREE, 0, .stamp = 3100, .address = device);
	give_back(3500, RVP_DEVICE_MEMORY_PLAIN, device + 16);
	give_back(3600, RVP_DEVICE_MEMORY_PHYSICAL, 5);
	give_back(3700, RVP_DEVICE_MEMORY_ARRAY, 6);
	made_device_ask(&it, 3050);
	made_device_ask(&it, 4000);
	made_device_read(&it);
	ck_assert_uint_eq(live(0), 0);
	ck_assert_uint_eq(live(1), 1000);
	ck_assert_uint_eq(it.answers[0].tracked_end_bytes, 1000);
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_count, 1);
	ck_assert_uint_eq(it.answers[0].device_unknown_frees, 3);
	ck_assert_uint_eq(it.host.answer.totals.loss[RVP_LOSS_UNKNOWN_FREE], 0);
	end();
}
END_TEST

/* Context 2 goes and takes its block; the block without a context goes with the last one. */
START_TEST(a_context_takes_its_blocks)
{
	begin();
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 1500, .context = 1);
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 1600, .context = 2);
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 1000);
	MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = 2100, .address = device + 4096, .bytes = 20, .context = 2);
	MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = 2200, .address = device + 8192, .bytes = 3);
	alloc(2300, RVP_DEVICE_MEMORY_PHYSICAL, 9, 100000);
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 3000, .context = 2, .is_end = 1);
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 4000, .context = 1, .is_end = 1);
	made_device_ask(&it, 2500);
	made_device_ask(&it, 3500);
	made_device_ask(&it, 4500);
	made_device_read(&it);
	ck_assert_uint_eq(live(0), 101023);
	ck_assert_uint_eq(live(1), 101003);
	ck_assert_uint_eq(live(2), 100000);
	end();
}
END_TEST

/* Made 6000, mapped 4000 of it at an address that is tagged, unmapped, released, in both orders. */
START_TEST(physical_memory_counts_once)
{
	begin();
	alloc(2000, RVP_DEVICE_MEMORY_PHYSICAL, 9, 6000);
	MAKE(it.thread, DEVICE_MAP, 0, .stamp = 3000, .address = device, .bytes = 4000, .handle = 9);
	tag(3100, device + 100, "kv_cache");
	MAKE(it.thread, DEVICE_UNMAP, 0, .stamp = 4000, .address = device, .bytes = 4000);
	MAKE(it.thread, DEVICE_MAP, 0, .stamp = 5000, .address = device, .bytes = 6000, .handle = 9);
	give_back(6000, RVP_DEVICE_MEMORY_PHYSICAL, 9);
	MAKE(it.thread, DEVICE_UNMAP, 0, .stamp = 7000, .address = device, .bytes = 6000);
	alloc(8000, RVP_DEVICE_MEMORY_PHYSICAL, 9, 50);
	give_back(9000, RVP_DEVICE_MEMORY_PHYSICAL, 9);
	for (uint64_t stamp = 2500; stamp < 10000; stamp += 1000)
		made_device_ask(&it, stamp);
	made_device_read(&it);
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(live(i), 6000);
	ck_assert_uint_eq(live_of("kv_cache", 0), 0);
	ck_assert_uint_eq(live_of("kv_cache", 1), 4000);
	ck_assert_uint_eq(live_of("kv_cache", 2), 0);
	ck_assert_uint_eq(live(5), 0);
	ck_assert_uint_eq(live(6), 50);
	ck_assert_uint_eq(live(7), 0);
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 6000);
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_count, 2);
	ck_assert_uint_eq(it.answers[0].device_unknown_frees, 0);
	end();
}
END_TEST

START_TEST(a_pool_keeps_what_it_does_not_give)
{
	begin();
	MAKE(it.thread, DEVICE_POOL, 0, .stamp = 1500, .pool = 5, .change = RVP_DEVICE_POOL_MADE);
	MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = 2000, .address = device, .bytes = 300,
	     .kind = RVP_DEVICE_MEMORY_ORDERED, .pool = 5);
	MAKE(it.thread, DEVICE_POOL, 0, .stamp = 2100, .pool = 5, .change = RVP_DEVICE_POOL_SEEN,
	     .reserved_bytes = 1000);
	MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = 3000, .address = device + 512, .bytes = 600,
	     .kind = RVP_DEVICE_MEMORY_ORDERED, .pool = 5);
	give_back(4000, RVP_DEVICE_MEMORY_ORDERED, device);
	MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = 5000, .address = device + 4096, .bytes = 700,
	     .kind = RVP_DEVICE_MEMORY_ORDERED, .pool = 5); /* more than it said to hold */
	give_back(6000, RVP_DEVICE_MEMORY_ORDERED, device + 4096);
	MAKE(it.thread, DEVICE_POOL, 0, .stamp = 7000, .pool = 5, .change = RVP_DEVICE_POOL_TRIMMED,
	     .reserved_bytes = 640);
	give_back(8000, RVP_DEVICE_MEMORY_ORDERED, device + 512);
	MAKE(it.thread, DEVICE_POOL, 0, .stamp = 9000, .pool = 5, .change = RVP_DEVICE_POOL_DESTROYED);
	alloc(9900, RVP_DEVICE_MEMORY_PLAIN, device, 1);
	for (uint64_t stamp = 2500; stamp < 10000; stamp += 1000)
		made_device_ask(&it, stamp);
	made_device_read(&it);
	static const uint64_t kept[] = {700, 100, 400, 0, 700, 40, 640, 0};
	static const uint64_t all[] = {1000, 1000, 1000, 1300, 1300, 640, 640, 0};
	for (size_t i = 0; i < 8; i++) {
		ck_assert_uint_eq(live_of("allocator/pool", i), kept[i]);
		ck_assert_uint_eq(live(i), all[i]);
	}
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 1300);
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_count, 4);
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_bytes, 1601);
	end();
}
END_TEST

/* What has its handle later is another array, and a late free of the first one is of nothing. */
START_TEST(a_context_takes_its_arrays)
{
	begin();
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 1500, .context = 1);
	alloc(2000, RVP_DEVICE_MEMORY_ARRAY, 9, 1000);
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 3000, .context = 1, .is_end = 1);
	alloc(4000, RVP_DEVICE_MEMORY_PLAIN, device, 30);
	give_back(5000, RVP_DEVICE_MEMORY_ARRAY, 9);
	alloc(6000, RVP_DEVICE_MEMORY_ARRAY, 9, 500);
	for (uint64_t stamp = 2500; stamp < 7000; stamp += 1000)
		made_device_ask(&it, stamp);
	made_device_read(&it);
	static const uint64_t all[] = {1000, 0, 30, 30, 530};
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(live(i), all[i]);
	ck_assert_uint_eq(it.answers[0].device_unknown_frees, 1);
	end();
}
END_TEST

static void ordered(uint64_t stamp, uint64_t address, uint64_t bytes, uint64_t context)
{
	MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes,
	     .kind = RVP_DEVICE_MEMORY_ORDERED, .context = context, .pool = 5);
}

/* As cudaDeviceReset does it: what is left of the pool's blocks is not taken from the next pool there. */
START_TEST(a_pool_may_go_before_its_blocks)
{
	begin();
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 1500, .context = 1);
	ordered(2000, device, 300, 1);
	MAKE(it.thread, DEVICE_POOL, 0, .stamp = 2100, .pool = 5, .change = RVP_DEVICE_POOL_SEEN,
	     .reserved_bytes = 1000);
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 3000, .context = 1, .is_end = 1);
	MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = 3600, .context = 2);
	ordered(4000, device, 100, 2);
	MAKE(it.thread, DEVICE_POOL, 0, .stamp = 4100, .pool = 5, .change = RVP_DEVICE_POOL_SEEN,
	     .reserved_bytes = 640);
	ordered(5000, device + 512, 400, 2);
	MAKE(it.thread, DEVICE_POOL, 0, .stamp = 6000, .pool = 5, .change = RVP_DEVICE_POOL_DESTROYED);
	give_back(7000, RVP_DEVICE_MEMORY_ORDERED, device);
	ordered(8000, device + 4096, 50, 2);
	MAKE(it.thread, DEVICE_POOL, 0, .stamp = 8100, .pool = 5, .change = RVP_DEVICE_POOL_SEEN,
	     .reserved_bytes = 64);
	give_back(9000, RVP_DEVICE_MEMORY_ORDERED, device + 512);
	for (uint64_t stamp = 2500; stamp < 10000; stamp += 1000)
		made_device_ask(&it, stamp);
	made_device_read(&it);
	static const uint64_t kept[] = {700, 0, 540, 140, 0, 0, 14, 64};
	static const uint64_t all[] = {1000, 0, 640, 640, 500, 400, 464, 114};
	for (size_t i = 0; i < 8; i++) {
		ck_assert_uint_eq(live_of("allocator/pool", i), kept[i]);
		ck_assert_uint_eq(live(i), all[i]);
	}
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 1000);
	end();
}
END_TEST

/* Released while it is mapped, which is usual; the driver may give its handle to other memory then. */
START_TEST(a_handle_may_be_used_again_while_its_memory_is_mapped)
{
	static const uint64_t all[] = {6000, 6000, 6000, 6050, 50, 50, 50, 0};

	begin();
	alloc(2000, RVP_DEVICE_MEMORY_PHYSICAL, 9, 6000);
	MAKE(it.thread, DEVICE_MAP, 0, .stamp = 3000, .address = device, .bytes = 6000, .handle = 9);
	give_back(4000, RVP_DEVICE_MEMORY_PHYSICAL, 9);
	alloc(5000, RVP_DEVICE_MEMORY_PHYSICAL, 9, 50);
	MAKE(it.thread, DEVICE_UNMAP, 0, .stamp = 6000, .address = device, .bytes = 6000);
	MAKE(it.thread, DEVICE_MAP, 0, .stamp = 7000, .address = device + 65536, .bytes = 50, .handle = 9);
	give_back(8000, RVP_DEVICE_MEMORY_PHYSICAL, 9);
	MAKE(it.thread, DEVICE_UNMAP, 0, .stamp = 9000, .address = device + 65536, .bytes = 50);
	for (uint64_t stamp = 2500; stamp < 10000; stamp += 1000)
		made_device_ask(&it, stamp);
	made_device_read(&it);
	for (size_t i = 0; i < 8; i++)
		ck_assert_uint_eq(live(i), all[i]);
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_count, 2);
	ck_assert_uint_eq(it.answers[0].device_unknown_frees, 0);
	end();
}
END_TEST

/* A segment of 4000 in which tensors come and go: never twice, never none. */
START_TEST(tensors_take_the_place_of_their_segment)
{
	begin();
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 4000);
	tensor(2100, device, 1000);
	tag(2200, device, "weights");
	tensor(3000, device + 1000, 2500);
	tag(3100, device + 1000, "kv_cache");
	tensor_end(4000, device, 1000);
	tensor_end(5000, device + 9999, 5);
	give_back(6000, RVP_DEVICE_MEMORY_PLAIN, device);
	alloc(7000, RVP_DEVICE_MEMORY_PLAIN, device, 10); /* nobody cuts this one up */
	made_device_ask(&it, 2050);
	for (uint64_t stamp = 2500; stamp < 8000; stamp += 1000)
		made_device_ask(&it, stamp);
	made_device_read(&it);
	ck_assert_uint_eq(live_of("allocator", 0), 4000);
	ck_assert_uint_eq(live_of("weights", 1), 1000);
	ck_assert_uint_eq(live_of("allocator", 1), 3000);
	ck_assert_uint_eq(live_of("kv_cache", 2), 2500);
	ck_assert_uint_eq(live_of("allocator", 2), 500);
	ck_assert_uint_eq(live_of("weights", 3), 0);
	ck_assert_uint_eq(live_of("allocator", 3), 1500);
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(live(i), 4000);
	ck_assert_uint_eq(live(5), 0);
	ck_assert_uint_eq(live(6), 10);
	ck_assert_uint_eq(live_of("unknown", 6), 10);
	ck_assert_uint_eq(it.answers[0].device_unknown_frees, 1);
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 4000);
	/* Two tensors and the block that nobody cut up. */
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_count, 3);
	ck_assert_uint_eq(it.answers[0].totals.counters.alloc_bytes, 3510);
	ck_assert_uint_eq(it.answers[0].totals.free_bytes, 3500);
	/* Of the moments with 4000 bytes the one when most was given out. */
	ck_assert_uint_eq(it.answers[0].tracked_peak_ns, MAKER_EPOCH_NS + 3000);
	end();
}
END_TEST

/* A log that began in the middle. */
START_TEST(a_tensor_whose_segment_comes_later_is_gone)
{
	static const uint64_t all[] = {100, 4000, 4000, 4000};

	begin();
	tensor(2000, device + 512, 100);
	alloc(3000, RVP_DEVICE_MEMORY_PLAIN, device, 4000);
	tensor_end(4000, device + 512, 100);
	tensor(5000, device + 512, 700);
	for (uint64_t stamp = 2500; stamp < 6000; stamp += 1000)
		made_device_ask(&it, stamp);
	made_device_read(&it);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(live(i), all[i]);
	ck_assert_uint_eq(live_of("allocator", 3), 3300);
	end();
}
END_TEST

/* Expandable segments: two mappings side by side, a tensor over both. */
START_TEST(a_tensor_may_span_segments)
{
	begin();
	alloc(2000, RVP_DEVICE_MEMORY_PHYSICAL, 1, 2000);
	alloc(2010, RVP_DEVICE_MEMORY_PHYSICAL, 2, 2000);
	MAKE(it.thread, DEVICE_MAP, 0, .stamp = 2020, .address = device, .bytes = 2000, .handle = 1);
	MAKE(it.thread, DEVICE_MAP, 0, .stamp = 2030, .address = device + 2000, .bytes = 2000, .handle = 2);
	tensor(3000, device + 500, 3000);
	tensor_end(4000, device + 500, 3000);
	MAKE(it.thread, TENSOR, 0, .stamp = 5000, .address = device, .bytes = 100, .device_type = 1);
	for (uint64_t stamp = 2500; stamp < 6000; stamp += 1000)
		made_device_ask(&it, stamp);
	made_device_read(&it);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(live(i), 4000);
	ck_assert_uint_eq(live_of("allocator", 1), 1000);
	ck_assert_uint_eq(live_of("allocator", 2), 4000);
	ck_assert_uint_eq(live_of("allocator", 3), 3900);
	ck_assert_uint_eq(it.answers[0].tracked_peak_ns, MAKER_EPOCH_NS + 3000);
	end();
}
END_TEST

/* A scope on the thread speaks for a device's block as for one of the host. */
START_TEST(scopes_speak_for_devices)
{
	begin();
	MAKE(it.thread, SCOPE, 64, .stamp = 1900, .kind = RVP_SCOPE_BEGIN, .category = {"kv_cache", 8},
	     .name = {"k", 1});
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 1000);
	MAKE(it.thread, SCOPE, 64, .stamp = 2100, .kind = RVP_SCOPE_END);
	alloc(2200, RVP_DEVICE_MEMORY_PLAIN, device + 4096, 30);
	made_device_ask(&it, 2500);
	made_device_read(&it);
	ck_assert_uint_eq(live_of("kv_cache", 0), 1000);
	ck_assert_uint_eq(live_of("unknown", 0), 30);
	end();
}
END_TEST

/* Two stores that grow in each step, and a host's list that does beside them, at the same call paths. */
START_TEST(lifetimes_speak_for_devices)
{
	enum { STEPS = 8 };

	begin();
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t stamp = 100000 * (i + 1);

		MAKE(it.thread, STEP, 0, .stamp = stamp, .kind = RVP_STEP_NEXT);
		alloc(stamp + 1000, RVP_DEVICE_MEMORY_PLAIN, device + i * 0x20000, 50000);
		alloc(stamp + 2000, RVP_DEVICE_MEMORY_PLAIN, device + i * 0x20000 + 0x10000, 50000);
		MAKE(it.thread, ALLOC, 0, .stamp = stamp + 3000, .address = host + i * 4096,
		     .bytes = 100 + i % 3);
	}
	made_device_ask(&it, 100000 * (STEPS + 1));
	made_device_read(&it);
	ck_assert_uint_eq(live_of("kv_cache", 0), 2 * STEPS * 50000);
	ck_assert_uint_eq(attributed_live(&it.host, "kv_cache", 0), 0);
	end();
}
END_TEST

/* What a process still had when it ended is what it left, and gone behind that. */
START_TEST(a_process_takes_its_blocks_with_it)
{
	struct maker_process *second;

	begin();
	second = maker_add(&it.maker, 101);
	alloc(2000, RVP_DEVICE_MEMORY_PLAIN, device, 1000);
	MAKE(&second->threads[0], DEVICE_ALLOC, 0, .stamp = 2000, .address = device, .bytes = 30);
	made_device_read(&it);
	ck_assert_uint_eq(it.answers[0].tracked_peak_bytes, 1030);
	ck_assert_uint_eq(it.answers[0].tracked_end_bytes, 1030);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("device_blocks");
	TCase *all = tcase_create("device_blocks");

	tcase_add_test(all, plain_blocks_live_and_die);
	tcase_add_test(all, each_device_has_its_own);
	tcase_add_test(all, devices_are_told_apart_by_uuid);
	tcase_add_test(all, what_is_not_the_devices);
	tcase_add_test(all, pinned_memory_is_in_its_mapping_once);
	tcase_add_test(all, arrays_and_managed_memory);
	tcase_add_test(all, an_array_whose_free_failed);
	tcase_add_test(all, frees_that_fail_and_frees_of_nothing);
	tcase_add_test(all, a_context_takes_its_blocks);
	tcase_add_test(all, physical_memory_counts_once);
	tcase_add_test(all, a_pool_keeps_what_it_does_not_give);
	tcase_add_test(all, a_context_takes_its_arrays);
	tcase_add_test(all, a_pool_may_go_before_its_blocks);
	tcase_add_test(all, a_handle_may_be_used_again_while_its_memory_is_mapped);
	tcase_add_test(all, tensors_take_the_place_of_their_segment);
	tcase_add_test(all, a_tensor_whose_segment_comes_later_is_gone);
	tcase_add_test(all, a_tensor_may_span_segments);
	tcase_add_test(all, scopes_speak_for_devices);
	tcase_add_test(all, lifetimes_speak_for_devices);
	tcase_add_test(all, a_process_takes_its_blocks_with_it);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
