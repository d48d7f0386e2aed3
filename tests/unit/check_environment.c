/* SPDX-License-Identifier: MIT */
/* check_environment.c: what a run's fingerprint is made of: the same facts are the same digits, whatever else
 * differs between two runs; each fact changes them; and who doubts them can hash the facts with another
 * program. */
#include "prove/digest.h"
#include "prove/environment.h"
#include "report/run.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a run is made of; `other` is about a second process that asks for less memory. */
struct made {
	uint32_t pid;
	const char *exe, *build_id, *kernel, *host, *variable, *second_variable;
	uint64_t start, unload_stamp, driver;
	uint32_t state;
	bool has_device, is_this_boot, without_module;
};

static const struct made plain = {.pid = 100,
				  .exe = "/home/ann/bin/prog",
				  .build_id = "\x01\xab",
				  .kernel = "6.1.0",
				  .host = "one",
				  .variable = "OMP_NUM_THREADS=4",
				  .second_variable = "MIMALLOC_SHOW_STATS=1",
				  .start = 0x400000,
				  .state = RVP_ENTRY_EXITED};

static struct maker maker;
static struct rvp_run *run;

static struct rvp_text words(const char *text)
{
	return (struct rvp_text){text, strlen(text)};
}

static void load(struct maker_thread *thread, uint64_t number, uint64_t start, const char *path,
		 const char *build_id)
{
	MAKE(thread, MODULE_LOAD, 256, .stamp = 1500, .module = number, .start = start, .end = start + 4096,
	     .file_bytes = 777, .path = words(path), .build_id = words(build_id));
}

static void take_this_boot(void)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(maker.tree.boot_id, sizeof maker.tree.boot_id, file));
	maker.tree.boot_id[strcspn(maker.tree.boot_id, "\n")] = 0;
	fclose(file);
}

static void make_process(const struct made *made, uint32_t pid, uint64_t bytes, bool is_second)
{
	struct maker_process *process = maker_add(&maker, pid);
	struct maker_thread *thread = maker_thread(process);

	process->entry.state = made->state;
	MAKE(thread, ENVIRONMENT, 128, .text = words(made->variable));
	MAKE(thread, ENVIRONMENT, 128,
	     .text = words(is_second ? "OMP_NUM_THREADS=9" : made->second_variable));
	MAKE(thread, ENVIRONMENT, 128, .text = words("RVPROF_OUTPUT=out"));
	MAKE(thread, ENVIRONMENT, 128, .text = words("RANK=3"));
	MAKE(thread, MACHINE, 256, .cpu_count = 2, .memory_bytes = 1 << 30, .host = words(made->host),
	     .kernel = words(made->kernel), .cpu = words("A CPU"));
	if (!made->without_module) {
		load(thread, 1, made->start, made->exe, made->build_id);
		load(thread, 2, made->start + 0x10000, "/usr/lib/libc.so.6", "\xff");
		load(thread, 3, made->start + 0x20000, "/opt/rvprof/librvprof.so",
		     is_second ? "\x07" : "\x08");
		load(thread, 4, made->start + 0x30000, "/x/libno id.so", "");
	}
	if (made->unload_stamp)
		MAKE(thread, MODULE_UNLOAD, 0, .stamp = made->unload_stamp, .module = 2);
	if (made->has_device) {
		MAKE(thread, DEVICE, 64, .stamp = 1600, .device = 0, .memory_bytes = 5,
		     .model = words("GPU X"));
		MAKE(thread, DEVICE_TRACER, 64, .stamp = 1600, .driver_version = made->driver);
	}
	MAKE(thread, ALLOC, 0, .stamp = 2000, .address = 0x1000, .bytes = bytes);
}

/* The facts of such a run, and the digits if there are. */
static const struct rvp_origin *origin_of(const struct made *made)
{
	rvp_run_close(run);
	if (*maker.folder)
		maker_remove(&maker);
	maker = maker_open();
	if (made->is_this_boot)
		take_this_boot();
	make_process(made, made->pid, 64, false);
	make_process(made, made->pid + 1, 32, true);
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	rvp_origin_make(run, NULL);
	return &run->origin;
}

