/* SPDX-License-Identifier: MIT */
/* elf_file.c: see elf_file.h. Only 64-bit files are looked into; of others the class is enough. */
#include "tools/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRIPT_LINE_BYTES = 256 };

/* `count` things of `each` bytes at `offset`, or NULL when they are not all in the file. */
static const void *at(const struct rvp_elf *elf, uint64_t offset, uint64_t count, size_t each)
{
	if (offset > elf->size || count > (elf->size - offset) / each)
		return NULL;
	return elf->bytes + offset;
}

/* A terminated text at `offset` of a table, or NULL. */
static const char *text_at(const char *table, size_t bytes, uint64_t offset)
{
	return table && offset < bytes && memchr(table + offset, 0, bytes - offset) ? table + offset : NULL;
}

static const Elf64_Ehdr *header(const struct rvp_elf *elf)
{
	return (const Elf64_Ehdr *)elf->bytes;
}

static const Elf64_Shdr *sections(const struct rvp_elf *elf)
{
	return at(elf, header(elf)->e_shoff, header(elf)->e_shnum, sizeof(Elf64_Shdr));
}

static uint64_t file_offset(const struct rvp_elf *elf, uint64_t address)
{
	const Elf64_Phdr *segment = elf->segments;

	for (int i = 0; segment && i < header(elf)->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && address >= segment[i].p_vaddr &&
		    address - segment[i].p_vaddr < segment[i].p_filesz)
			return address - segment[i].p_vaddr + segment[i].p_offset;
	return UINT64_MAX;
}

static uint64_t dynamic_value(const struct rvp_elf *elf, int64_t tag)
{
	const Elf64_Dyn *row = elf->dynamic;

	for (size_t i = 0; row && i < elf->dynamic_count && row[i].d_tag != DT_NULL; i++)
		if (row[i].d_tag == tag)
			return row[i].d_un.d_val;
	return 0;
}

static void find_segments(struct rvp_elf *elf)
{
	const Elf64_Phdr *segment = elf->segments;

	for (int i = 0; segment && i < header(elf)->e_phnum; i++) {
		const char *content = at(elf, segment[i].p_offset, segment[i].p_filesz, 1);

		if (segment[i].p_type == PT_INTERP)
			elf->interpreter = text_at(content, segment[i].p_filesz, 0);
		if (segment[i].p_type != PT_DYNAMIC || !content)
			continue;
		elf->dynamic = content;
		elf->dynamic_count = segment[i].p_filesz / sizeof(Elf64_Dyn);
	}
	if (!elf->dynamic)
		return;
	elf->dynamic_names_bytes = dynamic_value(elf, DT_STRSZ);
	elf->dynamic_names =
	    at(elf, file_offset(elf, dynamic_value(elf, DT_STRTAB)), elf->dynamic_names_bytes, 1);
}

static void find_script(struct rvp_elf *elf)
{
	size_t most = elf->size < SCRIPT_LINE_BYTES ? elf->size : SCRIPT_LINE_BYTES;
	const char *text = (const char *)elf->bytes, *end = memchr(text, '\n', most);

	if (most < 3 || text[0] != '#' || text[1] != '!')
		return;
	elf->script = text + 2;
	elf->script_length = (end ? (size_t)(end - text) : most) - 2;
	while (elf->script_length && (*elf->script == ' ' || *elf->script == '\t')) {
		elf->script++;
		elf->script_length--;
	}
}

static void understand(struct rvp_elf *elf)
{
	if (elf->size >= EI_NIDENT && !memcmp(elf->bytes, ELFMAG, SELFMAG)) {
		elf->shape = elf->bytes[EI_CLASS] == ELFCLASS32 ? RVP_ELF_32 : RVP_ELF_64;
		if (elf->size >= 20)
			memcpy(&elf->machine, elf->bytes + 18, sizeof elf->machine);
	} else {
		find_script(elf);
	}
	if (elf->shape == RVP_ELF_64 && elf->size < sizeof(Elf64_Ehdr))
		elf->shape = RVP_ELF_NONE;
	if (elf->shape != RVP_ELF_64)
		return;
	elf->segments = at(elf, header(elf)->e_phoff, header(elf)->e_phnum, sizeof(Elf64_Phdr));
	find_segments(elf);
}

struct rvp_status rvp_elf_open(struct rvp_elf *elf, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat file;
	void *map;

	memset(elf, 0, sizeof *elf);
	if (fd < 0)
		return rvp_fail("open", path, errno);
	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || file.st_size == 0) {
		close(fd);
		return rvp_fail_with("read", path, "it is empty or no file");
	}
	map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return rvp_fail("map", path, errno);
	elf->bytes = map;
	elf->size = (size_t)file.st_size;
	understand(elf);
	return RVP_OK;
}

void rvp_elf_close(struct rvp_elf *elf)
{
	if (elf->bytes)
		munmap((void *)(uintptr_t)elf->bytes, elf->size);
	elf->bytes = NULL;
}

const char *rvp_elf_needed(const struct rvp_elf *elf, size_t number)
{
	const Elf64_Dyn *row = elf->dynamic;

	for (size_t i = 0; row && i < elf->dynamic_count && row[i].d_tag != DT_NULL; i++)
		if (row[i].d_tag == DT_NEEDED && number-- == 0)
			return text_at(elf->dynamic_names, elf->dynamic_names_bytes, row[i].d_un.d_val);
	return NULL;
}

const char *rvp_elf_needs(const struct rvp_elf *elf, const char *prefix)
{
	const char *name;

	for (size_t i = 0; (name = rvp_elf_needed(elf, i)); i++)
		if (!strncmp(name, prefix, strlen(prefix)))
			return name;
	return NULL;
}

/* Whether the symbol table `section` has `name`, defined or not. */
static bool table_has(const struct rvp_elf *elf, const Elf64_Shdr *section, const Elf64_Shdr *all,
		      const char *name, bool defined)
{
	size_t count = section->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *symbol = at(elf, section->sh_offset, count, sizeof *symbol);
	const Elf64_Shdr *names = section->sh_link < header(elf)->e_shnum ? &all[section->sh_link] : NULL;
	const char *texts = names ? at(elf, names->sh_offset, names->sh_size, 1) : NULL;

	for (size_t i = 0; symbol && texts && i < count; i++) {
		const char *text = text_at(texts, names->sh_size, symbol[i].st_name);

		if ((symbol[i].st_shndx != SHN_UNDEF) == defined && text && !strcmp(text, name))
			return true;
	}
	return false;
}

static bool has_symbol(const struct rvp_elf *elf, const char *name, uint32_t type, bool defined)
{
	const Elf64_Shdr *all = elf->shape == RVP_ELF_64 ? sections(elf) : NULL;

	for (int i = 0; all && i < header(elf)->e_shnum; i++)
		if (all[i].sh_type == type && table_has(elf, &all[i], all, name, defined))
			return true;
	return false;
}

bool rvp_elf_defines(const struct rvp_elf *elf, const char *name)
{
	return has_symbol(elf, name, SHT_DYNSYM, true) || has_symbol(elf, name, SHT_SYMTAB, true);
}

bool rvp_elf_imports(const struct rvp_elf *elf, const char *name)
{
	return has_symbol(elf, name, SHT_DYNSYM, false);
}
