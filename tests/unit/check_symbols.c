/* SPDX-License-Identifier: MIT */
/* check_symbols.c: names, files, lines and inlines of code addresses, with binutils' addr2line as the
 * referee.
 *
 * The fixtures (symbols_fixture.cc, symbols_fixture.rs) are built by meson; their paths and that of
 * librvprof_symbols.so come as -D. Every byte of the chosen functions is looked up by both.
 *
 * Where addr2line itself is wrong the function is not among the chosen: it names a function that was inlined
 * and has no linkage name (a lambda) after the one around it. */
#include "report/symbols.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 16384, ADDRESSES_MAX = 20000, TEXT_BYTES = 1 << 16, SKIPPED = 77 };

static struct rvp_symbols *symbols;

static void open_symbols(void)
{
	symbols = rvp_symbols_open(SYMBOLS_MODULE_PATH);
	ck_assert_ptr_nonnull(symbols);
	ck_assert_msg(!rvp_symbols_complaint(symbols), "%s", rvp_symbols_complaint(symbols));
}

static void close_symbols(void)
{
	rvp_symbols_close(symbols);
}

/* The addresses of all symbols of `path` whose demangled name has one of `names` (NULL ends them) in it. */
static size_t addresses_of(const char *path, const char *const *names, uint64_t *addresses)
{
	char command[512], line[LINE_BYTES];
	size_t count = 0;
	FILE *nm;

	snprintf(command, sizeof command, "nm -C -S --defined-only '%s'", path);
	nm = popen(command, "r");
	while (fgets(line, sizeof line, nm)) {
		uint64_t low, bytes;
		char type;
		bool is_wanted = false;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c", &low, &bytes, &type) != 3 ||
		    !strchr("tTwW", type))
			continue;
		for (const char *const *name = names; *name; name++)
			is_wanted |= strstr(line, *name) != NULL;
		for (uint64_t i = 0; is_wanted && i < bytes && count < ADDRESSES_MAX; i++)
			addresses[count++] = low + i;
	}
	pclose(nm);
	return count;
}

/* addr2line's answer is cut into a text like ours: "function\nfile:line\n" for every level. */
static void read_referee(FILE *referee, char *held, char *text)
{
	char line[LINE_BYTES], *mark;

	*text = 0;
	while (fgets(line, sizeof line, referee)) {
		if (!strncmp(line, "0x", 2)) {
			strcpy(held, line);
			return;
		}
		mark = strstr(line, " (discriminator");
		if (mark)
			strcpy(mark, "\n");
		strcat(text, line);
	}
	*held = 0;
}

static void write_ours(const struct rvp_frame_list *list, char *text)
{
	*text = 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct rvp_frame *frame = &list->frames[i];
		char line[16] = "?";

		if (frame->line)
			snprintf(line, sizeof line, "%u", frame->line);
		text +=
		    sprintf(text, "%s\n%s:%s\n", frame->kind == RVP_FRAME_FUNCTION ? frame->function : "??",
			    frame->file ? frame->file : "??", line);
	}
}

/* Asks addr2line about all addresses; the caller reads. */
static FILE *ask_referee(const char *path, const uint64_t *addresses, size_t count, char *list)
{
	char command[1024];
	FILE *file;

	strcpy(list, "/tmp/check_symbols.XXXXXX");
	file = fdopen(mkstemp(list), "w");
	for (size_t i = 0; i < count; i++)
		fprintf(file, "0x%" PRIx64 "\n", addresses[i]);
	fclose(file);
	snprintf(command, sizeof command, "addr2line -a -i -f -C -e '%s' < %s", path, list);
	return popen(command, "r");
}

