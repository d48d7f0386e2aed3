/* SPDX-License-Identifier: MIT */
/* name_table.c: see name_table.h. Open addressing, at most half full. */
#include "report/name_table.h"

#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_FIRST = 64 };

static size_t hash(const char *bytes, size_t length)
{
	uint64_t value = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		value = (value ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return (size_t)(value ^ value >> 32);
}

static void put(struct rvp_name_table *table, uint32_t number)
{
	const char *name = table->names[number];
	size_t at = hash(name, strlen(name)) & table->mask;

	while (table->places[at])
		at = (at + 1) & table->mask;
	table->places[at] = number + 1;
}

static bool make_room(struct rvp_name_table *table)
{
	size_t count = table->places ? (table->mask + 1) * 2 : PLACES_FIRST;
	uint32_t *places;

	if (!rvp_grow((void **)&table->names, &table->room, table->count + 1, sizeof *table->names))
		return false;
	if (table->places && table->count < (table->mask + 1) / 2)
		return true;
	places = calloc(count, sizeof *places);
	if (!places)
		return false;
	free(table->places);
	table->places = places;
	table->mask = count - 1;
	for (uint32_t i = 0; i < table->count; i++)
		put(table, i);
	return true;
}

static uint32_t find(const struct rvp_name_table *table, const char *bytes, size_t length)
{
	if (!table->places)
		return UINT32_MAX;
	for (size_t at = hash(bytes, length) & table->mask; table->places[at]; at = (at + 1) & table->mask) {
		const char *name = table->names[table->places[at] - 1];

		if (strlen(name) == length && memcmp(name, bytes, length) == 0)
			return table->places[at] - 1;
	}
	return UINT32_MAX;
}

uint32_t rvp_name_number(struct rvp_name_table *table, const char *bytes, size_t length)
{
	uint32_t number;
	const char *name;

	length = length ? strnlen(bytes, length) : 0;
	number = find(table, length ? bytes : "", length);
	if (number != UINT32_MAX)
		return number;
	if (table->count == UINT32_MAX - 1 || !make_room(table))
		return UINT32_MAX;
	name = rvp_arena_text(&table->arena, length ? bytes : "", length);
	if (strlen(name) != length)
		return UINT32_MAX;
	table->names[table->count] = name;
	put(table, (uint32_t)table->count);
	return (uint32_t)table->count++;
}

void rvp_name_table_free(struct rvp_name_table *table)
{
	rvp_arena_free(&table->arena);
	free(table->names);
	free(table->places);
	*table = (struct rvp_name_table){0};
}
