/* SPDX-License-Identifier: MIT */
/* check_driver_fronts.c: which of the CUDA driver's functions get a front: a front leads to its real
 * function, so one that has none, or that would be its own, is none. */
#include "preload/device.h"
#include "preload/driver.h"
#include "preload/driver_fronts.h"
#include "preload/elf_image.h"
#include "preload/emit.h"
#include "preload/enter.h"
#include "preload/events.h"
#include "preload/walk.h"
#include "preload/window.h"
#include "tests/unit/preload_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>

/* What records of memory need; no front here makes any. */
_Atomic uint64_t rvp_alive[1];
__thread struct rvp_local rvp_local;

void rvp_device_make_way(void)
{
}

void rvp_drain_deferred(struct rvp_thread *thread)
{
	(void)thread;
}

uint64_t rvp_elf_symbol(const struct rvp_object *object, const char *name)
{
	(void)object, (void)name;
	return 0;
}

bool rvp_object_find(uint64_t pc, struct rvp_object *object)
{
	(void)pc, (void)object;
	return false;
}

uint8_t *rvp_emit_flush(struct rvp_thread *thread, uint64_t bytes)
{
	(void)thread, (void)bytes;
	return NULL;
}

struct rvp_thread *rvp_enter_slow(void)
{
	return NULL;
}

struct rvp_path rvp_event_path(struct rvp_thread *thread, struct rvp_caller caller)
{
	(void)thread, (void)caller;
	return (struct rvp_path){0, 0};
}

uint64_t rvp_event_stamp(struct rvp_thread *thread)
{
	(void)thread;
	return 0;
}

void rvp_window_cuda(bool is_start)
{
	(void)is_start;
}

static int launched;

static int real_launch(void)
{
	return ++launched;
}

static int other_launch(void)
{
	return -1;
}

/* Another thread is just loading the module: its slot holds nothing yet. Afterwards it is as if nobody had
 * asked. */
START_TEST(nothing_gets_no_front)
{
	void *front;

	ck_assert_ptr_null(rvp_driver_front("cuLaunchKernel", NULL));
	front = rvp_driver_front("cuLaunchKernel", (void *)real_launch);
	ck_assert_ptr_nonnull(front);
	ck_assert_int_eq(((int (*)(void))front)(), 1);
	ck_assert_int_eq(launched, 1);
}
END_TEST

/* A slot that leads to the front already says nothing of what is behind it. */
START_TEST(a_front_is_not_its_own_real_function)
{
	void *front = rvp_driver_front("cuLaunchKernel", (void *)real_launch);

	ck_assert_ptr_null(rvp_driver_front("cuLaunchKernel", front));
	ck_assert_int_eq(((int (*)(void))front)(), launched);
}
END_TEST

START_TEST(a_second_driver_gets_none)
{
	ck_assert_ptr_nonnull(rvp_driver_front("cuLaunchKernel", (void *)real_launch));
	ck_assert_ptr_nonnull(rvp_driver_front("cuLaunchKernel", (void *)real_launch));
	ck_assert_ptr_null(rvp_driver_front("cuLaunchKernel", (void *)other_launch));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("driver_fronts");
	TCase *tests = tcase_create("fronts");

	tcase_add_test(tests, nothing_gets_no_front);
	tcase_add_test(tests, a_front_is_not_its_own_real_function);
	tcase_add_test(tests, a_second_driver_gets_none);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
