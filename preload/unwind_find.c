/* SPDX-License-Identifier: MIT */
/* unwind_find.c: see unwind_find.h. Reads .eh_frame_hdr (a sorted table of 32-bit pairs, as every linker
 * writes it), the FDE that it names, and that one's CIE. Whatever else is met is ODD, and nothing is read
 * outside the object. */
#include "preload/unwind_find.h"

#include "preload/unwind_encoded.h"
#include "preload/unwind_memory.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

/* As glibc 2.35 and later lay it out; declared here so that we build with older headers. */
struct loader_object {
	unsigned long long flags;
	void *map_start, *map_end;
	struct link_map *link_map;
	void *eh_frame_hdr;
	unsigned long long reserved[7];
};
struct dl_find_object;
extern int _dl_find_object(void *pc, struct dl_find_object *result) __attribute__((weak));

static void take_segments(const ElfW(Phdr) * segments, unsigned count, uint64_t bias,
			  struct rvp_object *object)
{
	object->start = UINT64_MAX;
	for (unsigned i = 0; i < count; i++) {
		uint64_t start = bias + segments[i].p_vaddr, end = start + segments[i].p_memsz;

		if (segments[i].p_type == PT_GNU_EH_FRAME)
			object->eh_frame_hdr = (const uint8_t *)start;
		if (segments[i].p_type != PT_LOAD)
			continue;
		object->start = start < object->start ? start : object->start;
		object->end = end > object->end ? end : object->end;
	}
}

static void take_map(const struct link_map *map, bool is_main, struct rvp_memory *memory,
		     struct rvp_object *object)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)map->l_addr;
	ElfW(Ehdr) copy;

	if (is_main) {
		take_segments((const ElfW(Phdr) *)getauxval(AT_PHDR), (unsigned)getauxval(AT_PHNUM),
			      map->l_addr, object);
		return;
	}
	if (!rvp_memory_bytes(memory, map->l_addr, &copy, sizeof copy) ||
	    memcmp(copy.e_ident, ELFMAG, SELFMAG) != 0 ||
	    copy.e_phoff + copy.e_phnum * sizeof(ElfW(Phdr)) > 4096)
		return;
	take_segments((const ElfW(Phdr) *)((const char *)header + copy.e_phoff), copy.e_phnum, map->l_addr,
		      object);
}

/* Of an object with holes between its segments the loader gives the one segment; its unwind table lies in
 * another. */
static void widen(struct rvp_object *object)
{
	uint64_t pages[RVP_MEMORY_PAGES] = {0};
	struct rvp_memory memory = {.pages = pages, .page_count = RVP_MEMORY_PAGES};
	const struct link_map *map = object->link_map;
	struct rvp_object whole = {.link_map = map};

	take_map(map, map == _r_debug.r_map, &memory, &whole);
	if (whole.start <= object->start && whole.end >= object->end)
		*object = whole;
}

bool rvp_object_find_by_loader(uint64_t pc, struct rvp_object *object)
{
	struct loader_object found;
	uint64_t header;

	if (!_dl_find_object || _dl_find_object((void *)pc, (struct dl_find_object *)&found) != 0)
		return false;
	header = (uint64_t)found.eh_frame_hdr;
	*object = (struct rvp_object){(uint64_t)found.map_start, (uint64_t)found.map_end, found.link_map,
				      found.eh_frame_hdr};
	if (header && (header < object->start || header >= object->end))
		widen(object);
	return true;
}

bool rvp_object_find_by_link_map(uint64_t pc, struct rvp_object *object)
{
	uint64_t pages[RVP_MEMORY_PAGES] = {0};
	struct rvp_memory memory = {.pages = pages, .page_count = RVP_MEMORY_PAGES};
	uint64_t at = (uint64_t)_r_debug.r_map;
	struct link_map map;

	if (_r_debug.r_state != RT_CONSISTENT)
		return false;
	for (bool is_main = true; at && rvp_memory_bytes(&memory, at, &map, sizeof map); is_main = false) {
		*object = (struct rvp_object){.link_map = (const void *)at};
		take_map(&map, is_main, &memory, object);
		if (pc >= object->start && pc < object->end)
			return true;
		at = (uint64_t)map.l_next;
	}
	return false;
}

bool rvp_object_next(struct rvp_object_list *list, uint64_t *address)
{
	uint64_t pages[RVP_MEMORY_PAGES] = {0};
	struct rvp_memory memory = {.pages = pages, .page_count = RVP_MEMORY_PAGES};
	uint64_t at = list->count ? list->next : (uint64_t)_r_debug.r_map;
	struct link_map map;

	if (_r_debug.r_state != RT_CONSISTENT || !at || !rvp_memory_bytes(&memory, at, &map, sizeof map))
		return false;
	*address = (uint64_t)map.l_ld; /* the dynamic section, which every object has */
	list->next = (uint64_t)map.l_next;
	list->count++;
	return true;
}

