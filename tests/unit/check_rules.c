/* SPDX-License-Identifier: MIT */
/* check_rules.c: the language of rule files, names against patterns, call paths against rules, and which rule
 * speaks. */
#include "report/rules_match.h"
#include "report/rules_names.h"
#include "report/rules_sets.h"
#include "report/rules_speak.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char complaints[1024];

static void note(void *context, const struct rvp_rule_error *error)
{
	size_t at = strlen(complaints);

	(void)context;
	snprintf(complaints + at, sizeof complaints - at, "%s:%u:%u: %s\n", error->path, error->line,
		 error->column, error->text);
}

static struct rvp_rule_list rules;

static int take(const char *text)
{
	complaints[0] = 0;
	return rvp_rules_read_text(&rules, "dir/my.rules", text, strlen(text), note, NULL);
}

static void drop(void)
{
	rvp_rules_free(&rules);
}

START_TEST(a_rule_is_read)
{
	ck_assert_int_eq(take("# comment\n"
			      "kv_cache/paged \"my pool\":\n"
			      "  frame \"A\" | \"B\" from \"C\" not by \"x@libx*\"\n"
			      "  python \"a/b.py:K.f\" bytes 4K..1M phase decode | prefill mapped\n"
			      "  generic untested because \"b.c of 1.2\"\n"
			      "step/decode: scope \"token *\" because \"x\"\n"),
			 0);
	ck_assert_uint_eq(rules.count, 2);
	ck_assert_str_eq(rules.rules[0].purpose, "kv_cache/paged");
	ck_assert_str_eq(rules.rules[0].file, "my.rules");
	ck_assert_uint_eq(rules.rules[0].line, 2);
	ck_assert_uint_eq(rules.rules[0].count, 6);
	ck_assert(rules.rules[0].is_generic && rules.rules[0].is_untested);
	ck_assert_uint_eq(rules.conditions[0].links, 2);
	ck_assert(!rules.natives[0].is_outermost && rules.natives[1].is_outermost);
	ck_assert_uint_eq(rules.natives[0].count, 2);
	ck_assert(rules.conditions[1].is_negated);
	ck_assert_str_eq(rules.patterns[rules.natives[2].first].place, "libx*");
	ck_assert_uint_eq(rules.conditions[3].least, 4096);
	ck_assert_uint_eq(rules.conditions[3].most, 1 << 20);
	ck_assert_int_eq(rules.rules[1].action, RVP_RULE_STEP);
	ck_assert_ptr_eq(rvp_rules_of_scope(&rules, "token 7", 7, RVP_RULE_STEP), &rules.rules[1]);
	ck_assert_ptr_null(rvp_rules_of_scope(&rules, "tokens", 6, RVP_RULE_STEP));
}
END_TEST

/* Each mistake costs its rule alone, and says where and what. */
static const struct {
	const char *text, *complaint;
	size_t rules;
} mistakes[] = {
    {"kv: by \"a\" because \"b\"\n", "1:1: expected a category, leave or step, found `kv`", 0},
    {"weights by \"a\" because \"b\"\n", "1:9: expected a title in quotes or a colon, found `by`", 0},
    {"weights: because \"b\"\n", "1:10: expected at least one condition, found `because`", 0},
    {"weights: by \"a\"\ntemp: by \"b\" because \"c\"\n",
     "2:1: expected a condition, generic, untested, confidence or because, found `temp`", 1},
    {"weights: by \"a because \"b\"\ntemp: by \"b\" because \"c\"\n",
     "1:25: expected a condition, generic, untested, confidence or because, found `b`", 1},
    {"weights: by \"a\n", "1:13: expected a pattern in quotes, found a text without its second quote", 0},
    {"weights: bytes 9K..8K because \"b\"",
     "1:23: expected a range whose second size is the larger one, found `because`", 0},
    {"weights: bytes 1T.. because \"b\"",
     "1:16: expected a size as 4096, 64K..1M, 1M.. or ..512K, found `1T`", 0},
    {"weights: phase late because \"b\"",
     "1:16: expected load, warmup, prefill, decode, forward, backward or update, found `late`", 0},
    {"weights: by \"a\" confidence 101 because \"b\"",
     "1:28: expected a percentage from 1 to 100, found `101`", 0},
    {"weights: not generic because \"b\"", "1:14: expected a condition behind `not`, found `generic`", 0},
    {"weights: by \"a\" because",
     "1:24: expected what the rule relies on, in quotes, found the end of the file", 0},
    {"step: by \"a\" because \"b\"\n",
     "2:1: expected `scope` as the only condition of a step, found the end of the file", 0},
    {"$: x\n", "1:1: expected a category, leave or step, found `$`", 0},
};

