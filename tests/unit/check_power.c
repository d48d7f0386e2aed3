/* SPDX-License-Identifier: MIT */
/* check_power.c: sources of power in a made /sys, read at made moments into a log, and what the report makes of it: watts, joules,
 * shares of steps. What is expected is arithmetic on what the files were made to say. */
#include "tools/meters.h"

#include "report/finalize.h"
#include "report/power.h"

#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define S 1000000000ull /* a second of stamps */

static struct maker maker;
static struct maker_process *process;
static struct rvp_log_writer writer;
static struct rvp_meters *power;
static struct rvp_run *run;
static struct rvp_power_answer answer;
static char sysfs[64];

/* ---- a made /sys ---- */

static void put(const char *path, const char *format, ...)
{
	char whole[256];
	va_list arguments;
	FILE *file;

	snprintf(whole, sizeof whole, "%s/%s", sysfs, path);
	for (char *slash = whole + strlen(sysfs) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	file = fopen(whole, "w");
	ck_assert_msg(file != NULL, "%s", whole);
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	fclose(file);
}

static void put_zone(const char *entry, const char *name, uint64_t microjoules, uint64_t range)
{
	char path[128];

	snprintf(path, sizeof path, "class/powercap/%s/name", entry);
	put(path, "%s\n", name);
	snprintf(path, sizeof path, "class/powercap/%s/max_energy_range_uj", entry);
	put(path, "%lu\n", range);
	snprintf(path, sizeof path, "class/powercap/%s/energy_uj", entry);
	put(path, "%lu\n", microjoules);
}

static void say(const char *entry, uint64_t microjoules)
{
	char path[128];

	snprintf(path, sizeof path, "class/powercap/%s/energy_uj", entry);
	put(path, "%lu\n", microjoules);
}

static void begin(void)
{
	char path[128];

	strcpy(sysfs, "/tmp/rvprof-sysfs-XXXXXX");
	ck_assert(mkdtemp(sysfs) != NULL);
	setenv("RVP_TEST_SYSFS", sysfs, 1);
	maker = maker_open();
	process = maker_add(&maker, 100);
	snprintf(path, sizeof path, "%s/" RVP_WATCH_FILE, maker.folder);
	ck_assert(!rvp_failed(rvp_log_writer_open(&writer, path, 99, 99)));
	RVP_WRITE(&writer, PROCESS, 8, .stamp = 0, .pid = 99, .clock = RVP_CLOCK_MONOTONIC);
	RVP_WRITE(&writer, ANCHOR, 0, .stamp = 0, .realtime_ns = MAKER_EPOCH_NS, .boottime_ns = 77);
}

static void end(void)
{
	char command[128];

	rvp_meters_close(power);
	power = NULL;
	if (run)
		rvp_run_close(run);
	run = NULL;
	maker_remove(&maker);
	snprintf(command, sizeof command, "rm -rf '%s'", sysfs);
	ck_assert_int_eq(system(command), 0);
}

static void ask(const char *list)
{
	struct rvp_status status = rvp_meters_open(&power, list);
	char line[600];

	ck_assert_msg(!rvp_failed(status), "%s", rvp_status_line(&status, line, sizeof line));
	rvp_meters_tell(power, &writer, 0);
}

static void sample(uint64_t stamp)
{
	rvp_meters_sample(power, &writer, stamp);
}

static void read_answer(const struct rvp_steps *steps, struct rvp_power_sink *sink)
{
	ck_assert(!rvp_failed(rvp_log_writer_close(&writer)));
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	rvp_power_read(&answer, run, steps, sink);
}

static void refuses(const char *list, const char *words)
{
	struct rvp_status status = rvp_meters_open(&power, list);
	char line[600];

	ck_assert_msg(rvp_failed(status) && !power, "%s was taken", list);
	rvp_status_line(&status, line, sizeof line);
	ck_assert_msg(strstr(line, words) != NULL, "%s", line);
}

/* ---- rapl ---- */

static const uint64_t range = 262143328850;

START_TEST(packages_and_memory_count_and_what_is_in_them_or_beside_them_does_not)
{
	put_zone("intel-rapl:0", "package-0", 1000000, range);
	put_zone("intel-rapl:0:0", "core", 500000, range);
	put_zone("intel-rapl:0:1", "dram", 7, range);
	put_zone("intel-rapl:1", "package-1", 5000000, range);
	put_zone("intel-rapl:2", "psys", 9, range);
	put_zone("intel-rapl-mmio:0", "package-0", 1000000, range);
	ask("cpu=rapl");
	ck_assert_uint_eq(power->figure_count, 3);
	sample(0);
	say("intel-rapl:0", 31000000);
	say("intel-rapl:0:1", 4000007);
	say("intel-rapl:1", 21000000);
	sample(S);
	say("intel-rapl:0", 61000000);
	sample(2 * S);
	read_answer(NULL, NULL);
	ck_assert_uint_eq(answer.sum.energy.sample_count, 3);
	ck_assert_double_eq(answer.sources[0].counted_joules, 30 + 4 + 16 + 30);
	/* 50 W, 50 W, 30 W. */
	ck_assert_double_eq(answer.sum.energy.total_joules, 50 + 40);
	ck_assert_double_eq(answer.sum.energy.peak_watts, 50);
	ck_assert_str_eq(run->power->sources[0].name, "cpu");
}
END_TEST

START_TEST(a_counter_that_wraps_goes_on)
{
	put_zone("intel-rapl:0", "package-0", range - 30000000, range);
	ask("rapl");
	sample(0);
	say("intel-rapl:0", 20000000);
	sample(S);
	say("intel-rapl:0", 70000000);
	sample(2 * S);
	read_answer(NULL, NULL);
	ck_assert_double_eq(answer.sum.energy.total_joules, 100);
	ck_assert_double_eq(answer.sources[0].counted_joules, 100);
	ck_assert_uint_eq(answer.sum.resets, 0);
	ck_assert_uint_eq(run->loss[RVP_LOSS_POWER_RESET], 0);
}
END_TEST

START_TEST(a_counter_that_begins_anew_has_no_row_and_is_told)
{
	put_zone("intel-rapl:0", "package-0", 100000000, range);
	ask("rapl");
	sample(0);
	say("intel-rapl:0", 150000000);
	sample(S);
	say("intel-rapl:0", 1000000); /* wrapped, these were 262 kJ in a second */
	sample(2 * S);
	say("intel-rapl:0", 51000000);
	sample(3 * S);
	read_answer(NULL, NULL);
	ck_assert_uint_eq(answer.sum.resets, 1);
	ck_assert_uint_eq(run->loss[RVP_LOSS_POWER_RESET], 1);
	ck_assert_uint_eq(answer.sum.energy.sample_count, 3);
	ck_assert_double_eq(answer.sources[0].counted_joules, 100);
	ck_assert_double_eq(answer.sum.energy.total_joules, 150); /* a trapezoid over the gap, at 50 W */
}
END_TEST

START_TEST(a_counter_of_unknown_range_that_falls_begins_anew)
{
	uint64_t energy;

	ck_assert(rvp_power_between(10, 30, 0, S, &energy) && energy == 20);
	ck_assert(!rvp_power_between(30, 10, 0, S, &energy));
	ck_assert(rvp_power_between(90, 10, 100, S, &energy) && energy == 20);
	ck_assert(!rvp_power_between(110, 10, 100, S, &energy));
	/* 10 kW is the most: 10,000 J in a second. */
	ck_assert(rvp_power_between(range, 10000000000 - 1, range, S, &energy));
	ck_assert(!rvp_power_between(range, 10000000000 + 1, range, S, &energy));
}
END_TEST

START_TEST(without_a_package_it_says_what_to_do)
{
	refuses("rapl", "modprobe intel_rapl_msr");
	put_zone("intel-rapl:0", "package-0", 0, range);
	put("class/powercap/intel-rapl:0/energy_uj", "nothing\n");
	refuses("rapl", "does not begin with a number");
}
END_TEST

START_TEST(what_only_root_may_read_says_how_others_may)
{
	put_zone("intel-rapl:0", "package-0", 0, range);
	ck_assert_int_eq(chmod(sysfs, 0755), 0);
	{
		char path[128];

		snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/energy_uj", sysfs);
		ck_assert_int_eq(chmod(path, 0), 0);
	}
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	refuses("rapl", "energy_uj: Permission denied; `sudo chmod a+r ");
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* ---- hwmon, files, pipes, mocks ---- */

START_TEST(one_chip_is_taken_and_of_several_one_is_named)
{
	put("class/hwmon/hwmon0/name", "nvme\n");
	put("class/hwmon/hwmon0/temp1_input", "40000\n");
	refuses("hwmon", "no chip");
	put("class/hwmon/hwmon1/name", "amdgpu\n");
	put("class/hwmon/hwmon1/power1_average", "33000000\n");
	ask("hwmon");
	rvp_meters_close(power);
	put("class/hwmon/hwmon2/name", "power_meter\n");
	put("class/hwmon/hwmon2/power1_input", "180500000\n");
	refuses("hwmon", "amdgpu (hwmon1), power_meter (hwmon2)");
	refuses("hwmon:k10temp", "amdgpu (hwmon1)");
	ask("wall=hwmon:power_meter");
	sample(0);
	read_answer(NULL, NULL);
	ck_assert_double_eq(answer.sum.energy.peak_watts, 180.5);
}
END_TEST

START_TEST(a_file_that_vanishes_is_counted_and_the_others_go_on)
{
	char list[192], path[128];

	put("meter", "50\n");
	snprintf(path, sizeof path, "%s/meter", sysfs);
	snprintf(list, sizeof list, "plug=file:%s,mock:75", path);
	ask(list);
	sample(0);
	put("meter", "150 W\n");
	sample(S / 2);
	ck_assert_int_eq(unlink(path), 0);
	sample(S);
	put("meter", "none\n");
	sample(S + S / 2);
	put("meter", "100\n"); /* it came back */
	sample(2 * S);
	read_answer(NULL, NULL);
	ck_assert_uint_eq(answer.sources[0].unread, 2);
	ck_assert_uint_eq(run->loss[RVP_LOSS_POWER_UNREAD], 2);
	ck_assert_uint_eq(answer.sources[0].energy.sample_count, 3);
	ck_assert_double_eq(answer.sources[0].energy.total_joules, 237.5); /* the pinned example */
	ck_assert_uint_eq(answer.sources[1].energy.sample_count, 5);
	ck_assert_double_eq(answer.sources[1].energy.total_joules, 150);
	ck_assert_uint_eq(answer.sum.energy.sample_count, 3); /* a sum without a part is no sum */
	ck_assert_double_eq(answer.sum.energy.total_joules, 237.5 + 150);
	ck_assert(rvp_power_is_mock(answer.list));
}
END_TEST

START_TEST(a_pipe_says_its_last_whole_line)
{
	char path[128], list[192];
	int fd;

	snprintf(path, sizeof path, "%s/pipe", sysfs);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	snprintf(list, sizeof list, "file:%s", path);
	ask(list);
	sample(0); /* nobody writes yet */
	fd = open(path, O_WRONLY);
	sample(1 * S); /* nothing was written yet */
	ck_assert_int_eq(write(fd, "10\n20\n3", 7), 7);
	sample(2 * S);
	ck_assert_int_eq(write(fd, "0.5\n", 4), 4);
	sample(3 * S);
	sample(4 * S); /* the last word stands */
	close(fd);
	sample(5 * S);
	read_answer(NULL, NULL);
	ck_assert_uint_eq(answer.sources[0].unread, 3);
	ck_assert_uint_eq(answer.sources[0].energy.sample_count, 3);
	ck_assert_double_eq(answer.sources[0].energy.total_joules, (20 + 30.5) / 2 + 30.5);
}
END_TEST

START_TEST(names_and_words_that_are_none_are_refused)
{
	refuses("solar", "nvml, rapl, hwmon, hwmon:CHIP, file:PATH and mock:WATTS");
	refuses("mock:75,solar", "solar");
	refuses("mock:-1", "mock takes watts");
	refuses("mock:0x10", "mock takes watts");
	refuses("mock:75W", "mock takes watts");
	refuses("mock", "mock takes watts");
	refuses("file:", "missing");
	refuses("rapl:0", "nothing behind a colon");
	refuses("a/b=mock:1", "letters");
	refuses("=mock:1", "letters");
	refuses("a=mock:1,A=mock:2", "called so");
	refuses("file:/nowhere/at/all", "/nowhere/at/all: No such file");
	ask("mock:1,mock:2,file=mock:3");
	ck_assert_str_eq(power->sources[0].name, "mock");
	ck_assert_str_eq(power->sources[1].name, "mock2");
	ck_assert_str_eq(power->sources[2].name, "file");
}
END_TEST

/* ---- what the report makes of it ---- */

/* 100 t watts: what lies between t = a and t = b is 50 (b^2 - a^2) joules, whatever the rows' distance. */
START_TEST(a_step_has_what_lies_between_its_begin_and_its_end)
{
	char list[128];
	struct rvp_step three[] = {
	    {.begin_ns = MAKER_EPOCH_NS - 5, .end_ns = MAKER_EPOCH_NS + S / 10}, /* began before the first row */
	    {.begin_ns = MAKER_EPOCH_NS + S / 2, .end_ns = MAKER_EPOCH_NS + 3 * S / 2, .phase = RVP_STEP_PHASE_PREFILL,
	     .tokens = 9},
	    {.begin_ns = MAKER_EPOCH_NS + 2 * S, .end_ns = MAKER_EPOCH_NS + 3 * S, .phase = RVP_STEP_PHASE_DECODE},
	    {.begin_ns = MAKER_EPOCH_NS + 3 * S, .end_ns = MAKER_EPOCH_NS + 4 * S, .phase = RVP_STEP_PHASE_DECODE,
	     .tokens = 3},
	    {.begin_ns = MAKER_EPOCH_NS + 4 * S, .end_ns = MAKER_EPOCH_NS + 6 * S}, /* goes on behind the last row */
	};
	struct rvp_steps steps = {.steps = three, .count = 5};

	put("meter", "0\n");
	snprintf(list, sizeof list, "file:%s/meter", sysfs);
	ask(list);
	for (uint64_t i = 0; i <= 10; i++) {
		put("meter", "%lu\n", i * 50);
		sample(i * S / 2);
	}
	read_answer(&steps, NULL);
	ck_assert_double_eq(answer.sum.energy.total_joules, 50 * 25);
	ck_assert_uint_eq(answer.step_count, 3);
	ck_assert_double_eq_tol(answer.step_joules, 50 * (2.25 - 0.25) + 50 * (9 - 4) + 50 * (16 - 9), 1e-9);
	ck_assert_uint_eq(answer.token_count, 4);
	ck_assert_double_eq_tol(answer.decode_joules, 50 * (16 - 4), 1e-9);
}
END_TEST

struct rows {
	struct rvp_power_sink sink;
	unsigned count;
	double first_sum;
};

static void take_row(struct rvp_power_sink *sink, uint64_t ns, const double *watts, double sum)
{
	struct rows *rows = (struct rows *)sink;

	(void)watts;
	if (!rows->count++) {
		rows->first_sum = sum;
		ck_assert_uint_eq(ns, MAKER_EPOCH_NS);
	}
}

/* A counter and watts together: the first round waits for the second. */
START_TEST(the_first_round_of_a_counter_has_the_watts_of_the_second)
{
	struct rows rows = {.sink.take = take_row};

	put_zone("intel-rapl:0", "package-0", 0, range);
	ask("rapl,mock:75");
	sample(0);
	say("intel-rapl:0", 5000000);
	sample(S / 2);
	read_answer(NULL, &rows.sink);
	ck_assert_uint_eq(rows.count, 2);
	ck_assert_double_eq(rows.first_sum, 85);
	ck_assert_double_eq(answer.sum.energy.total_joules, 42.5);
}
END_TEST

START_TEST(a_log_that_lies_names_no_file_and_counts_nothing)
{
	struct rvp_text bad = {"../../evil", 10}, good = {"gpu", 3};

	RVP_WRITE(&writer, POWER_SOURCE, 64, .number = 0, .source = 0, .kind = RVP_POWER_FILE, .name = bad);
	RVP_WRITE(&writer, POWER_SOURCE, 64, .number = 0, .source = 3, .kind = RVP_POWER_FILE, .name = good);
	RVP_WRITE(&writer, POWER_SOURCE, 64, .number = 0, .source = 0, .kind = 77, .name = good);
	RVP_WRITE(&writer, POWER_SOURCE, 64, .number = 0, .source = 0, .kind = RVP_POWER_FILE, .name = good);
	RVP_WRITE(&writer, POWER_SOURCE, 64, .number = 1, .source = 1, .kind = RVP_POWER_FILE, .name = good);
	RVP_WRITE(&writer, POWER, 0, .stamp = 5, .number = 0, .value = UINT64_MAX);
	RVP_WRITE(&writer, POWER, 0, .stamp = 5, .number = 0, .value = 1);
	RVP_WRITE(&writer, POWER, 0, .stamp = 2, .number = 0, .value = 1000000);
	RVP_WRITE(&writer, POWER, 0, .stamp = 9, .number = 12345, .value = 1);
	read_answer(NULL, NULL);
	ck_assert_uint_eq(run->power->source_count, 1);
	ck_assert_uint_eq(answer.sum.energy.sample_count, 1);
	ck_assert_double_eq(answer.sum.energy.peak_watts, 1);
}
END_TEST

START_TEST(the_files_say_what_summary_json_says)
{
	char path[256], text[256] = "";
	FILE *file;

	put("meter", "50\n");
	snprintf(path, sizeof path, "plug=file:%s/meter", sysfs);
	ask(path);
	sample(0);
	put("meter", "150.25\n");
	sample(S / 2);
	read_answer(NULL, NULL);
	ck_assert(!rvp_failed(rvp_finalize(maker.folder)));
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", maker.folder, i ? "power.plug.csv" : "power.csv");
		file = fopen(path, "r");
		ck_assert(file != NULL);
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		fclose(file);
		ck_assert_str_eq(text, "timestamp_us,watts\n1700000000000000,50\n1700000000500000,150.25\n");
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("power");
	TCase *sources = tcase_create("sources"), *figures = tcase_create("figures");

	tcase_add_checked_fixture(sources, begin, end);
	tcase_add_checked_fixture(figures, begin, end);
	tcase_add_test(sources, packages_and_memory_count_and_what_is_in_them_or_beside_them_does_not);
	tcase_add_test(sources, a_counter_that_wraps_goes_on);
	tcase_add_test(sources, a_counter_that_begins_anew_has_no_row_and_is_told);
	tcase_add_test(sources, a_counter_of_unknown_range_that_falls_begins_anew);
	tcase_add_test(sources, without_a_package_it_says_what_to_do);
	tcase_add_test(sources, what_only_root_may_read_says_how_others_may);
	tcase_add_test(sources, one_chip_is_taken_and_of_several_one_is_named);
	tcase_add_test(sources, a_file_that_vanishes_is_counted_and_the_others_go_on);
	tcase_add_test(sources, a_pipe_says_its_last_whole_line);
	tcase_add_test(sources, names_and_words_that_are_none_are_refused);
	tcase_add_test(figures, a_step_has_what_lies_between_its_begin_and_its_end);
	tcase_add_test(figures, the_first_round_of_a_counter_has_the_watts_of_the_second);
	tcase_add_test(figures, a_log_that_lies_names_no_file_and_counts_nothing);
	tcase_add_test(figures, the_files_say_what_summary_json_says);
	suite_add_tcase(suite, sources);
	suite_add_tcase(suite, figures);
	return run_suite(suite);
}
