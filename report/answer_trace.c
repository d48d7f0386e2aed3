/* SPDX-License-Identifier: MIT */
/* answer_trace.c: `report --memory-trace`: used and held bytes over time, the peak, and the big bumps: births
 * that take a twentieth of the peak or more at once.
 *
 * Used is what the program has asked for and not given back; held is what is resident, all of it: the
 * allocator's spare memory, code and files too.
 */
#include "report/inquiry.h"

#include "report/memory_trace.h"
#include "report/text_categories.h"
#include "report/text_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { ROWS = 60, TERMINAL_ROWS = 20, BUMP_PARTS = 20 };

static const char *const levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
enum { LEVELS = sizeof levels / sizeof levels[0] - 1 };

struct memory {
	struct rvp_inquiry *inquiry;
	struct rvp_trace_row rows[ROWS];
	uint64_t highest_bytes;
};

static struct rvp_status look(struct memory *this)
{
	struct rvp_memory_trace trace;
	struct rvp_analysis again;
	struct rvp_status status;

	rvp_memory_trace_open(&trace, this->inquiry->run, this->rows, ROWS);
	status = rvp_inquiry_ask_again(this->inquiry, &trace.observer, &again);
	if (rvp_failed(status))
		return status;
	rvp_analysis_free(&again);
	rvp_memory_trace_fill(&trace);
	for (int i = 0; i < ROWS; i++)
		if (this->rows[i].used_bytes > this->highest_bytes)
			this->highest_bytes = this->rows[i].used_bytes;
	return RVP_OK;
}

static const struct rvp_group *group_of(const struct memory *this, const struct rvp_trace_bump *bump)
{
	if (!bump->number || bump->split >= this->inquiry->answer.site_count)
		return NULL;
	return rvp_group_of(&this->inquiry->groups, &this->inquiry->answer.sites[bump->split]);
}

static bool is_big(const struct memory *this, const struct rvp_trace_bump *bump)
{
	return bump->number && bump->bytes >= this->highest_bytes / BUMP_PARTS;
}

static void print_line(const struct memory *this)
{
	FILE *out = this->inquiry->view.out;
	char bytes[RVP_NUMBER_TEXT_BYTES];

	fputs("  used  ", out);
	for (int i = 0; i < ROWS; i++) {
		uint64_t used = this->rows[i].used_bytes, highest = this->highest_bytes;
		size_t level = highest ? (size_t)((double)used / (double)highest * LEVELS + 0.5) : 0;

		fputs(levels[used && !level ? 1 : level], out);
	}
	fprintf(out, "  to %s\n", rvp_text_bytes(this->highest_bytes, bytes));
}

static bool is_peak(const struct memory *this, const struct rvp_trace_row *row)
{
	return row->has_event && row->ns == this->inquiry->answer.tracked_peak_ns;
}

static void print_row(const struct memory *this, const struct rvp_trace_row *row)
{
	FILE *out = this->inquiry->view.out;
	char used[RVP_NUMBER_TEXT_BYTES], held[RVP_NUMBER_TEXT_BYTES], bytes[RVP_NUMBER_TEXT_BYTES];
	const struct rvp_group *group = is_big(this, &row->bump) ? group_of(this, &row->bump) : NULL;
	uint64_t since = row->ns > this->inquiry->run->begin_ns ? row->ns - this->inquiry->run->begin_ns : 0;

	fprintf(out, "  %10.3f s %12s %12s  %s", (double)since / 1e9, rvp_text_bytes(row->used_bytes, used),
		row->held_bytes ? rvp_text_bytes(row->held_bytes, held) : "-",
		is_peak(this, row) ? "peak  " : "");
	if (group) {
		fprintf(out, "b%" PRIu64 " +%s %s ", row->bump.number, rvp_text_bytes(row->bump.bytes, bytes),
			rvp_view_purpose_name(&this->inquiry->view, group->site->purpose));
		rvp_inquiry_print_place(this->inquiry, group);
	}
	fputc('\n', out);
}

/* On a terminal: the rows in which something is to be seen; in a pipe all. */
static bool is_shown(const struct memory *this, int number)
{
	const struct rvp_trace_row *row = &this->rows[number];

	return !this->inquiry->view.style.width || number % (ROWS / TERMINAL_ROWS) == 0 ||
	       is_peak(this, row) || is_big(this, &row->bump);
}

static void print_all(const struct memory *this)
{
	const struct rvp_view *view = &this->inquiry->view;

	rvp_text_run(view);
	rvp_text_title(view, "Memory over time: used by the program, and held (resident)");
	print_line(this);
	fprintf(view->out, "  %12s %12s %12s  %s\n", "time", "used", "held", "largest block that came");
	for (int i = 0; i < ROWS; i++)
		if (is_shown(this, i))
			print_row(this, &this->rows[i]);
}

static void put_row(struct memory *this, const struct rvp_trace_row *row)
{
	const struct rvp_group *group = group_of(this, &row->bump);
	struct rvp_json *json = &this->inquiry->json;
	char id[32];

	rvp_json_open(json, NULL, '{');
	rvp_json_number(json, "bytes", row->used_bytes);
	if (row->held_bytes)
		rvp_json_number(json, "held_bytes", row->held_bytes);
	rvp_json_number(json, "t_unix_us", row->ns / 1000);
	rvp_json_bool(json, "peak", is_peak(this, row));
	if (group) {
		snprintf(id, sizeof id, "b%" PRIu64, row->bump.number);
		rvp_json_open(json, "largest_birth", '{');
		rvp_json_string(json, "id", id);
		rvp_json_number(json, "bytes", row->bump.bytes);
		rvp_inquiry_put_group(this->inquiry, group);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, '}');
}

static void put_all(struct memory *this)
{
	rvp_inquiry_begin(this->inquiry, "rvprof.memory_trace/1");
	for (int i = 0; i < ROWS; i++)
		put_row(this, &this->rows[i]);
	rvp_inquiry_end_rows(this->inquiry, (int64_t)this->inquiry->answer.tracked_peak_bytes);
	rvp_inquiry_end(this->inquiry);
}

struct rvp_status rvp_answer_trace(struct rvp_inquiry *inquiry)
{
	struct memory *this = calloc(1, sizeof *this);
	struct rvp_status status = rvp_fail("answer", NULL, ENOMEM);

	if (!this)
		return status;
	this->inquiry = inquiry;
	status = look(this);
	if (!rvp_failed(status) && inquiry->asked.json)
		put_all(this);
	else if (!rvp_failed(status))
		print_all(this);
	free(this);
	return status;
}
