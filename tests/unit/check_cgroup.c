/* SPDX-License-Identifier: MIT */
/* check_cgroup.c: which group a process is in, what it holds and what limits it, from files that kernels
 * wrote (tests/data/cgroup) and a few made here. */
#include "report/ledger_cgroup.h"
#include "tests/unit/run_suite.h"
#include "tools/watch_cgroup.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PID = 1000, MIB = 1048576 };

static char made[64];
static struct rvp_cgroup group;
static struct rvp_cgroup_memory memory;

static void find(const char *root)
{
	memset(&memory, 0, sizeof memory);
	rvp_cgroup_find(&group, root, PID);
	if (group.version)
		ck_assert(rvp_cgroup_read(&group, &memory));
}

static void find_fixture(const char *name)
{
	char root[4096];

	snprintf(root, sizeof root, "%s/%s", FIXTURES, name);
	find(root);
}

static bool is_at(const char *end)
{
	size_t length = strlen(end), all = strlen(group.path);

	return all >= length && !strcmp(group.path + all - length, end);
}

/* The rows and what is left are the whole, to the byte; what is left is small. */
static void check_rows(void)
{
	struct rvp_record_CGROUP record = {.current_bytes = memory.current_bytes,
					   .anon_bytes = memory.anon_bytes,
					   .file_bytes = memory.file_bytes,
					   .shmem_bytes = memory.shmem_bytes,
					   .kernel_bytes = memory.kernel_bytes};
	struct rvp_cgroup_rows rows;
	int64_t sum = 0, most = (int64_t)memory.current_bytes / 100 + 4 * MIB;

	rvp_cgroup_rows(&record, &rows);
	for (int i = 0; i < RVP_CGROUP_ROWS; i++)
		sum += (int64_t)rows.bytes[i];
	ck_assert_int_eq(sum + rows.unexplained_bytes, (int64_t)memory.current_bytes);
	ck_assert_int_le(llabs(rows.unexplained_bytes), most);
}

/* ---- as kernels wrote them ---- */

START_TEST(the_limit_of_a_group_above_counts)
{
	find_fixture("nested");
	ck_assert_uint_eq(group.version, 2);
	ck_assert(is_at("/sys/fs/cgroup/svc/app"));
	check_rows();
	ck_assert_uint_eq(memory.current_bytes, 113811456);
	ck_assert_uint_gt(memory.shmem_bytes, 8 * MIB - 1);
	/* Its own is 381 MiB with 272 left; of the 200 MiB above 51 are left, since others use some too. */
	ck_assert_uint_eq(memory.max_bytes, 200 * MIB);
	ck_assert_uint_eq(memory.limit_levels, 1);
	ck_assert_uint_eq(memory.limit_current_bytes, 155987968);
	ck_assert_uint_eq(rvp_cgroup_pressure(&memory), 74);
}
END_TEST

START_TEST(a_namespace_of_its_own_is_the_mount)
{
	find_fixture("namespaced");
	ck_assert_uint_eq(group.version, 2);
	ck_assert(is_at("/namespaced/sys/fs/cgroup"));
	check_rows();
	ck_assert_uint_eq(memory.max_bytes, 0); /* "max"; what is above can't be seen */
	ck_assert_uint_eq(rvp_cgroup_pressure(&memory), 0);
}
END_TEST

START_TEST(a_group_that_is_not_mounted_is_not_guessed)
{
	find_fixture("beside");
	ck_assert_uint_eq(group.version, 0);
	find_fixture("old-mount");
	ck_assert_uint_eq(group.version, 0);
}
END_TEST

START_TEST(a_threaded_group_is_part_of_the_one_above)
{
	find_fixture("threaded");
	ck_assert_uint_eq(group.version, 2);
	ck_assert(is_at("/sys/fs/cgroup/thr"));
	check_rows();
	ck_assert_uint_eq(memory.max_bytes, 100 * MIB);
	ck_assert_uint_eq(memory.limit_levels, 0);
}
END_TEST

