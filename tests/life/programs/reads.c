/* SPDX-License-Identifier: MIT */
/* reads.c: files read under our hooks of read and its kin: what comes back, errno, and every way out of a
 * read are as without them. The file is large enough to be looked at. */
#include "tests/life/programs/case.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/seccomp.h>

enum { FILE_BYTES = 300000, PART_BYTES = 20000 };

/* As a program built with -D_FORTIFY_SOURCE calls them. */
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off_t offset, size_t room);
size_t __fread_chk(void *to, size_t room, size_t each, size_t count, FILE *stream);
size_t __fread_unlocked_chk(void *to, size_t room, size_t each, size_t count, FILE *stream);

static unsigned char byte_at(size_t at)
{
	return (unsigned char)(at * 2654435761u >> 13);
}

/* A file that has no name any more; -1. */
static int make_file(void)
{
	char path[] = "reads.XXXXXX";
	unsigned char *bytes = malloc(FILE_BYTES);
	int fd = mkstemp(path), ok;

	for (size_t i = 0; bytes && i < FILE_BYTES; i++)
		bytes[i] = byte_at(i);
	ok = fd >= 0 && bytes && write(fd, bytes, FILE_BYTES) == FILE_BYTES && lseek(fd, 0, SEEK_SET) == 0;
	unlink(path);
	free(bytes);
	return ok ? fd : -1;
}

static unsigned char *block;
static size_t wrong;

static void look(const char *what, ssize_t got, size_t wanted, size_t offset)
{
	size_t differ = 0;

	for (size_t i = 0; got > 0 && i < (size_t)got; i++)
		differ += block[i] != byte_at(offset + i);
	if (got != (ssize_t)wanted || differ || errno != 4321)
		say("%s: %zd of %zu, %zu wrong, errno %d\n", what, got, wanted, differ, errno);
	wrong += got != (ssize_t)wanted || differ;
	memset(block, 0, FILE_BYTES);
	errno = 4321;
}

static void read_by_descriptor(int fd)
{
	struct iovec parts[3] = {{block, 10}, {block + 10, 5000}, {block + 5010, 100}};

	lseek(fd, 0, SEEK_SET);
	errno = 4321;
	look("read", read(fd, block, PART_BYTES), PART_BYTES, 0);
	look("read of little", read(fd, block, 40), 40, PART_BYTES);
	look("__read_chk", __read_chk(fd, block, 100, FILE_BYTES), 100, PART_BYTES + 40);
	look("readv", readv(fd, parts, 3), 5110, PART_BYTES + 140);
	look("pread", pread(fd, block, PART_BYTES, 7), PART_BYTES, 7);
	look("pread64", pread64(fd, block, 64, 99), 64, 99);
	look("__pread_chk", __pread_chk(fd, block, 5000, 3, FILE_BYTES), 5000, 3);
	look("__pread64_chk", __pread64_chk(fd, block, 5000, 3, FILE_BYTES), 5000, 3);
	look("preadv", preadv(fd, parts, 3, 1), 5110, 1);
	look("preadv64", preadv64(fd, parts, 3, 2), 5110, 2);
	look("preadv2", preadv2(fd, parts, 3, 3, 0), 5110, 3);
	look("preadv64v2, no offset", preadv64v2(fd, parts, 3, -1, 0), 5110, PART_BYTES + 5250);
	look("pread at the end", pread(fd, block, PART_BYTES, FILE_BYTES - 100), 100, FILE_BYTES - 100);
	look("pread behind it", pread(fd, block, PART_BYTES, FILE_BYTES), 0, 0);
}

static void read_by_stream(FILE *file)
{
	rewind(file);
	errno = 4321;
	look("fread", (ssize_t)fread(block, 1, 10, file), 10, 0);
	look("fread of much", (ssize_t)fread(block, 4, 5000, file) * 4, 20000, 10);
	ungetc(byte_at(20009), file);
	look("fread after ungetc", (ssize_t)fread(block, 1, 70000, file), 70000, 20009);
	look("fread_unlocked", (ssize_t)fread_unlocked(block, 1, 5000, file), 5000, 90009);
	look("__fread_chk", (ssize_t)__fread_chk(block, FILE_BYTES, 1, 5000, file), 5000, 95009);
	look("__fread_unlocked_chk", (ssize_t)__fread_unlocked_chk(block, FILE_BYTES, 1, 500, file), 500,
	     100009);
	look("fread to the end", (ssize_t)fread(block, 7, FILE_BYTES, file) * 7, 199486, 100509);
	say("at %ld, end %d, error %d\n", ftell(file), feof(file) != 0, ferror(file) != 0);
}

