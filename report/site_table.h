/* SPDX-License-Identifier: MIT */
/* site_table.h: sites by (process, native call path, Python call path), numbered in order of appearance.
 *
 * A run that imports a framework has a million call paths. So what a site is told by stands apart from its
 * sums, four to a line of the cache; and who only numbers call paths has no sums. */
#ifndef RVP_REPORT_SITE_TABLE_H
#define RVP_REPORT_SITE_TABLE_H

#include "report/analysis.h"

struct rvp_site_key {
	uint32_t process, stack, python;
	uint16_t purpose;
	uint8_t evidence, device;
};

struct rvp_site_entry {
	uint32_t hash, number; /* number: + 1; 0: empty */
};

struct rvp_site_table {
	struct rvp_site_key *keys; /* by number */
	struct rvp_site *sites;    /* likewise; NULL: it only numbers */
	size_t count, key_room, room;
	struct rvp_site_entry *places;
	size_t mask;
	bool only_numbers;
	uint32_t *first_of_process; /* number + 1 by process, chained by next_of_process; 0: none */
};

/* False without memory. */
bool rvp_site_table_open(struct rvp_site_table *table, size_t process_count, bool only_numbers);

/* Its number; made when it is new. UINT32_MAX without memory. */
uint32_t rvp_site_number(struct rvp_site_table *table, uint32_t process, uint32_t stack, uint32_t python);

/* The same of a device (device_list.h; 0: the host): its blocks are at other sites than the host's. */
uint32_t rvp_site_number_on(struct rvp_site_table *table, uint32_t process, uint32_t device, uint32_t stack,
			    uint32_t python);

/* The site of the same call path as `path` (of any table) with another purpose and evidence; its reason and
 * confidence are those of the first. */
uint32_t rvp_site_with_purpose(struct rvp_site_table *table, const struct rvp_site_key *path,
			       uint16_t purpose, uint8_t evidence, uint8_t confidence, uint32_t reason);

/* Frees all; the caller may have taken `sites`, which are `room`, for itself (then it set them to NULL). */
void rvp_site_table_free(struct rvp_site_table *table);

#endif
