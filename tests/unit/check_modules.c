/* SPDX-License-Identifier: MIT */
/* Modules as they come and go: two libraries on the same base are never taken for each other. */
#include "preload/elf_image.h"
#include "preload/modules.h"
#include "preload/walk.h"
#include "tests/unit/recorder_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* FIXTURES: folder with libfixture_one.so and libfixture_two.so */
static const char *folder;

static struct rvp_path last_path;

__attribute__((noinline)) static void walk_here(void)
{
	last_path = rvp_walk(double_thread(), RVP_CALLER());
	double_collect();
}

static char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

/* Loads the library, walks from a call in it, and unloads it as the hook of dlclose does. */
static uint64_t visit(const char *name, bool is_told, uint64_t *base, unsigned *depth)
{
	void *library = dlopen(path_of(name), RTLD_NOW);
	int (*call)(void (*)(void));
	struct link_map *map;

	ck_assert_msg(library != NULL, "%s", dlerror());
	*(void **)&call = dlsym(library, "fixture_call");
	dlinfo(library, RTLD_DI_LINKMAP, &map);
	*base = map->l_addr;
	ck_assert_int_eq(call(walk_here), 3);
	*depth = 0;
	for (uint32_t node = last_path.stack; node; node = double_nodes[node].parent)
		++*depth;
	rvp_walk_forget_code();
	dlclose(library);
	if (is_told)
		rvp_walk_modules_changed(double_thread());
	double_collect();
	return double_nodes[last_path.stack].pc;
}

static unsigned loads_of(const char *name, unsigned *unloads)
{
	unsigned loads = 0;

	*unloads = 0;
	for (int i = 1; i < DOUBLE_MODULES_MAX; i++)
		if (strstr(double_modules[i].path, name)) {
			loads += double_modules[i].loads;
			*unloads += double_modules[i].unloads;
		}
	return loads;
}

START_TEST(two_libraries_on_one_base)
{
	uint64_t base[2], pc[2], lost;
	unsigned depth[2], unloads, rounds = 20;

	rvp_walk_start(false);
	for (unsigned i = 0; i < rounds; i++) {
		pc[0] = visit("libfixture_one.so", true, &base[0], &depth[0]);
		pc[1] = visit("libfixture_two.so", true, &base[1], &depth[1]);
		ck_assert_uint_eq(base[0], base[1]);
		ck_assert_uint_eq(pc[0], pc[1]); /* the same return address in both: only the rule differs */
		ck_assert_uint_eq(depth[0], depth[1]);
	}
	lost = double_lost[RVP_LOSS_STACK_CUT];
	ck_assert_uint_eq(lost, 0);
	ck_assert_uint_eq(loads_of("fixture_one", &unloads), rounds);
	ck_assert_uint_eq(unloads, rounds);
	ck_assert_uint_eq(loads_of("fixture_two", &unloads), rounds);
	ck_assert_uint_eq(unloads, rounds);
}
END_TEST

/* A thread without a slot unloads a library, and the record of it is not made: the next library on its place
 * is not taken for it. */
START_TEST(an_unload_that_nobody_told)
{
	uint64_t base[2];
	unsigned depth[2], unloads;

	rvp_walk_start(false);
	visit("libfixture_one.so", false, &base[0], &depth[0]);
	visit("libfixture_two.so", false, &base[1], &depth[1]);
	ck_assert_uint_eq(base[0], base[1]);
	ck_assert_uint_eq(depth[0], depth[1]);
	ck_assert_uint_eq(loads_of("fixture_one", &unloads), 1);
	ck_assert_uint_eq(unloads, 1);
	ck_assert_uint_eq(loads_of("fixture_two", &unloads), 1);
}
END_TEST

