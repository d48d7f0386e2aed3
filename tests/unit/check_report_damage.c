/* SPDX-License-Identifier: MIT */
/* check_report_damage.c: a run cut at every byte and with flipped bytes reads to a true report or a clear
 * error: where the log, which has checksums, is damaged, the answer is the whole run's, or says that
 * something is missing. */
#include "report/analysis.h"
#include "report/finalize.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	char path[256];
	char *bytes;
	size_t length;
};

struct answer {
	bool failed, says_missing;
	uint64_t end_live_bytes, peak_live_bytes, free_bytes, alloc_bytes;
};

static struct maker maker;
static struct file log_file, buffer_file, tree_file;
static struct answer whole;

static void read_file(struct file *file, const char *folder, const char *name)
{
	struct stat status;
	int fd;

	snprintf(file->path, sizeof file->path, "%s/%s", folder, name);
	fd = open(file->path, O_RDONLY);
	ck_assert_msg(fd >= 0 && fstat(fd, &status) == 0, "%s", file->path);
	file->length = (size_t)status.st_size;
	file->bytes = malloc(file->length);
	ck_assert(file->bytes && read(fd, file->bytes, file->length) == status.st_size);
	close(fd);
}

static void write_file(const struct file *file, size_t length)
{
	/* Not O_TRUNC: then ext4 starts to write the file out at each close, and the next open waits for it. */
	int fd = open(file->path, O_WRONLY | O_CREAT, 0600);

	ck_assert(fd >= 0 && write(fd, file->bytes, length) == (ssize_t)length);
	ck_assert(ftruncate(fd, (off_t)length) == 0);
	close(fd);
}

static struct answer ask(void)
{
	struct rvp_run *run;
	struct rvp_analysis analysis;
	char line[600];
	const uint64_t moment = MAKER_EPOCH_NS + 5000;
	struct rvp_status status = rvp_run_open(&run, maker.folder);

	if (rvp_failed(status)) {
		ck_assert(strlen(rvp_status_line(&status, line, sizeof line)) > 20 && !strchr(line, '\n'));
		return (struct answer){.failed = true};
	}
	ck_assert(!rvp_failed(rvp_analyse(
	    run, &(struct rvp_question){.moments_ns = &moment, .moment_count = 1, .series_rows = 5},
	    &analysis)));
	struct answer answer = {
	    .says_missing = analysis.totals.lost_records > 0 || !analysis.totals.counters_are_exact,
	    .end_live_bytes = analysis.totals.end_live_bytes,
	    .peak_live_bytes = analysis.totals.peak_live_bytes,
	    .free_bytes = analysis.totals.free_bytes,
	    .alloc_bytes = analysis.totals.counters.alloc_bytes,
	};
	ck_assert(!(answer.says_missing && analysis.totals.timeline_is_exact));
	free(rvp_sites_by(&analysis, RVP_BY_PEAK_BYTES));
	rvp_analysis_free(&analysis);
	rvp_run_close(run);
	return answer;
}

static bool is_true(const struct answer *answer)
{
	return answer->failed || answer->says_missing ||
	       (answer->end_live_bytes == whole.end_live_bytes &&
		answer->peak_live_bytes == whole.peak_live_bytes && answer->free_bytes == whole.free_bytes &&
		answer->alloc_bytes == whole.alloc_bytes);
}

/* Two threads, sealed and open chunks, definitions, a child by fork. */
static void make_run(void)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *one = &process->threads[0], *two = maker_thread(process);
	struct maker_thread *child;

	MAKE(one, MODULE_LOAD, 16, .stamp = 1500, .module = 1, .start = 0x400000, .end = 0x500000,
	     .path = {"/lib/x", 6});
	MAKE(one, CODE, 32, .code = 1, .first_line = 3, .version = 0x30b, .name = {"f", 1},
	     .file = {"a.py", 4});
	MAKE(one, PYTHON_NODE, 0, .node = 1, .code = 1);
	for (uint64_t i = 1; i <= 5; i++)
		MAKE(one, NODE, 0, .node = i, .parent = i - 1, .pc = 0x400000 + i);
	for (uint64_t i = 0; i < 20; i++)
		MAKE(i % 2 ? one : two, ALLOC, 0, .stamp = 2000 + i * 100, .address = 0x1000 * (i + 1),
		     .bytes = 100 + i, .stack = i % 6, .python = i % 2);
	maker_seal(one);
	MAKE(one, SNAPSHOT, 0, .stamp = 4100, .rss_anon_bytes = 1 << 20);
	MAKE(one, REGION, 16, .stamp = 4150, .pid = 100, .category = RVP_CATEGORY_CODE, .mapped_bytes = 4096,
	     .rss_bytes = 4096, .name = {"/lib/x", 6});
	for (uint64_t i = 0; i < 8; i++)
		MAKE(two, FREE, 0, .stamp = 4200 + i, .address = 0x1000 * (i + 1), .family = RVP_FAMILY_FREE);
	MAKE(one, FORK, 0, .stamp = 5000, .child_pid = 200);
	maker_seal(two);
	maker_seal(one);
	MAKE(one, ALLOC, 0, .stamp = 6000, .address = 0x90000, .bytes = 7);
	child = &maker_add_with(&maker, 200,
				(struct rvp_record_PROCESS){.stamp = 5100,
							    .parent_pid = 100,
							    .mode = RVP_MODE_FULL,
							    .is_fork = 1,
							    .exe = {"/app", 4}})
		     ->threads[0];
	MAKE(child, FREE, 0, .stamp = 5200, .address = 0x10000, .family = RVP_FAMILY_FREE);
	maker_close(&maker);
	char folder[128];

	snprintf(folder, sizeof folder, "%s/proc.100.0", maker.folder);
	read_file(&log_file, folder, RVP_LOG_FILE);
	read_file(&buffer_file, folder, RVP_BUFFER_FILE);
	read_file(&tree_file, maker.folder, RVP_TREE_FILE);
	whole = ask();
	ck_assert(!whole.failed && !whole.says_missing);
	ck_assert_uint_gt(whole.end_live_bytes, 0);
}

