/* SPDX-License-Identifier: MIT */
/* What the programs that this one starts find in their environment. The library is this test program itself:
 * its name is what LD_PRELOAD is searched for. */
#include "preload/followers.h"
#include "tests/unit/preload_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *own_path;
static char us[256]; /* our file's name without folders */

/* What becomes of LD_PRELOAD=`list`, in which '@' stands for our name; in the answer '@' stands for our path.
 */
static const char *prepared(const char *list, bool follow)
{
	static char text[16384];
	char *at = text;

	for (; *list; list++)
		at += *list == '@' ? sprintf(at, "%s", us) : sprintf(at, "%c", *list);
	*at = 0;
	setenv("LD_PRELOAD", text, 1);
	rvp_process.options.follow = follow;
	rvp_followers_prepare();
	if (!getenv("LD_PRELOAD"))
		return "(unset)";
	strcpy(text, getenv("LD_PRELOAD"));
	while ((at = strstr(text, rvp_followers_library()))) {
		*at = '@';
		memmove(at + 1, at + strlen(rvp_followers_library()),
			strlen(at + strlen(rvp_followers_library())) + 1);
	}
	return text;
}

START_TEST(our_word_becomes_absolute)
{
	ck_assert_str_eq(prepared("@", true), "@");
	ck_assert_int_eq(getenv("LD_PRELOAD")[0], '/');
	ck_assert_str_eq(prepared("./@", true), "@");
	ck_assert_str_eq(prepared("some/folder/@", true), "@");
	ck_assert_str_eq(prepared("/$LIB/@", true), "@");
}
END_TEST

START_TEST(the_others_stay_in_their_order)
{
	ck_assert_str_eq(prepared("libfirst.so:@:/lib/last.so", true), "libfirst.so:@:/lib/last.so");
	ck_assert_str_eq(prepared("libfirst.so @ /lib/last.so", true), "libfirst.so:@:/lib/last.so");
	ck_assert_str_eq(prepared(" :libfirst.so:: ./@ :", true), "libfirst.so:@");
	ck_assert_str_eq(prepared("@ libnext.so", true), "@:libnext.so");
}
END_TEST

START_TEST(a_list_without_us_is_left_alone)
{
	static const char *const lists[] = {
	    "libother.so", "a.so  b.so::c.so", "x@", "@x", "/@/other.so", "", ":"};

	for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
		for (int follow = 0; follow < 2; follow++) {
			char before[512] = "", *at = before;

			for (const char *from = lists[i]; *from; from++)
				at += *from == '@' ? sprintf(at, "%s", us) : sprintf(at, "%c", *from);
			prepared(lists[i], follow);
			ck_assert_str_eq(getenv("LD_PRELOAD"), before);
		}
	unsetenv("LD_PRELOAD");
	rvp_followers_prepare();
	ck_assert_ptr_null(getenv("LD_PRELOAD"));
}
END_TEST

START_TEST(without_following_only_we_are_taken_out)
{
	ck_assert_str_eq(prepared("@", false), "(unset)");
	ck_assert_str_eq(prepared("libfirst.so:@:/lib/last.so", false), "libfirst.so:/lib/last.so");
	ck_assert_str_eq(prepared("./@ libnext.so", false), "libnext.so");
	ck_assert_str_eq(prepared("libnext.so:/a/@", false), "libnext.so");
	ck_assert_str_eq(prepared("@:@", false), "(unset)");
}
END_TEST

START_TEST(the_folder_is_told_or_taken_back)
{
	strcpy(rvp_process.folder, "/some/run");
	rvp_process.options.follow = true;
	rvp_followers_prepare();
	ck_assert_str_eq(getenv("RVPROF_RUN_DIR"), "/some/run");
	rvp_process.options.follow = false;
	rvp_followers_prepare();
	ck_assert_ptr_null(getenv("RVPROF_RUN_DIR"));
}
END_TEST

/* As many short words of ours as are looked at: none of them may write past the end. */
START_TEST(many_words_of_ours_are_one)
{
	char list[4096] = "libfirst.so";

	for (size_t words = 0; words < 3900 / (strlen(us) + 1); words++)
		strcat(list, ":@");
	strcat(list, ":z.so");
	ck_assert_str_eq(prepared(list, true), "libfirst.so:@:z.so");
	ck_assert_str_eq(prepared(list, false), "libfirst.so:z.so");
}
END_TEST