START_TEST(what_is_in_swap_is_told_apart)
{
	find_fixture("swapped");
	check_rows();
	ck_assert_uint_eq(memory.max_bytes, 60 * MIB);
	ck_assert_uint_eq(memory.swap_bytes, 29229056);
	ck_assert_uint_ge(rvp_cgroup_pressure(&memory), 99);
}
END_TEST

START_TEST(version_1_beside_an_empty_version_2)
{
	find_fixture("hybrid");
	ck_assert_uint_eq(group.version, 1);
	ck_assert(is_at("/sys/fs/cgroup/memory/svc/app"));
	check_rows();
	ck_assert_uint_eq(memory.anon_bytes, 63008768);
	ck_assert_uint_eq(memory.max_bytes, 200 * MIB);
	ck_assert_uint_eq(memory.limit_levels, 1);
}
END_TEST

/* ---- made here ---- */

static void put(const char *path, const char *text)
{
	char name[4096];
	FILE *file;

	snprintf(name, sizeof name, "%s/%s", made, path);
	for (char *at = name + strlen(made) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(name, 0700);
		*at = '/';
	}
	file = fopen(name, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void begin(void)
{
	strcpy(made, "/tmp/check_cgroup.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(made));
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", made);
	ck_assert_int_eq(system(command), 0);
}

static void put_v2(const char *stat, uint64_t current_bytes, const char *max)
{
	char number[32];

	snprintf(number, sizeof number, "%llu\n", (unsigned long long)current_bytes);
	put("proc/1000/cgroup", "0::/app\n");
	put("proc/self/mountinfo",
	    "21 19 0:19 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
	put("sys/fs/cgroup/app/memory.current", number);
	put("sys/fs/cgroup/app/memory.max", max);
	put("sys/fs/cgroup/app/memory.stat", stat);
}

/* Linux before 5.18: kernel memory by its parts alone. Sockets are in no other line in any version. */
START_TEST(kernel_memory_without_a_sum)
{
	begin();
	put_v2(
	    "anon 1000000\nfile 50000\nkernel_stack 16384\npagetables 8192\npercpu 960\nsock 4096\nshmem 0\n"
	    "inactive_file 50000\nslab_reclaimable 2048\nslab_unreclaimable 1024\nslab 3072\n",
	    1082704, "max\n");
	find(made);
	ck_assert_uint_eq(memory.kernel_bytes, 16384 + 8192 + 960 + 3072 + 4096);
	ck_assert_uint_eq(memory.reclaimable_bytes, 52048);
	check_rows();
	end();
}
END_TEST

START_TEST(near_the_limit_by_what_cannot_be_taken_back)
{
	static const struct {
		unsigned current, reclaimable, pressure, near;
	} cases[] = {{899, 0, 89, 0},  {900, 0, 90, 90}, {980, 80, 90, 90}, {950, 0, 95, 95},
		     {989, 0, 98, 95}, {990, 0, 99, 99}, {1000, 5, 99, 99}, {1000, 500, 50, 0}};
	char stat[128];

	begin();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(stat, sizeof stat, "anon 1\ninactive_file %u\n", cases[i].reclaimable * 4096);
		put_v2(stat, cases[i].current * 4096ull, "4096000\n");
		find(made);
		ck_assert_uint_eq(rvp_cgroup_pressure(&memory), cases[i].pressure);
		ck_assert_uint_eq(rvp_cgroup_near_percent(cases[i].pressure), cases[i].near);
	}
	end();
}
END_TEST

/* A container without a cgroup namespace: the mount's root is its own group. And a blank in a path. */
START_TEST(a_containers_mount_has_a_root)
{
	begin();
	put("proc/1000/cgroup", "5:cpu,memory:/docker/ab c/app\n1:name=systemd:/x\n0::/\n");
	put("proc/self/mountinfo",
	    "30 20 0:20 / /sys/fs/cgroup/unified rw - cgroup2 cgroup rw\n"
	    "36 31 0:33 /docker/ab\\040c /sys/fs/cgroup/mem ory rw - cgroup cgroup rw,devices\n"
	    "36 31 0:33 /docker/ab\\040c /sys/fs/cgroup/mem\\040ory rw,master:3 - cgroup cgroup "
	    "rw,cpu,memory\n");
	put("sys/fs/cgroup/unified/cgroup.procs", "1\n1000\n");
	put("sys/fs/cgroup/mem ory/app/memory.usage_in_bytes", "5000\n");
	put("sys/fs/cgroup/mem ory/app/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/mem ory/app/memory.stat",
	    "total_rss 4000\ntotal_cache 0\nhierarchical_memory_limit 8000\n");
	put("sys/fs/cgroup/mem ory/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/mem ory/memory.usage_in_bytes", "7000\n");
	find(made);
	ck_assert_uint_eq(group.version, 1);
	ck_assert(is_at("/sys/fs/cgroup/mem ory/app"));
	/* Set above the container: all that is known of its use is ours. */
	ck_assert_uint_eq(memory.max_bytes, 8000);
	ck_assert_uint_eq(memory.limit_levels, 2);
	ck_assert_uint_eq(memory.limit_current_bytes, 5000);
	end();
}
END_TEST

/* The process's path does not exist below the mount, and the mount lists the process. */
START_TEST(the_mount_stands_for_a_group_only_if_it_lists_the_process)
{
	begin();
	put("proc/1000/cgroup", "0::/somewhere/else\n");
	put("proc/self/mountinfo", "21 19 0:19 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("sys/fs/cgroup/memory.current", "5000\n");
	put("sys/fs/cgroup/memory.stat", "anon 4000\n");
	put("sys/fs/cgroup/cgroup.procs", "1\n10001\n");
	find(made);
	ck_assert_uint_eq(group.version, 0);
	put("sys/fs/cgroup/cgroup.procs", "1\n1000\n");
	find(made);
	ck_assert_uint_eq(group.version, 2);
	ck_assert(is_at("/sys/fs/cgroup"));
	end();
}
END_TEST

/* A folder that happens to lie where a path out of the namespace would lead. */
START_TEST(a_path_out_of_the_namespace_is_not_followed)
{
	begin();
	put_v2("anon 4000\n", 5000, "max\n");
	put("proc/1000/cgroup", "0::/../other\n");
	put("sys/fs/other/memory.current", "5000\n");
	put("sys/fs/other/memory.stat", "anon 4000\n");
	find(made);
	ck_assert_uint_eq(group.version, 0);
	end();
}
END_TEST

/* The root group has no memory.current: there is nothing to say. */
START_TEST(the_root_has_no_figures)
{
	begin();
	put("proc/1000/cgroup", "0::/\n");
	put("proc/self/mountinfo",
	    "21 19 0:19 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\nshort\n1 2 - cgroup2\n");
	put("sys/fs/cgroup/memory.stat", "anon 4000\n");
	find(made);
	ck_assert_uint_eq(group.version, 0);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup");
	TCase *all = tcase_create("cgroup");

	tcase_add_test(all, the_limit_of_a_group_above_counts);
	tcase_add_test(all, a_namespace_of_its_own_is_the_mount);
	tcase_add_test(all, a_group_that_is_not_mounted_is_not_guessed);
	tcase_add_test(all, a_threaded_group_is_part_of_the_one_above);
	tcase_add_test(all, what_is_in_swap_is_told_apart);
	tcase_add_test(all, version_1_beside_an_empty_version_2);
	tcase_add_test(all, kernel_memory_without_a_sum);
	tcase_add_test(all, near_the_limit_by_what_cannot_be_taken_back);
	tcase_add_test(all, a_containers_mount_has_a_root);
	tcase_add_test(all, the_mount_stands_for_a_group_only_if_it_lists_the_process);
	tcase_add_test(all, a_path_out_of_the_namespace_is_not_followed);
	tcase_add_test(all, the_root_has_no_figures);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
