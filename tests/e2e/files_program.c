/* SPDX-License-Identifier: MIT */
/* files_program.c: writes a small model and loads it in one of the ways that programs have, then says what it
 * holds.
 *
 *     files_program WAY      mmap mmap_twice read pread readv preadv2 fread small checked reuse_descriptor
 * threads
 *
 * Beside the weights it keeps: a text that was read, a block as large as the weights that no file filled, and
 * a read buffer through which the whole model went once more.
 */
#define _GNU_SOURCE
#include "tests/unit/model_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TENSORS = 96, TENSOR_BYTES = 20480, BUFFER_BYTES = 65536, TEXT_BYTES = 200000 };

/* As a program built with -D_FORTIFY_SOURCE calls them. */
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t offset, size_t room);
size_t __fread_chk(void *to, size_t room, size_t each, size_t count, FILE *stream);

static struct model_bytes made;
static unsigned char *tensors[TENSORS];
static const char *way;

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("%s: %s: %s\n", way, what, strerror(errno));
	exit(1);
}

static void write_file(const char *path, const void *bytes, size_t length)
{
	FILE *file = fopen(path, "wb");

	check(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0, path);
}

static off_t place(int tensor)
{
	return (off_t)made.data_begin + (off_t)tensor * TENSOR_BYTES;
}

static int is_way(const char *name)
{
	return strcmp(way, name) == 0;
}

static void load_tensor(int fd, FILE *file, int i)
{
	struct iovec parts[2] = {{tensors[i], 64}, {tensors[i] + 64, TENSOR_BYTES - 64}};
	size_t got = 0;

	if (is_way("pread") || is_way("threads"))
		got = (size_t)pread(fd, tensors[i], TENSOR_BYTES, place(i));
	else if (is_way("readv"))
		got = (size_t)readv(fd, parts, 2);
	else if (is_way("preadv2"))
		got = (size_t)preadv2(fd, parts, 2, place(i), 0);
	else if (is_way("fread"))
		got = fread(tensors[i], 4, TENSOR_BYTES / 4, file) * 4;
	else if (is_way("small"))
		for (; got < TENSOR_BYTES; got += 320)
			check(fread(tensors[i] + got, 1, 320, file) == 320, "fread");
	else if (is_way("checked"))
		got = i % 3 == 0   ? (size_t)__read_chk(fd, tensors[i], TENSOR_BYTES, TENSOR_BYTES)
		      : i % 3 == 1 ? (size_t)__pread_chk(fd, tensors[i], TENSOR_BYTES, place(i), TENSOR_BYTES)
				   : __fread_chk(tensors[i], TENSOR_BYTES, 1, TENSOR_BYTES, file);
	else
		got = (size_t)read(fd, tensors[i], TENSOR_BYTES);
	check(got == TENSOR_BYTES, "a tensor");
	if (is_way("checked")) {
		lseek(fd, place(i + 1), SEEK_SET);
		fseek(file, place(i + 1), SEEK_SET);
	}
}

static int model_fd;

static void *load_half(void *first)
{
	for (int i = *(int *)first; i < TENSORS; i += 2)
		load_tensor(model_fd, NULL, i);
	return NULL;
}

static void load_in_threads(void)
{
	pthread_t other;
	int even = 0, odd = 1;

	pthread_create(&other, NULL, load_half, &odd);
	load_half(&even);
	pthread_join(other, NULL);
}

static void load(void)
{
	FILE *file = fopen("model.gguf", "rb");

	model_fd = open("model.gguf", O_RDONLY);
	check(file && model_fd >= 0, "open");
	for (int i = 0; i < TENSORS; i++)
		check((tensors[i] = malloc(TENSOR_BYTES)) != NULL, "malloc");
	lseek(model_fd, place(0), SEEK_SET);
	fseek(file, place(0), SEEK_SET);
	if (is_way("threads"))
		load_in_threads();
	else
		for (int i = 0; i < TENSORS; i++)
			load_tensor(model_fd, file, i);
	for (int i = 0; i < TENSORS; i++)
		check(memcmp(tensors[i], made.bytes + place(i), TENSOR_BYTES) == 0, "what was read");
	fclose(file);
	close(model_fd);
}