START_TEST(a_module_is_told_once_and_whole)
{
	struct rvp_object object;
	unsigned unloads;
	char self[4096] = {0};

	rvp_walk_start(false);
	for (int i = 0; i < 3; i++)
		walk_here();
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
	ck_assert_uint_eq(loads_of(self, &unloads), 1);
	ck_assert_uint_eq(loads_of("libc.so", &unloads), 1);
	ck_assert_uint_eq(unloads, 0);
	ck_assert(rvp_object_find((uint64_t)walk_here, &object));
	for (int i = 1; i < DOUBLE_MODULES_MAX; i++)
		if (strcmp(double_modules[i].path, self) == 0) {
			ck_assert_uint_eq(double_modules[i].start, object.start);
			ck_assert_uint_eq(double_modules[i].end, object.end);
			ck_assert_uint_ne(double_modules[i].inode, 0);
			ck_assert_uint_eq(double_modules[i].build_id_bytes, 20);
		}
}
END_TEST

START_TEST(symbols_as_the_loader_finds_them)
{
	static const char *const names[] = {"malloc", "qsort",  "environ",
					    "stdout", "getenv", "no_such_symbol"};
	struct rvp_object object;

	ck_assert(rvp_object_find((uint64_t)dlsym(RTLD_NEXT, "qsort"), &object));
	for (int i = 0; i < 6; i++) {
		void *by_loader = dlvsym(RTLD_NEXT, names[i], "GLIBC_2.2.5");

		ck_assert_uint_eq(rvp_elf_symbol(&object, names[i]), (uint64_t)by_loader);
	}
	ck_assert(rvp_object_find((uint64_t)walk_here, &object));
	ck_assert_uint_eq(rvp_elf_symbol(&object, "qsort"), 0);
}
END_TEST

START_TEST(objects_by_the_list_of_link_maps)
{
	void *libc = dlsym(RTLD_NEXT, "qsort"),
	     *fixture = dlsym(dlopen(path_of("libfixture_one.so"), RTLD_NOW), "fixture_call");
	uint64_t places[] = {(uint64_t)walk_here, (uint64_t)libc, (uint64_t)fixture,
			     getauxval(AT_SYSINFO_EHDR) + 64, (uint64_t)&places};
	struct rvp_object by_loader, by_map;

	for (int i = 0; i < 4; i++) {
		ck_assert(rvp_object_find_by_loader(places[i], &by_loader));
		ck_assert(rvp_object_find_by_link_map(places[i], &by_map));
		ck_assert_ptr_eq(by_loader.link_map, by_map.link_map);
		ck_assert_ptr_eq(by_loader.eh_frame_hdr, by_map.eh_frame_hdr);
		ck_assert_uint_le(by_map.start, places[i]);
		ck_assert_uint_gt(by_map.end, places[i]);
	}
	ck_assert(!rvp_object_find_by_loader(places[4], &by_loader));
	ck_assert(!rvp_object_find_by_link_map(places[4], &by_map));
}
END_TEST

static int count_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
	(void)bytes;
	*(uint32_t *)context += info->dlpi_phnum > 0;
	return 0;
}

START_TEST(every_loaded_object_is_in_the_list)
{
	struct rvp_object_list list = {.count = 0};
	const void *met[64];
	uint32_t count = 0, by_loader = 0;
	struct rvp_object object;
	uint64_t address;

	ck_assert_ptr_nonnull(dlopen(path_of("libfixture_one.so"), RTLD_NOW));
	while (rvp_object_next(&list, &address)) {
		ck_assert(count < 64 && rvp_object_find(address, &object));
		for (uint32_t i = 0; i < count; i++)
			ck_assert_ptr_ne(met[i], object.link_map);
		met[count++] = object.link_map;
	}
	dl_iterate_phdr(count_object, &by_loader);
	ck_assert_uint_eq(count, by_loader);
}
END_TEST

int main(int argument_count, char **arguments)
{
	Suite *suite = suite_create("modules");
	TCase *cases = tcase_create("modules");

	folder = argument_count > 1 ? arguments[1] : ".";
	tcase_add_test(cases, two_libraries_on_one_base);
	tcase_add_test(cases, an_unload_that_nobody_told);
	tcase_add_test(cases, a_module_is_told_once_and_whole);
	tcase_add_test(cases, symbols_as_the_loader_finds_them);
	tcase_add_test(cases, objects_by_the_list_of_link_maps);
	tcase_add_test(cases, every_loaded_object_is_in_the_list);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
