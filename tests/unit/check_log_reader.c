/* SPDX-License-Identifier: MIT */
/* check_log_reader.c: each chunk once, whatever the log and the buffers hold of it. */
#include "record/log_reader.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static struct maker maker;
static struct rvp_log reader;
static char folder[128];

static void open_log(void)
{
	snprintf(folder, sizeof folder, "%s/proc.100.0", maker.folder);
	ck_assert(!rvp_failed(rvp_log_open_folder(&reader, folder)));
}

static void done(void)
{
	rvp_log_close(&reader);
	maker_remove(&maker);
}

static struct maker_thread *begin(void)
{
	maker = maker_open();
	return &maker_add(&maker, 100)->threads[0];
}

static void append(const char *name, const void *bytes, size_t length, off_t at)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/proc.100.0/%s", maker.folder, name);
	fd = open(path, O_WRONLY);
	ck_assert(fd >= 0);
	if (at < 0)
		at = lseek(fd, 0, SEEK_END);
	ck_assert(pwrite(fd, bytes, length, at) == (ssize_t)length);
	close(fd);
}

START_TEST(sealed_and_open)
{
	struct maker_thread *thread = begin();

	maker_seal(thread);
	MAKE(thread, FREE, 0, .stamp = 5000, .address = 1);
	maker_close(&maker);
	open_log();
	ck_assert_uint_eq(reader.chunk_count, 2);
	ck_assert_uint_eq(reader.chunks[0].sequence, 1);
	ck_assert_uint_eq(reader.chunks[0].is_open, 0);
	ck_assert_uint_eq(reader.chunks[1].sequence, 2);
	ck_assert_uint_eq(reader.chunks[1].is_open, 1);
	ck_assert_uint_eq(reader.missing_chunks + reader.torn_chunks + reader.doubled_chunks, 0);
	done();
}
END_TEST

/* Killed between [write] and [restart]: the chunk is in both places. */
START_TEST(chunk_in_both_places_counts_once)
{
	struct maker_thread *thread = begin();
	uint64_t word = atomic_load(&thread->slot->word);
	struct rvp_slot *slot = thread->slot;

	maker_seal(thread);
	atomic_store(&slot->word, word);
	MAKE(thread, FREE, 0, .stamp = 5000, .address = 1);
	maker_close(&maker);
	open_log();
	ck_assert_uint_eq(reader.chunk_count, 1);
	ck_assert_uint_eq(reader.doubled_chunks, 1);
	ck_assert_uint_eq(reader.chunks[0].is_open, 0);
	done();
}
END_TEST

START_TEST(doubled_in_the_log)
{
	struct maker_thread *thread = begin();
	struct maker_process *process = thread->process;

	maker_seal(thread);
	size_t length = process->log_bytes;
	char copy[4096];

	ck_assert_uint_le(length, sizeof copy);
	memcpy(copy, process->log, length);
	maker_close(&maker);
	append(RVP_LOG_FILE, copy, length, -1);
	open_log();
	ck_assert_uint_eq(reader.chunk_count, 2);
	ck_assert_uint_eq(reader.doubled_chunks, 1);
	done();
}
END_TEST

START_TEST(missing_and_torn)
{
	struct maker_thread *thread = begin();
	char junk[8] = "garbage";

	maker_seal(thread); /* sequence 1 */
	MAKE(thread, FREE, 0, .stamp = 5000, .address = 1);
	maker_seal(thread); /* 2 */
	MAKE(thread, FREE, 0, .stamp = 6000, .address = 1);
	rvp_slot_restart(thread->slot); /* 3 is nowhere */
	thread->delta = (struct rvp_delta){0};
	MAKE(thread, FREE, 0, .stamp = 7000, .address = 1);
	maker_seal(thread); /* 4 */
	maker_close(&maker);
	append(RVP_LOG_FILE, junk, sizeof junk, 64 + 64 + 4); /* into the payload of 1 */
	open_log();
	ck_assert_uint_eq(reader.torn_chunks, 1);
	ck_assert_uint_eq(reader.missing_chunks, 1);
	ck_assert_uint_eq(reader.chunk_count, 3); /* 2, 4 and the open one */
	done();
}
END_TEST

START_TEST(rubbish_between_chunks_is_stepped_over)
{
	struct maker_thread *thread = begin();
	char junk[200];

	memset(junk, 0x5a, sizeof junk);
	maker_seal(thread);
	maker_close(&maker);
	append(RVP_LOG_FILE, junk, sizeof junk, -1);
	open_log();
	ck_assert_uint_eq(reader.chunk_count, 2);
	ck_assert_uint_eq(reader.skipped_bytes, sizeof junk);
	done();
}
END_TEST

START_TEST(counters_and_losses_are_summed)
{
	struct maker_thread *thread = begin();
	struct maker_thread *second = maker_thread(thread->process);

	thread->slot->counters.map_count = 3;
	second->slot->counters.map_count = 4;
	atomic_store(&thread->process->buffers->loss[RVP_LOSS_DISK_FULL], 9);
	maker_close(&maker);
	open_log();
	ck_assert_uint_eq(reader.counters.map_count, 7);
	ck_assert_uint_eq(reader.loss[RVP_LOSS_DISK_FULL], 9);
	done();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log_reader");
	TCase *cases = tcase_create("log_reader");

	suite_add_tcase(suite, cases);
	tcase_add_test(cases, sealed_and_open);
	tcase_add_test(cases, chunk_in_both_places_counts_once);
	tcase_add_test(cases, doubled_in_the_log);
	tcase_add_test(cases, missing_and_torn);
	tcase_add_test(cases, rubbish_between_chunks_is_stepped_over);
	tcase_add_test(cases, counters_and_losses_are_summed);
	return run_suite(suite);
}