/* Compares every address; returns how many had something inlined. */
static size_t compare(const char *path, const uint64_t *addresses, size_t count)
{
	size_t file = rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = path});
	char list[64], held[LINE_BYTES], *theirs = malloc(TEXT_BYTES * 4), *ours = malloc(TEXT_BYTES * 4);
	FILE *referee = ask_referee(path, addresses, count, list);
	size_t inlined = 0;

	read_referee(referee, held, theirs); /* up to the first address */
	for (size_t i = 0; i < count; i++) {
		struct rvp_frame_list frames = rvp_symbols_find(symbols, file, 0, addresses[i], true);

		ck_assert_uint_eq(strtoull(held, NULL, 16), addresses[i]);
		read_referee(referee, held, theirs);
		write_ours(&frames, ours);
		ck_assert_msg(!strcmp(ours, theirs), "at 0x%" PRIx64 " of %s:\nours\n%s\nreferee\n%s",
			      addresses[i], path, ours, theirs);
		inlined += frames.count > 1;
	}
	pclose(referee);
	unlink(list);
	free(theirs);
	free(ours);
	return inlined;
}

START_TEST(cplusplus_is_as_addr2line_says)
{
	static const char *const names[] = {"hidden(", "fixture::outer(", "::append(", "plain_c_name", NULL};
	uint64_t *addresses = calloc(ADDRESSES_MAX, sizeof *addresses);
	size_t count = addresses_of(FIXTURE_CC, names, addresses);

	ck_assert_uint_gt(count, 150);
	ck_assert_uint_gt(compare(FIXTURE_CC, addresses, count), 20);
	free(addresses);
}
END_TEST

START_TEST(rust_is_as_addr2line_says)
{
	static const char *const names[] = {"symbols_fixture", NULL};
	uint64_t *addresses = calloc(ADDRESSES_MAX, sizeof *addresses);
	size_t count = addresses_of(FIXTURE_RS, names, addresses);

	ck_assert_uint_gt(count, 100);
	ck_assert_uint_gt(compare(FIXTURE_RS, addresses, count), 20);
	free(addresses);
}
END_TEST

/* Where the line table stands on the line with `text` in the fixture's source. */
static uint32_t line_with(const char *text)
{
	FILE *file = fopen(FIXTURE_CC_SOURCE, "r");
	char line[LINE_BYTES];
	uint32_t number = 0, found = 0;

	while (file && fgets(line, sizeof line, file) && !found) {
		number++;
		if (strstr(line, text))
			found = number;
	}
	fclose(file);
	return found;
}

/* The first address of the function, and behind its last byte. */
static void span_of(const char *name, uint64_t *low, uint64_t *high)
{
	const char *const names[] = {name, NULL};
	uint64_t *addresses = calloc(ADDRESSES_MAX, sizeof *addresses);
	size_t count = addresses_of(FIXTURE_CC, names, addresses);

	ck_assert_uint_gt(count, 0);
	*low = addresses[0];
	*high = addresses[count - 1] + 1;
	free(addresses);
}

START_TEST(a_call_in_an_inlined_function_has_the_whole_chain)
{
	size_t file = rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = FIXTURE_CC});
	uint32_t call = line_with("void *block = hidden(bytes);"),
		 middle = line_with("return innermost(bytes + 1);");
	uint32_t outer = line_with("void *first = middle(bytes);");
	uint64_t low, high;
	size_t seen = 0;

	span_of("fixture::outer(", &low, &high);
	for (uint64_t at = low; at < high; at++) {
		struct rvp_frame_list list = rvp_symbols_find(symbols, file, 0, at, true);

		if (list.count != 3 || list.frames[0].line != call)
			continue;
		seen++;
		ck_assert_str_eq(list.frames[0].function, "fixture::innermost(unsigned long)");
		ck_assert_str_eq(list.frames[1].function, "fixture::middle(unsigned long)");
		ck_assert_str_eq(list.frames[2].function, "fixture::outer(unsigned long)");
		ck_assert_uint_eq(list.frames[1].line, middle);
		ck_assert_uint_eq(list.frames[2].line, outer);
		ck_assert(list.frames[0].is_inline && list.frames[1].is_inline && !list.frames[2].is_inline);
	}
	ck_assert_uint_gt(seen, 0);
}
END_TEST

