/* SPDX-License-Identifier: MIT */
/* imports.c: see imports.h.
 *
 * For every relocation of kind JUMP_SLOT, GLOB_DAT or 64 whose symbol is one that we front, the slot gets the
 * front's address. A slot inside the read-only part after relocation (RELRO) is made writable for the moment
 * of the store. The allocator's own module and ours are left alone.
 *
 * Three sorts of names: the operators, where an allocator brings its own (their fronts know the real ones); known
 * functions of frameworks and of linear algebra, and the CUDA driver's with dlsym (driver.h), whose real one is what the slot held. A slot that is not bound yet leads
 * into its own module: then the function is looked for by name, in the module itself and else in all that are
 * loaded, and if two others have it the slot is left alone. Few modules name such functions; whether one may
 * is seen by its symbol table's undefined part and the Bloom filter of its hash table, before any relocation
 * is read.
 */
#include "preload/imports.h"

#include "preload/blas.h"
#include "preload/driver.h"
#include "preload/elf_image.h"
#include "preload/functions.h"
#include "preload/link_scope.h"
#include "preload/loader_list.h"
#include "preload/modules.h"
#include "preload/operators.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/sys.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* What of a module's dynamic section is needed. */
struct image {
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * tables[2];
	size_t counts[2];
	uintptr_t relro_low, relro_high;
	const uint32_t *hash; /* DT_GNU_HASH; NULL: it has none */
	const struct dl_phdr_info *info;
	bool wants_operators, wants_functions, wants_driver;
	rvp_front_of *front_of; /* NULL: the two sorts of names above */
};

static _Atomic uint64_t seen_adds;
static _Atomic uint32_t seen_modules = UINT32_MAX;
static _Atomic unsigned looks_left = 64;
static _Atomic bool is_unsettled; /* a slot's function was not known in this look */

/* glibc has relocated the pointers of most modules' dynamic sections, but not the vdso's. */
static uintptr_t absolute(uintptr_t bias, uintptr_t value)
{
	return value < bias ? bias + value : value;
}

static void read_dynamic(struct image *image, const ElfW(Dyn) * entry)
{
	size_t plt_bytes = 0, rela_bytes = 0;

	for (; entry->d_tag != DT_NULL; entry++) {
		uintptr_t address = absolute(image->bias, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_SYMTAB: image->symbols = (const ElfW(Sym) *)address; break;
		case DT_STRTAB: image->strings = (const char *)address; break;
		case DT_GNU_HASH: image->hash = (const uint32_t *)address; break;
		case DT_JMPREL: image->tables[0] = (const ElfW(Rela) *)address; break;
		case DT_RELA: image->tables[1] = (const ElfW(Rela) *)address; break;
		case DT_PLTRELSZ: plt_bytes = entry->d_un.d_val; break;
		case DT_RELASZ: rela_bytes = entry->d_un.d_val; break;
		}
	}
	image->counts[0] = image->tables[0] ? plt_bytes / sizeof(ElfW(Rela)) : 0;
	image->counts[1] = image->tables[1] ? rela_bytes / sizeof(ElfW(Rela)) : 0;
}

static void store(const struct image *image, void **slot, void *front)
{
	uintptr_t at = (uintptr_t)slot, page = at & ~(uintptr_t)4095;
	bool guarded = at >= image->relro_low && at < image->relro_high;

	if (guarded && rvp_syscall6(SYS_mprotect, (long)page, 4096, PROT_READ | PROT_WRITE, 0, 0, 0) != 0)
		return;
	__atomic_store_n(slot, front, __ATOMIC_RELEASE);
	if (guarded)
		rvp_syscall6(SYS_mprotect, (long)page, 4096, PROT_READ, 0, 0, 0);
}

static bool holds(const struct dl_phdr_info *info, uintptr_t code)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && code >= low &&
		    code < low + info->dlpi_phdr[i].p_memsz)
			return true;
	}
	return false;
}

/* Where a function of this name is defined; more than one place: ambiguous. */
struct search {
	const char *name;
	uintptr_t found;
	bool is_ambiguous;
};

static uintptr_t defined_in(const struct dl_phdr_info *info, const char *name)
{
	struct rvp_object object;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			return rvp_object_find(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, &object)
				   ? rvp_elf_symbol(&object, name)
				   : 0;
	return 0;
}

static int search_in(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	uintptr_t found = defined_in(info, search->name);

	(void)size;
	search->is_ambiguous |= found && search->found && found != search->found;
	if (found)
		search->found = found;
	return 0;
}

/* A module that another thread is just loading has slots without their functions yet: it is looked at once more, but not
 * for ever, since a function may be nowhere. */
static void look_again(void)
{
	unsigned left = atomic_load(&looks_left);

	if (left && atomic_compare_exchange_strong(&looks_left, &left, left - 1))
		atomic_store(&is_unsettled, true);
}

/* The function that a slot leads to, or will; 0: not known, or more than one. */
static uintptr_t real_behind(const struct image *image, uintptr_t held, const char *name)
{
	struct search search = {.name = name};

	if (rvp_functions_is_at(name, held))
		return held;
	search.found = defined_in(image->info, name);
	if (!search.found)
		rvp_loader_list(search_in, &search);
	if (!search.found)
		look_again();
	return search.is_ambiguous ? 0 : search.found;
}