START_TEST(a_mistake_is_told)
{
	char wanted[300];

	ck_assert_int_eq(take(mistakes[_i].text), 1);
	snprintf(wanted, sizeof wanted, "dir/my.rules:%s\n", mistakes[_i].complaint);
	ck_assert_str_eq(complaints, wanted);
	ck_assert_uint_eq(rules.count, mistakes[_i].rules);
}
END_TEST

static const struct {
	const char *function, *plain;
} names[] = {
    {"main", "main"},
    {"void std::vector<int, std::allocator<int> >::f<a b>(int) const",
     "std::vector<int, std::allocator<int> >::f<a b>"},
    {"icu_78::(anonymous namespace)::g(icu_78::X const&) [clone .part.0]",
     "icu_78::(anonymous namespace)::g"},
    {"foo.constprop.0", "foo"},
    {"ns::K::operator()(int)", "ns::K::operator()"},
    {"std::ostream& ns::operator<< <int>(std::ostream&, int)", "ns::operator<< <int>"},
    {"operator new(unsigned long)", "operator new"},
    {"f[abi:cxx11](int)", "f"},
    {"a::b(int)::{lambda(c)#1}::operator()(c) const", "a::b"},
    {"", ""},
    {"(", ""},
    {"<><<>>((", "<><<>>"},
};

START_TEST(a_plain_name)
{
	const char *plain;
	size_t length = rvp_plain_name(names[_i].function, &plain);

	ck_assert_uint_eq(length, strlen(names[_i].plain));
	ck_assert_int_eq(memcmp(plain, names[_i].plain, length), 0);
}
END_TEST

START_TEST(patterns)
{
	ck_assert(rvp_rule_glob("a*c", "abbc", 4));
	ck_assert(rvp_rule_glob("*", "", 0));
	ck_assert(rvp_rule_glob("a?c*", "abc", 3));
	ck_assert(!rvp_rule_glob("a*c", "abcd", 4));
	ck_assert(!rvp_rule_glob("", "a", 1));
	ck_assert(rvp_rule_glob("*ab", "aab", 3));
	ck_assert(rvp_rule_path_glob("nn/*.py", "/usr/torch/nn/linear.py"));
	ck_assert(rvp_rule_path_glob("/usr/*", "/usr/x"));
	ck_assert(!rvp_rule_path_glob("n/*.py", "/usr/torch/nn/linear.py"));
}
END_TEST

static bool is_hit(bool is_python, const char *function, const char *place, bool is_qualified)
{
	uint64_t words[2] = {0, 0};

	if (is_python)
		rvp_rule_python_hits(&rules, function, place, is_qualified, words);
	else
		rvp_rule_native_hits(&rules, function, place, words);
	return words[0] & 1;
}

START_TEST(native_names)
{
	take("temp: by \"a::f@liba.so*\" because \"x\"");
	ck_assert(is_hit(false, "void a::f(int)", "/x/liba.so.1", false));
	ck_assert(!is_hit(false, "void a::f(int)", "/x/libb.so.1", false));
	ck_assert(!is_hit(false, "void a::ff(int)", "/x/liba.so.1", false));
	ck_assert(!is_hit(false, NULL, "/x/liba.so.1", false));
	ck_assert(!is_hit(false, "void a::f(int)", NULL, false));
	drop();
	take("temp: by \"@liba.so*\" because \"x\"");
	ck_assert(is_hit(false, NULL, "/x/liba.so.1", false));
	drop();
	take("temp: by \"void a::f(int)\" because \"x\"");
	ck_assert(is_hit(false, "void a::f(int)", NULL, false));
	ck_assert(!is_hit(false, "void a::f(long)", NULL, false));
}
END_TEST

START_TEST(python_names)
{
	take("temp: caller \"nn/*.py:*.__init__\" because \"x\"");
	ck_assert(is_hit(true, "Linear.__init__", "/t/nn/linear.py", true));
	ck_assert(!is_hit(true, "__init__", "/t/nn/linear.py", true));
	ck_assert(is_hit(true, "__init__", "/t/nn/linear.py", false)); /* before 3.11 */
	ck_assert(!is_hit(true, "Linear.__init__", "/t/linear.py", true));
	drop();
	take("temp: caller \"init.py:\" because \"x\"");
	ck_assert(is_hit(true, "f", "/t/init.py", true));
	drop();
	take("temp: caller \"f\" because \"x\"");
	ck_assert(is_hit(true, "K.f", "/t/any.py", true));
	ck_assert(!is_hit(true, "f.g", "/t/any.py", true));
}
END_TEST

