/* SPDX-License-Identifier: MIT */
/* check_options.c: what RVPROF_ variables mean, what is said about those that mean nothing, shell patterns,
 * names of run folders, the table of processes. */
#include "record/nearest.h"
#include "record/options.h"
#include "record/pattern.h"
#include "record/run_folder.h"
#include "record/tree_file.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rvp_options options;
static char complaint[RVP_COMPLAINT_BYTES];

#define READ(...)                                                                                            \
	(complaint[0] = 0, rvp_options_read(&options, (char *[]){"PATH=/bin", __VA_ARGS__, NULL}, complaint, \
					    sizeof complaint))

START_TEST(defaults)
{
	ck_assert(READ("HOME=/"));
	ck_assert_int_eq(options.mode, RVP_MODE_SAMPLED);
	ck_assert(options.python && options.follow && options.finalize && !options.disable);
	ck_assert_uint_eq(options.max_log_bytes, 1u << 30);
	ck_assert_uint_eq(options.exit_wait_s, 10);
	ck_assert_str_eq(options.only, "");
	ck_assert_str_eq(options.run_dir, "");
}
END_TEST

START_TEST(each_variable)
{
	ck_assert(READ("RVPROF_MODE=full", "RVPROF_PYTHON=off", "RVPROF_NO_FOLLOW=", "RVPROF_MAX_LOG=64MiB",
		       "RVPROF_ONLY=python*,x", "RVPROF_OUTPUT=a b", "RVPROF_FINALIZE=0",
		       "RVPROF_EXIT_WAIT=3", "RVPROF_DISABLE=1", "RVPROF_RUN_DIR=/r", "RVPROF_COLOR=never",
		       "RVPROF_FORCE=1",
		       "RVPROF_CONFIG_FINGERPRINT=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
	ck_assert_int_eq(options.mode, RVP_MODE_FULL);
	ck_assert(!options.python && !options.follow && !options.finalize && options.disable &&
		  options.force);
	ck_assert_uint_eq(options.max_log_bytes, 64u << 20);
	ck_assert_uint_eq(options.exit_wait_s, 3);
	ck_assert_str_eq(options.only, "python*,x");
	ck_assert_str_eq(options.output, "a b");
	ck_assert_str_eq(options.run_dir, "/r");
	ck_assert_int_eq(options.color, RVP_WANTS_COLOR_NEVER);
}
END_TEST

START_TEST(windows)
{
	ck_assert(READ("HOME=/"));
	ck_assert(!rvp_options_have_windows(&options));
	ck_assert(READ("RVPROF_SCHEDULE=wait=80,warmup=3,active=1", "RVPROF_DELAY=2.5", "RVPROF_DURATION=300ms",
		       "RVPROF_CAPTURE=cuda"));
	ck_assert_uint_eq(options.schedule.wait, 80);
	ck_assert_uint_eq(options.delay_ns, 2500000000u);
	ck_assert_uint_eq(options.duration_ns, 300000000u);
	ck_assert_int_eq(options.capture, RVP_CAPTURE_CUDA);
	ck_assert(READ("RVPROF_OPTIONS=schedule=wait=1:active=2,steps=", "RVPROF_STEPS=3:5") == false);
	ck_assert(READ("RVPROF_OPTIONS=schedule=wait=1:active=2,mode=full"));
	ck_assert_uint_eq(options.schedule.active, 2);
	ck_assert(READ("RVPROF_STEPS=80:84"));
	ck_assert_uint_eq(options.schedule.skip_first, 80);
	ck_assert_uint_eq(options.schedule.active, 4);
	ck_assert_uint_eq(options.schedule.repeat, 1);
	ck_assert(READ("RVPROF_STEPS=:4"));
	ck_assert_uint_eq(options.schedule.active, 4);
	ck_assert(READ("RVPROF_STEPS=7:"));
	ck_assert_uint_eq(options.schedule.skip_first, 7);
}
END_TEST

static const struct {
	const char *text;
	uint64_t ns;
} times[] = {
    {"10", 10000000000u}, {"2.5s", 2500000000u}, {"300ms", 300000000u}, {"1.5ms", 1500000u}, {"7us", 7000u},
    {"2m", 120000000000u}, {"0.5h", 1800000000000u}, {"1.000000001s", 1000000001u}, {"0", 0},
};
static const char *const no_times[] = {"", "s", "-1", "1.", "1.s", ".5", "1e3", "5x", "1 s", "1.0000000001", "99999999999999", "1..2"};

START_TEST(time_texts)
{
	uint64_t ns;

	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		ck_assert_msg(rvp_time_read(times[i].text, strlen(times[i].text), &ns), "%s", times[i].text);
		ck_assert_uint_eq(ns, times[i].ns);
	}
	for (size_t i = 0; i < sizeof no_times / sizeof *no_times; i++)
		ck_assert_msg(!rvp_time_read(no_times[i], strlen(no_times[i]), &ns), "%s", no_times[i]);
}
END_TEST

START_TEST(window_complaints)
{
	ck_assert(!READ("RVPROF_SCHEDULE=wait=1,active=0"));
	ck_assert_str_eq(complaint, "RVPROF_SCHEDULE: schedule: active is 0, so no step would ever be recorded; it is 1 or more");
	ck_assert_uint_eq(options.schedule.active, 0);
	ck_assert(!READ("RVPROF_STEPS=5:3"));
	ck_assert_str_eq(complaint, "RVPROF_STEPS can not be '5:3': A:B, as in 80:84 (four steps), 80: or :4");
	ck_assert(!READ("RVPROF_STEPS=5"));
	ck_assert(!READ("RVPROF_STEPS=:"));
	ck_assert(!READ("RVPROF_DURATION=0"));
	ck_assert(!READ("RVPROF_SCHEDULE=active=1", "RVPROF_STEPS=3:5"));
	ck_assert_str_eq(complaint, "schedule and steps both say which steps are recorded: give one of them");
}
END_TEST

START_TEST(the_device)
{
	ck_assert(READ("HOME=/"));
	ck_assert_int_eq(options.cuda, RVP_CUDA_AUTO);
	ck_assert_uint_eq(options.cuda_budget_milli, 30);
	ck_assert(!options.sync_steps);
	ck_assert(READ("RVPROF_CUDA=full", "RVPROF_CUDA_BUDGET=0.5", "RVPROF_SYNC_STEPS=1"));
	ck_assert_int_eq(options.cuda, RVP_CUDA_FULL);
	ck_assert_uint_eq(options.cuda_budget_milli, 5);
	ck_assert(options.sync_steps);
	ck_assert(READ("RVPROF_CUDA=off", "RVPROF_CUDA_BUDGET=100%"));
	ck_assert_int_eq(options.cuda, RVP_CUDA_OFF);
	ck_assert_uint_eq(options.cuda_budget_milli, 1000);
	ck_assert(!READ("RVPROF_CUDA_BUDGET=101"));
	ck_assert(!READ("RVPROF_CUDA_BUDGET=100.5"));
	ck_assert(!READ("RVPROF_CUDA_BUDGET=3.25"));
	ck_assert(!READ("RVPROF_CUDA_BUDGET="));
	ck_assert(!READ("RVPROF_CUDA_BUDGET=%"));
	ck_assert(!READ("RVPROF_CUDA=on"));
	ck_assert_str_eq(complaint, "RVPROF_CUDA can not be 'on': off|auto|full");
	ck_assert_uint_eq(options.cuda_budget_milli, 30);
}
END_TEST

START_TEST(several_at_once)
{
	ck_assert(READ("RVPROF_MODE=sampled", "RVPROF_OPTIONS=mode=full,max-log=1K,no-follow,,output=x=y"));
	ck_assert_int_eq(options.mode, RVP_MODE_SAMPLED); /* a variable of its own wins, wherever it stands */
	ck_assert_uint_eq(options.max_log_bytes, 1024);
	ck_assert(!options.follow);
	ck_assert_str_eq(options.output, "x=y");
}
END_TEST

START_TEST(complaints)
{
	ck_assert(!READ("RVPROF_MOED=full", "RVPROF_MODE=full"));
	ck_assert_str_eq(complaint, "unknown variable RVPROF_MOED (did you mean RVPROF_MODE?)");
	ck_assert_int_eq(options.mode, RVP_MODE_FULL);
	ck_assert(!READ("RVPROF_MODE=fll", "RVPROF_X=1"));
	ck_assert_str_eq(complaint, "RVPROF_MODE can not be 'fll': sampled|full");
	ck_assert_int_eq(options.mode, RVP_MODE_SAMPLED);
	ck_assert(!READ("RVPROF_FINALISE=0"));
	ck_assert_str_eq(complaint, "unknown variable RVPROF_FINALISE (did you mean RVPROF_FINALIZE?)");
	ck_assert(!READ("RVPROF_QWERTYUIOP=0"));
	ck_assert_str_eq(complaint, "unknown variable RVPROF_QWERTYUIOP");
	ck_assert(READ("RVPROF_POWER=gpu=nvml,mock:75"));
	ck_assert_str_eq(options.power, "gpu=nvml,mock:75");
	ck_assert(!READ("RVPROF_POWER="));
	ck_assert_str_eq(complaint, "RVPROF_POWER can not be '': SOURCE");
	ck_assert(!READ("RVPROF_OPTIONS=finalize=0"));
	ck_assert_str_eq(complaint, "unknown option 'finalize'");
	ck_assert(!READ("RVPROF_PYTHON="));
	ck_assert(!READ("RVPROF_EXIT_WAIT=-1"));
	ck_assert(!READ("RVPROF_EXIT_WAIT=99999999999"));
	ck_assert(!READ("RVPROF_MAX_LOG=0"));
}
END_TEST

START_TEST(a_long_complaint_is_cut)
{
	char variable[4096], small[16] = "";
	char *environment[] = {variable, NULL};

	memset(variable, 'x', sizeof variable);
	memcpy(variable, "RVPROF_MODE=", 12);
	variable[sizeof variable - 1] = 0;
	ck_assert(!rvp_options_read(&options, environment, small, sizeof small));
	ck_assert_str_eq(small, "RVPROF_MODE can");
	memcpy(variable, "RVPROF_ONLY=", 12);
	ck_assert(!rvp_options_read(&options, environment, small, sizeof small));
	ck_assert_str_eq(options.only, "");
}
END_TEST

START_TEST(sizes)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"4096", 4096},
		    {"0", 0},
		    {"1B", 1},
		    {"3K", 3072},
		    {"64MiB", 64 << 20},
		    {"1G", 1 << 30},
		    {"1GB", 1000000000},
		    {"2TiB", 2ull << 40},
		    {"16777215T", 16777215ull << 40}};
	static const char *const bad[] = {
	    "", "K", "1Q", "-1", "1.5G", " 1", "1 G", "99999999999999999999", "16777216T"};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		ck_assert_msg(rvp_size_read(good[i].text, strlen(good[i].text), &bytes), "%s", good[i].text);
		ck_assert_uint_eq(bytes, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!rvp_size_read(bad[i], strlen(bad[i]), &bytes), "%s", bad[i]);
}
END_TEST

