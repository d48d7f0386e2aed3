/* SPDX-License-Identifier: MIT */
/* elf_image.c: see elf_image.h. */
#include "preload/elf_image.h"

#include "preload/unwind_memory.h"

#include <elf.h>
#include <link.h>
#include <string.h>

struct image {
	const struct rvp_object *object;
	struct rvp_memory memory;
	uint64_t pages[RVP_MEMORY_PAGES];
	uint64_t bias, segments, segment_count;
};

static bool open_image(struct image *image, const struct rvp_object *object)
{
	const struct link_map *map = object->link_map;
	ElfW(Ehdr) header;

	*image = (struct image){.object = object, .bias = map ? map->l_addr : object->start};
	image->memory = (struct rvp_memory){.pages = image->pages, .page_count = RVP_MEMORY_PAGES};
	if (!rvp_memory_bytes(&image->memory, object->start, &header, sizeof header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	image->segments = object->start + header.e_phoff;
	image->segment_count = header.e_phnum;
	return true;
}

/* Segment number `i`, or false; only inside the object. */
static bool segment_at(struct image *image, uint64_t i, ElfW(Phdr) * segment)
{
	uint64_t at = image->segments + i * sizeof *segment, start;

	if (i >= image->segment_count || !rvp_memory_bytes(&image->memory, at, segment, sizeof *segment))
		return false;
	start = image->bias + segment->p_vaddr;
	if (segment->p_type == PT_NOTE || segment->p_type == PT_DYNAMIC)
		return start >= image->object->start && start + segment->p_memsz <= image->object->end;
	return true;
}

static uint64_t aligned(uint64_t bytes, uint64_t alignment)
{
	return alignment == 8 ? (bytes + 7) & ~7ul : (bytes + 3) & ~3ul;
}

static struct rvp_text build_id_among(struct image *image, uint64_t at, uint64_t end, uint64_t alignment)
{
	ElfW(Nhdr) note;
	char name[4];

	while (at + sizeof note <= end && rvp_memory_bytes(&image->memory, at, &note, sizeof note)) {
		uint64_t text = at + sizeof note, content = text + aligned(note.n_namesz, alignment);

		at = content + aligned(note.n_descsz, alignment);
		if (at > end || note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz > 64)
			continue;
		if (rvp_memory_bytes(&image->memory, text, name, 4) && memcmp(name, "GNU", 4) == 0)
			return (struct rvp_text){(const char *)content, note.n_descsz};
	}
	return (struct rvp_text){NULL, 0};
}

struct rvp_text rvp_elf_build_id(const struct rvp_object *object)
{
	struct rvp_text found = {NULL, 0};
	struct image image;
	ElfW(Phdr) segment;

	if (!open_image(&image, object))
		return found;
	for (uint64_t i = 0; !found.length && segment_at(&image, i, &segment); i++)
		if (segment.p_type == PT_NOTE) {
			uint64_t start = image.bias + segment.p_vaddr;

			found = build_id_among(&image, start, start + segment.p_memsz, segment.p_align);
		}
	return found;
}

struct symbols {
	uint64_t hash, symbols, strings;
};

/* The loader has added the bias to these pointers in place, but not in the vdso. */
static uint64_t table_address(const struct image *image, uint64_t pointer)
{
	return pointer < image->bias ? image->bias + pointer : pointer;
}

static bool find_tables(struct image *image, struct symbols *tables)
{
	ElfW(Phdr) segment = {0};
	ElfW(Dyn) entry;

	*tables = (struct symbols){0};
	for (uint64_t i = 0; segment_at(image, i, &segment) && segment.p_type != PT_DYNAMIC; i++)
		;
	if (segment.p_type != PT_DYNAMIC)
		return false;
	for (uint64_t at = 0; at + sizeof entry <= segment.p_memsz; at += sizeof entry) {
		if (!rvp_memory_bytes(&image->memory, image->bias + segment.p_vaddr + at, &entry,
				      sizeof entry) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_GNU_HASH)
			tables->hash = table_address(image, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_SYMTAB)
			tables->symbols = table_address(image, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRTAB)
			tables->strings = table_address(image, entry.d_un.d_ptr);
	}
	return tables->hash && tables->symbols && tables->strings;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

static uint64_t symbol_value(struct image *image, const struct symbols *tables, uint64_t index,
			     const char *name)
{
	size_t length = strlen(name) + 1;
	ElfW(Sym) symbol;
	char found[64];

	if (!rvp_memory_bytes(&image->memory, tables->symbols + index * sizeof symbol, &symbol,
			      sizeof symbol) ||
	    symbol.st_shndx == SHN_UNDEF || length > sizeof found ||
	    !rvp_memory_bytes(&image->memory, tables->strings + symbol.st_name, found, length))
		return 0;
	return memcmp(found, name, length) == 0 ? image->bias + symbol.st_value : 0;
}

uint64_t rvp_elf_symbol(const struct rvp_object *object, const char *name)
{
	struct image image;
	struct symbols tables;
	uint32_t header[4], index, link, hash = gnu_hash(name);
	uint64_t buckets, chains, value;

	if (!open_image(&image, object) || !find_tables(&image, &tables) ||
	    !rvp_memory_bytes(&image.memory, tables.hash, header, sizeof header) || !header[0])
		return 0;
	buckets = tables.hash + sizeof header + (uint64_t)header[2] * 8;
	chains = buckets + (uint64_t)header[0] * 4;
	if (!rvp_memory_bytes(&image.memory, buckets + hash % header[0] * 4, &index, 4) || index < header[1])
		return 0;
	for (;; index++) {
		if (!rvp_memory_bytes(&image.memory, chains + (uint64_t)(index - header[1]) * 4, &link, 4))
			return 0;
		value = (link | 1) == (hash | 1) ? symbol_value(&image, &tables, index, name) : 0;
		if (value || link & 1)
			return value;
	}
}
