/* SPDX-License-Identifier: MIT */
/* write_csv.c: see write_csv.h. A field is empty where nothing was measured or attributed, never 0. */
#include "report/write_csv.h"

#include <inttypes.h>

static void put_number(FILE *file, bool is_known, uint64_t bytes)
{
	fputc(',', file);
	if (is_known)
		fprintf(file, "%" PRIu64, bytes);
}

static void put_categories(FILE *file, const struct rvp_row *row)
{
	fprintf(file, "%" PRIu64 ",host", row->ns / 1000);
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		switch (i) {
		case RVP_CATEGORY_FILE: put_number(file, row->has_regions, row->file_bytes); break;
		case RVP_CATEGORY_STACK: put_number(file, row->has_regions, row->stack_bytes); break;
		case RVP_CATEGORY_CODE: put_number(file, row->has_regions, row->code_bytes); break;
		case RVP_CATEGORY_UNKNOWN: put_number(file, true, row->live_bytes); break;
		default: put_number(file, false, 0); break;
		}
	fputc('\n', file);
}

static void put_row(struct rvp_csv *csv, const struct rvp_row *row)
{
	fprintf(csv->memory, "%" PRIu64, row->ns / 1000);
	put_number(csv->memory, row->has_rss, row->rss_bytes);
	fputs(",,,\n", csv->memory);
	put_categories(csv->categories, row);
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_csv *csv = (struct rvp_csv *)observer;
	struct rvp_row row = rvp_row_of(state, event->moment->ns), out[2];
	int count = rvp_rows_take(&csv->rows, &row, out);

	for (int i = 0; i < count; i++)
		put_row(csv, &out[i]);
}

/* The last row is what was when the last process went, not the nothing behind it. */
static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	struct rvp_csv *csv = (struct rvp_csv *)observer;
	struct rvp_row row = csv->rows.present;

	if (!csv->rows.has_present || (csv->rows.count > 1 && row.ns == csv->rows.last.ns))
		return;
	if (state->run->alive_count)
		row.ns = state->run->end_ns;
	put_row(csv, &row);
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

void rvp_csv_write_latency(FILE *latency)
{
	fputs("sample_id,wall_time_us,kernel_time_us,seq_len\n", latency);
}