START_TEST(letters_apart)
{
	ck_assert_uint_eq(rvp_letters_apart("mode", 4, "mode"), 0);
	ck_assert_uint_eq(rvp_letters_apart("moed", 4, "mode"), 1);
	ck_assert_uint_eq(rvp_letters_apart("MAX_LOG", 7, "max-log"), 0);
	ck_assert_uint_eq(rvp_letters_apart("kitten", 6, "sitting"), 3);
	ck_assert_uint_eq(rvp_letters_apart("", 0, "abc"), 3);
	ck_assert_uint_eq(rvp_letters_apart("modexyz", 4, "mode"), 0);
}
END_TEST

START_TEST(patterns)
{
	static const struct {
		const char *patterns, *name;
		bool matches;
	} rows[] = {{"", "x", true},
		    {"python*", "python3", true},
		    {"python*", "xpython", false},
		    {"a,b*,c", "bee", true},
		    {"a,b*,c", "d", false},
		    {"*a*b", "xaxxbab", true},
		    {"a?c", "abc", true},
		    {"a?c", "ac", false},
		    {"*", "", true},
		    {",,x", "x", true},
		    {",", "x", false},
		    {"ab", "abc", false}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ck_assert_msg(rvp_pattern_matches(rows[i].patterns, rows[i].name) == rows[i].matches, "%s %s",
			      rows[i].patterns, rows[i].name);
}
END_TEST

static char *environment[] = {"RANK=", "PMI_RANK=7", "A=b/c", "AB=no", NULL};
static const struct rvp_folder_facts facts = {
    .pid = 12, .start_unix_s = 1795266095, .host = "h", .exe = "e", .environment = environment};

START_TEST(folder_names)
{
	char name[64];

	ck_assert_int_eq(rvp_folder_name(name, sizeof name, "%e.%p-%h-%r-%q{A}-%q{NO}-%%", &facts), 0);
	ck_assert_str_eq(name, "e.12-h-7-b/c--%");
	ck_assert_int_eq(rvp_folder_name(name, sizeof name, "%t", &facts), 0);
	ck_assert_str_eq(name, "20261121T130135Z");
	ck_assert_int_eq(rvp_folder_name(name, sizeof name, "%x", &facts), EINVAL);
	ck_assert_int_eq(rvp_folder_name(name, sizeof name, "x%", &facts), EINVAL);
	ck_assert_int_eq(rvp_folder_name(name, sizeof name, "%q{A", &facts), EINVAL);
	ck_assert_int_eq(rvp_folder_name(name, sizeof name, "%q{NO}", &facts), EINVAL);
	ck_assert_int_eq(rvp_folder_name(name, 3, "%p%p", &facts), ENAMETOOLONG);
	ck_assert_int_eq(rvp_folder_name(name, 3, "%p", &facts), 0);
	ck_assert_str_eq(rvp_folder_exe("/usr/bin/x"), "x");
	ck_assert_str_eq(rvp_folder_exe("x/"), "program");
}
END_TEST

START_TEST(dates)
{
	static const struct {
		uint64_t unix_s;
		const char *text;
	} rows[] = {{0, "19700101T000000Z"},          {951782399, "20000228T235959Z"},
		    {951868799, "20000229T235959Z"},  {1709164800, "20240229T000000Z"},
		    {4107542400, "21000301T000000Z"}, {1798761599, "20261231T235959Z"}};
	struct rvp_folder_facts then = facts;
	char name[64];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		then.start_unix_s = rows[i].unix_s;
		ck_assert_int_eq(rvp_folder_name(name, sizeof name, "%t", &then), 0);
		ck_assert_str_eq(name, rows[i].text);
	}
}
END_TEST

