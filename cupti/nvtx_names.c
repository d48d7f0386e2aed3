/* SPDX-License-Identifier: MIT */
/* nvtx_names.c: a hash of lists in one mapping of our own, pages of which exist once they are written. */
#include "cupti/nvtx_names.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LISTS = 4096, LENGTH_MAX = 1024 /* rvprof.h cuts texts there */ };

struct name {
	struct name *next;
	const void *one;
	uint32_t kind, part;
	char text[];
};

struct names {
	struct name *_Atomic lists[LISTS];
	_Atomic size_t used;
	char room[];
};
static struct names *_Atomic names;

bool rvp_nvtx_names_open(void)
{
	struct names *none = NULL;
	long at;

	if (atomic_load(&names))
		return true;
	/* Not by mmap(), which rvprof counts as the program's. */
	at = syscall(SYS_mmap, NULL, (size_t)RVP_NVTX_NAMES_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == -1)
		return false;
	if (!atomic_compare_exchange_strong(&names, &none, (struct names *)at))
		syscall(SYS_munmap, at, (size_t)RVP_NVTX_NAMES_BYTES);
	return true;
}

static uint32_t list_of(enum rvp_nvtx_named kind, const void *one, uint32_t part)
{
	uint64_t mixed = ((uint64_t)one ^ (uint64_t)part << 40 ^ (uint64_t)kind << 56) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(mixed >> 52) % LISTS;
}

static struct name *take(size_t text_bytes)
{
	struct names *all = atomic_load(&names);
	size_t bytes = (sizeof(struct name) + text_bytes + 15) & ~(size_t)15, at;

	if (!all)
		return NULL;
	/* Looked at first: a program that goes on registering must not make `used` wrap. */
	if (atomic_load(&all->used) > RVP_NVTX_NAMES_BYTES)
		return NULL;
	at = atomic_fetch_add(&all->used, bytes);
	if (at + bytes > RVP_NVTX_NAMES_BYTES - sizeof *all)
		return NULL;
	return (struct name *)(all->room + at);
}

static void write_text(char *into, const char *first, size_t first_length, const char *second,
		       size_t second_length)
{
	memcpy(into, first, first_length);
	into += first_length;
	if (second) {
		*into++ = '/';
		memcpy(into, second, second_length);
		into += second_length;
	}
	*into = '\0';
}

const void *rvp_nvtx_names_put(enum rvp_nvtx_named kind, const void *one, uint32_t part, const char *first,
			       const char *second)
{
	size_t first_length = strnlen(first, LENGTH_MAX),
	       second_length = second ? strnlen(second, LENGTH_MAX) : 0;
	struct name *name = take(first_length + second_length + 2);
	struct name *_Atomic *list;

	if (!name)
		return NULL;
	name->one = one ? one : name;
	name->kind = kind;
	name->part = part;
	write_text(name->text, first, first_length, second, second_length);
	list = &atomic_load(&names)->lists[list_of(kind, name->one, part)];
	name->next = atomic_load(list);
	while (!atomic_compare_exchange_weak(list, &name->next, name))
		;
	return name->one;
}

const char *rvp_nvtx_names_find(enum rvp_nvtx_named kind, const void *one, uint32_t part)
{
	struct names *all = atomic_load(&names);

	if (!all)
		return NULL;
	for (struct name *name = atomic_load(&all->lists[list_of(kind, one, part)]); name; name = name->next)
		if (name->one == one && name->kind == (uint32_t)kind && name->part == part)
			return name->text;
	return NULL;
}