static const struct rvp_rule *speaks(const struct rvp_rule_block *block)
{
	static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};

	return rvp_rule_speaking(&rules, (struct rvp_rule_choice){all, rules.count}, block);
}

START_TEST(the_first_of_its_class_speaks)
{
	take("runtime: by \"x\" generic because \"1\"\n"
	     "temp: by \"x\" bytes 100 because \"2\"\n"
	     "weights: by \"x\" bytes 50.. because \"3\"\n"
	     "input: by \"x\" bytes ..10 generic because \"4\"\n");
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.bytes = 100})->purpose, "temp");
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.bytes = 101})->purpose, "weights");
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.bytes = 49})->purpose, "runtime");
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.bytes = 5})->purpose, "runtime");
}
END_TEST

START_TEST(leave_ends_its_class)
{
	take("leave: by \"x\" bytes 100 generic because \"1\"\n"
	     "runtime: by \"x\" generic because \"2\"\n"
	     "leave: by \"x\" bytes 7 because \"3\"\n"
	     "weights: by \"x\" bytes 1.. thread \"w*\" because \"4\"\n");
	ck_assert_ptr_null(speaks(&(struct rvp_rule_block){.bytes = 100}));
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.bytes = 100, .thread = "w1"})->purpose, "weights");
	ck_assert_ptr_null(speaks(&(struct rvp_rule_block){.bytes = 7, .thread = "w1"}));
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.bytes = 8, .thread = "v"})->purpose, "runtime");
}
END_TEST

START_TEST(a_file_is_only_spoken_of_by_name)
{
	struct rvp_rule_block block = {.is_mapped = true, .is_file = true, .file = "/m/model.gguf"};

	take("runtime: by \"x\" mapped because \"1\"\nweights: by \"x\" file \"*.gguf\" because \"2\"\n");
	ck_assert_str_eq(speaks(&block)->purpose, "weights");
	block.file = "/m/model.txt";
	ck_assert_ptr_null(speaks(&block));
	block.is_file = false;
	ck_assert_str_eq(speaks(&block)->purpose, "runtime");
}
END_TEST

START_TEST(loaded_libraries)
{
	struct rvp_module modules[] = {{.path = "/x/libc.so.6"}, {.path = "/x/llama-addon-1.node"}};
	struct rvp_process process = {.modules = modules, .module_count = 2};
	struct rvp_rule_block block = {.process = &process};

	take("runtime: by \"x\" loaded \"llama-addon*.node\" | \"other\" because \"1\"\n"
	     "input: by \"x\" not loaded \"libc.so*\" because \"2\"\n");
	ck_assert_str_eq(speaks(&block)->purpose, "runtime");
	process.module_count = 1;
	ck_assert_ptr_null(speaks(&block));
	process.module_count = 0;
	ck_assert_str_eq(speaks(&block)->purpose, "input");
}
END_TEST

START_TEST(phases_and_scopes)
{
	struct rvp_text open[] = {{"inner", 5}, {"KV fill", 7}};

	take("temp: by \"x\" phase decode | prefill because \"1\"\n"
	     "kv_cache: by \"x\" scope \"KV *\" because \"2\"\n"
	     "input: by \"x\" not scope \"KV *\" because \"3\"\n");
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.phase = RVP_STEP_PHASE_PREFILL})->purpose, "temp");
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.scopes = open, .scope_count = 2})->purpose,
			 "kv_cache");
	ck_assert_str_eq(speaks(&(struct rvp_rule_block){.scopes = open, .scope_count = 1})->purpose,
			 "input");
}
END_TEST

START_TEST(sets_are_kept_once)
{
	struct rvp_sets sets;
	uint64_t words[3] = {0, 0, 0};
	uint32_t first;

	ck_assert(rvp_sets_open(&sets, 130));
	ck_assert_uint_eq(sets.word_count, 3);
	ck_assert_uint_eq(rvp_set_number(&sets, words), 0);
	words[2] = 2;
	first = rvp_set_number(&sets, words);
	ck_assert_uint_eq(rvp_set_number(&sets, words), first);
	ck_assert(rvp_set_has(&sets, first, 129) && !rvp_set_has(&sets, first, 128));
	for (uint64_t i = 3; i < 2000; i++) {
		words[2] = i;
		ck_assert_uint_eq(rvp_set_number(&sets, words), i - 1);
	}
	rvp_sets_free(&sets);
}
END_TEST

/* ---- call paths ---- */