bool rvp_object_find(uint64_t pc, struct rvp_object *object)
{
	return _dl_find_object ? rvp_object_find_by_loader(pc, object)
			       : rvp_object_find_by_link_map(pc, object);
}

/* The CIE at reader->at, into fde; *pointer_encoding: how the FDE's addresses are written. */
static bool read_cie(struct rvp_encoded cie, struct rvp_fde *fde, uint8_t *pointer_encoding, bool *has_length)
{
	const char *augmentation;
	uint64_t version, length;

	if (!rvp_encoded_unit(&cie) || rvp_encoded_fixed(&cie, 4) != 0)
		return false;
	version = rvp_encoded_fixed(&cie, 1);
	augmentation = rvp_encoded_string(&cie);
	if ((version != 1 && version != 3) || (*augmentation && *augmentation != 'z'))
		return false;
	fde->code_factor = rvp_encoded_unsigned(&cie);
	fde->data_factor = rvp_encoded_signed(&cie);
	fde->return_register =
	    (uint32_t)(version == 1 ? rvp_encoded_fixed(&cie, 1) : rvp_encoded_unsigned(&cie));
	*pointer_encoding = RVP_ENCODED_ABSOLUTE;
	*has_length = *augmentation == 'z';
	length = *has_length ? rvp_encoded_unsigned(&cie) : 0;
	fde->initial = cie.at + length;
	fde->initial_end = cie.end;
	for (; *augmentation; augmentation++) {
		if (*augmentation == 'R')
			*pointer_encoding = (uint8_t)rvp_encoded_fixed(&cie, 1);
		else if (*augmentation == 'P')
			rvp_encoded_pointer(&cie, (uint8_t)rvp_encoded_fixed(&cie, 1), 0);
		else if (*augmentation == 'L')
			rvp_encoded_fixed(&cie, 1);
		else if (*augmentation == 'S')
			fde->is_signal = true;
		else if (*augmentation != 'z')
			return false;
	}
	return !cie.is_bad && fde->initial <= fde->initial_end;
}

static enum rvp_found read_fde(const struct rvp_object *object, const uint8_t *at, uint64_t pc,
			       struct rvp_fde *fde)
{
	struct rvp_encoded reader = {at, (const uint8_t *)object->end, false}, cie;
	const uint8_t *base;
	uint64_t distance, bytes;
	uint8_t encoding;
	bool has_length;

	*fde = (struct rvp_fde){0};
	if (at < (const uint8_t *)object->start || !rvp_encoded_unit(&reader))
		return RVP_FOUND_ODD;
	base = reader.at;
	distance = rvp_encoded_fixed(&reader, 4);
	cie = (struct rvp_encoded){base - distance, (const uint8_t *)object->end, false};
	if (!distance || cie.at < (const uint8_t *)object->start ||
	    !read_cie(cie, fde, &encoding, &has_length))
		return RVP_FOUND_ODD;
	fde->start = rvp_encoded_pointer(&reader, encoding, 0);
	bytes = rvp_encoded_pointer(&reader, encoding & 0x0f, 0);
	fde->program = reader.at;
	if (has_length) {
		uint64_t length = rvp_encoded_unsigned(&reader);

		fde->program = reader.at + length;
	}
	fde->program_end = reader.end;
	if (reader.is_bad || fde->program > fde->program_end)
		return RVP_FOUND_ODD;
	return pc - fde->start < bytes ? RVP_FOUND : RVP_FOUND_NONE;
}

/* The table of .eh_frame_hdr: pairs of 32-bit distances from its start, sorted by code address. */
static const uint8_t *search_table(const uint8_t *header, const uint8_t *table, uint64_t count, uint64_t pc)
{
	uint64_t low = 0, high = count;
	int32_t pair[2];

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		memcpy(pair, table + middle * sizeof pair, sizeof pair);
		if ((uint64_t)header + (uint64_t)(int64_t)pair[0] <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	memcpy(pair, table + (low - 1) * sizeof pair, sizeof pair);
	return header + pair[1];
}

enum rvp_found rvp_fde_find(const struct rvp_object *object, uint64_t pc, struct rvp_fde *fde)
{
	const uint8_t *header = object->eh_frame_hdr, *entry;
	struct rvp_encoded reader = {header + 4, (const uint8_t *)object->end, false};
	uint64_t count;

	if (!header)
		return RVP_FOUND_NONE;
	if (header < (const uint8_t *)object->start || header + 12 > (const uint8_t *)object->end ||
	    header[0] != 1 || header[3] != RVP_ENCODED_TABLE)
		return RVP_FOUND_ODD;
	rvp_encoded_pointer(&reader, header[1], (uint64_t)header);
	count = rvp_encoded_pointer(&reader, header[2], (uint64_t)header);
	if (reader.is_bad || count > (object->end - (uint64_t)reader.at) / 8)
		return RVP_FOUND_ODD;
	entry = search_table(header, reader.at, count, pc);
	return entry ? read_fde(object, entry, pc, fde) : RVP_FOUND_NONE;
}
