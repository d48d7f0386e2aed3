/* SPDX-License-Identifier: MIT */
/* The loader's list in a child by fork: not asked for where somebody of ours had its lock at that moment, for
 * it would never be given. */
#include "preload/loader_list.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER = 7, HANGS_AFTER_S = 5 };

static int answer(struct dl_phdr_info *info, size_t bytes, void *argument)
{
	(void)info, (void)bytes, (void)argument;
	return ANSWER;
}

/* What a child gets; -1: it hangs. */
static int list_of_child(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		alarm(HANGS_AFTER_S);
		rvp_loader_list_after_fork();
		_exit(rvp_loader_list(answer, NULL));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int fork_within(struct dl_phdr_info *info, size_t bytes, void *result)
{
	(void)info, (void)bytes;
	*(int *)result = list_of_child();
	return 1;
}

START_TEST(a_child_of_a_moment_inside_never_asks)
{
	int within = -1;

	ck_assert_int_eq(rvp_loader_list(answer, NULL), ANSWER);
	ck_assert_int_eq(list_of_child(), ANSWER);
	ck_assert_int_eq(rvp_loader_list(fork_within, &within), 1);
	ck_assert_int_eq(within, 0);
	ck_assert_int_eq(list_of_child(), ANSWER); /* the parent is as it was */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("loader_list");
	TCase *cases = tcase_create("fork");

	tcase_add_test(cases, a_child_of_a_moment_inside_never_asks);
	tcase_set_timeout(cases, 30);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
