/* SPDX-License-Identifier: MIT */
/* check_evidence_files.c: what is mapped or filled from files, on both sides of each threshold: models by
 * their headers, plain files by their content and by how long the block is kept. The files are real, the runs
 * are made.
 *
 * A run lasts from 0 to MAKER_END_NS; times are in thousandths of that. */
#include "tests/unit/attributed.h"
#include "tests/unit/model_maker.h"
#include "tests/unit/run_suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MILLI_NS = 10000000, PLAIN_BYTES = 1 << 20 };
#define BLOCK 0x7000000000u

static struct maker maker;
static struct maker_thread *thread, *stepper; /* two, since each has its own order of time */
static struct attributed it;
static const uint64_t moments[] = {MAKER_EPOCH_NS + 500 * (uint64_t)MILLI_NS,
				   MAKER_EPOCH_NS + 950 * (uint64_t)MILLI_NS};

static struct file {
	char path[128];
	uint64_t device, inode, bytes, data_begin;
} files[4];
static int file_count;

static void open_log(void)
{
	struct maker_process *process;

	maker = maker_open();
	process = maker_add(&maker, 100);
	thread = &process->threads[0];
	stepper = maker_thread(process);
	file_count = 0;
}

static void close_log(void)
{
	attributed_close(&it, &maker);
	for (int i = 0; i < file_count; i++)
		unlink(files[i].path);
}

static void attribute(void)
{
	attributed_open(&it, &maker, NULL, moments, 2);
}

static uint64_t live(const char *purpose, size_t moment)
{
	return attributed_live(&it, purpose, moment);
}

static bool is_said(const char *words)
{
	for (uint32_t reason = 1; reason < 64; reason++)
		if (strstr(rvp_reason_text(it.attribution, reason), words))
			return true;
	return false;
}

static bool is_noted(const char *words)
{
	return attributed_has_note(&it, words);
}

/* ---- files ---- */

static struct file *add_file(const char *name, const void *bytes, size_t length)
{
	struct file *file = &files[file_count++];
	struct stat state;
	FILE *stream;

	snprintf(file->path, sizeof file->path, "%s.%s", maker.folder, name);
	stream = fopen(file->path, "wb");
	ck_assert_ptr_nonnull(stream);
	ck_assert_uint_eq(fwrite(bytes, 1, length, stream), length);
	fclose(stream);
	stat(file->path, &state);
	file->device = state.st_dev;
	file->inode = state.st_ino;
	file->bytes = length;
	MAKE(thread, FILE, 200, .device = file->device, .inode = file->inode, .bytes = file->bytes,
	     .path = {file->path, strlen(file->path)});
	return file;
}

/* 40 tensors of 4096 bytes. */
static struct file *add_model(const char *name)
{
	struct model_bytes made;
	struct file *file;

	make_gguf(&made, (struct gguf_wish){
			     .version = 3, .tensor_count = 40, .tensor_values = 1024, .tensor_bytes = 4096});
	file = add_file(name, made.bytes, made.length);
	file->data_begin = made.data_begin;
	model_bytes_free(&made);
	return file;
}

enum content { FLOATS, OPAQUE, TEXT, HEADED, HEADED_TEXT, EXECUTABLE, CONTENT_COUNT };

static struct file *add_plain(const char *name, enum content content)
{
	static float values[PLAIN_BYTES / 4];
	bool is_text = content == TEXT || content == HEADED_TEXT;
	uint32_t random = 1;

	for (int i = 0; i < PLAIN_BYTES / 4; i++) {
		random = random * 1664525 + 1013904223;
		values[i] = (float)(int32_t)random * 1e-11f;
		if (is_text || content == OPAQUE)
			memcpy(&values[i], is_text ? "word" : (const char *)&random, 4);
	}
	if (content == HEADED || content == HEADED_TEXT)
		memset(values, content == HEADED ? '#' : 1, 656);
	if (content == EXECUTABLE)
		memcpy(values, "\177ELF", 4);
	return add_file(name, values, sizeof values);
}

/* ---- records ---- */

static void alloc(uint64_t at, uint64_t address, uint64_t bytes)
{
	MAKE(thread, ALLOC, 0, .stamp = at * MILLI_NS, .address = address, .bytes = bytes);
}

static void release(uint64_t at, uint64_t address)
{
	MAKE(thread, FREE, 0, .stamp = at * MILLI_NS, .address = address, .family = RVP_FAMILY_FREE);
}

static void fill(uint64_t at, uint64_t address, uint64_t bytes, const struct file *file, uint64_t offset)
{
	MAKE(thread, FILL, 0, .stamp = at * MILLI_NS, .address = address, .bytes = bytes,
	     .device = file->device, .inode = file->inode, .offset = offset);
}

