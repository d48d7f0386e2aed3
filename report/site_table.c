/* SPDX-License-Identifier: MIT */
/* site_table.c: see site_table.h. Open addressing; sites are never removed. */
#include "report/site_table.h"

#include "report/evidence.h"
#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct rvp_site) % RVP_LINE_BYTES == 0, "a site is whole lines of the cache");
_Static_assert(offsetof(struct rvp_site, at_peak) == RVP_LINE_BYTES, "what changes always is in the first");
_Static_assert(sizeof(struct rvp_site_key) == 16, "four to a line");

static uint32_t hash_of(const struct rvp_site_key *key)
{
	uint64_t mixed = ((uint64_t)key->stack << 32 | key->python) * 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ mixed >> 29 ^ key->process ^ (uint64_t)key->device << 32 ^ (uint64_t)key->purpose << 40 ^
		 (uint64_t)key->evidence << 56) *
		0xc2b2ae3d27d4eb4fu;
	return (uint32_t)(mixed >> 24);
}

static bool is_same(const struct rvp_site_key *a, const struct rvp_site_key *b)
{
	return a->stack == b->stack && a->python == b->python && a->process == b->process &&
	       a->purpose == b->purpose && a->evidence == b->evidence && a->device == b->device;
}

static bool resize_places(struct rvp_site_table *table, size_t place_count)
{
	struct rvp_site_entry *places = calloc(place_count, sizeof *places);

	if (!places)
		return false;
	for (size_t i = 0; table->places && i <= table->mask; i++) {
		size_t at = table->places[i].hash & (place_count - 1);

		if (!table->places[i].number)
			continue;
		while (places[at].number)
			at = (at + 1) & (place_count - 1);
		places[at] = table->places[i];
	}
	free(table->places);
	table->places = places;
	table->mask = place_count - 1;
	return true;
}

bool rvp_site_table_open(struct rvp_site_table *table, size_t process_count, bool only_numbers)
{
	*table = (struct rvp_site_table){.first_of_process = calloc(process_count + 1, sizeof(uint32_t)),
					 .only_numbers = only_numbers};
	return table->first_of_process && resize_places(table, 1024);
}

static bool make_room(struct rvp_site_table *table)
{
	return rvp_line_grow((void **)&table->keys, &table->key_room, table->count + 1, sizeof *table->keys) &&
	       (table->only_numbers ||
		rvp_line_grow((void **)&table->sites, &table->room, table->count + 1, sizeof *table->sites));
}

static void add_sums(struct rvp_site_table *table, uint32_t number, const struct rvp_site_key *key)
{
	table->sites[number] = (struct rvp_site){.process = key->process,
						 .stack = key->stack,
						 .python = key->python,
						 .purpose = key->purpose,
						 .evidence = key->evidence,
						 .device = key->device,
						 .next_of_process = table->first_of_process[key->process]};
	table->first_of_process[key->process] = number + 1;
}

static uint32_t add_site(struct rvp_site_table *table, size_t at, uint32_t hash, const struct rvp_site_key *key)
{
	uint32_t number = (uint32_t)table->count;

	if (!make_room(table))
		return UINT32_MAX;
	table->count++;
	table->keys[number] = *key;
	if (!table->only_numbers)
		add_sums(table, number, key);
	table->places[at] = (struct rvp_site_entry){hash, number + 1};
	if (table->count * 8 > (table->mask + 1) * 5 && !resize_places(table, (table->mask + 1) * 2))
		return UINT32_MAX;
	return number;
}

static uint32_t number_of(struct rvp_site_table *table, const struct rvp_site_key *key)
{
	uint32_t hash = hash_of(key);
	size_t at = hash & table->mask;

	for (; table->places[at].number; at = (at + 1) & table->mask)
		if (table->places[at].hash == hash && is_same(&table->keys[table->places[at].number - 1], key))
			return table->places[at].number - 1;
	return add_site(table, at, hash, key);
}

uint32_t rvp_site_number(struct rvp_site_table *table, uint32_t process, uint32_t stack, uint32_t python)
{
	return rvp_site_number_on(table, process, 0, stack, python);
}

uint32_t rvp_site_number_on(struct rvp_site_table *table, uint32_t process, uint32_t device, uint32_t stack,
			    uint32_t python)
{
	struct rvp_site_key key = {process, stack, python, RVP_CATEGORY_UNKNOWN, RVP_EVIDENCE_NONE, (uint8_t)device};

	return number_of(table, &key);
}

uint32_t rvp_site_with_purpose(struct rvp_site_table *table, const struct rvp_site_key *path, uint16_t purpose,
			       uint8_t evidence, uint8_t confidence, uint32_t reason)
{
	struct rvp_site_key key = {path->process, path->stack, path->python, purpose, evidence, path->device};
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
	rvp_line_free(table->sites, table->room, sizeof *table->sites);
	rvp_line_free(table->keys, table->key_room, sizeof *table->keys);
	free(table->places);
	free(table->first_of_process);
	*table = (struct rvp_site_table){0};
}