START_TEST(a_list_beyond_the_room_is_left_alone)
{
	static char list[9000];

	memset(list, 'x', sizeof list - 8);
	strcpy(list + sizeof list - 8, ":@");
	prepared(list, true);
	ck_assert_uint_eq(strlen(getenv("LD_PRELOAD")), strlen(list) - 1 + strlen(us));
}
END_TEST

/* LD_PRELOAD cannot name a file in such a folder but from within it: made absolute it would be two wrong
 * words. This program under such a path, by its first argument. */
static int stays_as_it_is(void)
{
	setenv("LD_PRELOAD", "libfirst.so:./a_library", 1);
	rvp_process.options.follow = true;
	rvp_followers_prepare();
	return strcmp(getenv("LD_PRELOAD"), "libfirst.so:./a_library") != 0 ||
	       strcmp(rvp_followers_library(), own_path) != 0;
}

START_TEST(a_path_that_cannot_be_said_is_not)
{
	static const char *const names[] = {"a folder", "a:folder"};

	for (int i = 0; i < 2; i++) {
		char folder[] = "/tmp/rvprof-followers.XXXXXX", path[128];
		int status;

		ck_assert_ptr_nonnull(mkdtemp(folder));
		ck_assert_int_eq(chdir(folder), 0);
		ck_assert_int_eq(mkdir(names[i], 0700), 0);
		snprintf(path, sizeof path, "%s/%s/a_library", folder, names[i]);
		if (fork() == 0) {
			execl("/proc/self/exe", path, "--spaced", NULL);
			_exit(99);
		}
		wait(&status);
		rmdir(names[i]);
		rmdir(folder);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

static struct rvp_tree tree;

static uint64_t unfollowed(char *preload, char *folder)
{
	char *environment[] = {"HOME=/", preload, folder, NULL};

	tree.unfollowed = 0;
	rvp_followers_check(environment);
	return tree.unfollowed;
}

START_TEST(a_program_that_will_not_be_seen_is_counted)
{
	char with_us[600], with_another[600], folder[] = "RVPROF_RUN_DIR=/some/run";

	snprintf(with_us, sizeof with_us, "LD_PRELOAD=libother.so:%s", rvp_followers_library());
	snprintf(with_another, sizeof with_another, "LD_PRELOAD=/%s/libother.so", us);
	rvp_process.tree = &tree;
	rvp_process.state = RVP_READY;
	ck_assert_uint_eq(unfollowed(with_us, folder), 0);
	ck_assert_uint_eq(unfollowed(with_us, "TERM=dumb"), 1);
	ck_assert_uint_eq(unfollowed("TERM=dumb", folder), 1);
	ck_assert_uint_eq(unfollowed(with_another, folder), 1);
	rvp_followers_check(NULL);
	ck_assert_uint_eq(tree.unfollowed, 2);
	rvp_process.state = RVP_OFF;
	ck_assert_uint_eq(unfollowed("TERM=dumb", "TERM=dumb"), 0);
}
END_TEST

static int run_all(void)
{
	Suite *suite = suite_create("followers");
	TCase *cases = tcase_create("followers");

	unsetenv("LD_PRELOAD");
	rvp_followers_prepare();
	snprintf(us, sizeof us, "%s", strrchr(rvp_followers_library(), '/') + 1);
	tcase_add_test(cases, our_word_becomes_absolute);
	tcase_add_test(cases, the_others_stay_in_their_order);
	tcase_add_test(cases, a_list_without_us_is_left_alone);
	tcase_add_test(cases, without_following_only_we_are_taken_out);
	tcase_add_test(cases, the_folder_is_told_or_taken_back);
	tcase_add_test(cases, many_words_of_ours_are_one);
	tcase_add_test(cases, a_list_beyond_the_room_is_left_alone);
	tcase_add_test(cases, a_path_that_cannot_be_said_is_not);
	tcase_add_test(cases, a_program_that_will_not_be_seen_is_counted);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}

int main(int argument_count, char **arguments)
{
	own_path = arguments[0];
	return argument_count > 1 ? stays_as_it_is() : run_all();
}