static void set_up(void)
{
	run = NULL;
	maker = (struct maker){.process_count = 0};
	rvp_origin_made_by(rvp_environment_make);
}

static void tear_down(void)
{
	rvp_run_close(run);
	maker_remove(&maker);
}

START_TEST(facts_are_sorted_lines)
{
	const char *facts = origin_of(&plain)->facts;
	static const char begin[] = "cpu A CPU\n"
				    "cpu_count 2\n"
				    "kernel 6.1.0\n"
				    "memory_bytes 1073741824\n"
				    "module.libc.so.6 ff\n"
				    "module.libno?id.so 777-bytes\n"
				    "module.prog 01ab\n"
				    "rules ";

	ck_assert_ptr_nonnull(facts);
	ck_assert_msg(strncmp(facts, begin, strlen(begin)) == 0, "%s", facts);
	facts = strstr(facts, "rvprof ");
	ck_assert_ptr_nonnull(facts);
	ck_assert_msg(strcmp(strchr(facts, '\n'),
			     "\nvariable.MIMALLOC_SHOW_STATS 1\nvariable.OMP_NUM_THREADS 4\n") == 0,
		      "%s", facts);
}
END_TEST

START_TEST(the_digits_are_those_of_sha256sum)
{
	const struct rvp_origin *origin = origin_of(&plain);
	char name[] = "/tmp/check_environment.XXXXXX", command[128], digits[65] = "";
	FILE *file = fdopen(mkstemp(name), "w");

	fputs(origin->facts, file);
	fclose(file);
	snprintf(command, sizeof command, "sha256sum %s", name);
	file = popen(command, "r");
	ck_assert_uint_eq(fread(digits, 1, 64, file), 64);
	pclose(file);
	unlink(name);
	ck_assert_str_eq(digits, origin->fingerprint);
}
END_TEST

START_TEST(what_another_run_has_otherwise_is_not_in_it)
{
	struct made again = plain;
	char digits[65];

	strcpy(digits, origin_of(&plain)->fingerprint);
	ck_assert_uint_eq(strlen(digits), 64);
	again.pid = 7000;
	again.start = 0x7f0000000000;
	again.host = "two";
	again.exe = "/srv/elsewhere/prog";
	ck_assert_str_eq(digits, origin_of(&again)->fingerprint);
}
END_TEST

START_TEST(each_fact_is_in_it)
{
	struct made others[] = {plain, plain, plain, plain, plain, plain, plain, plain};
	enum { OTHERS = sizeof others / sizeof *others };
	char digits[OTHERS + 1][65];

	others[0].exe = "/home/ann/bin/prog2";
	others[1].build_id = "\x02\xab";
	others[2].kernel = "6.1.1";
	others[3].variable = "OMP_NUM_THREADS=5";
	others[4].second_variable = "MALLOC_ARENA_MAX=1";
	others[5].unload_stamp = 1900;
	others[6].has_device = true;
	others[7].has_device = true;
	others[7].driver = 12040;
	strcpy(digits[OTHERS], origin_of(&plain)->fingerprint);
	for (int i = 0; i < OTHERS; i++) {
		strcpy(digits[i], origin_of(&others[i])->fingerprint);
		ck_assert_uint_eq(strlen(digits[i]), 64);
		for (int k = 0; k < i; k++)
			ck_assert_msg(strcmp(digits[i], digits[k]) != 0, "%d is %d", i, k);
		ck_assert_msg(strcmp(digits[i], digits[OTHERS]) != 0, "%d", i);
	}
}
END_TEST

START_TEST(devices_are_facts)
{
	struct made made = plain;
	const char *facts;

	made.has_device = true;
	made.driver = 12040;
	facts = origin_of(&made)->facts;
	ck_assert_msg(strstr(facts, "cuda_driver 12040\ndevice.cuda:0 GPU X, 5 bytes\n") != NULL, "%s",
		      facts);
}
END_TEST

