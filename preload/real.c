/* SPDX-License-Identifier: MIT */
/* real.c: see real.h. Two threads may look at the same time: both find the same, and each stores the whole
 * table.
 *
 * What libc surely has is looked up first, and allocates nothing. Then the table is in use: a look-up that
 * misses makes an error text by malloc, which may be an allocator in front of us, whose mmap or syscall comes
 * to our hooks.
 *
 * An allocator that stands before us may be one that hands on to the next, which is us: what it calls, by the
 * address of the call, goes to the one behind us. */
#include "preload/real.h"

#include "preload/fronts.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <sys/auxv.h>

struct rvp_real rvp_real, rvp_real_behind;
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
	bool is_program; /* it is the executable itself */
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
		range->is_program = !info->dlpi_name || !info->dlpi_name[0];
		return 1;
	}
	return 0;
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool rvp_real_is_our_code(const void *code)
{
	return (const char *)code >= __ehdr_start && (const char *)code < _end;
}

/* A program that takes a function's address without being position-independent makes its own PLT stub that
 * address (Debian's python3 does for malloc): a symbol with an address that no section holds. The stub leads
 * to whoever stands first, that is to us. */
static bool is_stub(const void *code)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return dladdr1(code, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}

static bool is_anothers(const void *code)
{
	return code && !rvp_real_is_our_code(code) && !is_stub(code);
}

static void look_behind(struct rvp_real *found)
{
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].need == NEEDED)
			*(void **)((char *)found + rows[i].offset) = dlsym(RTLD_NEXT, rows[i].name);
}

/* The malloc family of a library that stands before us; what it has not is looked for behind us. */
static void look_ahead(struct rvp_real *found)
{
	void *first;

#define LOOK(name)                          \
	first = dlsym(RTLD_DEFAULT, #name); \
	if (is_anothers(first))             \
		*(void **)(void *)&found->name = first;
	RVP_FRONTS(LOOK)
	LOOK(malloc_usable_size)
#undef LOOK
}

/* Also where the program's own malloc hands on to us. */
static bool is_libcs(const struct rvp_real *found)
{
	const uintptr_t functions[] = {(uintptr_t)found->malloc, (uintptr_t)found->calloc,
				       (uintptr_t)found->realloc, (uintptr_t)found->free, (uintptr_t)getauxval};

	for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (functions[i] < found->allocator_low || functions[i] >= found->allocator_high)
			return false;
	return true;
}

static void look(void)
{
	struct rvp_real found = {0};
	struct module_range range = {.code = (uintptr_t)dlsym(RTLD_DEFAULT, "malloc")};

	look_behind(&found);
	dl_iterate_phdr(find_module, &range);
	found.is_in_program = range.is_program && is_anothers((void *)range.code);
	found.is_shadowed = !range.is_program && is_anothers((void *)range.code);
	rvp_real_behind = found;
	if (found.is_shadowed)
		look_ahead(&found);
	range.code = (uintptr_t)found.malloc;
	dl_iterate_phdr(find_module, &range);
	found.allocator_low = range.low;
	found.allocator_high = range.high;
	found.is_libcs = is_libcs(&found);
	rvp_real = found;
	atomic_store_explicit(&filled, true, memory_order_release);
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
