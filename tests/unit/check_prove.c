/* SPDX-License-Identifier: MIT */
/* check_prove.c: hashes, fingerprints and RVF's bytes.
 *
 * Where the expected values are from: SHA-256 of "" and "abc": FIPS 180-2's examples; fingerprints:
 * ruvector-profiler's own config_hash, compiled and run, and its README; RVF: made by another implementation
 * with the SHAKE-256 of a standard library; XXH3-128 of "": xxHash's own documentation of its test vectors.
 */
#include "prove/fingerprint.h"
#include "prove/rvf.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct rvp_digests digests;

static void set_up(void)
{
	struct rvp_status status = rvp_digests_open(&digests);

	ck_assert_msg(!rvp_failed(status), "%s", status.detail);
}

static void tear_down(void)
{
	rvp_digests_close(&digests);
}

static const char *hex_of(enum rvp_digest_kind kind, const void *data, size_t bytes, unsigned shown_bytes)
{
	static char text[RVP_HEX_TEXT_BYTES];
	uint8_t value[RVP_DIGEST_BYTES];

	ck_assert(rvp_digest_of(&digests, kind, data, bytes, value));
	rvp_hex(value, text);
	text[2 * shown_bytes] = 0;
	return text;
}

START_TEST(hashes_are_those_of_their_standards)
{
	ck_assert_str_eq(hex_of(RVP_SHA256, "", 0, 32),
			 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	ck_assert_str_eq(hex_of(RVP_SHA256, "abc", 3, 32),
			 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	ck_assert_str_eq(hex_of(RVP_SHAKE256, "", 0, 16), "46b9dd2b0ba88d13233b3feb743eeb24");
	/* low half first: 0x6001c324468d497f99aa06d3014798d8 as xxhsum prints it, turned round */
	ck_assert_str_eq(hex_of(RVP_XXH3_128, "", 0, 16), "7f498d4624c30160d8984701d306aa99");
}
END_TEST

static const char *fingerprint(const struct rvp_configuration *configuration)
{
	static char text[RVP_HEX_TEXT_BYTES];
	uint8_t value[RVP_DIGEST_BYTES];

	ck_assert(rvp_fingerprint(&digests, configuration, value));
	return rvp_hex(value, text);
}

START_TEST(fingerprints_are_those_of_ruvector_profiler)
{
	struct rvp_configuration configuration = {.model_commit = "abc1234",
						  .weights_hash = "def5678",
						  .lambda = 0.5f,
						  .tau = 2,
						  .eps = 0.01f,
						  .compiler_flags = "-O3"};

	ck_assert_str_eq(fingerprint(&configuration),
			 "8194ad7276a762e3eeee09d9d2cb18ab888c08854a9f3deaf87e92142bca82df");
	configuration.compiler_flags = "-O3 -mavx2";
	ck_assert_str_eq(fingerprint(&configuration),
			 "45b57923f8c1a4fe99d72e45cea9b1d27607af3a2e8af6963e6fe3276e2319b7");
	configuration = (struct rvp_configuration){.model_commit = "a",
						   .weights_hash = "b",
						   .lambda = 0.1f,
						   .tau = 64,
						   .eps = 1e-6f,
						   .compiler_flags = "-O3"};
	ck_assert_str_eq(fingerprint(&configuration),
			 "7e966f0945ae1e7cb6b283943092613b618244024ed7d4cb5f9394b857c02019");
}
END_TEST

START_TEST(strings_are_escaped_as_serde_json_does)
{
	struct rvp_configuration configuration = {.model_commit = "q\" b\\ \b\f\n\r\t",
						  .weights_hash = "\x01\x1f\x7f",
						  .lambda = 1,
						  .eps = __builtin_inff(),
						  .compiler_flags = "\xc3\xa9/"};
	char *text = rvp_configuration_text(&configuration);

	ck_assert_str_eq(
	    text, "{\"model_commit\":\"q\\\" b\\\\ \\b\\f\\n\\r\\t\",\"weights_hash\":\"\\u0001\\u001f\x7f\","
		  "\"lambda\":1.0,\"tau\":0,\"eps\":null,\"compiler_flags\":\"\xc3\xa9/\"}");
	free(text);
}
END_TEST

/* Two entries: action i is the SHAKE-256 of the byte i, timestamp 1e9 + i, type 1. */
static void make_chain(uint8_t entries[2][RVP_RVF_ENTRY_BYTES])
{
	struct rvp_rvf_chain chain;

	ck_assert(rvp_rvf_chain_open(&chain, &digests));
	for (uint8_t i = 0; i < 2; i++) {
		uint8_t action[RVP_DIGEST_BYTES];

		ck_assert(rvp_digest_of(&digests, RVP_SHAKE256, &i, 1, action));
		ck_assert(rvp_rvf_chain_add(&chain, action, 1000000000u + i, RVP_RVF_PROVENANCE, entries[i]));
	}
	rvp_rvf_chain_close(&chain);
}

START_TEST(a_chain_has_the_pinned_bytes)
{
	uint8_t entries[2][RVP_RVF_ENTRY_BYTES];
	char text[RVP_HEX_TEXT_BYTES];

	make_chain(entries);
	ck_assert_str_eq(rvp_hex(entries[1], text),
			 "d528a0b2c38ef2eec243a479552ce83a279128fdf8105d75c0067c2ba53a8680");
	ck_assert_str_eq(hex_of(RVP_SHA256, entries, sizeof entries, 32),
			 "7affd978741d3887958819c067ef0802a87100f88b6f47b9614505e192d3b23e");
}
END_TEST

static size_t write_segment(const void *payload, size_t payload_bytes, uint8_t *segment, size_t room)
{
	FILE *out = fmemopen(segment, room, "w");
	size_t bytes;

	ck_assert_ptr_nonnull(out);
	ck_assert(!rvp_failed(
	    rvp_rvf_segment_write(out, "it", &digests, RVP_RVF_WITNESS, 1, payload, payload_bytes)));
	bytes = (size_t)ftell(out);
	fclose(out);
	return bytes;
}

START_TEST(a_segment_has_the_pinned_bytes)
{
	uint8_t entries[2][RVP_RVF_ENTRY_BYTES], segment[512];
	struct rvp_rvf_header header;
	char text[RVP_HEX_TEXT_BYTES];

	make_chain(entries);
	ck_assert_uint_eq(write_segment(entries, sizeof entries, segment, sizeof segment), 256);
	ck_assert_str_eq(hex_of(RVP_SHA256, segment, 256, 32),
			 "75769f63cbfd34c619ea800d3a6223553c6dba2d81ac1238218869a0dcd40989");
	ck_assert_int_eq(memcmp(segment, "SFVR\x01\x0a\0\0", 8), 0);
	rvp_rvf_header_read(&header, segment);
	ck_assert_uint_eq(header.pad_bytes, 46);
	ck_assert_uint_eq(header.payload_bytes, 146);
	rvp_hex(segment + 40, text);
	ck_assert_int_eq(strncmp(text, "e48ccf2dc37983c6bd4b97e2b3565002", 32), 0);
}
END_TEST

START_TEST(an_empty_payload_is_a_segment_of_a_header)
{
	uint8_t segment[256];
	char text[RVP_HEX_TEXT_BYTES];

	ck_assert_uint_eq(write_segment("", 0, segment, sizeof segment), 64);
	rvp_hex(segment + 40, text);
	ck_assert_int_eq(strncmp(text, "46b9dd2b0ba88d13233b3feb743eeb24", 32), 0);
}
END_TEST

START_TEST(a_header_reads_back_as_it_was_written)
{
	uint8_t bytes[RVP_RVF_UNIT_BYTES], again[RVP_RVF_UNIT_BYTES];
	struct rvp_rvf_header header;

	for (int i = 0; i < RVP_RVF_UNIT_BYTES; i++)
		bytes[i] = (uint8_t)(i * 37 + 11);
	rvp_rvf_header_read(&header, bytes);
	rvp_rvf_header_write(&header, again);
	ck_assert_mem_eq(bytes, again, sizeof bytes);
}
END_TEST

START_TEST(a_changed_entry_breaks_the_chain_unless_it_is_the_last)
{
	for (int changed = 0; changed < 2 * RVP_RVF_ENTRY_BYTES; changed++) {
		uint8_t entries[2][RVP_RVF_ENTRY_BYTES];
		struct rvp_rvf_chain chain;
		bool is_whole = true, is_seen = changed < RVP_RVF_ENTRY_BYTES + RVP_DIGEST_BYTES;

		make_chain(entries);
		((uint8_t *)entries)[changed] ^= 4;
		ck_assert(rvp_rvf_chain_open(&chain, &digests));
		for (int i = 0; i < 2; i++)
			is_whole &= rvp_rvf_chain_follow(&chain, entries[i]);
		ck_assert_msg(is_whole != is_seen, "byte %d", changed);
		rvp_rvf_chain_close(&chain);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("prove");
	TCase *tests = tcase_create("bytes");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, hashes_are_those_of_their_standards);
	tcase_add_test(tests, fingerprints_are_those_of_ruvector_profiler);
	tcase_add_test(tests, strings_are_escaped_as_serde_json_does);
	tcase_add_test(tests, a_chain_has_the_pinned_bytes);
	tcase_add_test(tests, a_segment_has_the_pinned_bytes);
	tcase_add_test(tests, an_empty_payload_is_a_segment_of_a_header);
	tcase_add_test(tests, a_header_reads_back_as_it_was_written);
	tcase_add_test(tests, a_changed_entry_breaks_the_chain_unless_it_is_the_last);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
