/* SPDX-License-Identifier: MIT */
/* check_verify.c: a bundle and the files that it vouches for: as written they hold, and no single bit can
 * change unseen. */
#include "prove/bundle.h"
#include "prove/lines.h"
#include "prove/rvf.h"
#include "prove/verify.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES = 10000, FLIPS = 1000, PATH_BYTES = 128 };

static struct rvp_digests digests;
static struct rvp_verified verified;
static char folder[64];
static const char *const witness_files[] = {"witness/a.jsonl", "witness/b.jsonl", NULL};
static const char *const files[] = {"csv/results.csv", NULL};

static const char *in_folder(const char *name)
{
	static char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_text(const char *name, const char *text)
{
	FILE *out = fopen(in_folder(name), "w");

	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	fclose(out);
}

static void write_lines(const char *name, int from, int to)
{
	FILE *out = fopen(in_folder(name), "w");

	ck_assert_ptr_nonnull(out);
	for (int i = from; i < to; i++)
		fprintf(out, "{\"q_hash\":\"%d\",\"keep_mask\":[true,false],\"timestamp\":%d}\n", i * 7919,
			i);
	fclose(out);
}

static void write_bundle(const char *key_path)
{
	struct rvp_bundle_plan plan = {.folder = folder,
				       .path = "witness/witness.rvf",
				       .witness_files = witness_files,
				       .files = files,
				       .key_path = key_path};
	uint64_t decisions;
	struct rvp_status status = rvp_bundle_write(&digests, &plan, &decisions);

	ck_assert_msg(!rvp_failed(status), "%s %s: %s", status.step, status.path, status.detail);
	ck_assert_uint_eq(decisions, LINES);
}

static void set_up(void)
{
	strcpy(folder, "/tmp/check_verify.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert(!rvp_failed(rvp_digests_open(&digests)));
	mkdir(in_folder("witness"), 0700);
	mkdir(in_folder("csv"), 0700);
	write_lines("witness/a.jsonl", 0, LINES / 2);
	write_lines("witness/b.jsonl", LINES / 2, LINES);
	write_text("csv/results.csv", "setting,accuracy\nmincut_l0.3_t0,0.99\n");
}

static void tear_down(void)
{
	char command[PATH_BYTES + 16];

	rvp_findings_free(&verified.findings);
	rvp_digests_close(&digests);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* How many findings speak against it. */
static size_t broken(const char *key_path)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/witness/witness.rvf", folder);
	rvp_findings_free(&verified.findings);
	ck_assert(!rvp_failed(rvp_verify_file(&digests, path, key_path, &verified)));
	return verified.findings.broken_count;
}

static const struct rvp_finding *finding(enum rvp_finding_kind kind, const char *path)
{
	for (size_t i = 0; i < verified.findings.count; i++)
		if (verified.findings.rows[i].kind == kind &&
		    strcmp(verified.findings.rows[i].path, path) == 0)
			return &verified.findings.rows[i];
	return NULL;
}

static void flip(const char *name, long bit)
{
	FILE *file = fopen(in_folder(name), "r+");
	int byte;

	ck_assert_ptr_nonnull(file);
	fseek(file, bit / 8, SEEK_SET);
	byte = fgetc(file);
	fseek(file, bit / 8, SEEK_SET);
	fputc(byte ^ 1 << bit % 8, file);
	fclose(file);
}

static long bits_of(const char *name)
{
	struct stat info;

	ck_assert_int_eq(stat(in_folder(name), &info), 0);
	return info.st_size * 8;
}

/* A rename would take its place: /dev/null became a plain file. */
START_TEST(no_plain_file_is_replaced)
{
	struct rvp_bundle_plan plan = {.folder = folder, .path = "pipe", .witness_files = witness_files, .files = files};
	uint64_t decisions;
	struct stat pipe;
	struct rvp_status status;

	ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
	status = rvp_bundle_write(&digests, &plan, &decisions);
	ck_assert(rvp_failed(status));
	ck_assert_str_eq(status.step, "write");
	ck_assert_int_eq(stat(in_folder("pipe"), &pipe), 0);
	ck_assert(S_ISFIFO(pipe.st_mode));
	ck_assert_int_ne(access(in_folder("pipe.new"), F_OK), 0);
}
END_TEST

START_TEST(as_written_it_holds)
{
	write_bundle(NULL);
	ck_assert_uint_eq(broken(NULL), 0);
	ck_assert(verified.is_ours && !verified.is_signed);
	ck_assert_uint_eq(verified.entries, LINES + 1);
	ck_assert_uint_eq(verified.decisions, LINES);
	ck_assert_uint_eq(verified.valid_chains, 1);
	ck_assert_uint_eq(verified.last_timestamp_ns, LINES);
	ck_assert_ptr_nonnull(finding(RVP_HOLDS, "witness/a.jsonl"));
	ck_assert_ptr_nonnull(finding(RVP_HOLDS, "csv/results.csv"));
}
END_TEST

START_TEST(the_same_results_make_the_same_bytes)
{
	uint8_t first[RVP_DIGEST_BYTES], second[RVP_DIGEST_BYTES];
	uint64_t bytes;

	write_bundle(NULL);
	ck_assert(!rvp_failed(
	    rvp_digest_of_file(&digests, RVP_SHA256, in_folder("witness/witness.rvf"), first, &bytes)));
	write_bundle(NULL);
	ck_assert(!rvp_failed(
	    rvp_digest_of_file(&digests, RVP_SHA256, in_folder("witness/witness.rvf"), second, &bytes)));
	ck_assert_mem_eq(first, second, sizeof first);
}
END_TEST

/* Every bit of headers, and others at random. */
START_TEST(no_bit_of_the_bundle_changes_unseen)
{
	static const char name[] = "witness/witness.rvf";
	long bits;

	write_bundle(NULL);
	bits = bits_of(name);
	srand48(20261122);
	for (int i = 0; i < FLIPS; i++) {
		long bit = i < 512 ? i : (long)(drand48() * (double)bits);

		flip(name, bit);
		ck_assert_msg(broken(NULL) > 0, "bit %ld of %ld", bit, bits);
		flip(name, bit);
	}
	ck_assert_uint_eq(broken(NULL), 0);
}
END_TEST

START_TEST(no_bit_of_what_it_vouches_for_changes_unseen)
{
	write_bundle(NULL);
	for (int i = 0; i < 60; i++) {
		const char *name = i % 3 == 0 ? files[0] : witness_files[i % 2];
		long bit = (long)(drand48() * (double)bits_of(name));

		flip(name, bit);
		ck_assert_msg(broken(NULL) > 0, "bit %ld of %s", bit, name);
		ck_assert_ptr_nonnull(finding(RVP_BROKEN, name));
		flip(name, bit);
	}
}
END_TEST

START_TEST(the_line_at_fault_is_named)
{
	write_bundle(NULL);
	write_lines("witness/b.jsonl", LINES / 2 + 1, LINES);
	ck_assert_uint_gt(broken(NULL), 0);
	ck_assert_uint_eq(finding(RVP_BROKEN, "witness/b.jsonl")->line, 1);
	write_lines("witness/b.jsonl", LINES / 2, LINES + 1);
	ck_assert_uint_gt(broken(NULL), 0);
	ck_assert_uint_eq(finding(RVP_BROKEN, "witness/b.jsonl")->line, LINES / 2 + 1);
	write_lines("witness/b.jsonl", LINES / 2, LINES - 1);
	ck_assert_uint_gt(broken(NULL), 0);
	ck_assert_uint_eq(finding(RVP_BROKEN, "witness/b.jsonl")->line, LINES / 2);
}
END_TEST

START_TEST(what_is_missing_or_added_is_named)
{
	write_bundle(NULL);
	write_text("csv/other.csv", "a\n");
	write_text(".hidden", "a\n");
	ck_assert_uint_eq(broken(NULL), 0);
	ck_assert_ptr_nonnull(finding(RVP_NOT_COVERED, "csv/other.csv"));
	ck_assert_ptr_null(finding(RVP_NOT_COVERED, ".hidden"));
	unlink(in_folder("csv/results.csv"));
	ck_assert_uint_eq(broken(NULL), 1);
	ck_assert_str_eq(finding(RVP_BROKEN, "csv/results.csv")->what, "it is missing");
}
END_TEST

START_TEST(a_cut_at_any_place_is_seen)
{
	static const char name[] = "witness/witness.rvf";
	long bytes;

	write_bundle(NULL);
	bytes = bits_of(name) / 8;
	for (int i = 0; i < 200; i++) {
		long left = i < 70 ? bytes - 1 - i : (long)(drand48() * (double)bytes);

		write_bundle(NULL);
		ck_assert_int_eq(truncate(in_folder(name), left), 0);
		ck_assert_msg(broken(NULL) > 0, "%ld of %ld bytes left", left, bytes);
	}
}
END_TEST

static void make_key(const char *name)
{
	char command[3 * PATH_BYTES];

	snprintf(command, sizeof command,
		 "openssl genpkey -algorithm ed25519 -out %s/.%s && openssl pkey -in %s/.%s -pubout -out "
		 "%s/.%s.pub",
		 folder, name, folder, name, folder, name);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(a_signature_is_of_one_key_and_one_content)
{
	char key[PATH_BYTES], other[PATH_BYTES];

	make_key("one");
	make_key("two");
	snprintf(key, sizeof key, "%s/.one.pub", folder);
	snprintf(other, sizeof other, "%s/.two.pub", folder);
	write_bundle(in_folder(".one"));
	ck_assert_uint_eq(broken(NULL), 0);
	ck_assert(verified.is_signed);
	ck_assert_uint_eq(broken(key), 0);
	ck_assert_uint_eq(broken(other), 1);
	for (long bit = bits_of("witness/witness.rvf") - 8 * 192; bit < bits_of("witness/witness.rvf");
	     bit += 5) {
		flip("witness/witness.rvf", bit);
		ck_assert_msg(broken(NULL) > 0, "bit %ld", bit);
		flip("witness/witness.rvf", bit);
	}
	write_bundle(NULL);
	ck_assert_uint_eq(broken(key), 1);
}
END_TEST

/* Another program's: hashed with XXH3, a flag set, two witness segments, and a manifest of another kind. */
START_TEST(a_foreign_file_is_judged_by_what_it_says)
{
	uint8_t bytes[RVP_RVF_UNIT_BYTES], hash[RVP_DIGEST_BYTES], padded[RVP_RVF_UNIT_BYTES] = "{\"a\":1}";
	struct rvp_rvf_header header = {.magic = RVP_RVF_MAGIC,
					.version = 1,
					.type = 5,
					.flags = 4,
					.id = 9,
					.timestamp_ns = 77,
					.algorithm = 1};
	FILE *out = fopen(in_folder("witness/witness.rvf"), "w");

	ck_assert(!rvp_failed(rvp_rvf_segment_write(out, "it", &digests, RVP_RVF_WITNESS, 1, "", 0)));
	header.payload_bytes = 7;
	header.pad_bytes = 57;
	ck_assert(rvp_digest_of(&digests, RVP_XXH3_128, padded, 7, hash));
	memcpy(header.content_hash, hash, RVP_RVF_HASH_BYTES);
	rvp_rvf_header_write(&header, bytes);
	fwrite(bytes, sizeof bytes, 1, out);
	fwrite(padded, sizeof padded, 1, out);
	fclose(out);
	ck_assert_uint_eq(broken(NULL), 0);
	ck_assert(!verified.is_ours);
	ck_assert_uint_eq(verified.segments, 2);
	ck_assert_uint_eq(verified.witness_segments, 1);
	flip("witness/witness.rvf", 8 * (64 + 64 + 3));
	ck_assert_uint_eq(broken(NULL), 1);
}
END_TEST

/* Whoever can write a manifest can hash it: the paths in it are still not to be trusted. */
START_TEST(a_manifest_reads_nothing_outside_its_folder)
{
	static const char *const paths[] = {"/etc/passwd", "../x", "a/../../x", "..", "a//b", ""};

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		const char *const outside[] = {paths[i], NULL};
		char manifest[1024], sha256[RVP_HEX_TEXT_BYTES];
		struct rvp_rvf_chain chain;
		uint8_t entry[RVP_RVF_ENTRY_BYTES], action[RVP_DIGEST_BYTES];
		uint64_t bytes;
		FILE *out = fopen(in_folder("witness/witness.rvf"), "w");

		ck_assert(rvp_rvf_chain_open(&chain, &digests));
		ck_assert(
		    rvp_digest_of(&digests, RVP_SHAKE256, RVP_BUNDLE_NAME, strlen(RVP_BUNDLE_NAME), action));
		ck_assert(rvp_rvf_chain_add(&chain, action, 0, RVP_RVF_PROVENANCE, entry));
		rvp_rvf_chain_close(&chain);
		rvp_rvf_segment_write(out, "it", &digests, RVP_RVF_WITNESS, 1, entry, sizeof entry);
		fflush(out);
		ck_assert(!rvp_failed(rvp_digest_of_file(&digests, RVP_SHA256,
							 in_folder("witness/witness.rvf"), action, &bytes)));
		snprintf(manifest, sizeof manifest,
			 "{\"schema\":\"rvprof.manifest/1\",\"bundle\":{\"path\":\"witness/"
			 "witness.rvf\",\"bytes\":%d,\"sha256\":\"%s\"},"
			 "\"witness\":[],\"files\":[{\"path\":\"%s\",\"bytes\":0,\"sha256\":\"\"}]}",
			 (int)bytes, rvp_hex(action, sha256), outside[0]);
		rvp_rvf_segment_write(out, "it", &digests, RVP_RVF_META, 2, manifest, strlen(manifest));
		fclose(out);
		ck_assert_uint_eq(broken(NULL), 1);
		ck_assert_ptr_nonnull(strstr(finding(RVP_BROKEN, "witness/witness.rvf")->what,
					     "which is no path in its folder"));
	}
}
END_TEST

/* A pipe where a file was would be waited for without an end. */
START_TEST(what_is_no_file_is_not_waited_for)
{
	write_bundle(NULL);
	unlink(in_folder("csv/results.csv"));
	ck_assert_int_eq(mkfifo(in_folder("csv/results.csv"), 0600), 0);
	unlink(in_folder("witness/a.jsonl"));
	ck_assert_int_eq(symlink("/dev/zero", in_folder("witness/a.jsonl")), 0);
	ck_assert_uint_ge(broken(NULL), 2);
	ck_assert_ptr_nonnull(finding(RVP_BROKEN, "csv/results.csv"));
	ck_assert_ptr_nonnull(finding(RVP_BROKEN, "witness/a.jsonl"));
}
END_TEST

/* Lines longer than what is read at once, of a length that ends at its end, empty, and without a new line: each is the
 * entry that its bytes alone give. */
START_TEST(lines_of_every_length_are_lines)
{
	static const size_t lengths[] = {0, 65535, 65536, 131071, 200000, 0, 1, 65536};
	enum { COUNT = sizeof lengths / sizeof *lengths };
	FILE *out = fopen(in_folder("witness/a.jsonl"), "w");
	struct rvp_hashed_lines lines;
	uint8_t action[RVP_DIGEST_BYTES], expected[RVP_DIGEST_BYTES];
	char *text = malloc(200001);
	bool has_line;

	for (int i = 0; i < COUNT; i++) {
		memset(text, 'a' + i, lengths[i]);
		text[lengths[i]] = '\n';
		fwrite(text, 1, lengths[i] + (i + 1 < COUNT), out);
	}
	fclose(out);
	ck_assert(!rvp_failed(rvp_hashed_lines_open(&lines, &digests, in_folder("witness/a.jsonl"))));
	for (int i = 0; i < COUNT; i++) {
		memset(text, 'a' + i, lengths[i]);
		ck_assert(!rvp_failed(rvp_hashed_lines_next(&lines, action, &has_line)) && has_line);
		ck_assert(rvp_digest_of(&digests, RVP_SHAKE256, text, lengths[i], expected));
		ck_assert_msg(memcmp(action, expected, sizeof action) == 0, "line %d", i);
	}
	ck_assert(!rvp_failed(rvp_hashed_lines_next(&lines, action, &has_line)) && !has_line);
	ck_assert_uint_eq(lines.line_count, COUNT);
	rvp_hashed_lines_close(&lines);
	free(text);
}
END_TEST

/* A chain of nothing but breaks. */
START_TEST(findings_are_bounded)
{
	enum { ENTRIES = 2 * RVP_FINDINGS_MAX };
	uint8_t *entries = malloc(ENTRIES * RVP_RVF_ENTRY_BYTES);
	FILE *out = fopen(in_folder("witness/witness.rvf"), "w");

	memset(entries, 7, ENTRIES * RVP_RVF_ENTRY_BYTES);
	rvp_rvf_segment_write(out, "it", &digests, RVP_RVF_WITNESS, 1, entries, ENTRIES * RVP_RVF_ENTRY_BYTES);
	fclose(out);
	free(entries);
	ck_assert_uint_eq(broken(NULL), ENTRIES);
	ck_assert_uint_eq(verified.findings.count, RVP_FINDINGS_MAX);
	ck_assert_uint_eq(verified.chain_breaks, ENTRIES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verify");
	TCase *tests = tcase_create("bundle");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, no_plain_file_is_replaced);
	tcase_add_test(tests, as_written_it_holds);
	tcase_add_test(tests, the_same_results_make_the_same_bytes);
	tcase_add_test(tests, no_bit_of_the_bundle_changes_unseen);
	tcase_add_test(tests, no_bit_of_what_it_vouches_for_changes_unseen);
	tcase_add_test(tests, the_line_at_fault_is_named);
	tcase_add_test(tests, what_is_missing_or_added_is_named);
	tcase_add_test(tests, a_cut_at_any_place_is_seen);
	tcase_add_test(tests, a_signature_is_of_one_key_and_one_content);
	tcase_add_test(tests, a_foreign_file_is_judged_by_what_it_says);
	tcase_add_test(tests, a_manifest_reads_nothing_outside_its_folder);
	tcase_add_test(tests, what_is_no_file_is_not_waited_for);
	tcase_add_test(tests, lines_of_every_length_are_lines);
	tcase_add_test(tests, findings_are_bounded);
	tcase_set_timeout(tests, 200);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