static void map(uint64_t at, uint64_t address, uint64_t bytes, const struct file *file, uint64_t offset)
{
	MAKE(thread, MAP, 0, .stamp = at * MILLI_NS, .address = address, .bytes = bytes,
	     .protection = PROT_READ, .flags = MAP_SHARED, .offset = offset, .device = file->device,
	     .inode = file->inode);
}

static void unmap(uint64_t at, uint64_t address, uint64_t bytes)
{
	MAKE(thread, UNMAP, 0, .stamp = at * MILLI_NS, .address = address, .bytes = bytes);
}

/* Steps that begin at 200, 220, .. and last 10 each. */
static void steps_to(int count)
{
	for (int i = 0; i < count; i++) {
		MAKE(stepper, STEP, 8, .stamp = (200 + 20 * (uint64_t)i) * MILLI_NS, .kind = RVP_STEP_BEGIN,
		     .source = RVP_SOURCE_API, .name = {"step", 4});
		MAKE(stepper, STEP, 8, .stamp = (210 + 20 * (uint64_t)i) * MILLI_NS, .kind = RVP_STEP_END,
		     .source = RVP_SOURCE_API);
	}
}

/* ---- mappings ---- */

START_TEST(a_mapped_model_is_weights_once)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	map(10, BLOCK, 0x29000, model, 0);
	map(20, BLOCK + 0x100000, 0x29000, model, 0);
	unmap(700, BLOCK, 0x29000);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 0x29000);
	ck_assert_uint_eq(live("weights", 1), 0x29000);
	ck_assert(is_said("mapped from"));
	ck_assert(is_said("(GGUF llama)"));
	close_log();
}
END_TEST

START_TEST(a_cut_mapping_goes_on)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	map(10, BLOCK, 0x29000, model, 0);
	unmap(20, BLOCK, 0x1000);
	map(30, BLOCK + 0x100000, 0x28000, model, 0x1000);
	unmap(700, BLOCK + 0x1000, 0x28000);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 0x28000);
	ck_assert_uint_eq(live("weights", 1), 0x28000);
	close_log();
}
END_TEST

START_TEST(a_mapped_header_is_no_weights)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	ck_assert_uint_gt(model->data_begin, 0x1000 / 2);
	map(10, BLOCK, model->data_begin / 2, model, 0);
	map(20, BLOCK + 0x100000, 0x1000, model, 0x20000);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 0x1000);
	close_log();
}
END_TEST

START_TEST(a_model_that_is_gone_is_known_by_its_name)
{
	struct file *model, *other;

	open_log();
	model = add_model("a.gguf");
	other = add_model("other");
	map(10, BLOCK, 0x29000, model, 0);
	map(10, BLOCK + 0x100000, 0x29000, other, 0);
	unlink(model->path);
	unlink(other->path);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 0x29000);
	ck_assert(is_said("by its name alone"));
	ck_assert(is_noted("is gone or was changed"));
	close_log();
}
END_TEST

START_TEST(a_damaged_header_is_noted)
{
	static const char bytes[65536] = "GGUF\3\0\0\0\377\377\377\377\377\377\377\377";
	struct file *model;

	open_log();
	model = add_file("bad.gguf", bytes, sizeof bytes);
	map(10, BLOCK, 0x10000, model, 0);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 0x10000);
	ck_assert(is_noted("more than the file can hold"));
	close_log();
}
END_TEST

/* ---- blocks ---- */

/* In pieces of 64 bytes, each read at two places in turn, so that ranges must be united. */
START_TEST(ninety_percent_make_weights)
{
	struct file *model;
	uint64_t pieces = (uint64_t)(_i ? 900 : 899);

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 64000);
	for (uint64_t i = 0; i < pieces; i++) {
		uint64_t piece = i * 7 % pieces;

		fill(11, BLOCK + piece * 64, 64, model, RVP_FILL_OFFSET_UNKNOWN);
	}
	attribute();
	ck_assert_uint_eq(live("weights", 0), _i ? 64000 : 0);
	close_log();
}
END_TEST

START_TEST(bytes_count_once)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 64000);
	for (int i = 0; i < 4; i++)
		fill(11, BLOCK, 32000, model, model->data_begin);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 0);
	close_log();
}
END_TEST

/* Filled again from other places: up to 10 % is no read buffer. */
START_TEST(what_is_filled_again_is_a_buffer)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 60000);
	fill(11, BLOCK, 60000, model, model->data_begin);
	fill(12, BLOCK, _i ? 6000 : 5999, model, model->data_begin + 60000);
	attribute();
	ck_assert_uint_eq(live("weights", 0), _i ? 0 : 60000);
	ck_assert_uint_eq(live("temp", 0), _i ? 60000 : 0);
	close_log();
}
END_TEST

