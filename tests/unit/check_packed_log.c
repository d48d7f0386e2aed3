/* SPDX-License-Identifier: MIT */
/* check_packed_log.c: what is packed comes out as it was, to the byte; what is damaged costs its piece and no more; and
 * nothing that ends the packing, at whatever moment, costs a record. */
#include "record/clock_ns.h"
#include "record/address_model.h"
#include "record/columns.h"
#include "record/event_encode.h"
#include "record/log_reader.h"
#include "record/log_writer.h"
#include "record/packed_log.h"
#include "record/decode.h"
#include "tests/unit/run_suite.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed = 88172645463325252u;
static char folder[64], log_path[128], packed_path[128];

static uint64_t below(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

static void set_up(void)
{
	snprintf(folder, sizeof folder, "/tmp/rvprof-packed-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(log_path, sizeof log_path, "%s/" RVP_LOG_FILE, folder);
	snprintf(packed_path, sizeof packed_path, "%s/" RVP_PACKED_FILE, folder);
}

static void tear_down(void)
{
	char path[160];

	unlink(log_path);
	unlink(packed_path);
	snprintf(path, sizeof path, "%s.tmp", packed_path);
	unlink(path);
	ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left there */
}

static void put_some_event(struct rvp_log_writer *writer, uint64_t stamp)
{
	uint64_t address = (below(50) ? 0x7f0000000000 : 0x500000000003) + below(1 << 20) * 16;
	const uint64_t *stamped = below(8) && writer->delta.stamp ? NULL : &stamp;
	uint8_t *at;

	if (!below(40)) {
		RVP_WRITE(writer, SNAPSHOT, 0, .stamp = stamp, .rss_anon_bytes = below(1 << 30));
		return;
	}
	at = rvp_log_writer_room(writer, RVP_COMPACT_ROOM_BYTES);
	if (below(2))
		at = rvp_put_event_free(at, &writer->delta, stamped, address, (unsigned)below(12), false);
	else
		at = rvp_put_event_alloc(at, &writer->delta, stamped, address,
					 below(9) ? below(300) : below(UINT64_C(1) << below(40)), (uint32_t)below(3000),
					 (uint32_t)(below(2) * below(5)), (unsigned)below(12), false);
	rvp_slot_commit(writer->slot, at);
}

static void make_log(size_t events)
{
	struct rvp_log_writer writer;

	ck_assert(!rvp_failed(rvp_log_writer_open(&writer, log_path, 7, 9)));
	for (size_t i = 0; i < events; i++)
		put_some_event(&writer, 1000 + i * 100);
	ck_assert(!rvp_failed(rvp_log_writer_close(&writer)));
}

struct content {
	uint8_t *bytes;
	size_t length;
};

static struct content content_of(const char *path)
{
	FILE *file = fopen(path, "re");
	struct content content = {0};
	struct stat status;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fstat(fileno(file), &status), 0);
	content.bytes = malloc((size_t)status.st_size + 1);
	content.length = fread(content.bytes, 1, (size_t)status.st_size, file);
	fclose(file);
	return content;
}

static void write_content(const char *path, const uint8_t *bytes, size_t length)
{
	FILE *file = fopen(path, "we");

	ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
	ck_assert_int_eq(fclose(file), 0);
}

/* Records that the reader finds in the folder; *log is open then. */
static uint64_t records_in(struct rvp_log *log)
{
	uint64_t count = 0;

	memset(log, 0, sizeof *log);
	if (rvp_failed(rvp_log_open(log, log_path, NULL)))
		return 0;
	for (size_t i = 0; i < log->chunk_count; i++) {
		struct rvp_decoder decoder =
		    rvp_decoder_over(log->chunks[i].payload, log->chunks[i].payload_bytes);
		struct rvp_record record;

		while (rvp_decode_next(&decoder, &record))
			count++;
		ck_assert(!decoder.broken);
	}
	return count;
}

/* ---- columns ---- */

static void split_and_join_with(const uint8_t *piece, size_t bytes, struct rvp_address_model *model, size_t *counts)
{
	struct rvp_columns columns = {.room = rvp_columns_room(bytes)};
	uint8_t *joined = malloc(bytes + 1);

	for (int i = 0; i < RVP_COLUMN_COUNT; i++)
		columns.bytes[i] = malloc(columns.room);
	rvp_columns_split(&columns, piece, bytes, model);
	for (int i = 0; i < RVP_COLUMN_COUNT; i++)
		ck_assert_uint_le(columns.counts[i], columns.room);
	ck_assert(rvp_columns_join(&columns, joined, bytes, model));
	ck_assert_int_eq(memcmp(piece, joined, bytes), 0);
	ck_assert(!bytes || !rvp_columns_join(&columns, joined, bytes - 1, model));
	for (int i = 0; i < RVP_COLUMN_COUNT; i++)
		free(columns.bytes[i]);
	memcpy(counts, columns.counts, sizeof columns.counts);
	free(joined);
}

static void split_and_join(const uint8_t *piece, size_t bytes)
{
	struct rvp_address_model *model = malloc(sizeof *model);
	size_t counts[RVP_COLUMN_COUNT];

	split_and_join_with(piece, bytes, model, counts);
	split_and_join_with(piece, bytes, NULL, counts); /* as older logs are packed */
	for (int i = RVP_COLUMN_COUNT_BARE; i < RVP_COLUMN_COUNT; i++)
		ck_assert_uint_eq(counts[i], 0);
	free(model);
}

/* 64 blocks, given back in random order; each size gets what was last given back of it. */
static void make_log_of_an_allocator(int events)
{
	enum { HELD = 64, SIZES = 8, MOST = 2 * HELD };
	static uint64_t freed[SIZES][MOST], held[HELD];
	int counts[SIZES] = {0}, size_of[HELD];
	struct rvp_log_writer writer;
	uint64_t fresh = 0x555500000000;

	memset(held, 0, sizeof held);
	ck_assert(!rvp_failed(rvp_log_writer_open(&writer, log_path, 7, 9)));
	for (int i = 0; i < events; i++) {
		int place = (int)below(HELD), size = (int)below(SIZES);
		uint8_t *at = rvp_log_writer_room(&writer, RVP_COMPACT_ROOM_BYTES);

		if (held[place]) {
			rvp_slot_commit(writer.slot, rvp_put_event_free(at, &writer.delta, NULL, held[place],
									RVP_FAMILY_FREE, false));
			ck_assert_int_lt(counts[size_of[place]], MOST);
			freed[size_of[place]][counts[size_of[place]]++] = held[place];
			held[place] = 0;
			continue;
		}
		held[place] = counts[size] ? freed[size][--counts[size]] : (fresh += 4096);
		size_of[place] = size;
		rvp_slot_commit(writer.slot, rvp_put_event_alloc(at, &writer.delta, NULL, held[place], 24 + 16 * (uint64_t)size,
								 1, 0, RVP_FAMILY_MALLOC, false));
	}
	ck_assert(!rvp_failed(rvp_log_writer_close(&writer)));
}

START_TEST(addresses_of_an_allocator_are_foretold)
{
	struct rvp_address_model *model = malloc(sizeof *model);
	size_t told[RVP_COLUMN_COUNT], bare[RVP_COLUMN_COUNT], left = 0, before = 0;
	struct content log;

	make_log_of_an_allocator(20000);
	log = content_of(log_path);
	split_and_join_with(log.bytes, log.length, model, told);
	split_and_join_with(log.bytes, log.length, NULL, bare);
	ck_assert_uint_eq(told[RVP_COLUMN_RANKS] + told[RVP_COLUMN_AGES], 20000);
	for (int i = RVP_COLUMN_BIRTHS; i < RVP_COLUMN_SIZES; i++) {
		left += told[i];
		before += bare[i];
	}
	ck_assert_uint_gt(before, 30000);
	ck_assert_uint_lt(left * 20, before);
	free(model);
	free(log.bytes);
}

START_TEST(columns_give_back_each_byte)
{
	struct content log;

	make_log(20000);
	log = content_of(log_path);
	split_and_join(log.bytes, log.length);
	for (int i = 0; i < 200; i++) { /* damaged or cut: still each byte */
		log.bytes[below(log.length)] ^= (uint8_t)(1 + below(255));
		split_and_join(log.bytes, i < 100 ? log.length : below(log.length));
	}
	for (size_t i = 0; i < log.length; i++)
		log.bytes[i] = (uint8_t)below(256);
	split_and_join(log.bytes, log.length);
	free(log.bytes);
}

/* ---- files ---- */

START_TEST(a_log_comes_out_as_it_went_in)
{
	struct content before, after;
	struct rvp_unpacked unpacked;
	struct rvp_log log;
	uint64_t records;

	make_log(1000000);
	before = content_of(log_path);
	records = records_in(&log);
	ck_assert_uint_eq(log.packed_bytes, 0);
	rvp_log_close(&log);
	ck_assert(!rvp_failed(rvp_pack_log(folder, 1, NULL)));
	ck_assert_int_ne(access(log_path, F_OK), 0);
	after = content_of(packed_path);
	ck_assert_uint_lt(after.length * 10, before.length * 9); /* it is random */
	ck_assert(!rvp_failed(rvp_unpack_log(folder, &unpacked)));
	ck_assert_uint_eq(unpacked.bytes, before.length);
	ck_assert_int_eq(memcmp(unpacked.map, before.bytes, before.length), 0);
	ck_assert_uint_eq(unpacked.damaged_pieces, 0);
	munmap(unpacked.map, unpacked.bytes);
	ck_assert_uint_eq(records_in(&log), records);
	ck_assert_uint_eq(log.log_bytes, before.length);
	ck_assert_uint_eq(log.packed_bytes, after.length);
	ck_assert_uint_eq(log.file.pid, 7);
	rvp_log_close(&log);
	free(before.bytes);
	free(after.bytes);
}

START_TEST(what_is_not_worth_it_or_not_whole_stays_a_log)
{
	int fd;

	make_log(1000);
	ck_assert(!rvp_failed(rvp_pack_log(folder, 1 << 20, NULL)));
	ck_assert_int_eq(access(log_path, F_OK), 0);
	fd = open(log_path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(ftruncate(fd, 1 << 20), 0); /* a hole: reserved and never written */
	close(fd);
	ck_assert(!rvp_failed(rvp_pack_log(folder, 1, NULL)));
	ck_assert_int_eq(access(log_path, F_OK), 0);
	ck_assert_int_ne(access(packed_path, F_OK), 0);
}

START_TEST(both_are_there_and_the_log_is_believed)
{
	struct rvp_log log;
	uint64_t records;

	make_log(50000);
	write_content(packed_path, (const uint8_t *)"nonsense", 8);
	records = records_in(&log);
	rvp_log_close(&log);
	ck_assert(!rvp_failed(rvp_pack_log(folder, 1, NULL)));
	ck_assert_uint_eq(records_in(&log), records);
	ck_assert_uint_gt(log.packed_bytes, 8);
	rvp_log_close(&log);
}

START_TEST(a_log_whose_header_is_damaged_stays_as_it_is)
{
	struct content content;
	struct rvp_log log;

	make_log(50000);
	content = content_of(log_path);
	content.bytes[16] ^= 1; /* the pid */
	write_content(log_path, content.bytes, content.length);
	ck_assert(!rvp_failed(rvp_pack_log(folder, 1, NULL)));
	ck_assert_int_eq(access(log_path, F_OK), 0);
	ck_assert(rvp_failed(rvp_log_open(&log, log_path, NULL)));
	free(content.bytes);
}

START_TEST(who_may_read_the_log_may_read_what_is_packed)
{
	struct stat packed;

	make_log(50000);
	ck_assert_int_eq(chmod(log_path, 0640), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(log_path, 65534, 65534), 0);
	ck_assert(!rvp_failed(rvp_pack_log(folder, 1, NULL)));
	ck_assert_int_eq(stat(packed_path, &packed), 0);
	ck_assert_uint_eq(packed.st_mode & 0777, 0640);
	if (geteuid() == 0)
		ck_assert_uint_eq(packed.st_uid, 65534);
}

/* ---- damage ---- */

START_TEST(damage_costs_its_piece)
{
	struct content whole;
	struct rvp_log log;
	uint64_t records;

	make_log(2000000); /* several pieces */
	records = records_in(&log);
	rvp_log_close(&log);
	ck_assert(!rvp_failed(rvp_pack_log(folder, 1, NULL)));
	whole = content_of(packed_path);
	for (int i = 0; i < 6; i++) {
		size_t at = 64 + below(whole.length - 64);
		uint64_t left;

		whole.bytes[at] ^= 0x40;
		write_content(packed_path, whole.bytes, whole.length);
		left = records_in(&log);
		ck_assert_uint_gt(left, records / 3);
		ck_assert_uint_le(left, records);
		ck_assert_uint_eq(log.damaged_pieces, left < records);
		whole.bytes[at] ^= 0x40;
		rvp_log_close(&log);
		at = whole.length * (4 + below(5)) / 10;
		write_content(packed_path, whole.bytes, at);
		left = records_in(&log);
		ck_assert_uint_lt(left, records);
		ck_assert_uint_gt(log.damaged_pieces, 0);
		rvp_log_close(&log);
	}
	whole.bytes[3] ^= 1;
	write_content(packed_path, whole.bytes, whole.length);
	ck_assert(rvp_failed(rvp_log_open(&log, log_path, NULL)));
	write_content(packed_path, whole.bytes, 10);
	ck_assert(rvp_failed(rvp_log_open(&log, log_path, NULL)));
	free(whole.bytes);
}

/* ---- interruptions ---- */

/* Microseconds that it takes here and now; the log is gone then. */
static uint64_t pack_undisturbed(void)
{
	uint64_t start = rvp_clock_ns(CLOCK_MONOTONIC);

	if (!fork()) {
		rvp_pack_log(folder, 1, NULL);
		_exit(0);
	}
	wait(NULL);
	ck_assert_int_ne(access(log_path, F_OK), 0);
	return (rvp_clock_ns(CLOCK_MONOTONIC) - start) / 1000;
}

START_TEST(no_kill_loses_a_record)
{
	enum { KILLS = 50 };
	struct rvp_log log;
	uint64_t records, packed = 0, whole_us;

	make_log(60000);
	struct content whole = content_of(log_path);

	records = records_in(&log);
	rvp_log_close(&log);
	whole_us = pack_undisturbed();
	for (int i = 0; i < KILLS; i++) {
		pid_t child;

		write_content(log_path, whole.bytes, whole.length);
		child = fork();

		if (!child) {
			rvp_pack_log(folder, 1, NULL);
			_exit(0);
		}
		/* Most of them late, where files change their names. */
		usleep((useconds_t)(whole_us / 4 * (2 + below(2)) + below(whole_us / 2)));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		ck_assert_uint_eq(records_in(&log), records);
		ck_assert_uint_eq(log.torn_chunks + log.missing_chunks + log.damaged_pieces, 0);
		packed += log.packed_bytes != 0;
		rvp_log_close(&log);
		unlink(packed_path);
	}
	ck_assert_uint_lt(packed, KILLS); /* some were killed before the end */
	free(whole.bytes);
}

START_TEST(no_room_leaves_the_log)
{
	struct rvp_log log;
	uint64_t records;
	int status;

	make_log(300000);
	records = records_in(&log);
	rvp_log_close(&log);
	if (!fork()) {
		struct rlimit most = {100000, 100000};

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &most);
		_exit(rvp_failed(rvp_pack_log(folder, 1, NULL)) ? 0 : 1);
	}
	wait(&status);
	ck_assert_int_eq(status, 0);
	ck_assert_int_ne(access(packed_path, F_OK), 0);
	ck_assert_uint_eq(records_in(&log), records);
	rvp_log_close(&log);
}

static bool at_once(void)
{
	return true;
}

START_TEST(who_is_told_to_stop_stops)
{
	make_log(300000);
	ck_assert(rvp_failed(rvp_pack_log(folder, 1, at_once)));
	ck_assert_int_eq(access(log_path, F_OK), 0);
	ck_assert_int_ne(access(packed_path, F_OK), 0);
}

int main(void)
{
	Suite *suite = suite_create("packed_log");
	TCase *cases = tcase_create("packed_log");

	tcase_set_timeout(cases, 120);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, columns_give_back_each_byte);
	tcase_add_test(cases, addresses_of_an_allocator_are_foretold);
	tcase_add_test(cases, a_log_comes_out_as_it_went_in);
	tcase_add_test(cases, what_is_not_worth_it_or_not_whole_stays_a_log);
	tcase_add_test(cases, both_are_there_and_the_log_is_believed);
	tcase_add_test(cases, a_log_whose_header_is_damaged_stays_as_it_is);
	tcase_add_test(cases, who_may_read_the_log_may_read_what_is_packed);
	tcase_add_test(cases, damage_costs_its_piece);
	tcase_add_test(cases, no_kill_loses_a_record);
	tcase_add_test(cases, no_room_leaves_the_log);
	tcase_add_test(cases, who_is_told_to_stop_stops);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