static struct maker maker;
static struct maker_thread *thread;
static struct rvp_run *run;
static struct rvp_rule_matcher *matcher;
static uint64_t own_bias;

/* Functions of this program, whose names its own symbol table has. */
__attribute__((noinline)) int rules_test_inner(int number);
__attribute__((noinline)) int rules_test_outer(int number);
int rules_test_inner(int number)
{
	return number + 1;
}
int rules_test_outer(int number)
{
	return number + 2;
}

static void node(uint64_t number, uint64_t parent, int (*function)(int))
{
	MAKE(thread, NODE, 0, .node = number, .parent = parent, .pc = (uint64_t)(uintptr_t)function + 2);
}

static void python(uint64_t number, uint64_t parent, uint64_t code)
{
	MAKE(thread, PYTHON_NODE, 0, .node = number, .parent = parent, .code = code, .is_entry = 1);
}

static void code(uint64_t number, const char *name, const char *file)
{
	MAKE(thread, CODE, 64, .code = number, .first_line = 1, .version = 0x30b,
	     .name = {name, strlen(name)}, .file = {file, strlen(file)});
}

static void open_run(const char *text)
{
	static char path[4096];
	Dl_info info;
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	ck_assert_int_gt(length, 0);
	ck_assert_int_ne(dladdr((void *)(uintptr_t)rules_test_inner, &info), 0);
	own_bias = (uint64_t)(uintptr_t)info.dli_fbase;
	maker = maker_open();
	thread = maker_thread(maker_add(&maker, 100));
	MAKE(thread, MODULE_LOAD, 4096, .stamp = 1500, .module = 1, .bias = own_bias, .start = own_bias,
	     .end = own_bias + (64 << 20), .path = {path, (uint64_t)length});
	MAKE(thread, MODULE_LOAD, 32, .stamp = 1500, .module = 2, .bias = 0x1000, .start = 0x1000,
	     .end = 0x2000, .path = {"/x/libgone.so.1", 15});
	MAKE(thread, MODULE_LOAD, 32, .stamp = 1500, .module = 3, .bias = 0x3000, .start = 0x3000,
	     .end = 0x4000, .path = {"/x/librvprof.so", 15});
	node(1, 0, rules_test_outer);
	node(2, 1, rules_test_inner);
	node(3, 0, rules_test_inner);
	node(4, 3, rules_test_outer);
	MAKE(thread, NODE, 0, .node = 5, .parent = 1, .pc = 0x1100);
	MAKE(thread, NODE, 0, .node = 6, .parent = 2, .pc = 0x3100);
	MAKE(thread, NODE, 0, .node = 7, .parent = 2, .pc = own_bias + 8);
	code(1, "<module>", "/a/main.py");
	code(2, "Linear.__init__", "/t/nn/linear.py");
	python(1, 0, 1);
	python(2, 1, 2);
	MAKE(thread, ALLOC, 0, .stamp = 2000, .address = 0x5000, .bytes = 64, .stack = 2);
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	take(text);
	ck_assert_str_eq(complaints, "");
	matcher = rvp_rule_matcher_open(&rules, run, SYMBOLS_MODULE_PATH);
	ck_assert_ptr_nonnull(matcher);
}

static void close_run(void)
{
	rvp_rule_matcher_close(matcher);
	rvp_run_close(run);
	maker_remove(&maker);
}

/* "0 2": numbers of the rules that a call path allows. */
static const char *allowed(uint32_t stack, uint32_t pythons)
{
	static char text[64];
	struct rvp_rule_choice choice = rvp_rules_for(matcher, 0, stack, pythons, MAKER_EPOCH_NS + 2000, false);

	text[0] = 0;
	for (size_t i = 0; i < choice.count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? " " : "",
			 choice.rules[i]);
	return text;
}

START_TEST(native_paths)
{
	open_run("weights: frame \"rules_test_inner\" from \"rules_test_outer\" bytes 1.. because \"0\"\n"
		 "temp: by \"rules_test_outer\" bytes 1.. because \"1\"\n"
		 "input: frame \"rules_test_inner\" bytes 1.. because \"2\"\n"
		 "comm: not frame \"rules_test_inner\" bytes 1.. because \"3\"\n"
		 "graph: by \"@libgone*\" because \"4\"\n"
		 "runtime: by \"rules_test_inner\" because \"5\"\n"
		 "code: by \"rules_test_inner\" because \"6\"\n");
	ck_assert_str_eq(allowed(2, 0),
			 "0 2 5"); /* inner called by outer; 6 is behind one that always speaks */
	ck_assert_str_eq(allowed(4, 0), "1 2"); /* outer called by inner: a chain is no set */
	ck_assert_str_eq(allowed(1, 0), "1 3");
	ck_assert_str_eq(allowed(3, 0), "2 5");
	ck_assert_str_eq(allowed(5, 0), "4"); /* a file that is gone: its name still matches */
	ck_assert_str_eq(allowed(0, 0), "");
	ck_assert_str_eq(allowed(77, 0), "");
	close_run();
}
END_TEST

