/* SPDX-License-Identifier: MIT */
/* device_rows.h: the rows of categories.csv that a device gives, kept in a file of their own until they are
 * merged by time with the host's, which another pass gives. An observer of a pass over that device's memory;
 * rows are thinned like the host's (rows.h), by what is given out and by what is held, and show the state
 * behind all events of a moment. */
#ifndef RVP_REPORT_DEVICE_ROWS_H
#define RVP_REPORT_DEVICE_ROWS_H

#include "report/rows.h"

#include <stdio.h>

struct rvp_device_rows {
	struct rvp_observer observer;
	FILE *file; /* of struct rvp_row */
	struct rvp_rows rows;
	struct rvp_row held; /* of the moment at hand */
	bool has_held;
	uint64_t count;
	struct rvp_row next; /* while they are read */
	bool has_next;
};

/* False: there is no room for a file. */
bool rvp_device_rows_open(struct rvp_device_rows *rows);
/* Behind the pass. False: it could not be written or read. */
bool rvp_device_rows_rewind(struct rvp_device_rows *rows);
/* The first row that was not taken yet, NULL: none is left. */
const struct rvp_row *rvp_device_rows_peek(const struct rvp_device_rows *rows);
void rvp_device_rows_take(struct rvp_device_rows *rows);
void rvp_device_rows_close(struct rvp_device_rows *rows);

#endif
