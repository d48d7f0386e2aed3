/* SPDX-License-Identifier: MIT */
/* link_scope.c: see link_scope.h. The loader's list is read as link.h shows it; with dl_iterate_phdr around,
 * nothing comes into it or goes out of it meanwhile. */
#include "preload/link_scope.h"

#include "preload/elf_image.h"

#include <string.h>

enum { OBJECTS_MAX = 128, DEFINITIONS_MAX = 8 };

static const struct link_map *last_at_start; /* NULL: not known */

static const struct link_map *map_of(const struct dl_phdr_info *info)
{
	struct rvp_object object;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			return rvp_object_find(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, &object)
				   ? object.link_map
				   : NULL;
	return NULL;
}

static const struct link_map *first_map(const struct link_map *map)
{
	while (map && map->l_prev)
		map = map->l_prev;
	return map;
}

static uint64_t value_of(const struct link_map *map, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return entry->d_un.d_val;
	return 0;
}

/* glibc has relocated this pointer in most modules. */
static const char *strings_of(const struct link_map *map)
{
	uint64_t at = value_of(map, DT_STRTAB);

	return at ? (const char *)(at < map->l_addr ? at + map->l_addr : at) : NULL;
}

static bool is_called(const struct link_map *map, const char *name)
{
	const char *slash = map->l_name ? strrchr(map->l_name, '/') : NULL, *strings = strings_of(map);
	uint64_t own = value_of(map, DT_SONAME);

	return (slash && !strcmp(slash + 1, name)) || (own && strings && !strcmp(strings + own, name));
}

static const struct link_map *find_called(const struct link_map *first, const char *name)
{
	while (first && !is_called(first, name))
		first = first->l_next;
	return first;
}

struct scope {
	const struct link_map *objects[OBJECTS_MAX];
	unsigned count;
};

static void add(struct scope *scope, const struct link_map *map)
{
	for (unsigned i = 0; i < scope->count; i++)
		if (scope->objects[i] == map)
			return;
	if (map && scope->count < OBJECTS_MAX)
		scope->objects[scope->count++] = map;
}

static void add_needed(struct scope *scope, const struct link_map *first, const struct link_map *map)
{
	const char *strings = strings_of(map);

	for (const ElfW(Dyn) *entry = map->l_ld; strings && entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_NEEDED)
			add(scope, find_called(first, strings + entry->d_un.d_val));
}

static uintptr_t defined_in(const struct link_map *map, const char *name)
{
	struct rvp_object object;

	return map->l_ld && rvp_object_find((uintptr_t)map->l_ld, &object) ? rvp_elf_symbol(&object, name)
									   : 0;
}

/* By the program's own scope; 0: nobody there has it. */
static uintptr_t at_start(const struct link_map *first, const char *name)
{
	for (const struct link_map *map = first; map && last_at_start; map = map->l_next) {
		uintptr_t found = defined_in(map, name);

		if (found || map == last_at_start)
			return found;
	}
	return 0;
}

/* How many modules define it. */
static unsigned count_all(const struct link_map *map, const char *name)
{
	unsigned count = 0;

	for (; map; map = map->l_next)
		count += defined_in(map, name) != 0;
	return count;
}

static uintptr_t in_own_scope(const struct link_map *first, const struct link_map *map, const char *name)
{
	struct scope scope = {.count = 0};
	uintptr_t found = 0;
	unsigned count = 0;

	add(&scope, map);
	for (unsigned i = 0; i < scope.count; i++) {
		uintptr_t here = defined_in(scope.objects[i], name);

		found = found ? found : here;
		count += here != 0;
		add_needed(&scope, first, scope.objects[i]);
	}
	return count == count_all(first, name) ? found : 0;
}

uintptr_t rvp_link_scope_find(const struct dl_phdr_info *module, const char *name)
{
	const struct link_map *map = map_of(module), *first = first_map(map);
	uintptr_t found = at_start(first, name);

	if (found || !map)
		return found;
	return in_own_scope(first, map, name);
}

void rvp_link_scope_start(void)
{
	struct rvp_object object;

	if (!rvp_object_find((uintptr_t)rvp_link_scope_start, &object))
		return;
	last_at_start = object.link_map;
	while (last_at_start && last_at_start->l_next)
		last_at_start = last_at_start->l_next;
}