static char scratch[] = "/tmp/rvprof-options.XXXXXX";

static void enter_scratch(void)
{
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	ck_assert_int_eq(chdir(scratch), 0);
}

static void leave_scratch(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", scratch);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(folders_are_numbered)
{
	char path[RVP_FOLDER_BYTES], wanted[RVP_FOLDER_BYTES];
	struct stat folder;
	bool moved;

	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(rvp_folder_place(path, "a//b/c/", &facts, true, &moved), 0);
		ck_assert(!moved);
		snprintf(wanted, sizeof wanted, i ? "%s/a//b/c.%d" : "%s/a//b/c", scratch, i);
		ck_assert_str_eq(path, wanted);
		ck_assert_int_eq(stat(path, &folder), 0);
		ck_assert_int_eq(folder.st_mode & 0777, 0700);
	}
	ck_assert_int_eq(rvp_folder_place(path, "a/b/c", &facts, false, &moved), EEXIST);
}
END_TEST

START_TEST(table_of_processes)
{
	static const char command[] = "a\0b c\0";
	struct rvp_tree_facts tree_facts = {
	    .maker = RVP_MADE_BY_RUN, .exe = "a", .command = command, .command_bytes = 6, .max_log_bytes = 5};
	struct rvp_tree *tree;
	struct stat file;

	ck_assert_int_eq(rvp_tree_make("tree.rvt", &tree_facts, &tree), 0);
	ck_assert_int_eq(stat("tree.rvt", &file), 0);
	ck_assert_uint_eq((uint64_t)file.st_size, rvp_tree_bytes(RVP_TREE_ENTRY_COUNT));
	ck_assert_msg((uint64_t)file.st_blocks * 512 >= (uint64_t)file.st_size, "every byte is allocated");
	rvp_tree_set_root(tree, 77, 88);
	ck_assert_uint_eq(tree->file.pid, 77);
	ck_assert_uint_eq(tree->file.checksum,
			  rvp_checksum(&tree->file, offsetof(struct rvp_file_header, checksum)));
	ck_assert_uint_eq(strlen(tree->run_id), 32);
	ck_assert_uint_eq(strlen(tree->boot_id), 36);
	ck_assert_mem_eq(tree->command, command, 6);
	ck_assert_int_eq(rvp_tree_make("tree.rvt", &tree_facts, &tree), EEXIST);
}
END_TEST