START_TEST(the_same_read_twice_is_no_buffer)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 60000);
	fill(11, BLOCK, 60000, model, model->data_begin);
	fill(12, BLOCK, 60000, model, model->data_begin);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 60000);
	close_log();
}
END_TEST

/* Loaded at 400; a quarter of the 600 that are left is 150. */
START_TEST(what_is_given_back_while_loading_is_temp)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 60000);
	fill(400, BLOCK, 60000, model, model->data_begin);
	release(_i ? 551 : 549, BLOCK);
	attribute();
	ck_assert_uint_eq(live("weights", 0), _i ? 60000 : 0);
	ck_assert_uint_eq(live("temp", 0), _i ? 0 : 60000);
	close_log();
}
END_TEST

START_TEST(a_step_was_done_with_it)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 60000);
	fill(100, BLOCK, 60000, model, model->data_begin);
	steps_to(_i);
	alloc(450, BLOCK + 0x100000, 60000);
	fill(495, BLOCK + 0x100000, 60000, model, model->data_begin + 60000);
	release(501, BLOCK);
	release(502, BLOCK + 0x100000);
	attribute();
	ck_assert_uint_eq(live("temp", 0), 60000);
	ck_assert_uint_eq(live("weights", 0), 60000);
	close_log();
}
END_TEST

START_TEST(a_header_that_was_read_is_no_weights)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 1100);
	fill(11, BLOCK, 1100, model, 0);
	alloc(12, BLOCK + 0x100000, 4096);
	fill(13, BLOCK + 0x100000, 4096, model, model->data_begin);
	attribute();
	ck_assert_uint_gt(model->data_begin, 1100);
	ck_assert_uint_eq(live("weights", 0), 4096);
	close_log();
}
END_TEST

START_TEST(realloc_takes_what_was_read_along)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 60001);
	fill(11, BLOCK, 60000, model, model->data_begin);
	MAKE(thread, FREE, 0, .stamp = 12 * MILLI_NS, .address = BLOCK, .family = RVP_FAMILY_REALLOC);
	MAKE(thread, ALLOC, 0, .stamp = 12 * MILLI_NS + 1, .address = BLOCK + 0x100000,
	     .bytes = _i ? 60000 : 70000, .family = RVP_FAMILY_REALLOC);
	attribute();
	ck_assert_uint_eq(live("weights", 0), _i ? 60000 : 0);
	close_log();
}
END_TEST

START_TEST(two_models_are_told_apart)
{
	struct file *target, *draft;

	open_log();
	target = add_model("target.gguf");
	draft = add_model("draft.gguf");
	alloc(10, BLOCK, 60000);
	fill(11, BLOCK, 60000, target, target->data_begin);
	alloc(12, BLOCK + 0x100000, 8192);
	fill(13, BLOCK + 0x100000, 8192, draft, draft->data_begin);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 68192);
	ck_assert(is_said("target.gguf"));
	ck_assert(is_said("draft.gguf"));
	close_log();
}
END_TEST

/* ---- plain files ---- */

static void read_plain(const struct file *file, uint64_t at)
{
	alloc(at - 1, BLOCK, PLAIN_BYTES);
	fill(at, BLOCK, PLAIN_BYTES, file, 0);
}

/* Three steps prove nothing; four that it is kept through do. */
START_TEST(a_plain_file_that_is_kept_through_the_steps)
{
	open_log();
	read_plain(add_plain("plain", OPAQUE), 100);
	steps_to(3 + _i);
	attribute();
	ck_assert_uint_eq(live("weights", 0), _i ? PLAIN_BYTES : 0);
	close_log();
}
END_TEST

/* Ten steps: the last begins at 380. Read in the first one (200 to 210), or behind it. */
START_TEST(a_plain_file_that_is_not)
{
	static const struct {
		uint64_t read_at, release_at;
		enum content content;
		bool is_weights;
	} rows[] = {
	    {100, 381, OPAQUE, true}, {100, 379, OPAQUE, false}, {209, 0, OPAQUE, true},
	    {211, 0, OPAQUE, false},  {100, 0, TEXT, false},     {100, 0, FLOATS, true},
	};

	open_log();
	read_plain(add_plain("plain", rows[_i].content), rows[_i].read_at);
	steps_to(10);
	if (rows[_i].release_at)
		release(rows[_i].release_at, BLOCK);
	attribute();
	ck_assert_uint_eq(it.answer.sites[0].allocated.bytes, PLAIN_BYTES);
	ck_assert_int_eq(is_said("kept through the run"), rows[_i].is_weights);
	close_log();
}
END_TEST