/* Where a name is not known, nobody can say that it is another one. */
START_TEST(what_is_not_known_is_not_denied)
{
	open_run("runtime: frame \"rules_test_outer\" not by \"c10::alloc\" bytes 1.. because \"0\"\n"
		 "input: by \"@libgone*\" not by \"f@libother*\" bytes 1.. because \"1\"\n"
		 "comm: by \"@libgone*\" not by \"f@libgone*\" bytes 1.. because \"2\"\n"
		 "graph: by \"@libgone*\" not by \"@libtorch*\" bytes 1.. because \"3\"\n"
		 "code: by \"@libgone*\" not frame \"rules_test_inner\" bytes 1.. because \"4\"\n"
		 "temp: not by \"@libgone*\" because \"5\"\n");
	ck_assert_str_eq(allowed(2, 0), "0 5");
	ck_assert_str_eq(allowed(7, 0), "0 5"); /* nameless, where others have names */
	ck_assert_str_eq(allowed(6, 0), "0 5"); /* our own library's frames are no secret */
	ck_assert_str_eq(allowed(5, 0), "1 3"); /* nameless as all of its library, which is known */
	ck_assert_str_eq(allowed(0, 0), "");    /* who asked was not recorded */
	close_run();
}
END_TEST

START_TEST(without_symbols_nothing_is_denied)
{
	open_run("runtime: by \"@check_rules\" not by \"c10::alloc\" bytes 1.. because \"0\"\n"
		 "temp: by \"@check_rules\" because \"1\"\n");
	ck_assert_str_eq(allowed(2, 0), "0 1");
	rvp_rule_matcher_close(matcher);
	matcher = rvp_rule_matcher_open(&rules, run, "/nowhere/librvprof_symbols.so");
	ck_assert_ptr_nonnull(matcher);
	ck_assert_str_eq(allowed(2, 0), "1");
	close_run();
}
END_TEST

START_TEST(python_paths)
{
	open_run("weights: caller \"nn/*.py:*.__init__\" bytes 1.. because \"0\"\n"
		 "temp: python \"main.py:<module>\" bytes 1.. because \"1\"\n"
		 "input: python \"nn/linear.py:\" from \"main.py:\" because \"2\"\n"
		 "comm: python \"main.py:\" from \"nn/linear.py:\" because \"3\"\n");
	ck_assert_str_eq(allowed(0, 2), "0 1 2");
	ck_assert_str_eq(allowed(0, 1), "1");
	ck_assert_str_eq(allowed(0, 0), "");
	ck_assert_str_eq(allowed(0, 9), "");
	close_run();
}
END_TEST

START_TEST(a_file_that_is_gone_is_told)
{
	char notes[4][256];

	open_run("weights: frame \"x\" because \"0\"\n");
	ck_assert_str_eq(allowed(5, 0), "");
	ck_assert_uint_eq(rvp_rule_matcher_notes(matcher, notes, 4), 1);
	ck_assert_str_eq(notes[0],
			 "/x/libgone.so.1 is gone since the run: rules see no names of its functions");
	close_run();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rules");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, NULL, drop);
	tcase_add_test(all, a_rule_is_read);
	tcase_add_loop_test(all, a_mistake_is_told, 0, sizeof mistakes / sizeof *mistakes);
	tcase_add_loop_test(all, a_plain_name, 0, sizeof names / sizeof *names);
	tcase_add_test(all, patterns);
	tcase_add_test(all, native_names);
	tcase_add_test(all, python_names);
	tcase_add_test(all, the_first_of_its_class_speaks);
	tcase_add_test(all, leave_ends_its_class);
	tcase_add_test(all, a_file_is_only_spoken_of_by_name);
	tcase_add_test(all, phases_and_scopes);
	tcase_add_test(all, loaded_libraries);
	tcase_add_test(all, sets_are_kept_once);
	tcase_add_test(all, native_paths);
	tcase_add_test(all, what_is_not_known_is_not_denied);
	tcase_add_test(all, without_symbols_nothing_is_denied);
	tcase_add_test(all, python_paths);
	tcase_add_test(all, a_file_that_is_gone_is_told);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