static int reads_come_back_whole(void)
{
	int fd = make_file();
	FILE *file = fdopen(dup(fd), "rb");
	char small[128] = "";
	FILE *memory = fmemopen(small, sizeof small, "rb");

	churn(1);
	block = malloc(FILE_BYTES);
	if (fd < 0 || !file || !block || !memory)
		return 96;
	read_by_descriptor(fd);
	read_by_stream(file);
	errno = 4321;
	say("%zu of memory\n", fread(block, 1, 100, memory));
	fclose(memory);
	fclose(file);
	close(fd);
	say("%zu wrong, errno %d\n", wrong, errno);
	return 0;
}

static int pipe_ends[2];

static void clean_up(void *nothing)
{
	free(malloc(100));
	say("cleaned up\n");
	(void)nothing;
}

static void *wait_for_bytes(void *nothing)
{
	char bytes[4096];

	pthread_cleanup_push(clean_up, NULL);
	read(pipe_ends[0], bytes, sizeof bytes);
	pthread_cleanup_pop(0);
	return nothing;
}

/* A read is a cancellation point: the thread leaves through our frame. */
static int cancelled_read(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		void *result = NULL;

		churn(1);
		if (pipe(pipe_ends) != 0 || pthread_create(&thread, NULL, wait_for_bytes, NULL) != 0)
			return 96;
		usleep(20000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		say("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "came back");
		close(pipe_ends[0]);
		close(pipe_ends[1]);
	}
	churn(10);
	return 0;
}

static void do_nothing(int signal)
{
	(void)signal;
}

static int interrupted_read(void)
{
	struct sigaction action = {.sa_handler = do_nothing};
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	char bytes[4096];
	ssize_t got;

	churn(1);
	sigaction(SIGALRM, &action, NULL);
	if (pipe(pipe_ends) != 0)
		return 96;
	setitimer(ITIMER_REAL, &soon, NULL);
	got = read(pipe_ends[0], bytes, sizeof bytes);
	say("%zd, %s\n", got, strerror(errno));
	return 0;
}

static int handler_fd;
static volatile unsigned long handler_reads, handler_wrong;
static unsigned char handler_block[PART_BYTES];

static void read_in_handler(int signal)
{
	int error = errno;

	(void)signal;
	handler_wrong += pread(handler_fd, handler_block, PART_BYTES, 5) != PART_BYTES ||
			 handler_block[PART_BYTES - 1] != byte_at(5 + PART_BYTES - 1);
	handler_reads++;
	errno = error;
}

/* A handler that reads, also in the middle of our hooks. */
static int handlers_that_read(void)
{
	struct sigaction action = {.sa_handler = read_in_handler, .sa_flags = SA_RESTART};
	struct itimerval often = {.it_value = {.tv_usec = 500}, .it_interval = {.tv_usec = 500}};

	handler_fd = make_file();
	if (handler_fd < 0)
		return 96;
	churn(1);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handler_reads < 300)
		churn(1);
	memset(&often, 0, sizeof often);
	setitimer(ITIMER_REAL, &often, NULL);
	say("%lu wrong\n", handler_wrong);
	return 0;
}

static int reads_of_children(void)
{
	int fd = make_file();

	block = malloc(FILE_BYTES);
	churn(1);
	if (fd < 0 || !block || pread(fd, block, PART_BYTES, 0) != PART_BYTES)
		return 96;
	for (int i = 0; i < 3; i++) {
		int pid = i == 1 ? (int)syscall(SYS_fork) : fork();

		if (pid == 0) {
			churn(i);
			errno = 4321;
			look("a child's", pread(fd, block, PART_BYTES, i), PART_BYTES, (size_t)i);
			_exit(wrong ? 1 : 0);
		}
		print_end("child", pid);
	}
	return 0;
}

/* In seccomp's strict mode read is allowed, and nothing that a hook might want beside it. */
static int reads_in_strict_mode(void)
{
	int fd = make_file();

	block = malloc(FILE_BYTES);
	churn(1);
	if (fd < 0 || !block || read(fd, block, PART_BYTES) != PART_BYTES)
		return 96;
	say("before\n");
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	for (int i = 0; i < 10; i++)
		if (read(fd, block, PART_BYTES) != PART_BYTES)
			syscall(SYS_exit, 97);
	if (write(1, "strict\n", 7) != 7)
		syscall(SYS_exit, 98);
	syscall(SYS_exit, 23);
	return 0;
}

const struct life_case read_cases[] = {
    {"reads_come_back_whole", reads_come_back_whole},
    {"cancelled_read", cancelled_read},
    {"interrupted_read", interrupted_read},
    {"handlers_that_read", handlers_that_read},
    {"reads_of_children", reads_of_children},
    {"reads_in_strict_mode", reads_in_strict_mode},
    {0},
};
