/* SPDX-License-Identifier: MIT */
/* real.c: see real.h. Two threads may look at the same time: both find the same, and each stores the whole table.
 *
 * What libc surely has is looked up first, and allocates nothing. Then the table is in use: a look-up that misses makes
 * an error text by malloc, which may be an allocator in front of us, whose mmap or syscall comes to our hooks. */
#include "preload/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>

struct rvp_real rvp_real;
static atomic_bool filled;
/* volatile: dlsym is declared `leaf`, the compiler need not think that it comes back here. */
static __thread volatile bool looking __attribute__((tls_model("initial-exec")));

static const struct {
	const char *name;
	size_t offset;
	enum need { NEEDED, ABSENT_OK } need;
} rows[] = {
#define RVP_HOOK(name, returns, parameters, need) {#name, offsetof(struct rvp_real, name), need},
#include "preload/hooks.def"
    {"malloc_usable_size", offsetof(struct rvp_real, malloc_usable_size), NEEDED},
};

/* The executable range of the module that holds `code`. */
struct module_range {
	uintptr_t code, low, high;
};

static int find_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct module_range *range = argument;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t low = info->dlpi_addr + header->p_vaddr, high = low + header->p_memsz;

		if (header->p_type != PT_LOAD || range->code < low || range->code >= high)
			continue;
		range->low = low;
		range->high = high;
		return 1;
	}
	return 0;
}

static void look_for(enum need need, struct rvp_real *found)
{
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].need == need)
			*(void **)((char *)found + rows[i].offset) = dlsym(RTLD_NEXT, rows[i].name);
}

static void look(void)
{
	struct rvp_real found = {0};
	struct module_range range = {0};

	look_for(NEEDED, &found);
	range.code = (uintptr_t)found.malloc;
	dl_iterate_phdr(find_module, &range);
	found.allocator_low = range.low;
	found.allocator_high = range.high;
	rvp_real = found;
	atomic_store_explicit(&filled, true, memory_order_release);
	look_for(ABSENT_OK, &rvp_real);
	/* A function that libc has not leaves an error, which the program's own first dlerror() would tell: the first call
	 * takes it, the second one frees it. */
	(void)dlerror();
	(void)dlerror();
}

bool rvp_real_is_looking(void)
{
	return looking;
}

bool rvp_real_ready(void)
{
	if (__builtin_expect(atomic_load_explicit(&filled, memory_order_acquire), 1))
		return true;
	if (looking)
		return false;

	int error = errno;

	looking = true;
	look();
	looking = false;
	errno = error;
	return true;
}
