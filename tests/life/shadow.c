/* SPDX-License-Identifier: MIT */
/* shadow.c: see shadow.h. Linked into programs under test.
 *
 * The file is opened, mapped and closed by system calls, so that no hook sees it. A page that the kernel
 * wipes on fork tells a child by any kind of fork from its parent; a child of vfork shares the page and the
 * record.
 */
#include "tests/life/shadow.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static struct shadow_file *file;
static struct shadow_record *_Atomic *mine; /* alone on a page that is wiped on fork */
static _Atomic int opened;                  /* 0, 1: being opened, 2 */
static struct shadow_record nowhere;
static bool counting;

/* dlsym frees the text of an earlier error, if there is one: that free comes here while `free` is being
 * looked up. */
static __thread volatile bool
    looking_up; /* dlsym is declared `leaf`: the compiler thinks it never comes back here */

static void *next_of(const char *name)
{
	void *found;

	looking_up = true;
	found = dlsym(RTLD_NEXT, name);
	looking_up = false;
	return found;
}

#define REAL(name)                     \
	static __typeof__(name) *real; \
	if (!real)                     \
	real = (__typeof__(name) *)(uintptr_t)next_of(#name)

static void *map(size_t bytes, int flags, int fd)
{
	long at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	return at == -1 ? NULL : (void *)at;
}

static const char *shadow_path(void)
{
	static const char name[] = "RVP_SHADOW=";

	for (char **word = environ; word && *word; word++) {
		size_t i = 0;

		while (name[i] && (*word)[i] == name[i])
			i++;
		if (!name[i])
			return *word + i;
	}
	return NULL;
}

static void open_file(void)
{
	const char *path = shadow_path();
	int error = errno, first = 0;

	if (!path || !atomic_compare_exchange_strong(&opened, &first, 1))
		return;

	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);

	if (fd >= 0) {
		mine = map(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		file = map(sizeof *file, MAP_SHARED, (int)fd);
		syscall(SYS_close, (int)fd);
		if (mine)
			syscall(SYS_madvise, mine, 4096, MADV_WIPEONFORK);
	}
	atomic_store(&opened, 2);
	errno = error;
}

/* Only the first event of a process comes here, and then one thread at a time: a second thread is made by a
 * pthread_create, which allocates. */
static struct shadow_record *claim(void)
{
	static bool claimed_once;
	uint32_t number = atomic_fetch_add(&file->next, 1);
	struct shadow_record *record = number < SHADOW_RECORDS ? &file->records[number] : &nowhere;

	record->is_fork = claimed_once;
	claimed_once = true;
	atomic_store(&record->pid, (uint32_t)syscall(SYS_getpid));
	atomic_store(mine, record);
	return record;
}

static struct shadow_record *record_here(void)
{
	if (!counting)
		return &nowhere;
	if (atomic_load(&opened) == 0)
		open_file();
	if (!file || !mine)
		return &nowhere;

	struct shadow_record *record = atomic_load(mine);

	return record ? record : claim();
}

struct shadow_record *shadow_mine(void)
{
	struct shadow_record *record = record_here();

	return record == &nowhere ? NULL : record;
}

/* Counting starts here: the program's own constructors run after those of all libraries, a preloaded one
 * included. Every image has a record, whatever it does. */
__attribute__((constructor)) static void introduce(void)
{
	struct shadow_record *record;

	counting = true;
	record = shadow_mine();
	for (size_t i = 0; record && i + 1 < sizeof record->program; i++)
		if (!(record->program[i] = program_invocation_short_name[i]))
			break;
}

/* ---- what a block was asked for ---- */

/* In the last bytes that are usable. `tag` tells one of ours: some blocks come from elsewhere. */
struct tail {
	uint64_t bytes, tag;
	struct shadow_record *owner; /* NULL: not counted */
};

static uint64_t tag_of(const void *block)
{
	return ((uint64_t)(uintptr_t)block ^ 0x5ad0) * 0x9e3779b97f4a7c15;
}

/* 0 stays 0: malloc(0) and realloc(p, 0) have meanings of their own, and the smallest block has room. */
static size_t with_tail(size_t bytes)
{
	return bytes && bytes <= SIZE_MAX - sizeof(struct tail) ? bytes + sizeof(struct tail) : bytes;
}

static char *tail_at(const void *block, size_t usable)
{
	return (char *)(uintptr_t)block + usable - sizeof(struct tail);
}

static size_t usable_of(const void *block)
{
	REAL(malloc_usable_size);
	return real((void *)(uintptr_t)block);
}

static void put_tail(void *block, size_t usable, size_t bytes, struct shadow_record *owner)
{
	struct tail tail = {bytes, tag_of(block), owner == &nowhere ? NULL : owner};

	if (usable >= sizeof tail)
		memcpy(tail_at(block, usable), &tail, sizeof tail);
}

static struct tail get_tail(const void *block, size_t usable)
{
	struct tail tail = {0};

	if (usable >= sizeof tail)
		memcpy(&tail, tail_at(block, usable), sizeof tail);
	return tail.tag == tag_of(block) && tail.owner ? tail : (struct tail){0};
}

/* All that it promises is the program's; the tail is not. */
size_t malloc_usable_size(void *block)
{
	size_t usable = block ? usable_of(block) : 0;
	struct tail tail = {0};

	if (usable >= sizeof tail)
		memcpy(&tail, tail_at(block, usable), sizeof tail);
	return block && tail.tag == tag_of(block) ? usable - sizeof tail : usable;
}

/* ---- counting ---- */

static void add(_Atomic uint64_t *count, uint64_t more)
{
	atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

static void begin_alloc(struct shadow_record *record, size_t bytes)
{
	add(&record->begun.allocs, 1);
	add(&record->begun.alloc_bytes, bytes);
}

/* `block` NULL: it failed, and nothing is counted after all. */
static void end_alloc(struct shadow_record *record, size_t bytes, void *block)
{
	size_t usable = block ? usable_of(block) : 0;

	if (block)
		put_tail(block, usable, bytes, record);
	if (!block) {
		add(&record->begun.allocs, (uint64_t)-1);
		add(&record->begun.alloc_bytes, -(uint64_t)bytes);
		return;
	}
	add(&record->begun.alloc_usable_bytes, usable);
	add(&record->done.allocs, 1);
	add(&record->done.alloc_bytes, bytes);
	add(&record->done.alloc_usable_bytes, usable);
}

/* What a free will take, looked at before it is gone. */
struct going {
	uint64_t usable, bytes, own_bytes, is_unknown;
};

static struct going look_at(const void *block, const struct shadow_record *record)
{
	size_t usable = block ? usable_of(block) : 0;
	const struct tail tail = get_tail(block, usable);

	return (struct going){usable, tail.bytes, tail.owner == record ? tail.bytes : 0, !tail.owner};
}

/* `times` is 1, or -1 for one that did not happen after all. */
static void count_free(struct shadow_counts *counts, const struct going *going, uint64_t times)
{
	add(&counts->frees, times);
	add(&counts->free_usable_bytes, times * going->usable);
	add(&counts->free_bytes, times * going->bytes);
	add(&counts->own_free_bytes, times * going->own_bytes);
	add(&counts->unknown_frees, times * going->is_unknown);
}

/* `bytes` in `call` are with the tail. */
#define COUNTED_ALLOC(asked, call)                    \
	struct shadow_record *record = record_here(); \
	size_t bytes = with_tail(asked);              \
	begin_alloc(record, bytes);                   \
	void *block = call;                           \
	int error = errno;                            \
	end_alloc(record, bytes, block);              \
	errno = error;                                \
	return block

void *malloc(size_t asked)
{
	REAL(malloc);
	COUNTED_ALLOC(asked, real(bytes));
}

/* A product that overflows is refused by the real one. */
void *calloc(size_t count, size_t each)
{
	size_t asked;

	REAL(calloc);
	if (__builtin_mul_overflow(count, each, &asked))
		return real(count, each);
	COUNTED_ALLOC(asked, real(1, bytes));
}

void *aligned_alloc(size_t alignment, size_t asked)
{
	REAL(aligned_alloc);
	COUNTED_ALLOC(asked, real(alignment, bytes));
}

void *memalign(size_t alignment, size_t asked)
{
	REAL(memalign);
	COUNTED_ALLOC(asked, real(alignment, bytes));
}

void *valloc(size_t asked)
{
	REAL(valloc);
	COUNTED_ALLOC(asked, real(bytes));
}

void *pvalloc(size_t asked)
{
	REAL(pvalloc);
	COUNTED_ALLOC(asked, real(bytes));
}

int posix_memalign(void **block, size_t alignment, size_t asked)
{
	REAL(posix_memalign);
	struct shadow_record *record = record_here();
	size_t bytes = with_tail(asked);
	int error;

	begin_alloc(record, bytes);
	error = real(block, alignment, bytes);
	end_alloc(record, bytes, error ? NULL : *block);
	return error;
}

void free(void *block)
{
	if (looking_up)
		return;
	REAL(free);
	struct shadow_record *record = record_here();
	struct going going = look_at(block, record);

	if (block)
		count_free(&record->begun, &going, 1);
	real(block);
	if (block)
		count_free(&record->done, &going, 1);
}

static void *counted_realloc(void *old, size_t asked, void *(*real)(void *, size_t))
{
	struct shadow_record *record = record_here();
	struct going going = look_at(old, record);
	size_t bytes = with_tail(asked);
	bool frees;
	void *block;
	int error;

	if (old)
		count_free(&record->begun, &going, 1);
	begin_alloc(record, bytes);
	block = real(old, bytes);
	error = errno;
	frees = old && (block || bytes == 0); /* glibc's realloc(p, 0) frees and gives NULL */
	end_alloc(record, bytes, block);
	if (old)
		count_free(frees ? &record->done : &record->begun, &going, frees ? 1 : (uint64_t)-1);
	errno = error;
	return block;
}

static void *next_realloc(void *old, size_t bytes)
{
	REAL(realloc);
	return real(old, bytes);
}

static void *next_reallocarray(void *old, size_t bytes)
{
	REAL(reallocarray);
	return real(old, 1, bytes);
}

void *realloc(void *old, size_t asked)
{
	return counted_realloc(old, asked, next_realloc);
}

void *reallocarray(void *old, size_t count, size_t each)
{
	size_t asked;

	if (__builtin_mul_overflow(count, each, &asked))
		asked = SIZE_MAX; /* the real one refuses */
	return counted_realloc(old, asked, next_reallocarray);
}
