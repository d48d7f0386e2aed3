/* SPDX-License-Identifier: MIT */
/* descriptors.c: what a program does with descriptors, none of which is ours to touch, and errno. */
#include "tests/life/programs/case.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* A server that closes all and then has 2,000 clients: if one of their numbers was ours, our next write would
 * go to a client. Each socket must be silent. */
static int closefrom_then_sockets(void)
{
	enum { PAIRS = 1000 };
	static int ends[PAIRS][2];
	struct rlimit limit;
	int loud = 0;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < 2 * PAIRS + 100) {
		say("limit is too low\n");
		return 77;
	}
	limit.rlim_cur = 2 * PAIRS + 10;
	setrlimit(RLIMIT_NOFILE, &limit);
	churn(10);
	closefrom(3);
	for (int i = 0; i < PAIRS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) != 0)
			return 96;
	churn(3000);
	for (int i = 0; i < PAIRS; i++)
		for (int end = 0; end < 2; end++) {
			char byte;

			loud += recv(ends[i][end], &byte, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN;
		}
	say("%d sockets that are not silent\n", loud);
	return 0;
}

/* By raw system calls and one by one, past every hook. */
static int close_behind_libc(void)
{
	struct rlimit limit;
	int silent = 1;

	getrlimit(RLIMIT_NOFILE, &limit);
	churn(10);
	for (unsigned i = 3; i < limit.rlim_cur; i++)
		syscall(3, i);
	for (unsigned i = 3; i < limit.rlim_cur && i < 3000; i++)
		if (open("/dev/null", O_RDWR) < 0)
			silent = 0;
	churn(3000);
	say("%d\n", silent);
	return 0;
}

/* A number that the program takes by dup2 is the program's, whatever was there. */
static int dup2_everywhere(void)
{
	struct rlimit limit;
	int ends[2], loud;
	char byte;

	if (pipe2(ends, O_NONBLOCK) != 0)
		return 96;
	getrlimit(RLIMIT_NOFILE, &limit);
	churn(3);
	for (unsigned i = 10; i < limit.rlim_cur; i++)
		if (dup2(ends[1], (int)i) != (int)i)
			return 97;
	churn(3000);
	loud = read(ends[0], &byte, 1) != -1;
	say("loud: %d\n", loud);
	return 0;
}

/* The lowest free number is what a program without us would get, at all times. */
static int lowest_number(void)
{
	int wrong = 0;

	for (int i = 0; i < 200; i++) {
		int fd = open("/dev/null", O_RDONLY);

		wrong += fd != 3;
		churn(1);
		close(fd);
	}
	say("%d wrong\n", wrong);
	return 0;
}

static void tell(const char *what, int kept)
{
	say("%s: errno is %d\n", what, kept);
}

#define KEPT(what, call)           \
	do {                       \
		errno = 1234;      \
		(void)(call);      \
		tell(what, errno); \
	} while (0)

/* errno after each hooked call, good or failed, is what libc leaves there. */
static int errno_is_kept(void)
{
	size_t volatile huge = (size_t)-1 / 2, overflow = (size_t)1 << 40;
	void *volatile block = NULL, *volatile map = NULL;
	void *aligned = NULL;
	int volatile bad = -1;

	KEPT("malloc", block = malloc(100));
	KEPT("realloc", block = realloc(block, 200000));
	KEPT("realloc that fails", map = realloc(block, huge));
	KEPT("reallocarray that fails", map = reallocarray(block, overflow, overflow));
	KEPT("free", free(block));
	KEPT("malloc that fails", block = malloc(huge));
	KEPT("calloc that fails", block = calloc(overflow, overflow));
	KEPT("posix_memalign, bad alignment", bad = posix_memalign(&aligned, 3, 100));
	KEPT("posix_memalign that fails", bad = posix_memalign(&aligned, 64, huge));
	KEPT("aligned_alloc", block = aligned_alloc(64, 128));
	KEPT("free", free(block));
	KEPT("memalign that fails", block = memalign(64, huge));
	KEPT("realloc to 0", block = realloc(malloc(10), 0));
	KEPT("mmap", map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	KEPT("mremap", map = mremap(map, 4096, 8192, MREMAP_MAYMOVE));
	KEPT("munmap", bad = munmap(map, 8192));
	KEPT("munmap that fails", bad = munmap((void *)1, 5));
	KEPT("mmap that fails", map = mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	KEPT("sbrk", map = sbrk(0));
	KEPT("close that fails", bad = close(-1));
	KEPT("dup2 that fails", bad = dup2(-1, 5));
	KEPT("close_range", bad = close_range(5000, 5001, 0));
	KEPT("execv that fails", bad = execv("/nonexistent", (char *const[]){(char *)"x", NULL}));
	return 0;
}

/* What a child inherits that is not a child of ours too: none of our descriptors. */
static int inherited_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int low = 0;

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		low += entry->d_name[0] != '.' && atoi(entry->d_name) < 200;
	say("%d below 200\n", low);
	if (folder)
		closedir(folder);
	unsetenv("LD_PRELOAD");
	return system(
	    "for i in /proc/self/fd/*; do n=${i##*/}; [ $n -gt 20 ] && echo child has $n; done; true");
}

const struct life_case descriptor_cases[] = {
    {"closefrom_then_sockets", closefrom_then_sockets},
    {"close_behind_libc", close_behind_libc},
    {"dup2_everywhere", dup2_everywhere},
    {"lowest_number", lowest_number},
    {"errno_is_kept", errno_is_kept},
    {"inherited_descriptors", inherited_descriptors},
    {0},
};
