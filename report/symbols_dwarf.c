/* SPDX-License-Identifier: MIT */
/* symbols_dwarf.c: from an address to its functions by DWARF, indexed so that a lookup is two binary
 * searches.
 *
 * libdw's own way (dwarf_getscopes) visits every top-level entry of a unit for every address: milliseconds
 * each in a large C++ unit. Here the ranges of all units are sorted once, the ranges of a unit's functions at
 * the first address in it, and only the entries inside the one function are visited then.
 *
 *   (D1) units[] is sorted by low; ranges of different units may overlap: the one that begins last wins.
 *   (D2) An entry with low 0 was discarded by the linker and is never taken: no file has code at address 0.
 *   (D3) The position of a function that something was inlined into is where the call was
 *        (call_file, call_line).
 */
#include "report/symbols_dwarf.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INLINE_MAX = 128, NESTING_MAX = 64, OVERLAP_MAX = 16 };

struct range {
	uint64_t low, high;
	size_t owner; /* a unit's number, or a function's place in its section */
};
struct ranges {
	struct range *ranges;
	size_t count, room;
};
struct unit {
	Dwarf_Die lines; /* the unit's entry, or its skeleton's: has the line table */
	Dwarf_Die whole; /* the entry with the functions */
	bool is_indexed;
	struct ranges functions; /* owner: index into dies */
	Dwarf_Die *dies;
	size_t die_count, die_room;
};
struct rvp_dwarf {
	Dwarf *dwarf;
	struct unit *units;
	size_t unit_count, unit_room;
	struct ranges ranges;
};

/* Room for one more of `bytes` in an array; false without memory. */
static bool grow(void *array_at, size_t count, size_t *room, size_t bytes)
{
	void **array = array_at;
	size_t wanted = *room ? *room * 2 : 16;
	void *grown;

	if (count < *room)
		return true;
	grown = reallocarray(*array, wanted, bytes);
	if (!grown)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}

static bool add_range(struct ranges *ranges, uint64_t low, uint64_t high, size_t owner)
{
	if (low == 0 || low >= high)
		return true;
	if (!grow(&ranges->ranges, ranges->count, &ranges->room, sizeof *ranges->ranges))
		return false;
	ranges->ranges[ranges->count++] = (struct range){low, high, owner};
	return true;
}

static int by_low(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->high > b->high ? -1 : a->high < b->high;
}

static void sort_ranges(struct ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->ranges, ranges->count, sizeof *ranges->ranges, by_low);
}

/* The range that holds `address` and begins last; NULL: none. */
static const struct range *find_range(const struct ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ranges->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < OVERLAP_MAX && low > back; back++) {
		const struct range *range = &ranges->ranges[low - back - 1];

		if (address < range->high)
			return range;
	}
	return NULL;
}

/* Adds all ranges of `die`; how many, or -1. */
static int add_ranges_of(struct ranges *ranges, Dwarf_Die *die, size_t owner)
{
	Dwarf_Addr base = 0, low = 0, high = 0;
	ptrdiff_t at = 0;
	int count = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (!add_range(ranges, low, high, owner))
			return -1;
		count++;
	}
	return count;
}

static bool add_function(struct unit *unit, Dwarf_Die *die)
{
	int count = add_ranges_of(&unit->functions, die, unit->die_count);

	if (count <= 0)
		return count == 0;
	if (!grow(&unit->dies, unit->die_count, &unit->die_room, sizeof *unit->dies))
		return false;
	unit->dies[unit->die_count++] = *die;
	return true;
}

/* Whether functions can stand inside an entry of this kind (Rust puts methods into types). */
static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type: return true;
	default: return false;
	}
}

static bool index_functions(struct unit *unit, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > NESTING_MAX || dwarf_child(parent, &die) != 0)
		return true;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram && !add_function(unit, &die))
			return false;
		if (holds_functions(tag) && !index_functions(unit, &die, depth + 1))
			return false;
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

static bool index_unit(struct unit *unit)
{
	if (unit->is_indexed)
		return true;
	unit->is_indexed = true;
	if (!index_functions(unit, &unit->whole, 0))
		return false;
	sort_ranges(&unit->functions);
	return true;
}

/* A unit that does not say which addresses it has: those of its functions. */
static bool add_function_ranges(struct rvp_dwarf *index, size_t number)
{
	struct unit *unit = &index->units[number];

	if (!index_unit(unit))
		return false;
	for (size_t i = 0; i < unit->functions.count; i++) {
		const struct range *range = &unit->functions.ranges[i];

		if (!add_range(&index->ranges, range->low, range->high, number))
			return false;
	}
	return true;
}

static bool add_unit(struct rvp_dwarf *index, Dwarf_Die *lines, Dwarf_Die *whole)
{
	size_t number = index->unit_count;
	int ranges;

	if (!grow(&index->units, number, &index->unit_room, sizeof *index->units))
		return false;
	index->units[number] = (struct unit){.lines = *lines, .whole = *whole};
	index->unit_count++;
	ranges = add_ranges_of(&index->ranges, lines, number);
	return ranges == 0 ? add_function_ranges(index, number) : ranges > 0;
}

static bool index_units(struct rvp_dwarf *index)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (dwarf_get_units(index->dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
		bool has_split = type == DW_UT_skeleton && split.addr;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (!add_unit(index, &die, has_split ? &split : &die))
			return false;
	}
	sort_ranges(&index->ranges);
	return true;
}

