/* SPDX-License-Identifier: MIT */
/* device_rows.c: see device_rows.h. */
#include "report/device_rows.h"

#include <string.h>

static void put(struct rvp_device_rows *rows, const struct rvp_row *row)
{
	rows->count++;
	if (fwrite(row, sizeof *row, 1, rows->file) != 1)
		clearerr(rows->file); /* rewind counts what is there */
}

static void take_held(struct rvp_device_rows *rows)
{
	struct rvp_row out[2];
	int count = rvp_rows_take(&rows->rows, &rows->held, out);

	for (int i = 0; i < count; i++)
		put(rows, &out[i]);
	rows->has_held = false;
}

/* What is given out moves the rows, and what is held: as live bytes and resident memory do on the host. */
static struct rvp_row row_of(const struct rvp_state *state, uint64_t ns)
{
	uint64_t held = state->tracked.amount.bytes,
		 kept = state->by_category[RVP_CATEGORY_ALLOCATOR].amount.bytes;
	struct rvp_row row = {
	    .ns = ns, .live_bytes = held - kept, .rss_bytes = held, .is_attributed = state->is_attributed};

	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		row.category_bytes[i] = state->by_category[i].amount.bytes;
	return row;
}

static bool is_of_block(const struct rvp_event *event)
{
	return event->kind <= RVP_EVENT_RESTORED || event->kind == RVP_EVENT_RESIZED;
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_device_rows *rows = (struct rvp_device_rows *)observer;

	/* Where a process went, its bytes went without events. */
	if (!is_of_block(event) && (event->kind == RVP_EVENT_END || !rows->rows.has_present ||
				    state->tracked.amount.bytes == rows->held.rss_bytes))
		return;
	if (rows->has_held && event->moment->ns > rows->held.ns)
		take_held(rows);
	rows->held = row_of(state, event->moment->ns);
	rows->has_held = true;
}

/* The last row is what was then, however little it moved. */
static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	struct rvp_device_rows *rows = (struct rvp_device_rows *)observer;

	(void)state;
	if (rows->has_held)
		take_held(rows);
	if (rows->rows.has_present && rows->rows.present.ns != rows->rows.last.ns)
		put(rows, &rows->rows.present);
}

bool rvp_device_rows_open(struct rvp_device_rows *rows)
{
	*rows = (struct rvp_device_rows){.observer = {.see = see, .finish = finish}, .file = tmpfile()};
	return rows->file != NULL;
}

bool rvp_device_rows_rewind(struct rvp_device_rows *rows)
{
	bool is_whole =
	    fflush(rows->file) == 0 && (uint64_t)ftello(rows->file) == rows->count * sizeof(struct rvp_row);

	rewind(rows->file);
	rvp_device_rows_take(rows);
	return is_whole && rows->has_next == (rows->count != 0);
}

const struct rvp_row *rvp_device_rows_peek(const struct rvp_device_rows *rows)
{
	return rows->has_next ? &rows->next : NULL;
}

void rvp_device_rows_take(struct rvp_device_rows *rows)
{
	rows->has_next = fread(&rows->next, sizeof rows->next, 1, rows->file) == 1;
}

void rvp_device_rows_close(struct rvp_device_rows *rows)
{
	if (rows->file)
		fclose(rows->file);
	memset(rows, 0, sizeof *rows);
}
