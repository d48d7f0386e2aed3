/* SPDX-License-Identifier: MIT */
/* name_table.h: texts with numbers, in order of appearance: the same text has the same number.
 * Memory: each text once. */
#ifndef RVP_REPORT_NAME_TABLE_H
#define RVP_REPORT_NAME_TABLE_H

#include "report/arena.h"

#include <stdbool.h>

struct rvp_name_table {
	struct rvp_arena arena;
	const char **names; /* terminated */
	size_t count, room;
	uint32_t *places; /* number + 1; 0: empty */
	size_t mask;      /* places - 1; meaningful with places */
};

/* The text's number; UINT32_MAX without memory. A NUL inside ends it. */
uint32_t rvp_name_number(struct rvp_name_table *table, const char *bytes, size_t length);

void rvp_name_table_free(struct rvp_name_table *table);

#endif