static void *map(void)
{
	int fd = open("model.gguf", O_RDONLY);
	void *address = mmap(NULL, made.length, PROT_READ, MAP_SHARED, fd, 0);

	check(address != MAP_FAILED, "mmap");
	close(fd);
	return address;
}

/* The number of a descriptor that was a small file's, and a pipe's, becomes the model's, behind the back of
 * close. */
static void wear_descriptor_out(void)
{
	char bytes[256] = "";
	FILE *file = fopen("small.txt", "wb+");
	int ends[2];

	check(file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fflush(file) == 0, "small.txt");
	for (int i = 0; i < 8; i++)
		check(pread(fileno(file), bytes, sizeof bytes, 0) == sizeof bytes, "small.txt");
	fclose(file);
	check(pipe(ends) == 0 && write(ends[1], bytes, sizeof bytes) == sizeof bytes &&
		  read(ends[0], bytes, sizeof bytes) == sizeof bytes,
	      "pipe");
	close(ends[0]);
	close(ends[1]);
}

static void ring(int signal)
{
	(void)signal;
}

/* A read that a signal ends, errors, and a child by fork that reads: as without a profiler. */
static void try_what_breaks_hooks(void)
{
	struct sigaction action = {.sa_handler = ring};
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	char bytes[4096];
	char *volatile nowhere = (char *)8; /* volatile: the compiler is not to know */
	int ends[2], status = 0, fd = open("model.gguf", O_RDONLY);

	sigaction(SIGALRM, &action, NULL);
	check(pipe(ends) == 0, "pipe");
	setitimer(ITIMER_REAL, &soon, NULL);
	errno = 0;
	check(read(ends[0], bytes, sizeof bytes) == -1 && errno == EINTR, "a read that a signal ends");
	check(read(-1, bytes, sizeof bytes) == -1 && errno == EBADF, "a bad descriptor");
	check(read(fd, nowhere, sizeof bytes) == -1 && errno == EFAULT, "a bad address");
	errno = 77;
	check(read(fd, bytes, sizeof bytes) == sizeof bytes && errno == 77, "errno is kept");
	if (fork() == 0)
		_exit(pread(fd, bytes, sizeof bytes, 100) == sizeof bytes && errno == 77 ? 0 : 1);
	wait(&status);
	check(status == 0, "a child reads");
	close(fd);
}

static void *through_a_buffer(void)
{
	char *buffer = malloc(BUFFER_BYTES);
	int fd = open("model.gguf", O_RDONLY);

	check(buffer && fd >= 0, "buffer");
	while (read(fd, buffer, BUFFER_BYTES) > 0) {
	}
	close(fd);
	return buffer;
}

static void *read_text(void)
{
	char *text = malloc(TEXT_BYTES);
	int fd;

	memset(text, 'x', TEXT_BYTES);
	write_file("notes.txt", text, TEXT_BYTES);
	fd = open("notes.txt", O_RDONLY);
	check(read(fd, text, TEXT_BYTES) == TEXT_BYTES, "notes.txt");
	close(fd);
	return text;
}

int main(int count, char **words)
{
	static void *kept[5];

	way = count > 1 ? words[1] : "read";
	make_gguf(&made, (struct gguf_wish){.version = 3,
					    .tensor_count = TENSORS,
					    .tensor_values = TENSOR_BYTES / 4,
					    .tensor_bytes = TENSOR_BYTES});
	write_file("model.gguf", made.bytes, made.length);
	if (is_way("mmap") || is_way("mmap_twice"))
		kept[0] = map();
	if (is_way("mmap_twice"))
		kept[1] = map();
	if (is_way("reuse_descriptor"))
		wear_descriptor_out();
	if (!kept[0])
		load();
	kept[2] = read_text();
	kept[3] = calloc(1, made.tensor_bytes);
	kept[4] = through_a_buffer();
	try_what_breaks_hooks();
	printf("way=%s\nweights_bytes=%zu\nbuffer_bytes=%d\n", way, made.tensor_bytes, BUFFER_BYTES);
	model_bytes_free(&made);
	return !kept[2] || !kept[3] || !kept[4];
}