START_TEST(a_return_address_is_looked_up_inside_the_call)
{
	size_t file = rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = FIXTURE_CC});
	uint64_t low, high, bias = 0x7f0000000000;
	struct rvp_frame_list list;

	span_of("plain_c_name", &low, &high);
	list = rvp_symbols_find(symbols, file, bias, bias + high, false);
	ck_assert_str_eq(list.frames[list.count - 1].function, "plain_c_name");
	list = rvp_symbols_find(symbols, file, bias, bias + low, false);
	ck_assert_str_ne(list.frames[list.count - 1].function, "plain_c_name");
	list = rvp_symbols_find(symbols, file, bias, bias + low, true);
	ck_assert_str_eq(list.frames[list.count - 1].function, "plain_c_name");
	ck_assert_uint_eq(list.frames[0].offset, low);
}
END_TEST

/* The build-id of an ELF file, read by hand: the referee for what libdw is told. */
static size_t build_id_of(const char *path, uint8_t *build_id)
{
	static uint8_t bytes[1 << 20];
	FILE *file = fopen(path, "rb");
	size_t length = fread(bytes, 1, sizeof bytes, file), count = 0;
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;

	fclose(file);
	for (int i = 0; i < header->e_phnum && !count; i++) {
		const Elf64_Phdr *part = (const Elf64_Phdr *)(bytes + header->e_phoff) + i;

		for (uint64_t at = part->p_offset;
		     part->p_type == PT_NOTE && at + 16 < part->p_offset + part->p_filesz;) {
			const Elf64_Nhdr *note = (const Elf64_Nhdr *)(bytes + at);
			uint64_t text = at + sizeof *note + ((note->n_namesz + 3) & ~3u);

			ck_assert_uint_lt(text, length);
			if (note->n_type == NT_GNU_BUILD_ID && !memcmp(bytes + at + sizeof *note, "GNU", 4)) {
				count = note->n_descsz;
				memcpy(build_id, bytes + text, count);
			}
			at = text + ((note->n_descsz + 3) & ~3u);
		}
	}
	return count;
}

static struct rvp_frame_list find_with(const struct rvp_symbols_identity *identity)
{
	uint64_t low, high;

	span_of("plain_c_name", &low, &high);
	return rvp_symbols_find(symbols, rvp_symbols_add_file(symbols, identity), 0, low, true);
}

START_TEST(another_build_id_gives_no_name_but_says_replaced)
{
	uint8_t build_id[64] = {0};
	size_t length = build_id_of(FIXTURE_CC, build_id);
	struct rvp_symbols_identity identity = {.path = FIXTURE_CC,
						.build_id = build_id,
						.build_id_bytes = length,
						.file_bytes = 1,
						.modified_ns = 1};
	struct rvp_frame_list list = find_with(&identity);
	const char *path;

	ck_assert_uint_eq(length, 20);
	ck_assert_str_eq(list.frames[list.count - 1].function, "plain_c_name");
	build_id[3] ^= 1;
	list = find_with(&identity);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_int_eq(list.frames[0].kind, RVP_FRAME_NAMELESS);
	ck_assert_ptr_nonnull(strstr(list.frames[0].function, "+0x"));
	ck_assert_ptr_nonnull(strstr(list.frames[0].function, ", binary replaced since]"));
	ck_assert_uint_eq(rvp_symbols_files_in_state(symbols, RVP_SYMBOLS_REPLACED, &path, 1), 1);
	ck_assert_str_eq(path, FIXTURE_CC);
}
END_TEST

START_TEST(without_a_build_id_size_and_time_tell_a_replaced_file)
{
	struct stat now;
	struct rvp_symbols_identity identity = {.path = FIXTURE_CC};
	struct rvp_frame_list list;

	ck_assert_int_eq(stat(FIXTURE_CC, &now), 0);
	identity.file_bytes = (uint64_t)now.st_size;
	identity.modified_ns = (uint64_t)now.st_mtim.tv_sec * 1000000000u + (uint64_t)now.st_mtim.tv_nsec;
	list = find_with(&identity);
	ck_assert_int_eq(list.frames[0].kind, RVP_FRAME_FUNCTION);
	identity.modified_ns++;
	list = find_with(&identity);
	ck_assert_int_eq(list.frames[0].kind, RVP_FRAME_NAMELESS);
	identity.modified_ns--;
	identity.file_bytes++;
	list = find_with(&identity);
	ck_assert_int_eq(list.frames[0].kind, RVP_FRAME_NAMELESS);
}
END_TEST

