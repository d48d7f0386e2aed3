/* SPDX-License-Identifier: MIT */
/* check_device_anything.c: records of device memory by chance: whatever comes, sums are sums, and the reader comes to an
 * end. */
#include "tests/unit/made_device.h"
#include "tests/unit/run_suite.h"

#include <check.h>

static const uint64_t device = 0x7f0000000000;
static struct made_device it;
static uint64_t seed;

static uint64_t any(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

/* Whatever comes, in whatever order, at few addresses, so that all of it meets. */
static void put_anything(uint64_t stamp)
{
	uint64_t address = device + any(32) * 4096, bytes = any(5) * 4096 + any(3);

	switch (any(10)) {
	case 0:
		MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes,
		     .kind = any(9), .device = any(3), .context = any(3), .pool = any(3));
		break;
	case 1:
		MAKE(it.thread, DEVICE_ALLOC, 0, .stamp = stamp, .address = any(4), .bytes = bytes,
		     .kind = RVP_DEVICE_MEMORY_PHYSICAL);
		break;
	case 2:
		MAKE(it.thread, DEVICE_MAP, 0, .stamp = stamp, .address = address, .bytes = bytes,
		     .handle = any(4));
		break;
	case 3:
		MAKE(it.thread, DEVICE_UNMAP, 0, .stamp = stamp, .address = address, .bytes = bytes * 4);
		break;
	case 4:
		MAKE(it.thread, DEVICE_FREE, 0, .stamp = stamp, .address = any(2) ? address : any(4),
		     .kind = any(9));
		break;
	case 5:
		MAKE(it.thread, DEVICE_UNFREE, 0, .stamp = stamp, .address = any(2) ? address : any(4));
		break;
	case 6:
		MAKE(it.thread, DEVICE_POOL, 0, .stamp = stamp, .device = any(2), .pool = any(3),
		     .change = any(5), .reserved_bytes = bytes * any(3));
		break;
	case 7:
		MAKE(it.thread, DEVICE_TENSOR, 0, .stamp = stamp, .address = address, .bytes = bytes,
		     .device = any(2));
		break;
	case 8:
		MAKE(it.thread, DEVICE_TENSOR, 0, .stamp = stamp, .address = address, .is_free = 1,
		     .device = any(2));
		break;
	default:
		MAKE(it.thread, DEVICE_CONTEXT, 0, .stamp = stamp, .context = any(3), .is_end = any(4) == 0);
		break;
	}
}

/* Sums are sums, and nothing is below nothing. */
START_TEST(whatever_comes_sums_up)
{
	enum { RECORDS = 3000, MOMENTS = 10 };

	seed = (uint64_t)_i + 1;
	made_device_begin(&it);
	for (uint64_t i = 1; i <= RECORDS; i++)
		put_anything(2000 + i * 10);
	for (uint64_t i = 1; i <= MOMENTS; i++)
		made_device_ask(&it, 2000 + i * RECORDS);
	made_device_read(&it);
	ck_assert_uint_ge(it.count, 2);
	for (size_t number = 0; number < it.count; number++) {
		const struct rvp_analysis *answer = &it.answers[number];
		uint64_t at_end = 0, at_peak = 0;

		for (size_t i = 0; i < answer->site_count; i++) {
			at_end += answer->sites[i].at_end.bytes;
			at_peak += answer->sites[i].at_peak.bytes;
			ck_assert_uint_lt(answer->sites[i].at_end.bytes, 1u << 30);
		}
		ck_assert_uint_eq(at_end, answer->tracked_end_bytes);
		ck_assert_uint_eq(at_peak, answer->tracked_peak_bytes);
		for (size_t k = 0; k < MOMENTS; k++) {
			uint64_t bytes = 0;

			for (size_t i = 0; i < answer->site_count; i++)
				bytes += rvp_site_at(&answer->sites[i], k).bytes;
			ck_assert_uint_eq(bytes, made_device_live(&it, number, k));
			ck_assert_uint_lt(bytes, 1u << 30);
		}
	}
	made_device_end(&it);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("device_anything");
	TCase *all = tcase_create("device_anything");

	tcase_add_loop_test(all, whatever_comes_sums_up, 0, 60);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
