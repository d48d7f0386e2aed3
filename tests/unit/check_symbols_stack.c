/* SPDX-License-Identifier: MIT */
/* check_symbols_stack.c: native and Python frames merged, and sites grouped by what their stacks read as.
 *
 * The native frames are functions of this program itself, found by its own symbol table: one of them is
 * called like the interpreter's. Expected stacks are written as "inner < outer". */
#include "report/run_source.h"
#include "report/symbols_groups.h"

#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTION(name)                                  \
	void name(void);                                \
	__attribute__((noinline, used)) void name(void) \
	{                                               \
		__asm__ volatile("nop; nop; nop; nop"); \
	}

FUNCTION(read_rows)
FUNCTION(load_table)
FUNCTION(run_all)
FUNCTION(_PyEval_EvalFrameDefault)
FUNCTION(_PyEval_Vector)
FUNCTION(start_thread)

/* A pc behind a call in it. */
#define IN(function) ((uint64_t)(uintptr_t) & (function) + 3)

static struct maker maker;
static struct maker_process *process;
static struct maker_thread *thread;
static struct rvp_run *run;
static struct rvp_symbols *symbols;
static struct rvp_stacks *stacks;
static uint64_t next_node, next_code;

static int bias_of_first(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

/* The module that this program is, as one of the made process; `path` may call it otherwise. */
static void make_module(struct maker_thread *in, uint64_t number, uint64_t load_stamp, const char *path)
{
	uint64_t bias = 0;

	dl_iterate_phdr(bias_of_first, &bias);
	MAKE(in, MODULE_LOAD, strlen(path), .stamp = load_stamp, .module = number, .bias = bias,
	     .start = (IN(read_rows) & ~0xfffffull) - 0x100000, .end = IN(start_thread) + 0x100000,
	     .path = {path, strlen(path)});
}

static void begin(void)
{
	static char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	ck_assert_int_gt(length, 0);
	self[length] = 0;
	maker = maker_open();
	process = maker_add(&maker, 100);
	thread = &process->threads[0];
	next_node = next_code = 1;
	make_module(thread, 1, 1, self);
}

/* A native path, outermost first, 0 ends it. */
static uint64_t native(const uint64_t *pcs)
{
	uint64_t parent = 0;

	for (; *pcs; pcs++) {
		MAKE(thread, NODE, 0, .node = next_node, .parent = parent, .pc = *pcs);
		parent = next_node++;
	}
	return parent;
}

/* A Python path, outermost first; a name that begins with '>' was entered from C. */
static uint64_t python(const char *const *names)
{
	uint64_t parent = 0;

	for (; *names; names++) {
		bool is_entry = **names == '>';
		const char *name = *names + is_entry;

		MAKE(thread, CODE, strlen(name) + 4, .code = next_code, .first_line = 7, .version = 0x30b,
		     .name = {name, strlen(name)}, .file = {"m.py", 4}, .lines = {"", 0});
		MAKE(thread, PYTHON_NODE, 0, .node = next_code, .parent = parent, .code = next_code,
		     .is_entry = is_entry);
		parent = next_code++;
	}
	return parent;
}

static void open_all(void)
{
	struct rvp_status status;

	maker_close(&maker);
	status = rvp_run_open(&run, maker.folder);
	ck_assert_msg(!rvp_failed(status), "%s %s", status.step, status.detail);
	symbols = rvp_symbols_open(SYMBOLS_MODULE_PATH);
	stacks = rvp_stacks_open(symbols, run);
}

static void close_all(void)
{
	rvp_stacks_close(stacks);
	rvp_symbols_close(symbols);
	rvp_run_close(run);
	maker_remove(&maker);
}

static const char *text_of(struct rvp_frame_list list)
{
	static char text[1024];

	*text = 0;
	for (size_t i = 0; i < list.count; i++) {
		strcat(text, i ? " < " : "");
		strcat(text, list.frames[i].function);
	}
	return text;
}

static char result[1024];

/* The merged stack of a site. */
static const char *stack_of(const uint64_t *pcs, const char *const *names)
{
	struct rvp_site site = {.first_ns = MAKER_EPOCH_NS + 100};

	begin();
	site.stack = (uint32_t)native(pcs);
	site.python = (uint32_t)python(names);
	open_all();
	snprintf(result, sizeof result, "%s", text_of(rvp_stacks_of(stacks, &site)));
	close_all();
	return result;
}

#define PCS(...)   ((const uint64_t[]){__VA_ARGS__, 0})
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(a_native_stack_is_named_innermost_first)
{
	ck_assert_str_eq(stack_of(PCS(IN(start_thread), IN(run_all), IN(load_table)), NAMES(NULL)),
			 "load_table < run_all < start_thread");
}
END_TEST

START_TEST(one_eval_frame_stands_for_python_frames_up_to_the_entered_one)
{
	ck_assert_str_eq(stack_of(PCS(IN(run_all), IN(_PyEval_EvalFrameDefault), IN(load_table)),
				  NAMES(">module", "middle", "inner")),
			 "load_table < inner < middle < module < run_all");
}
END_TEST

START_TEST(each_entry_from_c_goes_with_an_eval_frame_of_its_own)
{
	ck_assert_str_eq(stack_of(PCS(IN(run_all), IN(_PyEval_EvalFrameDefault), IN(load_table),
				      IN(_PyEval_EvalFrameDefault), IN(read_rows)),
				  NAMES(">module", "work", ">key", "compare")),
			 "read_rows < compare < key < load_table < work < module < run_all");
}
END_TEST

START_TEST(what_is_around_an_eval_frame_goes_with_it)
{
	ck_assert_str_eq(
	    stack_of(PCS(IN(run_all), IN(_PyEval_Vector), IN(_PyEval_EvalFrameDefault), IN(load_table)),
		     NAMES(">module")),
	    "load_table < module < run_all");
	ck_assert_str_eq(stack_of(PCS(IN(run_all), IN(_PyEval_Vector), IN(load_table)), NAMES(NULL)),
			 "load_table < _PyEval_Vector < run_all");
}
END_TEST

START_TEST(an_eval_frame_without_a_python_frame_stays)
{
	ck_assert_str_eq(
	    stack_of(PCS(IN(run_all), IN(_PyEval_EvalFrameDefault), IN(_PyEval_EvalFrameDefault)),
		     NAMES(">module")),
	    "module < _PyEval_EvalFrameDefault < run_all");
}
END_TEST

START_TEST(python_frames_without_an_eval_frame_come_before_the_threads_start)
{
	ck_assert_str_eq(
	    stack_of(PCS(IN(start_thread), IN(run_all), IN(load_table)), NAMES(">module", "inner")),
	    "load_table < run_all < inner < module < start_thread");
	ck_assert_str_eq(stack_of((const uint64_t[]){0}, NAMES(">module", "inner")), "inner < module");
}
END_TEST

START_TEST(an_address_in_no_module_is_unknown_and_a_number_nobody_defined_ends_the_stack)
{
	struct rvp_site site = {.stack = 77, .python = 88};

	ck_assert_str_eq(stack_of(PCS(IN(run_all), 0x123), NAMES(NULL)), "[unknown 0x123] < run_all");
	begin();
	open_all();
	ck_assert_uint_eq(rvp_stacks_of(stacks, &site).count, 0);
	site.process = 9;
	ck_assert_uint_eq(rvp_stacks_of(stacks, &site).count, 0);
	close_all();
}
END_TEST

START_TEST(our_own_frames_are_left_out_at_the_inner_end)
{
	struct rvp_site site = {.first_ns = MAKER_EPOCH_NS + 100};

	begin();
	MAKE(thread, MODULE_LOAD, 40, .stamp = 2, .module = 2, .start = 0x5000, .end = 0x6000,
	     .path = {"/usr/lib/librvprof.so", 21});
	site.stack = (uint32_t)native(PCS(0x5100, IN(run_all), 0x5200, 0x5300));
	open_all();
	ck_assert_str_eq(text_of(rvp_stacks_of(stacks, &site)), "run_all < [librvprof.so+0x5100]");
	close_all();
}
END_TEST

/* After dlclose another library may have the address: the site's time decides. */
START_TEST(the_module_of_that_time_names_the_frame)
{
	struct rvp_site early = {.first_ns = MAKER_EPOCH_NS + 100},
			late = {.first_ns = MAKER_EPOCH_NS + 5000};

	begin();
	MAKE(thread, MODULE_LOAD, 40, .stamp = 2, .module = 2, .start = 0x5000, .end = 0x6000,
	     .path = {"/l/old.so", 9});
	MAKE(thread, MODULE_UNLOAD, 0, .stamp = 1000, .module = 2);
	MAKE(thread, MODULE_LOAD, 40, .stamp = 2000, .module = 3, .start = 0x5000, .end = 0x6000,
	     .path = {"/l/new.so", 9});
	early.stack = late.stack = (uint32_t)native(PCS(0x5100));
	open_all();
	ck_assert_str_eq(text_of(rvp_stacks_of(stacks, &early)), "[old.so+0x5100]");
	ck_assert_str_eq(text_of(rvp_stacks_of(stacks, &late)), "[new.so+0x5100]");
	ck_assert_str_eq(text_of(rvp_stacks_of(stacks, &early)), "[old.so+0x5100]");
	close_all();
}
END_TEST

START_TEST(names_of_plumbing_and_entries)
{
	static const char *const plumbing[] = {
	    "std::__new_allocator<int>::allocate(unsigned long, void const*)",
	    "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int&&)",
	    "operator new(unsigned long)",
	    "malloc",
	    "<alloc::vec::Vec<T> as core::clone::Clone>::clone",
	    "alloc::alloc::exchange_malloc",
	    "_PyObject_Call",
	};
	static const char *const meant[] = {
	    "load_table",
	    "mine::std_like::get(int)",
	    "std_vector(int)",
	    "mallocate",
	    "Model::operator()(std::vector<int>)",
	    "my::pool::operator new(unsigned long)",
	    "std_thing::f()",
	    "<mine::Holder as core::clone::Clone>::clone",
	    "bool mine::f<std::allocator<int> >(int)",
	};

	for (size_t i = 0; i < sizeof plumbing / sizeof *plumbing; i++)
		ck_assert_msg(rvp_function_is_plumbing(plumbing[i]), "%s", plumbing[i]);
	for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
		ck_assert_msg(!rvp_function_is_plumbing(meant[i]), "%s", meant[i]);
	ck_assert(rvp_function_is_entry("_start") && rvp_function_is_entry("clone3"));
	ck_assert(!rvp_function_is_entry("_start_all") && !rvp_function_is_entry("main"));
	ck_assert(rvp_function_is_python_eval("_PyEval_EvalFrameDefault.cold"));
	ck_assert(!rvp_function_is_python_eval("_PyEval_Vector"));
}
END_TEST

/* The number that the path of a number in the log has. */
static uint32_t path_number(uint32_t process_number, uint32_t number)
{
	struct rvp_record record = {.kind = RVP_ALLOC, .ALLOC = {.stack = number}};

	rvp_number_paths(run->processes[process_number].source, &record);
	return (uint32_t)record.ALLOC.stack;
}

/* Two call instructions of one function have no line here, so they read the same: one group. */
START_TEST(sites_that_read_the_same_are_one_group_with_the_sum)
{
	struct rvp_site sites[4] = {
	    {.process = 0, .first_ns = MAKER_EPOCH_NS + 100, .at_peak = {100, 1}, .allocated = {100, 5}},
	    {.process = 1, .first_ns = MAKER_EPOCH_NS + 100, .at_peak = {30, 2}, .allocated = {30, 2}},
	    {.process = 0,
	     .first_ns = MAKER_EPOCH_NS + 100,
	     .at_peak = {7, 1},
	     .allocated = {900, 3},
	     .is_estimate = 1},
	    {.process = 0, .first_ns = MAKER_EPOCH_NS + 100, .allocated = {1, 1}, .at_end = {1, 1}},
	};
	struct rvp_analysis answer = {.sites = sites, .site_count = 4};
	struct rvp_groups groups;
	uint32_t *order;
	size_t count;

	begin();
	sites[0].stack = (uint32_t)native(PCS(IN(run_all), IN(load_table)));
	sites[2].stack = (uint32_t)native(PCS(IN(run_all), IN(load_table) + 1));
	sites[3].stack = (uint32_t)native(PCS(IN(run_all)));
	process = maker_add(&maker, 200);
	thread = &process->threads[0];
	next_node = 1;
	make_module(thread, 1, 1, "/proc/self/exe");
	sites[1].stack = (uint32_t)native(PCS(IN(run_all), IN(load_table)));
	open_all();
	for (size_t i = 0; i < 4; i++)
		sites[i].stack = path_number(sites[i].process, sites[i].stack);
	ck_assert(!rvp_failed(rvp_groups_make(&groups, stacks, &answer, 0)));
	ck_assert_uint_eq(groups.count, 2);
	order = rvp_groups_by(&groups, RVP_AT_PEAK, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(text_of(rvp_group_stack(&groups, &groups.groups[order[0]])), "load_table < run_all");
	ck_assert_uint_eq(groups.groups[order[0]].at_peak.bytes, 137);
	ck_assert_uint_eq(groups.groups[order[0]].at_peak.count, 4);
	ck_assert_uint_eq(groups.groups[order[0]].allocated.count, 10);
	ck_assert_uint_eq(groups.groups[order[0]].process_count, 2);
	ck_assert(groups.groups[order[0]].is_estimate);
	free(order);
	order = rvp_groups_by(&groups, RVP_ALLOCATED, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(groups.groups[order[0]].allocated.bytes, 1030);
	free(order);
	rvp_groups_free(&groups);
	close_all();
}
END_TEST

START_TEST(growth_is_signed_and_may_run_to_the_end)
{
	struct rvp_held held[2][2] = {{{0, 0, {100, 4}}, {1, 1, {40, 1}}}, {{0, 0, {10, 1}}, {1, 1, {60, 2}}}};
	struct rvp_site sites[2] = {
	    {.first_ns = MAKER_EPOCH_NS + 100, .held = &held[0][1], .at_end = {150, 6}},
	    {.first_ns = MAKER_EPOCH_NS + 100, .held = &held[1][1], .at_end = {10, 1}},
	};
	struct rvp_analysis answer = {.sites = sites, .site_count = 2};
	struct rvp_groups groups;
	struct rvp_change change;
	uint32_t *order;
	size_t count;

	begin();
	sites[0].stack = (uint32_t)native(PCS(IN(load_table)));
	sites[1].stack = (uint32_t)native(PCS(IN(run_all)));
	open_all();
	ck_assert(!rvp_failed(rvp_groups_make(&groups, stacks, &answer, 2)));
	order = rvp_groups_by(&groups, RVP_GROWTH, &count);
	ck_assert_uint_eq(count, 2);
	change = rvp_group_amount(&groups, &groups.groups[order[0]], RVP_GROWTH);
	ck_assert_int_eq(change.bytes, 50);
	ck_assert_int_eq(change.count, 1);
	change = rvp_group_amount(&groups, &groups.groups[order[1]], RVP_GROWTH);
	ck_assert_int_eq(change.bytes, -60);
	ck_assert_int_eq(change.count, -3);
	free(order);
	groups.grows_to_end = true;
	order = rvp_groups_by(&groups, RVP_GROWTH, &count);
	ck_assert_uint_eq(count, 1); /* the other one is as it was */
	change = rvp_group_amount(&groups, &groups.groups[order[0]], RVP_GROWTH);
	ck_assert_int_eq(change.bytes, 50);
	ck_assert_int_eq(change.count, 2);
	free(order);
	rvp_groups_free(&groups);
	close_all();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols_stack");
	TCase *tests = tcase_create("stacks");

	unsetenv("DEBUGINFOD_URLS");
	tcase_add_test(tests, a_native_stack_is_named_innermost_first);
	tcase_add_test(tests, one_eval_frame_stands_for_python_frames_up_to_the_entered_one);
	tcase_add_test(tests, each_entry_from_c_goes_with_an_eval_frame_of_its_own);
	tcase_add_test(tests, what_is_around_an_eval_frame_goes_with_it);
	tcase_add_test(tests, an_eval_frame_without_a_python_frame_stays);
	tcase_add_test(tests, python_frames_without_an_eval_frame_come_before_the_threads_start);
	tcase_add_test(tests, an_address_in_no_module_is_unknown_and_a_number_nobody_defined_ends_the_stack);
	tcase_add_test(tests, our_own_frames_are_left_out_at_the_inner_end);
	tcase_add_test(tests, the_module_of_that_time_names_the_frame);
	tcase_add_test(tests, names_of_plumbing_and_entries);
	tcase_add_test(tests, sites_that_read_the_same_are_one_group_with_the_sum);
	tcase_add_test(tests, growth_is_signed_and_may_run_to_the_end);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