/* Without steps: floats, half of the file or more, in the first half, to the end. */
START_TEST(a_plain_file_without_steps)
{
	static const struct {
		enum content content;
		uint64_t read_at, bytes, release_at;
		bool is_weights;
	} rows[] = {
	    {FLOATS, 100, PLAIN_BYTES, 0, true},     {OPAQUE, 100, PLAIN_BYTES, 0, false},
	    {FLOATS, 100, PLAIN_BYTES / 2, 0, true}, {FLOATS, 100, PLAIN_BYTES / 2 - 64, 0, false},
	    {FLOATS, 499, PLAIN_BYTES, 0, true},     {FLOATS, 501, PLAIN_BYTES, 0, false},
	    {FLOATS, 100, PLAIN_BYTES, 911, true},   {FLOATS, 100, PLAIN_BYTES, 909, false},
	};
	struct file *file;

	open_log();
	file = add_plain("plain", rows[_i].content);
	alloc(rows[_i].read_at - 1, BLOCK, rows[_i].bytes);
	fill(rows[_i].read_at, BLOCK, rows[_i].bytes, file, 0);
	if (rows[_i].release_at)
		release(rows[_i].release_at, BLOCK);
	attribute();
	ck_assert_int_eq(is_said("kept through the run"), rows[_i].is_weights);
	close_log();
}
END_TEST

START_TEST(a_buffer_of_a_plain_file)
{
	struct file *file;

	open_log();
	file = add_plain("plain", FLOATS);
	alloc(10, BLOCK, 65536);
	for (uint64_t i = 0; i < 16; i++)
		fill(400 + i * 10, BLOCK, 65536, file, i * 65536);
	if (_i)
		release(560, BLOCK);
	attribute();
	ck_assert_uint_eq(live("temp", 0), _i ? 65536 : 0);
	ck_assert_uint_eq(live("weights", 0), 0);
	close_log();
}
END_TEST

/* Floats of a plain file, mapped, behind a header or not: through the steps. */
START_TEST(a_plain_file_that_is_mapped)
{
	bool is_weights = _i == FLOATS || _i == HEADED;

	open_log();
	map(10, BLOCK, PLAIN_BYTES, add_plain("plain", (enum content)_i), 0);
	steps_to(10);
	attribute();
	ck_assert_uint_eq(live("weights", 0), is_weights ? PLAIN_BYTES : 0);
	close_log();
}
END_TEST

/* Numbers of a log are not to be believed. */
START_TEST(fills_that_cannot_be)
{
	struct file *model;

	open_log();
	model = add_model("a.gguf");
	alloc(10, BLOCK, 60000);
	fill(11, BLOCK + 59999, UINT64_MAX / 2, model, model->data_begin);
	fill(11, UINT64_MAX - 10, 100, model, 0);
	fill(11, 0, UINT64_MAX, model, 0);
	fill(11, BLOCK, 60000, &(struct file){.device = 1, .inode = 2}, 0);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 0);
	close_log();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evidence_files");
	TCase *cases = tcase_create("all");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, a_mapped_model_is_weights_once);
	tcase_add_test(cases, a_cut_mapping_goes_on);
	tcase_add_test(cases, a_mapped_header_is_no_weights);
	tcase_add_test(cases, a_model_that_is_gone_is_known_by_its_name);
	tcase_add_test(cases, a_damaged_header_is_noted);
	tcase_add_loop_test(cases, ninety_percent_make_weights, 0, 2);
	tcase_add_test(cases, bytes_count_once);
	tcase_add_loop_test(cases, what_is_filled_again_is_a_buffer, 0, 2);
	tcase_add_test(cases, the_same_read_twice_is_no_buffer);
	tcase_add_loop_test(cases, what_is_given_back_while_loading_is_temp, 0, 2);
	tcase_add_loop_test(cases, a_step_was_done_with_it, 1, 2);
	tcase_add_test(cases, a_header_that_was_read_is_no_weights);
	tcase_add_loop_test(cases, realloc_takes_what_was_read_along, 0, 2);
	tcase_add_test(cases, two_models_are_told_apart);
	tcase_add_loop_test(cases, a_plain_file_that_is_kept_through_the_steps, 0, 2);
	tcase_add_loop_test(cases, a_plain_file_that_is_not, 0, 6);
	tcase_add_loop_test(cases, a_plain_file_without_steps, 0, 8);
	tcase_add_loop_test(cases, a_buffer_of_a_plain_file, 0, 2);
	tcase_add_loop_test(cases, a_plain_file_that_is_mapped, 0, CONTENT_COUNT);
	tcase_add_test(cases, fills_that_cannot_be);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
