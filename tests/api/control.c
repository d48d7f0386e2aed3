/* SPDX-License-Identifier: MIT */
/* control.c: recording stopped and restarted among blocks of known sizes; outputs in the middle of the run. Blocks that are
 * born in the pause: 2 of 200 and 150 KiB. */
#include <rvprof.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { KIB = 1024 };

int main(int count, char **words)
{
	void *before = malloc(300 * KIB), *in_pause, *after, *moved;
	volatile size_t too_much = SIZE_MAX / 4;
	int child;

	rvprof_start(1); /* it is on: nothing changes */
	rvprof_stop();
	in_pause = malloc(200 * KIB);
	free(before);
	free(malloc(150 * KIB));
	rvprof_scope_begin("weights", "in the pause");
	rvprof_scope_end();
	rvprof_start(2);
	after = malloc(100 * KIB);
	rvprof_clear();
	moved = realloc(in_pause, too_much); /* fails: the block lives on */
	moved = realloc(moved ? moved : in_pause, 250 * KIB);
	rvprof_clear();
	free(moved);
	printf("dump %d\n", rvprof_dump(count > 1 ? words[1] : NULL));
	printf("dump into nothing %d\n", rvprof_dump("no/such/folder"));
	child = waitpid(-1, NULL, WNOHANG | __WALL);
	printf("children %d %d\n", child, errno == ECHILD);
	free(malloc(50 * KIB));
	free(after);
	return 0;
}
