/* SPDX-License-Identifier: MIT */
/* check_operators.c: what is kept of operators: keys, damage, bounds; streams run each member. */
#include "model/machine.h"
#include "model/operators.h"
#include "model/user_cache.h"
#include "tests/unit/own_cache.h"
#include "tests/unit/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rvp_operator group[3];
static const struct rvp_op_wish usual = {10, 10, 1, 0};

static void add(size_t at, const char *spec, const char *input, int stream)
{
	ck_assert(!rvp_failed(rvp_network_open(&group[at].network, spec, input)));
	group[at].stream = stream;
}

static const char *key_of(size_t count, struct rvp_op_wish wish)
{
	static char keys[16][RVP_OP_KEY_BYTES];
	static int next;
	char *key = keys[next++ % 16];

	ck_assert(rvp_op_key(group, count, wish, key));
	return key;
}

static void close_all(size_t count)
{
	while (count--)
		rvp_network_close(&group[count].network);
}

/* Whatever changes what is measured changes the key; how it is written does not. */
START_TEST(keys)
{
	const char *first, *again;

	add(0, "conv2d(3,8,3)", "1x3x8x8", -1);
	first = key_of(1, usual);
	ck_assert_str_ne(first, key_of(1, (struct rvp_op_wish){9, 10, 1, 0}));
	ck_assert_str_ne(first, key_of(1, (struct rvp_op_wish){10, 9, 1, 0}));
	ck_assert_str_ne(first, key_of(1, (struct rvp_op_wish){10, 10, 2, 0}));
	ck_assert_str_ne(first, key_of(1, (struct rvp_op_wish){10, 10, 1, 1}));
	group[0].stream = 1;
	ck_assert_str_ne(first, key_of(1, usual));
	close_all(1);
	add(0, " conv2d( 3, out=8, k=3, stride=1 ) ", "1x3x8x8", -1);
	again = key_of(1, usual);
	ck_assert_str_eq(first, again);
	close_all(1);
	add(0, "conv2d(3,8,3,pad=1)", "1x3x8x8", -1);
	ck_assert_str_ne(first, key_of(1, usual));
	close_all(1);
	add(0, "conv2d(3,8,3)", "2x3x8x8", -1);
	ck_assert_str_ne(first, key_of(1, usual));
	close_all(1);
	/* A closure of two is not a group of two. */
	add(0, "relu log", "4x4", -1);
	first = key_of(1, usual);
	close_all(1);
	add(0, "relu", "4x4", -1);
	add(1, "log", "4x4", -1);
	ck_assert_str_ne(first, key_of(2, usual));
	close_all(2);
}
END_TEST

START_TEST(keeping)
{
	static struct rvp_op_result result = {{1.5, 0.1, 1e-7}, 3, 580800}, got;

	ck_assert_uint_eq(rvp_op_cache_size(), 0);
	ck_assert(!rvp_op_cache_find("a", &got));
	ck_assert(!rvp_failed(rvp_op_cache_put("a", &result)));
	ck_assert(!rvp_failed(rvp_op_cache_put("ab", &(struct rvp_op_result){{2}, 1, 0})));
	ck_assert_uint_eq(rvp_op_cache_size(), 2);
	ck_assert(rvp_op_cache_find("a", &got));
	ck_assert_uint_eq(got.count, 3);
	ck_assert_uint_eq(got.workspace_bytes, 580800);
	ck_assert_mem_eq(got.latency_us, result.latency_us, 3 * sizeof(double));
	ck_assert(rvp_op_cache_find("ab", &got) && got.latency_us[0] == 2);
	ck_assert(!rvp_op_cache_find("abc", &got));
	ck_assert(!rvp_failed(rvp_op_cache_reset()));
	ck_assert(!rvp_failed(rvp_op_cache_reset()));
	ck_assert_uint_eq(rvp_op_cache_size(), 0);
}
END_TEST

/* Lines that are not right are no entries; those beside them are. */
START_TEST(damage)
{
	static const char *const lines[] = {
	    "rvprof operators 1\n", "x\t1\tnan\n", "x\t1\n",       "x\t\t1\n", "x\n", "\n",
	    "x\t1\t-1\n",           "x\t1\t1z\n",  "good\t7\t3\n", "x\t1\t2"};
	static struct rvp_op_result got;
	struct rvp_machine machine;
	char path[PATH_MAX], key[200];
	FILE *file;

	ck_assert(!rvp_failed(rvp_op_cache_put("first", &(struct rvp_op_result){{1}, 1, 0})));
	rvp_machine_name(&machine);
	snprintf(key, sizeof key, "%s %u", machine.processor, machine.threads);
	rvp_user_cache_path("operators", key, path);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		fputs(lines[i], file);
	fclose(file);
	ck_assert_uint_eq(rvp_op_cache_size(), 2);
	ck_assert(rvp_op_cache_find("good", &got) && got.workspace_bytes == 7);
	file = fopen(path, "w");
	fputs("another program's\ngood\t7\t3\n", file);
	fclose(file);
	ck_assert_uint_eq(rvp_op_cache_size(), 0);
}
END_TEST

START_TEST(workspaces)
{
	add(0, "conv2d(3,3,3)", "2x3x14x14", -1);
	add(1, "conv2d(3,3,5) relu conv2d(3,3,3)", "2x3x14x14", -1);
	add(2, "identity", "4", -1);
	/* One sample's windows: 27 values at 144 places; of two layers the larger, 75 at 100. */
	ck_assert_uint_eq(rvp_operators_workspace(group, 1), 27 * 144 * 4);
	ck_assert_uint_eq(rvp_operators_workspace(group + 1, 1), 75 * 100 * 4);
	ck_assert_uint_eq(rvp_operators_workspace(group, 3), (27 * 144 + 75 * 100) * 4);
	ck_assert(rvp_operators_compute(group, 3));
	ck_assert(!rvp_operators_compute(group + 2, 1));
	close_all(3);
}
END_TEST

/* Side by side or one after the other, each is run: none takes no time. */
START_TEST(streams)
{
	static const int numbers[][3] = {{-1, -1, -1}, {1, 2, 3}, {1, 2, 1}};
	static struct rvp_op_result result;

	for (size_t i = 0; i < 3; i++) {
		struct rvp_status status;

		add(0, "softmax", "64x64", numbers[i][0]);
		add(1, "linear(64,64)", "64x64", numbers[i][1]);
		add(2, "exp", "64x64", numbers[i][2]);
		status = rvp_operators_measure(group, 3, (struct rvp_op_wish){1, 2, 5, 1}, &result);
		if (rvp_failed(status) && strstr(status.detail, "OpenBLAS"))
			printf("no OpenBLAS here\n");
		else
			ck_assert(!rvp_failed(status) && result.count == 5 && result.latency_us[0] > 0 &&
				  result.latency_us[4] > 0);
		close_all(3);
	}
	add(0, "identity", "64x64", -1);
	ck_assert(!rvp_failed(rvp_operators_measure(group, 1, (struct rvp_op_wish){1, 2, 5, 1}, &result)));
	ck_assert(result.count == 5 && result.latency_us[4] == 0);
	close_all(1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("operators");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, set_folder, remove_folder);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, keys);
	tcase_add_test(tests, keeping);
	tcase_add_test(tests, damage);
	tcase_add_test(tests, workspaces);
	tcase_add_test(tests, streams);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
