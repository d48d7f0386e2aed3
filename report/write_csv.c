/* SPDX-License-Identifier: MIT */
/* write_csv.c: see write_csv.h. A field is empty where nothing was measured or attributed, never 0. */
#include "report/write_csv.h"

#include "report/device_answer.h"

#include <inttypes.h>

static void put_number(FILE *file, bool is_known, uint64_t bytes)
{
	fputc(',', file);
	if (is_known)
		fprintf(file, "%" PRIu64, bytes);
}

/* Without attribution everything is in unknown and the other categories of blocks are not known. */
static bool is_known(const struct rvp_row *row, int category)
{
	if (rvp_category_is_resident(category))
		return row->has_regions;
	return row->is_attributed || category == RVP_CATEGORY_UNKNOWN;
}

static void put_categories(FILE *file, const char *name, const struct rvp_row *row)
{
	fprintf(file, "%" PRIu64 ",%s", row->ns / 1000, name);
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		put_number(file, is_known(row, i), row->category_bytes[i]);
	fputc('\n', file);
}

/* The device whose next row is the earliest of those before `ns`; NULL: none is. */
static struct rvp_device_answer *first_before(const struct rvp_csv *csv, uint64_t ns)
{
	struct rvp_device_answer *first = NULL;

	for (size_t i = 0; csv->devices && i < csv->devices->count; i++) {
		const struct rvp_row *row = rvp_device_rows_peek(&csv->devices->items[i].rows);

		if (row && row->ns < ns && (!first || row->ns < rvp_device_rows_peek(&first->rows)->ns))
			first = &csv->devices->items[i];
	}
	return first;
}

static void put_devices_before(struct rvp_csv *csv, uint64_t ns)
{
	struct rvp_device_answer *item;

	while ((item = first_before(csv, ns))) {
		put_categories(csv->categories, item->device->name, rvp_device_rows_peek(&item->rows));
		rvp_device_rows_take(&item->rows);
	}
}

static void put_row(struct rvp_csv *csv, const struct rvp_row *row)
{
	const uint64_t *bytes = row->category_bytes;

	fprintf(csv->memory, "%" PRIu64, row->ns / 1000);
	put_number(csv->memory, row->has_rss, row->rss_bytes);
	put_number(csv->memory, row->is_attributed, bytes[RVP_CATEGORY_KV_CACHE]);
	put_number(csv->memory, row->is_attributed, bytes[RVP_CATEGORY_ACTIVATION]);
	put_number(csv->memory, row->is_attributed, bytes[RVP_CATEGORY_TEMP] + bytes[RVP_CATEGORY_WORKSPACE]);
	fputc('\n', csv->memory);
	put_devices_before(csv, row->ns);
	put_categories(csv->categories, "host", row);
}

/* The watcher writes on when every process is gone. */
static bool is_behind_the_end(const struct rvp_event *event, const struct rvp_state *state)
{
	return event->moment->process == RVP_NO_PROCESS && !state->run->alive_count &&
	       event->moment->ns > state->run->end_ns && !state->resident.rss_bytes;
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_csv *csv = (struct rvp_csv *)observer;
	struct rvp_row row, out[2];
	int count;

	if (is_behind_the_end(event, state))
		return;
	/* What is behind the end of a process is not what finish() wants. */
	if (event->kind != RVP_EVENT_END &&
	    rvp_rows_let_pass(&csv->rows, event->moment->ns, state->tracked.amount.bytes, state->resident.rss_bytes))
		return;
	row = rvp_row_of(state, event->moment->ns);
	count = rvp_rows_take(&csv->rows, &row, out);
	for (int i = 0; i < count; i++)
		put_row(csv, &out[i]);
}

/* The last row is what was when the last process went, not the nothing behind it. */
static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	struct rvp_csv *csv = (struct rvp_csv *)observer;
	struct rvp_row row = csv->rows.behind_ns ? rvp_row_of(state, csv->rows.behind_ns) : csv->rows.present;

	if (csv->rows.has_present && (csv->rows.count <= 1 || row.ns != csv->rows.last.ns)) {
		if (state->run->alive_count)
			row.ns = state->run->end_ns;
		put_row(csv, &row);
	}
	put_devices_before(csv, RVP_NEVER);
}

void rvp_csv_open(struct rvp_csv *csv, FILE *memory, FILE *categories)
{
	*csv = (struct rvp_csv){
	    .observer = {.see = see, .finish = finish}, .memory = memory, .categories = categories};
	fputs("timestamp_us,peak_rss_bytes,kv_cache_bytes,activation_bytes,temp_buffer_bytes\n", memory);
	fputs("timestamp_us,device", categories);
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		fprintf(categories, ",%s", rvp_category_names[i]);
	fputc('\n', categories);
}