/* Where the code is not known as a whole, two equal runs could have two digests: there is none. */
START_TEST(without_its_code_there_are_facts_alone)
{
	struct made made = plain;

	made.state = RVP_ENTRY_RUNNING; /* killed */
	ck_assert_str_eq(origin_of(&made)->fingerprint, "");
	ck_assert_ptr_null(strstr(run->origin.facts, "module."));
	ck_assert_ptr_nonnull(strstr(run->origin.facts, "kernel 6.1.0\n"));
	made = plain;
	made.without_module = true;
	ck_assert_str_eq(origin_of(&made)->fingerprint, "");
}
END_TEST

START_TEST(the_governor_is_this_machines)
{
	char name[] = "/tmp/check_environment.XXXXXX";
	FILE *file = fdopen(mkstemp(name), "w");
	struct made made = plain;

	fputs("powersave\n", file);
	fclose(file);
	rvp_governor_path = name;
	ck_assert_ptr_null(strstr(origin_of(&made)->facts, "governor"));
	made.is_this_boot = true;
	ck_assert_ptr_nonnull(strstr(origin_of(&made)->facts, "governor powersave\n"));
	unlink(name);
}
END_TEST

START_TEST(paths_in_variables_stay_out)
{
	struct made made = plain;

	made.variable = "MALLOC_CONF=prof_prefix:/home/ann/x";
	ck_assert_ptr_nonnull(strstr(origin_of(&made)->facts, "variable.MALLOC_CONF (with a path)\n"));
	ck_assert_ptr_null(strstr(run->origin.facts, "ann"));
}
END_TEST

START_TEST(a_configuration_is_what_was_said)
{
	static const char digits[] = "8194ad7276a762e3eeee09d9d2cb18ab888c08854a9f3deaf87e92142bca82df";
	struct made made = plain;

	ck_assert_str_eq(origin_of(&made)->config_fingerprint, "");
	made.second_variable =
	    "RVPROF_CONFIG_FINGERPRINT=8194ad7276a762e3eeee09d9d2cb18ab888c08854a9f3deaf87e92142bca82df";
	ck_assert_str_eq(origin_of(&made)->config_fingerprint, digits);
	made.second_variable = "RVPROF_CONFIG_FINGERPRINT=8194";
	ck_assert_str_eq(origin_of(&made)->config_fingerprint, "");
}
END_TEST

START_TEST(rules_of_the_user_are_in_it)
{
	char name[] = "/tmp/check_environment.XXXXXX", digits[65];
	const char *const files[] = {name, NULL};
	FILE *file = fdopen(mkstemp(name), "w");

	fputs("# nothing\n", file);
	fclose(file);
	strcpy(digits, origin_of(&plain)->fingerprint);
	free(run->origin.facts);
	run->origin = (struct rvp_origin){.is_made = false};
	rvp_origin_make(run, files);
	unlink(name);
	ck_assert_uint_eq(strlen(run->origin.fingerprint), 64);
	ck_assert_str_ne(run->origin.fingerprint, digits);
}
END_TEST

START_TEST(without_a_maker_there_is_nothing)
{
	rvp_origin_made_by(NULL);
	ck_assert_ptr_null(origin_of(&plain)->facts);
	ck_assert_str_eq(run->origin.fingerprint, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("environment");
	TCase *tests = tcase_create("facts");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, facts_are_sorted_lines);
	tcase_add_test(tests, the_digits_are_those_of_sha256sum);
	tcase_add_test(tests, what_another_run_has_otherwise_is_not_in_it);
	tcase_add_test(tests, each_fact_is_in_it);
	tcase_add_test(tests, devices_are_facts);
	tcase_add_test(tests, without_its_code_there_are_facts_alone);
	tcase_add_test(tests, the_governor_is_this_machines);
	tcase_add_test(tests, paths_in_variables_stay_out);
	tcase_add_test(tests, a_configuration_is_what_was_said);
	tcase_add_test(tests, rules_of_the_user_are_in_it);
	tcase_add_test(tests, without_a_maker_there_is_nothing);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
