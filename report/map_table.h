/* SPDX-License-Identifier: MIT */
/* map_table.h: the program's own mappings as blocks: from MAP, UNMAP and REMAP to births and deaths.
 *
 * A mapping is a block when it is anonymous, writable, and neither a reservation (MAP_NORESERVE), a stack,
 * nor made inside of the allocator (the library does not record those); a mapping of a file is one too,
 * marked RVP_BLOCK_FILE. Where a part is unmapped or mapped over, the whole dies and what is left is
 * restored: pieces keep birth, site and split of the whole.
 */
#ifndef RVP_REPORT_MAP_TABLE_H
#define RVP_REPORT_MAP_TABLE_H

#include "report/live_index.h"
#include "report/match.h"

struct rvp_pinned { /* device_pinned.h */
	struct rvp_block block, under; /* under: the mapping that it lies in */
	uint32_t process;
	bool has_under;
};

struct rvp_map_table {
	struct rvp_live_index index;
	struct rvp_site_table *sites;
	struct rvp_classifier classifier;
	struct rvp_event *events; /* of the last moment taken */
	size_t count, room;
	struct rvp_pinned *pinned;
	size_t pinned_count, pinned_room;
	struct rvp_pinned pinned_freed; /* the last one */
	bool has_pinned_freed;
	bool no_memory;
};

bool rvp_map_table_open(struct rvp_map_table *table, size_t process_count, struct rvp_site_table *sites,
			struct rvp_classifier classifier);

/* The events of a moment, count of them (none for most). False without memory. */
bool rvp_map_table_take(struct rvp_map_table *table, const struct rvp_moment *moment);

/* The live mapping at `address`, or NULL. */
struct rvp_block *rvp_mapped_block(const struct rvp_map_table *table, uint32_t process, uint64_t address);

void rvp_map_table_free(struct rvp_map_table *table);

/* ---- for device_pinned.c ---- */

bool rvp_is_mapped_range(uint64_t address, uint64_t bytes);
/* What lies in [address, end) goes; what of it lies outside stays. */
void rvp_map_table_cut(struct rvp_map_table *table, const struct rvp_moment *moment, uint64_t address, uint64_t end);
/* `piece` is there again, from address to end. */
void rvp_map_table_restore(struct rvp_map_table *table, const struct rvp_moment *moment, struct rvp_block piece,
			   uint64_t address, uint64_t end);
/* A new block of this address, bytes and flags. */
void rvp_map_table_bear(struct rvp_map_table *table, const struct rvp_moment *moment, struct rvp_block *block,
			uint64_t stack, uint64_t python);

#endif