static void clean_up(void)
{
	free(log_file.bytes);
	free(buffer_file.bytes);
	free(tree_file.bytes);
	maker_remove(&maker);
}

START_TEST(log_cut_at_every_byte)
{
	make_run();
	for (size_t length = 0; length < log_file.length; length++) {
		write_file(&log_file, length);
		struct answer answer = ask();

		ck_assert_msg(is_true(&answer), "cut at %zu of %zu", length, log_file.length);
	}
	clean_up();
}
END_TEST

START_TEST(buffers_and_tree_cut)
{
	make_run();
	for (size_t length = 0; length < buffer_file.length; length += 1 + length / 64) {
		write_file(&buffer_file, length);
		ask();
	}
	write_file(&buffer_file, buffer_file.length);
	for (size_t length = 0; length < tree_file.length; length += 61) {
		write_file(&tree_file, length);
		ask();
	}
	clean_up();
}
END_TEST

static uint64_t seed = 0x2545f4914f6cdd1d;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void flip_and_ask(struct file *file, size_t at, bool must_be_true)
{
	char old = file->bytes[at];

	file->bytes[at] = (char)(old ^ (char)(1 + next_random() % 255));
	write_file(file, file->length);
	struct answer answer = ask();

	ck_assert_msg(!must_be_true || is_true(&answer), "byte %zu of %s", at, file->path);
	file->bytes[at] = old;
}

START_TEST(flipped_bytes)
{
	make_run();
	for (int i = 0; i < 6000; i++)
		flip_and_ask(&log_file, next_random() % log_file.length, true);
	write_file(&log_file, log_file.length);
	/* An open chunk and the counters have no checksum: nothing may crash or hang. */
	for (int i = 0; i < 3000; i++)
		flip_and_ask(&buffer_file,
			     i % 3 ? RVP_BUFFER_HEADER_BYTES + 512 + next_random() % 2048
				   : next_random() % RVP_BUFFER_HEADER_BYTES,
			     false);
	write_file(&buffer_file, buffer_file.length);
	for (int i = 0; i < 1000; i++)
		flip_and_ask(&tree_file,
			     i % 2 ? next_random() % 1024 : RVP_TREE_HEADER_BYTES + next_random() % 1024,
			     false);
	clean_up();
}
END_TEST

START_TEST(damaged_runs_are_finalized)
{
	make_run();
	for (int i = 0; i < 60; i++) {
		size_t at = RVP_BUFFER_HEADER_BYTES + 900 + next_random() % 600;
		char old = buffer_file.bytes[at];

		buffer_file.bytes[at] ^= (char)(1 + next_random() % 255);
		write_file(&buffer_file, buffer_file.length);
		rvp_finalize(maker.folder);
		buffer_file.bytes[at] = old;
	}
	clean_up();
}
END_TEST

static void expect_error(const char *folder, const char *words)
{
	struct rvp_run *run;
	struct rvp_status status = rvp_run_open(&run, folder);
	char line[600];

	ck_assert(rvp_failed(status));
	rvp_status_line(&status, line, sizeof line);
	ck_assert_msg(strstr(line, words) != NULL, "'%s' does not say '%s'", line, words);
	ck_assert_ptr_null(run);
}

START_TEST(other_folders_get_a_clear_line)
{
	char folder[] = "/tmp/rvprof-unit-XXXXXX", path[64];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	expect_error(folder, "it is empty");
	snprintf(path, sizeof path, "%s/heaptrack.1.gz", folder);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	expect_error(folder, "no run folder of rvprof's");
	expect_error(path, "it is a file");
	expect_error("/tmp/rvprof-unit-none", "No such file");
	ck_assert(rvp_failed(rvp_finalize(folder)));
	unlink(path);
	ck_assert_int_eq(rmdir(folder), 0); /* no lock file was left in it */
}
END_TEST

START_TEST(another_format_version_is_named)
{
	make_run();
	struct rvp_file_header *header = (struct rvp_file_header *)(void *)tree_file.bytes;

	header->version = 9;
	header->checksum = rvp_checksum(header, offsetof(struct rvp_file_header, checksum));
	write_file(&tree_file, tree_file.length);
	expect_error(maker.folder, "version 9, this rvprof reads version 1");
	clean_up();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_damage");
	TCase *cases = tcase_create("damage");

	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 240);
	tcase_add_test(cases, log_cut_at_every_byte);
	tcase_add_test(cases, buffers_and_tree_cut);
	tcase_add_test(cases, flipped_bytes);
	tcase_add_test(cases, damaged_runs_are_finalized);
	tcase_add_test(cases, other_folders_get_a_clear_line);
	tcase_add_test(cases, another_format_version_is_named);
	return run_suite(suite);
}
