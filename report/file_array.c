/* SPDX-License-Identifier: MIT */
/* file_array.c: see file_array.h. A head in front of the array says what it is. */
#include "report/file_array.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of a line of the cache, so that the array is as aligned as its mapping. */
struct head {
	size_t bytes; /* of head and array */
	int fd;       /* -1: memory */
	char unused[64 - sizeof(size_t) - sizeof(int)];
};
_Static_assert(sizeof(struct head) == 64, "the array begins on a line");

/* Beyond RLIMIT_FSIZE, which the finalizer has from the program, a signal would come. */
static bool may_grow_to(size_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

static int open_nameless(size_t bytes)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		int fd = folders[i] && *folders[i]
			     ? open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
			     : -1;

		if (fd >= 0 && fallocate(fd, 0, 0, (off_t)bytes) == 0)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static struct head *map(size_t bytes)
{
	int fd = may_grow_to(bytes) ? open_nameless(bytes) : -1;
	struct head *head = MAP_FAILED;

	if (fd >= 0)
		head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	head->fd = fd;
	return head;
}

/* What is there stays in the file; only its pages leave. */
static struct head *extend(struct head *head, size_t bytes)
{
	size_t old_bytes = head->bytes;
	struct head *longer;

	if (!may_grow_to(bytes) || fallocate(head->fd, 0, 0, (off_t)bytes) != 0)
		return NULL;
	longer = mremap(head, old_bytes, bytes, MREMAP_MAYMOVE);
	if (longer == MAP_FAILED)
		return NULL;
	madvise(longer, old_bytes & ~(size_t)0xffff, MADV_DONTNEED);
	return longer;
}

static void drop(struct head *head)
{
	int fd = head->fd;

	if (fd < 0) {
		free(head);
		return;
	}
	munmap(head, head->bytes);
	close(fd);
}

static struct head *in_memory(struct head *head, size_t bytes)
{
	size_t old_bytes = head ? head->bytes : 0;
	struct head *bigger = realloc(head, bytes);

	if (!bigger)
		return NULL;
	memset((char *)bigger + old_bytes, 0, bytes - old_bytes);
	bigger->fd = -1;
	return bigger;
}

/* From memory into a file, from a file that can't grow into memory. */
static struct head *moved(struct head *head, size_t bytes)
{
	struct head *other = head && head->fd >= 0 ? NULL : map(bytes);
	int fd;

	if (!other && (!head || head->fd < 0))
		return in_memory(head, bytes);
	if (!other)
		other = in_memory(NULL, bytes);
	if (!other || !head)
		return other;
	fd = other->fd;
	memcpy(other, head, head->bytes);
	other->fd = fd;
	drop(head);
	return other;
}

void *rvp_file_array(void *array, size_t bytes)
{
	struct head *head = array ? (struct head *)array - 1 : NULL, *bigger = NULL;

	bytes += sizeof *head;
	if (head && bytes <= head->bytes)
		return array;
	if (bytes <= RVP_FILE_ARRAY_BYTES)
		bigger = in_memory(head, bytes);
	else if (head && head->fd >= 0)
		bigger = extend(head, bytes);
	if (!bigger && bytes > RVP_FILE_ARRAY_BYTES)
		bigger = moved(head, bytes);
	if (!bigger)
		return NULL;
	bigger->bytes = bytes;
	return bigger + 1;
}

void rvp_file_array_free(void *array)
{
	if (array)
		drop((struct head *)array - 1);
}
