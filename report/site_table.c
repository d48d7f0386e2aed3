/* SPDX-License-Identifier: MIT */
/* site_table.c: see site_table.h. Open addressing; sites are never removed. */
#include "report/site_table.h"

#include <stdlib.h>

static size_t home_of(const struct rvp_site_table *table, uint32_t process, uint32_t stack, uint32_t python)
{
	uint64_t mixed = ((uint64_t)stack << 32 | python) * 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ mixed >> 29 ^ process) * 0xc2b2ae3d27d4eb4fu;
	return (size_t)(mixed >> 24) & table->mask;
}

static bool resize_places(struct rvp_site_table *table, size_t place_count)
{
	uint32_t *places = calloc(place_count, sizeof *places);

	if (!places)
		return false;
	free(table->places);
	table->places = places;
	table->mask = place_count - 1;
	for (size_t i = 0; i < table->count; i++) {
		const struct rvp_site *site = &table->sites[i];
		size_t at = home_of(table, site->process, site->stack, site->python);

		while (places[at])
			at = (at + 1) & table->mask;
		places[at] = (uint32_t)i + 1;
	}
	return true;
}

bool rvp_site_table_open(struct rvp_site_table *table, size_t process_count)
{
	*table = (struct rvp_site_table){.first_of_process = calloc(process_count + 1, sizeof(uint32_t))};
	return table->first_of_process && resize_places(table, 1024);
}

static uint32_t add_site(struct rvp_site_table *table, size_t at, uint32_t process, uint32_t stack,
			 uint32_t python)
{
	if (table->count == table->room) {
		size_t room = table->room ? table->room * 2 : 256;
		struct rvp_site *more = realloc(table->sites, room * sizeof *more);

		if (!more)
			return UINT32_MAX;
		table->sites = more;
		table->room = room;
	}
	uint32_t number = (uint32_t)table->count++;

	table->sites[number] = (struct rvp_site){.process = process,
						 .stack = stack,
						 .python = python,
						 .next_of_process = table->first_of_process[process]};
	table->first_of_process[process] = number + 1;
	table->places[at] = number + 1;
	if (table->count * 8 > (table->mask + 1) * 5 && !resize_places(table, (table->mask + 1) * 2))
		return UINT32_MAX;
	return number;
}

uint32_t rvp_site_number(struct rvp_site_table *table, uint32_t process, uint32_t stack, uint32_t python)
{
	size_t at = home_of(table, process, stack, python);

	for (; table->places[at]; at = (at + 1) & table->mask) {
		const struct rvp_site *site = &table->sites[table->places[at] - 1];

		if (site->stack == stack && site->python == python && site->process == process)
			return table->places[at] - 1;
	}
	return add_site(table, at, process, stack, python);
}

void rvp_site_table_free(struct rvp_site_table *table)
{
	free(table->sites);
	free(table->places);
	free(table->first_of_process);
	*table = (struct rvp_site_table){0};
}
