/* SPDX-License-Identifier: MIT */
/* check_text_style.c: when there is colour, how wide text is, and that no name from a program can steer a
 * terminal. */
#include "report/text_style.h"

#include "report/symbols.h"
#include "report/text_json.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static char printed[512];

/* What `print` prints of `text` into `columns`. */
static const char *print(unsigned (*how)(FILE *, const char *, unsigned), const char *text, unsigned columns)
{
	FILE *file = fmemopen(printed, sizeof printed, "w");
	unsigned said = how(file, text, columns);

	fclose(file);
	ck_assert_uint_eq(said, rvp_text_columns(printed));
	return printed;
}

START_TEST(control_characters_and_broken_text_are_question_marks)
{
	ck_assert_str_eq(print(rvp_print_safely, "a\033[31mb\nc\177", 0), "a?[31mb?c?");
	ck_assert_str_eq(print(rvp_print_safely, "\302\233x", 0), "?x");           /* U+009B: CSI */
	ck_assert_str_eq(print(rvp_print_safely, "\342\200\256evil", 0), "?evil"); /* U+202E: right to left */
	ck_assert_str_eq(print(rvp_print_safely, "\377\300\200\355\240\200z", 0),
			 "??????z");                               /* broken, overlong, half */
	ck_assert_str_eq(print(rvp_print_safely, "\303", 0), "?"); /* cut */
	ck_assert_str_eq(print(rvp_print_safely, "Z\303\274rich", 0), "Z\303\274rich");
}
END_TEST

START_TEST(text_is_cut_to_its_columns)
{
	ck_assert_str_eq(print(rvp_print_safely, "abcdefghij", 10), "abcdefghij");
	ck_assert_str_eq(print(rvp_print_safely, "abcdefghijk", 10), "abcdefg...");
	ck_assert_str_eq(print(rvp_print_safely, "abcdefghijk", 2), "ab");
	ck_assert_str_eq(print(rvp_print_safely_end, "abcdefghijk", 10), "...efghijk");
	ck_assert_str_eq(print(rvp_print_safely_end, "abc", 10), "abc");
	ck_assert_uint_eq(rvp_text_columns("\346\227\245\346\234\254"), 4); /* two wide characters */
	ck_assert_str_eq(print(rvp_print_safely, "\346\227\245\346\234\254abcdefgh", 6), "\346\227\245...");
}
END_TEST

static int terminal(unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int leader = posix_openpt(O_RDWR | O_NOCTTY), fd;

	ck_assert_int_ge(leader, 0);
	ck_assert_int_eq(grantpt(leader) | unlockpt(leader), 0);
	fd = open(ptsname(leader), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ioctl(fd, TIOCSWINSZ, &size), 0);
	return fd;
}

static void clear_environment(void)
{
	unsetenv("NO_COLOR");
	unsetenv("FORCE_COLOR");
	unsetenv("CLICOLOR_FORCE");
	unsetenv("COLUMNS");
	setenv("TERM", "xterm", 1);
}

START_TEST(colour_follows_option_then_environment_then_terminal)
{
	int tty = terminal(100), pipe_end = open("/dev/null", O_WRONLY);

	clear_environment();
	ck_assert(rvp_style_for(tty, RVP_COLOR_AUTO).has_color);
	ck_assert(!rvp_style_for(pipe_end, RVP_COLOR_AUTO).has_color);
	ck_assert(rvp_style_for(pipe_end, RVP_COLOR_ALWAYS).has_color);
	ck_assert(!rvp_style_for(tty, RVP_COLOR_NEVER).has_color);
	setenv("FORCE_COLOR", "1", 1);
	ck_assert(rvp_style_for(pipe_end, RVP_COLOR_AUTO).has_color);
	setenv("NO_COLOR", "1", 1);
	ck_assert(!rvp_style_for(tty, RVP_COLOR_AUTO).has_color);
	ck_assert(rvp_style_for(tty, RVP_COLOR_ALWAYS).has_color);
	setenv("NO_COLOR", "", 1);
	unsetenv("FORCE_COLOR");
	ck_assert(rvp_style_for(tty, RVP_COLOR_AUTO).has_color);
	setenv("TERM", "dumb", 1);
	ck_assert(!rvp_style_for(tty, RVP_COLOR_AUTO).has_color);
}
END_TEST

START_TEST(only_a_terminal_has_a_width)
{
	int tty = terminal(100);

	clear_environment();
	ck_assert_uint_eq(rvp_style_for(tty, RVP_COLOR_AUTO).width, 100);
	setenv("COLUMNS", "70", 1);
	ck_assert_uint_eq(rvp_style_for(tty, RVP_COLOR_AUTO).width, 70);
	setenv("COLUMNS", "1", 1);
	ck_assert_uint_eq(rvp_style_for(tty, RVP_COLOR_AUTO).width, 40);
	ck_assert_uint_eq(rvp_style_for(open("/dev/null", O_WRONLY), RVP_COLOR_AUTO).width, 0);
}
END_TEST

START_TEST(color_words)
{
	enum rvp_color_choice choice = RVP_COLOR_AUTO;

	ck_assert(rvp_color_choice_of("never", &choice));
	ck_assert_int_eq(choice, RVP_COLOR_NEVER);
	ck_assert(!rvp_color_choice_of("yes", &choice));
	ck_assert(!rvp_color_choice_of("", &choice));
}
END_TEST

static const char *json(const char *text)
{
	FILE *file = fmemopen(printed, sizeof printed, "w");

	rvp_json_text(file, text);
	fclose(file);
	return printed;
}

START_TEST(json_text_is_json_whatever_the_program_called_itself)
{
	ck_assert_str_eq(json("a\"b\\c\n\033"), "\"a\\\"b\\\\c\\u000a\\u001b\"");
	ck_assert_str_eq(json("Z\303\274rich"), "\"Z\303\274rich\"");
	ck_assert_str_eq(json("\377x\355\240\200"), "\"\\ufffdx\\ufffd\\ufffd\\ufffd\"");
	ck_assert_str_eq(json("\303"), "\"\\ufffd\"");
}
END_TEST

START_TEST(paths_are_tidied)
{
	static const char *const paths[][2] = {
	    {"/build/../src/./a.c", "/src/a.c"},
	    {"/a//b/c/../../d.c", "/a/d.c"},
	    {"/../../x", "/x"},
	    {"/..", "/"},
	    {"/a/..b/c..", "/a/..b/c.."},
	    {"src/../a.c", "a.c"},
	    {"../../a.c", "../../a.c"},
	    {"./elf/./b/../../../c.c", "../c.c"},
	    {"<frozen a/../b>", "<frozen a/../b>"},
	    {"/a/", "/a"},
	    {"", ""},
	};
	char tidy[64];

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		ck_assert_str_eq(rvp_path_tidy(paths[i][0], tidy, sizeof tidy), paths[i][1]);
	ck_assert_str_eq(rvp_path_tidy("/0123456789/0123456789", tidy, 12), "/0123456789");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text_style");
	TCase *tests = tcase_create("style");

	tcase_add_test(tests, control_characters_and_broken_text_are_question_marks);
	tcase_add_test(tests, text_is_cut_to_its_columns);
	tcase_add_test(tests, colour_follows_option_then_environment_then_terminal);
	tcase_add_test(tests, only_a_terminal_has_a_width);
	tcase_add_test(tests, color_words);
	tcase_add_test(tests, json_text_is_json_whatever_the_program_called_itself);
	tcase_add_test(tests, paths_are_tidied);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