START_TEST(a_file_that_is_gone_or_none_gives_module_and_offset)
{
	static const char *const paths[] = {
	    "/nonexistent/libgone.so", "/etc/passwd", "/dev/null", "/", "[vdso]", "/tmp/libx.so (deleted)"};
	static const char *const names[] = {"[libgone.so+0x1234]", "[passwd+0x1234]",
					    "[null+0x1234]",       "[/+0x1234]",
					    "[[vdso]+0x1234]",     "[libx.so (deleted)+0x1234]"};

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		size_t file = rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = paths[i]});
		struct rvp_frame_list list = rvp_symbols_find(symbols, file, 0x1000, 0x2234, false);

		ck_assert_uint_eq(list.count, 1);
		ck_assert_str_eq(list.frames[0].function, names[i]);
		ck_assert_ptr_null(list.frames[0].file);
	}
}
END_TEST

START_TEST(an_address_in_no_module_is_unknown)
{
	struct rvp_frame_list list = rvp_symbols_find_nowhere(symbols, 0x7f1234);

	ck_assert_uint_eq(list.count, 1);
	ck_assert_str_eq(list.frames[0].function, "[unknown 0x7f1234]");
	ck_assert_int_eq(list.frames[0].kind, RVP_FRAME_UNKNOWN);
}
END_TEST

/* Functions without debug information: from .symtab, and in a stripped file from .dynsym, but never the
 * nearest one of code that no symbol covers. */
START_TEST(symbol_tables_speak_for_their_own_bytes_only)
{
	char stripped[] = "/tmp/check_symbols_stripped.XXXXXX", command[1024];
	struct rvp_frame_list list;
	uint64_t low, high;
	size_t file;

	close(mkstemp(stripped));
	snprintf(command, sizeof command, "strip -g -o %s '%s'", stripped, FIXTURE_CC);
	ck_assert_int_eq(system(command), 0);
	span_of("fixture::outer(", &low, &high);
	file = rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = stripped});
	list = rvp_symbols_find(symbols, file, 0, low, true);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_str_eq(list.frames[0].function, "fixture::outer(unsigned long)");
	ck_assert_ptr_null(list.frames[0].file);
	unlink(stripped);
	span_of("plain_c_name", &low, &high);
	snprintf(command, sizeof command, "strip -s -K plain_c_name -o %s.one '%s'", stripped, FIXTURE_CC);
	ck_assert_int_eq(system(command), 0);
	snprintf(command, sizeof command, "%s.one", stripped);
	file = rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = command});
	ck_assert_int_eq(rvp_symbols_find(symbols, file, 0, low - 1, true).frames[0].kind,
			 RVP_FRAME_NAMELESS);
	ck_assert_str_eq(rvp_symbols_find(symbols, file, 0, low, true).frames[0].function, "plain_c_name");
	ck_assert_str_eq(rvp_symbols_find(symbols, file, 0, high - 1, true).frames[0].function,
			 "plain_c_name");
	ck_assert_int_eq(rvp_symbols_find(symbols, file, 0, high, true).frames[0].kind, RVP_FRAME_NAMELESS);
	unlink(command);
}
END_TEST

START_TEST(without_the_module_everything_has_module_and_offset)
{
	struct rvp_symbols *plain = rvp_symbols_open("/nonexistent/librvprof_symbols.so");
	size_t file = rvp_symbols_add_file(plain, &(struct rvp_symbols_identity){.path = FIXTURE_CC});
	struct rvp_frame_list list = rvp_symbols_find(plain, file, 0, 0x1234, true);

	ck_assert_ptr_nonnull(rvp_symbols_complaint(plain));
	ck_assert_ptr_nonnull(strstr(rvp_symbols_complaint(plain), "librvprof_symbols.so"));
	ck_assert_uint_eq(list.count, 1);
	ck_assert_ptr_nonnull(strstr(list.frames[0].function, "+0x1234]"));
	rvp_symbols_close(plain);
}
END_TEST

