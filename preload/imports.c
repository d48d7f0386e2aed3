/* SPDX-License-Identifier: MIT */
/* imports.c: see imports.h.
 *
 * For every relocation of kind JUMP_SLOT, GLOB_DAT or 64 whose symbol is one that we front, the slot gets the
 * front's address. A slot inside the read-only part after relocation (RELRO) is made writable for the moment
 * of the store. The allocator's own module and ours are left alone.
 */
#include "preload/imports.h"

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
};

static _Atomic uint64_t seen_adds;

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

static void redirect(const struct image *image, const ElfW(Rela) * table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned long kind = ELF64_R_TYPE(table[i].r_info);
		void *front;

		if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT && kind != R_X86_64_64)
			continue;
		front = rvp_operators_front(image->strings +
					    image->symbols[ELF64_R_SYM(table[i].r_info)].st_name);
		if (front)
			store(image, (void **)(image->bias + table[i].r_offset), front);
	}
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

static void look_at(const struct dl_phdr_info *info)
{
	struct image image = {.bias = info->dlpi_addr};
	const ElfW(Dyn) *dynamic = NULL;

	if (holds(info, rvp_real.allocator_low) || holds(info, (uintptr_t)look_at))
		return;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + header->p_vaddr);
		if (header->p_type == PT_GNU_RELRO) {
			image.relro_low = info->dlpi_addr + header->p_vaddr;
			image.relro_high = image.relro_low + header->p_memsz;
		}
	}
	if (!dynamic)
		return;
	read_dynamic(&image, dynamic);
	if (!image.symbols || !image.strings)
		return;
	for (int i = 0; i < 2; i++)
		redirect(&image, image.tables[i], image.counts[i]);
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

void rvp_imports_refresh(void)
{
	uint64_t adds = 0;

	if (!rvp_operators_are_beside_malloc() || atomic_load(&rvp_process.locked))
		return;
	dl_iterate_phdr(visit, &adds);
	atomic_store(&seen_adds, adds);
}
