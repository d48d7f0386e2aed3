/* SPDX-License-Identifier: MIT */
/* answer_steps.c: `report --step N --vs M`: what was live at the end of one step and not of another, and
 * `report --growth`: what a step adds, by call stack, over the steady steps.
 *
 * What grows is told by a straight line through the ends of steps; `fit` is its r squared. A cache that
 * doubles, or a pool that fills up once, has a low one: it does not grow by so much each step.
 */
#include "report/inquiry.h"

#include "report/latency.h"
#include "report/rows.h"
#include "report/step_ends.h"
#include "report/text_categories.h"
#include "report/text_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { LEAST_POINTS = 3, NAME_COLUMNS = 22 };

struct ranked {
	double by;
	int64_t bytes, count;
	struct rvp_line line;
	const struct rvp_group *group;
};

struct compared {
	struct rvp_inquiry *inquiry;
	size_t from, to; /* numbers of moments */
	struct ranked *rows;
	size_t row_count;
};

static int by_rank(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->by != b->by)
		return a->by > b->by ? -1 : 1;
	return a->group < b->group ? -1 : a->group > b->group;
}

static int64_t change_of(const struct compared *this, const struct rvp_amount *at_moments)
{
	return (int64_t)(at_moments[this->to].bytes - at_moments[this->from].bytes);
}

static int64_t total_change(const struct compared *this)
{
	const uint64_t *live = this->inquiry->answer.moment_live_bytes;

	return (int64_t)(live[this->to] - live[this->from]);
}

/* Every group that is not the same at both. */
static bool take_changes(struct compared *this)
{
	const struct rvp_groups *groups = &this->inquiry->groups;

	this->rows = calloc(groups->count + 1, sizeof *this->rows);
	for (size_t i = 0; this->rows && i < groups->count; i++) {
		const struct rvp_group *group = &groups->groups[i];
		int64_t bytes = change_of(this, group->at_moments);
		int64_t count =
		    (int64_t)(group->at_moments[this->to].count - group->at_moments[this->from].count);

		if (bytes || count)
			this->rows[this->row_count++] = (struct ranked){
			    .by = (double)bytes, .bytes = bytes, .count = count, .group = group};
	}
	return this->rows != NULL;
}

/* The rows become those that grow, by bytes a step. False without memory. */
static bool take_lines(struct compared *this)
{
	size_t count = this->inquiry->moment_count, kept = 0;
	double *x = calloc(count + 1, sizeof *x), *y = calloc(count + 1, sizeof *y);

	for (size_t i = 0; x && i < count; i++)
		x[i] = this->inquiry->moment_steps[i];
	for (size_t i = 0; x && y && i < this->row_count; i++) {
		struct ranked row = this->rows[i];

		for (size_t k = 0; k < count; k++)
			y[k] = (double)row.group->at_moments[k].bytes;
		row.line = rvp_line_through(x, y, count);
		row.by = row.line.slope;
		if (row.bytes > 0 && row.line.slope >= 1)
			this->rows[kept++] = row;
	}
	this->row_count = kept;
	free(x);
	free(y);
	return x && y;
}

static void put_rows(struct compared *this, bool with_lines)
{
	struct rvp_json *json = &this->inquiry->json;

	for (size_t i = 0; i < this->row_count && i < this->inquiry->asked.row_count; i++) {
		const struct ranked *row = &this->rows[i];

		rvp_json_open(json, NULL, '{');
		rvp_json_signed(json, "bytes", row->bytes);
		rvp_json_signed(json, "count", row->count);
		if (with_lines) {
			rvp_json_decimal(json, "step_bytes", row->line.slope, 3);
			rvp_json_decimal(json, "fit", row->line.fit, 4);
		}
		rvp_inquiry_put_group(this->inquiry, row->group);
		rvp_json_close(json, '}');
	}
}

static void print_stacks(struct compared *this, bool with_lines)
{
	const struct rvp_view *view = &this->inquiry->view;
	char bytes[RVP_NUMBER_TEXT_BYTES];

	for (size_t i = 0; i < this->row_count && i < view->top_count; i++) {
		const struct ranked *row = &this->rows[i];
		struct rvp_frame_list stack = rvp_group_stack(&this->inquiry->groups, row->group);

		fprintf(view->out, "%3zu. %12s%s", i + 1,
			rvp_text_change(with_lines ? (int64_t)row->line.slope : row->bytes, bytes),
			row->group->is_estimate ? " ±" : "");
		if (with_lines)
			fprintf(view->out, " a step (straight: %.2f), %s in all", row->line.fit,
				rvp_text_change(row->bytes, bytes));
		fprintf(view->out, ", %+" PRId64 " blocks", row->count);
		rvp_text_purpose(view, row->group->site);
		fputc('\n', view->out);
		rvp_text_stack(view, &stack);
	}
	if (!this->row_count)
		fputs("  nothing\n", view->out);
	if (this->row_count > view->top_count)
		fprintf(view->out, "  ... and %zu more\n", this->row_count - view->top_count);
}

/* ---- two steps ---- */

static void sum_categories(const struct compared *this, uint64_t (*sums)[2])
{
	const struct rvp_analysis *answer = &this->inquiry->answer;
	const struct rvp_purposes *purposes = rvp_attribution_purposes(this->inquiry->attribution);

	for (size_t i = 0; i < answer->site_count; i++) {
		const struct rvp_site *site = &answer->sites[i];
		int category = rvp_purpose_category(purposes, site->purpose);

		sums[category][0] += rvp_site_at(site, this->from).bytes;
		sums[category][1] += rvp_site_at(site, this->to).bytes;
	}
}