struct rvp_dwarf *rvp_dwarf_open(Dwarf *dwarf)
{
	struct rvp_dwarf *index = calloc(1, sizeof *index);

	if (!index)
		return NULL;
	index->dwarf = dwarf;
	if (index_units(index))
		return index;
	rvp_dwarf_close(index);
	return NULL;
}

void rvp_dwarf_close(struct rvp_dwarf *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->unit_count; i++) {
		free(index->units[i].functions.ranges);
		free(index->units[i].dies);
	}
	free(index->units);
	free(index->ranges.ranges);
	free(index);
}

/* The functions around `address`: chain[0] is the real one, what follows was inlined into the one before. */
struct chain {
	Dwarf_Die dies[INLINE_MAX];
	size_t count;
};

static bool has_no_ranges(Dwarf_Die *die)
{
	return !dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges);
}

static void descend(struct chain *chain, Dwarf_Die *parent, uint64_t address, int depth)
{
	Dwarf_Die die;

	if (depth > NESTING_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		size_t before = chain->count;

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
			continue;
		if (tag == DW_TAG_lexical_block && has_no_ranges(&die)) {
			descend(chain, &die, address, depth + 1);
			if (chain->count > before)
				return;
			continue;
		}
		if (dwarf_haspc(&die, address) <= 0)
			continue;
		if (tag == DW_TAG_inlined_subroutine && chain->count < INLINE_MAX)
			chain->dies[chain->count++] = die;
		descend(chain, &die, address, depth + 1);
		return;
	} while (dwarf_siblingof(&die, &die) == 0);
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* The function's name. C++ functions of internal linkage have none but their bare one in DWARF; for the real
 * function (not an inlined one) the symbol table says the whole, `symbol`. */
static const char *function_of(Dwarf_Die *die, const char *symbol, struct rvp_symbols_texts *texts)
{
	const char *linkage = text_of(die, DW_AT_linkage_name), *bare;

	if (!linkage)
		linkage = text_of(die, DW_AT_MIPS_linkage_name);
	if (linkage)
		return rvp_symbols_readable(texts, linkage);
	bare = text_of(die, DW_AT_name);
	if (!bare)
		return symbol ? symbol : "??";
	return symbol && strstr(symbol, "::") && strstr(symbol, bare) ? symbol : bare;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

/* `path` made absolute: DWARF 5 tables may leave the folder of compilation to the reader. */
static const char *absolute(struct unit *unit, const char *path, struct rvp_symbols_texts *texts)
{
	const char *folder = path && *path != '/' ? text_of(&unit->lines, DW_AT_comp_dir) : NULL;
	char *joined;

	if (!folder || asprintf(&joined, "%s/%s", folder, path) < 0)
		return path;
	joined = rvp_symbols_keep(texts, joined);
	return joined ? joined : path;
}

/* Where the inlined function `die` was called. */
static void call_position(struct unit *unit, Dwarf_Die *die, struct rvp_symbols_hit *hit,
			  struct rvp_symbols_texts *texts)
{
	Dwarf_Files *files;
	size_t file_count;
	uint64_t number = number_of(die, DW_AT_call_file);

	hit->line = (uint32_t)number_of(die, DW_AT_call_line);
	hit->file = NULL;
	if (dwarf_getsrcfiles(&unit->whole, &files, &file_count) == 0 && number < file_count)
		hit->file = absolute(unit, dwarf_filesrc(files, number, NULL, NULL), texts);
}

static void line_position(struct unit *unit, uint64_t address, struct rvp_symbols_hit *hit,
			  struct rvp_symbols_texts *texts)
{
	Dwarf_Line *found = dwarf_getsrc_die(&unit->lines, address);
	int number = 0;

	if (!found || dwarf_lineno(found, &number) != 0)
		return;
	hit->line = number > 0 ? (uint32_t)number : 0; /* 0: the compiler's own code, still of that file */
	hit->file = absolute(unit, dwarf_linesrc(found, NULL, NULL), texts);
}

static void emit_chain(struct unit *unit, struct chain *chain, struct rvp_symbols_hit hit,
		       const char *outermost, struct rvp_symbols_texts *texts, rvp_symbols_emit *emit,
		       void *context)
{
	for (size_t i = chain->count; i-- > 0;) {
		hit.function = function_of(&chain->dies[i], i == 0 ? outermost : NULL, texts);
		hit.is_inline = i > 0;
		emit(context, &hit);
		call_position(unit, &chain->dies[i], &hit, texts);
	}
}

bool rvp_dwarf_lookup(struct rvp_dwarf *index, uint64_t address, const char *outermost,
		      struct rvp_symbols_texts *texts, rvp_symbols_emit *emit, void *context)
{
	const struct range *range = find_range(&index->ranges, address);
	struct unit *unit = range ? &index->units[range->owner] : NULL;
	const struct range *function;
	struct rvp_symbols_hit hit = {0};
	struct chain chain;

	if (!unit || !index_unit(unit))
		return false;
	line_position(unit, address, &hit, texts);
	function = find_range(&unit->functions, address);
	chain.count = 0;
	if (function) {
		chain.dies[chain.count++] = unit->dies[function->owner];
		descend(&chain, &unit->dies[function->owner], address, 0);
		emit_chain(unit, &chain, hit, outermost, texts, emit, context);
		return true;
	}
	hit.function = outermost;
	if (outermost)
		emit(context, &hit);
	return outermost != NULL;
}