START_TEST(a_long_command_is_cut)
{
	static char command[RVP_TREE_COMMAND_BYTES + 10];
	struct rvp_tree_facts tree_facts = {.exe = "a", .command = command, .command_bytes = sizeof command};
	struct rvp_tree *tree;

	memset(command, 'x', sizeof command);
	ck_assert_int_eq(rvp_tree_make("tree.rvt", &tree_facts, &tree), 0);
	ck_assert_uint_eq(tree->command_is_cut, 1);
	ck_assert_uint_eq(tree->command_bytes, RVP_TREE_COMMAND_BYTES);
}
END_TEST

START_TEST(no_fatal_signal_by_a_file_limit)
{
	struct rlimit most = {1 << 20, 1 << 20};
	struct rvp_tree_facts tree_facts = {.exe = "a", .command = ""};
	struct rvp_tree *tree;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &most), 0);
	ck_assert_int_eq(rvp_tree_make("tree.rvt", &tree_facts, &tree), EFBIG);
	ck_assert_int_ne(access("tree.rvt", F_OK), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *pure = tcase_create("pure"), *files = tcase_create("files");

	tcase_add_test(pure, defaults);
	tcase_add_test(pure, each_variable);
	tcase_add_test(pure, windows);
	tcase_add_test(pure, time_texts);
	tcase_add_test(pure, window_complaints);
	tcase_add_test(pure, the_device);
	tcase_add_test(pure, several_at_once);
	tcase_add_test(pure, complaints);
	tcase_add_test(pure, a_long_complaint_is_cut);
	tcase_add_test(pure, sizes);
	tcase_add_test(pure, letters_apart);
	tcase_add_test(pure, patterns);
	tcase_add_test(pure, folder_names);
	tcase_add_test(pure, dates);
	tcase_add_checked_fixture(files, enter_scratch, leave_scratch);
	tcase_add_test(files, folders_are_numbered);
	tcase_add_test(files, table_of_processes);
	tcase_add_test(files, a_long_command_is_cut);
	tcase_add_test(files, no_fatal_signal_by_a_file_limit);
	suite_add_tcase(suite, pure);
	suite_add_tcase(suite, files);
	return run_suite(suite);
}