/* Examples: Itanium C++ ABI; Rust's RFC 2603 (v0) and its legacy scheme, whose hash is left out. */
START_TEST(names_are_demangled)
{
	static const char *const names[][2] = {
	    {"_ZNSt6vectorIiSaIiEE9push_backERKi",
	     "std::vector<int, std::allocator<int> >::push_back(int const&)"},
	    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
	    {"_RNvC6_123foo3bar", "123foo::bar"},
	    {"_RNvMNtCs1234_7mycrate3fooNtB2_3Bar3new", "<mycrate::foo::Bar>::new"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *readable = rvp_symbols_readable_name(symbols, names[i][0]);

		ck_assert_ptr_nonnull(readable);
		ck_assert_str_eq(readable, names[i][1]);
		free(readable);
	}
	ck_assert_ptr_null(rvp_symbols_readable_name(symbols, "malloc"));
	ck_assert_ptr_null(rvp_symbols_readable_name(symbols, "i"));
}
END_TEST

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The bar: a report of 1,000 frames well under a second. */
START_TEST(a_thousand_addresses_take_well_under_a_second)
{
	size_t file = rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = FIXTURE_CC});
	uint64_t low, high, begin;

	span_of("fixture::with_lambda", &low, &high);
	rvp_symbols_find(symbols, file, 0, low, true);
	begin = now_ns();
	for (uint64_t i = 0; i < 1000; i++)
		rvp_symbols_find(symbols, file, 0, low + i % (high - low), i < high - low);
	ck_assert_uint_lt(now_ns() - begin, 500000000);
}
END_TEST

START_TEST(the_same_question_gets_the_same_answer_from_the_cache)
{
	size_t file = rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = FIXTURE_CC});
	const struct rvp_frame *early;
	uint64_t low, high;

	span_of("fixture::outer(", &low, &high);
	early = rvp_symbols_find(symbols, file, 0, low, true).frames;
	for (uint64_t at = 0; at < 5000; at++) /* more than the cache begins with */
		rvp_symbols_find(symbols, file, 0, at + 1, true);
	ck_assert_ptr_eq(rvp_symbols_find(symbols, file, 0, low, true).frames, early);
	ck_assert_ptr_ne(rvp_symbols_find(symbols, file, 0, low, false).frames, early);
	ck_assert_uint_eq(file,
			  rvp_symbols_add_file(symbols, &(struct rvp_symbols_identity){.path = FIXTURE_CC}));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *tests = tcase_create("symbols");

	unsetenv("DEBUGINFOD_URLS");
	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, open_symbols, close_symbols);
	if (!*FIXTURE_CC) {
		fputs("check_symbols: no C++ compiler, so no fixture to look into\n", stderr);
		return SKIPPED;
	}
	tcase_add_test(tests, cplusplus_is_as_addr2line_says);
	if (*FIXTURE_RS)
		tcase_add_test(tests, rust_is_as_addr2line_says);
	tcase_add_test(tests, a_call_in_an_inlined_function_has_the_whole_chain);
	tcase_add_test(tests, a_return_address_is_looked_up_inside_the_call);
	tcase_add_test(tests, another_build_id_gives_no_name_but_says_replaced);
	tcase_add_test(tests, without_a_build_id_size_and_time_tell_a_replaced_file);
	tcase_add_test(tests, a_file_that_is_gone_or_none_gives_module_and_offset);
	tcase_add_test(tests, an_address_in_no_module_is_unknown);
	tcase_add_test(tests, symbol_tables_speak_for_their_own_bytes_only);
	tcase_add_test(tests, without_the_module_everything_has_module_and_offset);
	tcase_add_test(tests, names_are_demangled);
	tcase_add_test(tests, a_thousand_addresses_take_well_under_a_second);
	tcase_add_test(tests, the_same_question_gets_the_same_answer_from_the_cache);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
