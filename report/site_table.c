/* SPDX-License-Identifier: MIT */
/* site_table.c: see site_table.h. Open addressing; sites are never removed. */
#include "report/site_table.h"

#include "report/evidence.h"
#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SITES = 64 };
_Static_assert(sizeof(struct rvp_site) % RVP_LINE_BYTES == 0, "a site is whole lines of the cache");
_Static_assert(offsetof(struct rvp_site, at_peak) == RVP_LINE_BYTES, "what changes always is in the first");

struct key {
	uint32_t process, stack, python;
	uint16_t purpose;
	uint8_t evidence, device;
};

static struct key key_of(const struct rvp_site *site)
{
	return (struct key){site->process, site->stack, site->python, site->purpose, site->evidence,
			    (uint8_t)site->device};
}

static size_t home_of(const struct rvp_site_table *table, const struct key *key)
{
	uint64_t mixed = ((uint64_t)key->stack << 32 | key->python) * 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ mixed >> 29 ^ key->process ^ (uint64_t)key->device << 32 ^ (uint64_t)key->purpose << 40 ^
		 (uint64_t)key->evidence << 56) *
		0xc2b2ae3d27d4eb4fu;
	return (size_t)(mixed >> 24) & table->mask;
}

static bool is_same(const struct rvp_site *site, const struct key *key)
{
	return site->stack == key->stack && site->python == key->python && site->process == key->process &&
	       site->purpose == key->purpose && site->evidence == key->evidence && site->device == key->device;
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
		struct key key = key_of(&table->sites[i]);
		size_t at = home_of(table, &key);

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

static bool grow_sites(struct rvp_site_table *table)
{
	size_t room = table->room ? table->room * 2 : FIRST_SITES;
	struct rvp_site *more = rvp_line_room(room * sizeof *more);

	if (!more)
		return false;
	if (table->sites)
		memcpy(more, table->sites, table->count * sizeof *more);
	free(table->sites);
	table->sites = more;
	table->room = room;
	return true;
}

static uint32_t add_site(struct rvp_site_table *table, size_t at, const struct key *key)
{
	if (table->count == table->room && !grow_sites(table))
		return UINT32_MAX;
	uint32_t number = (uint32_t)table->count++;

	table->sites[number] = (struct rvp_site){.process = key->process,
						 .stack = key->stack,
						 .python = key->python,
						 .purpose = key->purpose,
						 .evidence = key->evidence,
						 .device = key->device,
						 .next_of_process = table->first_of_process[key->process]};
	table->first_of_process[key->process] = number + 1;
	table->places[at] = number + 1;
	if (table->count * 8 > (table->mask + 1) * 5 && !resize_places(table, (table->mask + 1) * 2))
		return UINT32_MAX;
	return number;
}

static uint32_t number_of(struct rvp_site_table *table, const struct key *key)
{
	size_t at = home_of(table, key);

	for (; table->places[at]; at = (at + 1) & table->mask)
		if (is_same(&table->sites[table->places[at] - 1], key))
			return table->places[at] - 1;
	return add_site(table, at, key);
}

uint32_t rvp_site_number(struct rvp_site_table *table, uint32_t process, uint32_t stack, uint32_t python)
{
	return rvp_site_number_on(table, process, 0, stack, python);
}

uint32_t rvp_site_number_on(struct rvp_site_table *table, uint32_t process, uint32_t device, uint32_t stack,
			    uint32_t python)
{
	struct key key = {process, stack, python, RVP_CATEGORY_UNKNOWN, RVP_EVIDENCE_NONE, (uint8_t)device};

	return number_of(table, &key);
}

uint32_t rvp_site_with_purpose(struct rvp_site_table *table, const struct rvp_site *site, uint16_t purpose,
			       uint8_t evidence, uint8_t confidence, uint32_t reason)
{
	struct key key = {site->process, site->stack, site->python, purpose, evidence, (uint8_t)site->device};
	size_t before = table->count;
	uint32_t number = number_of(table, &key);

	if (number != UINT32_MAX && table->count > before) {
		table->sites[number].confidence = confidence;
		table->sites[number].reason = reason;
	}
	return number;
}

void rvp_site_table_free(struct rvp_site_table *table)
{
	free(table->sites);
	free(table->places);
	free(table->first_of_process);
	*table = (struct rvp_site_table){0};
}