static void print_categories(const struct compared *this)
{
	uint64_t sums[RVP_CATEGORY_COUNT][2] = {0};
	char a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES], c[RVP_NUMBER_TEXT_BYTES];
	FILE *out = this->inquiry->view.out;

	sum_categories(this, sums);
	fprintf(out, "  %-*sstep %-8" PRIu64 "  step %-8" PRIu64 "  change\n", NAME_COLUMNS, "category",
		this->inquiry->asked.versus_step, this->inquiry->asked.step);
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (sums[i][0] || sums[i][1])
			fprintf(out, "  %-*s%-13s  %-13s  %s\n", NAME_COLUMNS, rvp_category_names[i],
				rvp_text_bytes(sums[i][0], a), rvp_text_bytes(sums[i][1], b),
				rvp_text_change((int64_t)(sums[i][1] - sums[i][0]), c));
}

static void print_two(struct compared *this)
{
	const struct rvp_question_asked *asked = &this->inquiry->asked;
	const struct rvp_steps *steps = this->inquiry->steps;
	char title[160], bytes[RVP_NUMBER_TEXT_BYTES];

	rvp_text_run(&this->inquiry->view);
	snprintf(title, sizeof title, "Step %" PRIu64 " against step %" PRIu64 ": %s live at its end",
		 asked->step, asked->versus_step, rvp_text_change(total_change(this), bytes));
	rvp_text_title(&this->inquiry->view, title);
	fprintf(this->inquiry->view.out, "  it took %.3f ms, the other %.3f ms\n",
		(double)rvp_step_us(&steps->steps[asked->step]) / 1e3,
		(double)rvp_step_us(&steps->steps[asked->versus_step]) / 1e3);
	print_categories(this);
	rvp_text_title(&this->inquiry->view, "By call stack");
	print_stacks(this, false);
}

static void put_two(struct compared *this)
{
	const struct rvp_question_asked *asked = &this->inquiry->asked;
	const struct rvp_steps *steps = this->inquiry->steps;
	struct rvp_json *json = &this->inquiry->json;

	rvp_inquiry_begin(this->inquiry, "rvprof.steps/1");
	put_rows(this, false);
	rvp_inquiry_end_rows(this->inquiry, total_change(this));
	rvp_json_number(json, "step", asked->step);
	rvp_json_number(json, "versus", asked->versus_step);
	rvp_json_number(json, "step_us", rvp_step_us(&steps->steps[asked->step]));
	rvp_json_number(json, "versus_us", rvp_step_us(&steps->steps[asked->versus_step]));
	rvp_inquiry_end(this->inquiry);
}

static struct rvp_status no_steps(const struct rvp_inquiry *inquiry)
{
	const struct rvp_steps *steps = inquiry->steps;

	if (!steps->count)
		return rvp_fail_with("compare steps", NULL, "the run has no steps%s%s",
				     *steps->why_none ? ": " : "", steps->why_none);
	return rvp_fail_with("compare steps", NULL, "the steps are 0 to %zu", steps->count - 1);
}

struct rvp_status rvp_answer_steps(struct rvp_inquiry *inquiry)
{
	struct compared this = {.inquiry = inquiry};

	if (inquiry->moment_count < 2)
		return no_steps(inquiry);
	this.from = inquiry->asked.versus_step > inquiry->asked.step;
	this.to = !this.from;
	if (!take_changes(&this))
		return rvp_fail("answer", NULL, ENOMEM);
	qsort(this.rows, this.row_count, sizeof *this.rows, by_rank);
	if (inquiry->asked.json)
		put_two(&this);
	else
		print_two(&this);
	free(this.rows);
	return RVP_OK;
}

/* ---- growth ---- */

static void print_growth(struct compared *this)
{
	const struct rvp_inquiry *inquiry = this->inquiry;
	char title[160], bytes[RVP_NUMBER_TEXT_BYTES];

	rvp_text_run(&inquiry->view);
	snprintf(title, sizeof title,
		 "Growth from the end of step %u to that of step %u: %s, measured at %zu steps",
		 inquiry->moment_steps[0], inquiry->moment_steps[inquiry->moment_count - 1],
		 rvp_text_change(total_change(this), bytes), inquiry->moment_count);
	rvp_text_title(&inquiry->view, title);
	print_stacks(this, true);
}

static void put_growth(struct compared *this)
{
	struct rvp_inquiry *inquiry = this->inquiry;

	rvp_inquiry_begin(inquiry, "rvprof.growth/1");
	put_rows(this, true);
	rvp_inquiry_end_rows(inquiry, total_change(this));
	rvp_json_number(&inquiry->json, "from_step", inquiry->moment_steps[0]);
	rvp_json_number(&inquiry->json, "to_step", inquiry->moment_steps[inquiry->moment_count - 1]);
	rvp_json_number(&inquiry->json, "points", inquiry->moment_count);
	rvp_inquiry_end(inquiry);
}

struct rvp_status rvp_answer_growth(struct rvp_inquiry *inquiry)
{
	struct compared this = {.inquiry = inquiry};
	bool is_good;

	if (!inquiry->steps->count)
		return no_steps(inquiry);
	if (inquiry->moment_count < LEAST_POINTS)
		return rvp_fail_with("measure growth", NULL, "only %zu steady steps: at least %d are needed",
				     inquiry->moment_count, LEAST_POINTS);
	this.to = inquiry->moment_count - 1;
	is_good = take_changes(&this) && take_lines(&this);
	if (is_good) {
		qsort(this.rows, this.row_count, sizeof *this.rows, by_rank);
		if (inquiry->asked.json)
			put_growth(&this);
		else
			print_growth(&this);
	}
	free(this.rows);
	return is_good ? RVP_OK : rvp_fail("answer", NULL, ENOMEM);
}