static void *front_for(const struct image *image, uintptr_t held, const char *name)
{
	void *front = image->wants_operators ? rvp_operators_front(name) : NULL;

	if (image->front_of)
		return image->front_of(name);
	if (!front && image->wants_driver && rvp_driver_known(name))
		return rvp_driver_front(name, (void *)real_behind(image, held, name));
	if (front || !image->wants_functions)
		return front;
	if (rvp_blas_known(name))
		return rvp_blas_front(name, rvp_functions_is_at(name, held) ? held : rvp_link_scope_find(image->info, name));
	return rvp_functions_known(name) ? rvp_functions_front(name, real_behind(image, held, name)) : NULL;
}

static void redirect(const struct image *image, const ElfW(Rela) * table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned long kind = ELF64_R_TYPE(table[i].r_info);
		void **slot = (void **)(image->bias + table[i].r_offset), *front;

		if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT && kind != R_X86_64_64)
			continue;
		front = front_for(image, (uintptr_t)*slot,
				  image->strings + image->symbols[ELF64_R_SYM(table[i].r_info)].st_name);
		if (front)
			store(image, slot, front);
	}
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* By the Bloom filter: false is sure. The table: bucket count, first hashed symbol, filter words, shift. */
static bool may_define(const uint32_t *table, const char *name)
{
	const uint64_t *filter = (const uint64_t *)(const void *)(table + 4);
	uint32_t hash = gnu_hash(name);
	uint64_t bits = 1ull << hash % 64 | 1ull << (hash >> table[3]) % 64;

	return table[2] && (filter[hash / 64 % table[2]] & bits) == bits;
}

/* Undefined symbols come before the hashed ones. A table without hashed symbols says nothing of how many
 * there are: then the relocations are read. */
static bool may_name_functions(const struct image *image)
{
	const char *name;

	if (!image->hash || image->hash[1] <= 1)
		return true;
	for (uint32_t i = 1; i < image->hash[1]; i++)
		if (rvp_functions_known(image->strings + image->symbols[i].st_name) ||
		    rvp_blas_known(image->strings + image->symbols[i].st_name))
			return true;
	for (size_t i = 0; (name = rvp_functions_name(i)); i++)
		if (may_define(image->hash, name))
			return true;
	for (size_t i = 0; (name = rvp_blas_name(i)); i++)
		if (may_define(image->hash, name))
			return true;
	return false;
}

static bool names_driver(const struct image *image)
{
	if (!image->hash || image->hash[1] <= 1)
		return true;
	for (uint32_t i = 1; i < image->hash[1]; i++)
		if (rvp_driver_known(image->strings + image->symbols[i].st_name))
			return true;
	return false;
}

/* False: there is nothing in it to redirect. */
static bool read_image(struct image *image, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;

	*image = (struct image){.bias = info->dlpi_addr, .info = info};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + header->p_vaddr);
		if (header->p_type == PT_GNU_RELRO) {
			/* Whole pages, as glibc protects them. */
			image->relro_low = (info->dlpi_addr + header->p_vaddr) & ~(uintptr_t)4095;
			image->relro_high = (info->dlpi_addr + header->p_vaddr + header->p_memsz) & ~(uintptr_t)4095;
		}
	}
	if (!dynamic)
		return false;
	read_dynamic(image, dynamic);
	return image->symbols && image->strings;
}

static void redirect_all(const struct image *image)
{
	for (int i = 0; i < 2; i++)
		redirect(image, image->tables[i], image->counts[i]);
}

void rvp_imports_redirect(const struct dl_phdr_info *info, rvp_front_of *front_of)
{
	struct image image;

	if (!read_image(&image, info))
		return;
	image.front_of = front_of;
	redirect_all(&image);
}

/* Libraries of ours beside this one: what they ask CUPTI and the driver is nobody else's. */
static bool is_companion(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && strncmp(slash + 1, "librvprof_", 10) == 0;
}

static void look_at(const struct dl_phdr_info *info)
{
	struct image image;

	if (holds(info, rvp_real.allocator_low) || holds(info, (uintptr_t)look_at) || is_companion(info->dlpi_name) ||
	    !read_image(&image, info))
		return;
	image.wants_operators = rvp_operators_are_beside_malloc();
	image.wants_functions = may_name_functions(&image);
	image.wants_driver = rvp_driver_is_wanted() && names_driver(&image);
	if (image.wants_operators || image.wants_functions || image.wants_driver)
		redirect_all(&image);
}

static int visit(struct dl_phdr_info *info, size_t size, void *adds)
{
	(void)size;
	*(uint64_t *)adds = info->dlpi_adds;
	if (info->dlpi_adds == atomic_load(&seen_adds))
		return 1;
	look_at(info);
	return 0;
}

/* Operators matter from the first call on: each look asks the loader. A function that tells of steps is
 * called by modules that were met on stacks before: then, and only then. */
static bool is_due(void)
{
	uint32_t count = rvp_modules_count();

	return atomic_exchange(&seen_modules, count) != count || rvp_operators_are_beside_malloc();
}

void rvp_imports_look(void)
{
	uint64_t adds = 0;

	if (atomic_load(&rvp_process.locked))
		return;
	rvp_loader_list(visit, &adds);
	if (atomic_exchange(&is_unsettled, false)) {
		atomic_store(&seen_modules, UINT32_MAX);
		adds = 0;
	}
	atomic_store(&seen_adds, adds);
}

void rvp_imports_refresh(void)
{
	if (!atomic_load(&rvp_process.locked) && is_due())
		rvp_imports_look();
}
