/* SPDX-License-Identifier: MIT */
/* answer_why_peak.c: `report --why-peak`: what was live when tracked bytes were highest, by category and by
 * call stack, what the peak would have been without each, and the changes that would lower it most.
 *
 * Nothing is guessed: "without" is a second pass (counterfactual.h), since another moment may then be the
 * highest. What a change would do to time or quality is not known here.
 */
#include "report/inquiry.h"

#include "report/advice.h"
#include "report/category_totals.h"
#include "report/counterfactual.h"
#include "report/rows.h"
#include "report/text_categories.h"
#include "report/text_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_MAX = 32, CHANGES_SHOWN = 5, WHEN_BYTES = 96, NAME_COLUMNS = 22, APART_NS = 1000000 };
enum { NOTICED_PARTS = 1000 }; /* of the peak: a change that lowers it by less is none */

/* A change that could be made. */
struct change {
	const struct rvp_absence *row;
	const char *name;              /* of the category or sub-kind */
	const struct rvp_advice *what; /* NULL: without the blocks of `group` */
	const struct rvp_group *group;
};

struct why_peak {
	struct rvp_inquiry *inquiry;
	const struct rvp_purposes *purposes;
	struct rvp_category_totals *totals;
	uint32_t *order; /* groups by bytes at the peak */
	size_t group_count;
	size_t site_rows; /* groups that have a row: the first ones of order */
	struct rvp_absence *rows;
	size_t row_count;
	uint32_t *row_of_site;
	size_t category_row[RVP_CATEGORY_COUNT]; /* number + 1; 0: none */
	struct change *changes;
	size_t change_count;
};

/* ---- what is asked ---- */

static struct rvp_absence *add_row(struct why_peak *this, enum rvp_absent what, uint16_t number, double share)
{
	struct rvp_absence *row = &this->rows[this->row_count++];

	*row = (struct rvp_absence){.what = what, .number = number, .share = share};
	return row;
}

static bool has_gguf(const struct rvp_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		for (size_t k = 0; k < run->processes[i].file_count; k++) {
			const char *path = run->processes[i].files[k].path;
			size_t length = path ? strlen(path) : 0;

			if (length > 5 && strcmp(path + length - 5, ".gguf") == 0)
				return true;
		}
	return false;
}

static void add_change(struct why_peak *this, const struct rvp_absence *row, const char *name,
		       const struct rvp_advice *what, const struct rvp_group *group)
{
	this->changes[this->change_count++] = (struct change){row, name, what, group};
}

/* Of a sub-kind; RVP_PURPOSE_NONE: this run has none of it. */
static uint16_t purpose_of(const struct why_peak *this, const struct rvp_advice *advice)
{
	const char *slash;

	for (uint32_t i = RVP_CATEGORY_COUNT; i < this->purposes->count; i++) {
		slash = strchr(this->purposes->names[i], '/');
		if (this->purposes->categories[i] == advice->category && slash &&
		    strcmp(slash + 1, advice->sub_kind) == 0)
			return (uint16_t)i;
	}
	return RVP_PURPOSE_NONE;
}

static void ask_advice(struct why_peak *this, const struct rvp_advice *advice)
{
	uint16_t purpose = advice->sub_kind ? purpose_of(this, advice) : (uint16_t)advice->category;
	const struct rvp_category_total *total;

	if (purpose == RVP_PURPOSE_NONE)
		return;
	total = advice->sub_kind ? &this->totals->by_purpose[purpose] : &this->totals->by_category[purpose];
	if (total->at_peak_bytes)
		add_change(this,
			   add_row(this, advice->sub_kind ? RVP_ABSENT_PURPOSE : RVP_ABSENT_CATEGORY, purpose,
				   advice->share),
			   rvp_purpose_name(this->purposes, purpose), advice, NULL);
}

static void ask_sites(struct why_peak *this)
{
	const struct rvp_groups *groups = &this->inquiry->groups;

	this->site_rows = this->group_count < SITES_MAX ? this->group_count : SITES_MAX;
	for (size_t i = 0; i < this->site_rows; i++) {
		const struct rvp_group *group = &groups->groups[this->order[i]];
		struct rvp_absence *row = add_row(this, RVP_ABSENT_SITES, 0, 1);

		if (rvp_purpose_category(this->purposes, group->site->purpose) == RVP_CATEGORY_UNKNOWN)
			add_change(this, row, rvp_category_names[RVP_CATEGORY_UNKNOWN], NULL, group);
	}
}

/* Of two that say the same of one sub-kind, the one for this kind of program. */
static bool is_for(const struct rvp_advice *advice, bool gguf)
{
	if (advice->sub_kind && !advice->wants_gguf)
		return !gguf;
	return gguf || !advice->wants_gguf;
}

static void ask(struct why_peak *this)
{
	bool gguf = has_gguf(this->inquiry->run);

	ask_sites(this);
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (this->totals->by_category[i].at_peak_bytes) {
			add_row(this, RVP_ABSENT_CATEGORY, (uint16_t)i, 1);
			this->category_row[i] = this->row_count;
		}
	for (size_t i = 0; i < rvp_advice_count; i++)
		if (is_for(&rvp_advice[i], gguf))
			ask_advice(this, &rvp_advice[i]);
}

static bool map_sites(struct why_peak *this)
{
	const struct rvp_groups *groups = &this->inquiry->groups;
	const struct rvp_group **of_sites = rvp_inquiry_groups_of_sites(this->inquiry);
	uint32_t *row_of_group = calloc(groups->count + 1, sizeof *row_of_group);
	size_t sites = this->inquiry->answer.site_count;

	this->row_of_site = calloc(sites + 1, sizeof *this->row_of_site);
	for (size_t i = 0; row_of_group && i < this->site_rows; i++)
		row_of_group[this->order[i]] = (uint32_t)i + 1;
	for (size_t i = 0; of_sites && row_of_group && this->row_of_site && i < sites; i++)
		if (of_sites[i])
			this->row_of_site[i] = row_of_group[of_sites[i] - groups->groups];
	free(of_sites);
	free(row_of_group);
	return of_sites && row_of_group && this->row_of_site;
}

static bool open_why(struct why_peak *this)
{
	size_t most = SITES_MAX + RVP_CATEGORY_COUNT + rvp_advice_count;

	this->purposes = rvp_attribution_purposes(this->inquiry->attribution);
	this->totals = calloc(1, sizeof *this->totals);
	this->rows = calloc(most, sizeof *this->rows);
	this->changes = calloc(most, sizeof *this->changes);
	this->order = rvp_groups_by(&this->inquiry->groups, RVP_AT_PEAK, &this->group_count);
	if (!this->totals || !this->rows || !this->changes || !this->order)
		return false;
	rvp_category_totals(this->totals, &this->inquiry->answer, this->purposes);
	ask(this);
	return map_sites(this);
}

static void close_why(struct why_peak *this)
{
	free(this->totals);
	free(this->rows);
	free(this->changes);
	free(this->order);
	free(this->row_of_site);
}

static struct rvp_status look_again(struct why_peak *this)
{
	struct rvp_counterfactual counterfactual;
	struct rvp_analysis again;
	struct rvp_status status;

	rvp_counterfactual_open(&counterfactual, this->rows, this->row_count, this->row_of_site,
				this->inquiry->answer.site_count);
	status = rvp_inquiry_ask_again(this->inquiry, &counterfactual.observer, &again);
	if (!rvp_failed(status))
		rvp_analysis_free(&again);
	return status;
}

/* ---- what was answered ---- */

static uint64_t peak_of(const struct why_peak *this)
{
	return this->inquiry->answer.tracked_peak_bytes;
}

/* By how much the peak would be lower; a living program may have grown since the first pass. */
static uint64_t lowered(const struct why_peak *this, const struct rvp_absence *row)
{
	return row->peak_bytes < peak_of(this) ? peak_of(this) - row->peak_bytes : 0;
}

static int by_effect(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->row->peak_bytes != b->row->peak_bytes)
		return a->row->peak_bytes < b->row->peak_bytes ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static size_t best_changes(struct why_peak *this)
{
	size_t kept = 0;

	qsort(this->changes, this->change_count, sizeof *this->changes, by_effect);
	while (kept < this->change_count && kept < CHANGES_SHOWN &&
	       lowered(this, this->changes[kept].row) > peak_of(this) / NOTICED_PARTS)
		kept++;
	return kept;
}

/* Whether the peak would be at another moment, so far away that the times read otherwise. */
static bool is_elsewhere(const struct why_peak *this, const struct rvp_absence *row)
{
	uint64_t then = row->peak_ns, now = this->inquiry->answer.tracked_peak_ns;

	return row->peak_bytes && then != RVP_NEVER && (then > now ? then - now : now - then) >= APART_NS;
}

static void print_without(struct why_peak *this, const struct rvp_absence *row)
{
	char bytes[RVP_NUMBER_TEXT_BYTES], less[RVP_NUMBER_TEXT_BYTES], when[WHEN_BYTES];
	FILE *out = this->inquiry->view.out;

	fprintf(out, "%s (%s", rvp_text_bytes(row->peak_bytes, bytes),
		rvp_text_change(-(int64_t)lowered(this, row), less));
	if (is_elsewhere(this, row))
		fprintf(out, ", then at %s",
			rvp_inquiry_when(this->inquiry, row->peak_ns, when, sizeof when));
	fputs(")", out);
}

static void print_categories(struct why_peak *this)
{
	FILE *out = this->inquiry->view.out;
	char bytes[RVP_NUMBER_TEXT_BYTES], share[RVP_NUMBER_TEXT_BYTES];

	fprintf(out, "  %-*s%11s  %8s    %s\n", NAME_COLUMNS, "category", "live then", "share",
		"without it the peak would be");
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		const struct rvp_category_total *total = &this->totals->by_category[i];

		if (!this->category_row[i])
			continue;
		fprintf(out, "  %-*s%11s%2s%8s    ", NAME_COLUMNS, rvp_category_names[i],
			rvp_text_bytes(total->at_peak_bytes, bytes), total->is_estimate ? " ±" : "",
			rvp_text_share(total->at_peak_bytes, peak_of(this), share));
		print_without(this, &this->rows[this->category_row[i] - 1]);
		fputc('\n', out);
	}
}

static void print_site(struct why_peak *this, size_t rank)
{
	const struct rvp_view *view = &this->inquiry->view;
	const struct rvp_group *group = &this->inquiry->groups.groups[this->order[rank]];
	char bytes[RVP_NUMBER_TEXT_BYTES], share[RVP_NUMBER_TEXT_BYTES], count[RVP_NUMBER_TEXT_BYTES];
	struct rvp_frame_list stack = rvp_group_stack(&this->inquiry->groups, group);

	fprintf(view->out, "%3zu. %11s%s  %6s  %s block%s%s", rank + 1,
		rvp_text_bytes(group->at_peak.bytes, bytes), group->is_estimate ? " ±" : "",
		rvp_text_share(group->at_peak.bytes, peak_of(this), share),
		rvp_text_count(group->at_peak.count, count), group->at_peak.count == 1 ? "" : "s",
		group->is_estimate ? " ±" : "");
	rvp_text_purpose(view, group->site);
	if (rank < this->site_rows) {
		fputs("\n      without it: ", view->out);
		print_without(this, &this->rows[rank]);
	}
	fputc('\n', view->out);
	rvp_text_stack(view, &stack);
}

static void print_change(struct why_peak *this, size_t rank)
{
	const struct change *change = &this->changes[rank];
	FILE *out = this->inquiry->view.out;

	fprintf(out, "%3zu. ", rank + 1);
	print_without(this, change->row);
	fprintf(out, "  %s: ", change->name);
	if (change->what) {
		fputs(change->what->text, out);
	} else {
		fputs("nothing asked for at ", out);
		rvp_inquiry_print_place(this->inquiry, change->group);
	}
	fputc('\n', out);
}

static void print_all(struct why_peak *this)
{
	const struct rvp_view *view = &this->inquiry->view;
	size_t shown = this->group_count < view->top_count ? this->group_count : view->top_count, changes;
	char title[256], bytes[RVP_NUMBER_TEXT_BYTES], when[WHEN_BYTES];

	snprintf(title, sizeof title, "The peak: %s in live blocks and mappings, at %s",
		 rvp_text_bytes(peak_of(this), bytes),
		 rvp_inquiry_when(this->inquiry, this->inquiry->answer.tracked_peak_ns, when, sizeof when));
	rvp_text_run(view);
	rvp_text_title(view, title);
	print_categories(this);
	snprintf(title, sizeof title, "What was live then: %zu of %zu call stacks", shown, this->group_count);
	rvp_text_title(view, title);
	for (size_t i = 0; i < shown; i++)
		print_site(this, i);
	changes = best_changes(this);
	rvp_text_title(view, changes ? "What would lower it most, each change alone"
				     : "Nothing that is known here would lower it");
	for (size_t i = 0; i < changes; i++)
		print_change(this, i);
}

/* ---- JSON ---- */

static void put_without(struct why_peak *this, const struct rvp_absence *row)
{
	struct rvp_json *json = &this->inquiry->json;

	rvp_json_number(json, "peak_without_bytes", row->peak_bytes);
	rvp_json_number(json, "lowers_bytes", lowered(this, row));
	if (row->peak_ns != RVP_NEVER)
		rvp_json_number(json, "peak_without_unix_us", row->peak_ns / 1000);
}

static void put_sites(struct why_peak *this)
{
	struct rvp_json *json = &this->inquiry->json;

	for (size_t i = 0; i < this->group_count && i < this->inquiry->asked.row_count; i++) {
		const struct rvp_group *group = &this->inquiry->groups.groups[this->order[i]];

		rvp_json_open(json, NULL, '{');
		rvp_json_number(json, "bytes", group->at_peak.bytes);
		rvp_json_number(json, "count", group->at_peak.count);
		if (i < this->site_rows)
			put_without(this, &this->rows[i]);
		rvp_inquiry_put_group(this->inquiry, group);
		rvp_json_close(json, '}');
	}
}

static void put_categories(struct why_peak *this)
{
	struct rvp_json *json = &this->inquiry->json;

	rvp_json_open(json, "categories", '[');
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		if (!this->category_row[i])
			continue;
		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "category", rvp_category_names[i]);
		rvp_json_number(json, "bytes", this->totals->by_category[i].at_peak_bytes);
		put_without(this, &this->rows[this->category_row[i] - 1]);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

static void put_changes(struct why_peak *this)
{
	struct rvp_json *json = &this->inquiry->json;
	size_t count = best_changes(this);

	rvp_json_open(json, "changes", '[');
	for (size_t i = 0; i < count; i++) {
		const struct change *change = &this->changes[i];

		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "category", change->name);
		put_without(this, change->row);
		rvp_json_figure(json, "share", change->row->share);
		if (change->what)
			rvp_json_string(json, "text", change->what->text);
		else
			rvp_inquiry_put_group(this->inquiry, change->group);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

static void put_all(struct why_peak *this)
{
	rvp_inquiry_begin(this->inquiry, "rvprof.why_peak/1");
	put_sites(this);
	rvp_inquiry_end_rows(this->inquiry, (int64_t)peak_of(this));
	if (this->inquiry->answer.tracked_peak_ns != RVP_NEVER)
		rvp_json_number(&this->inquiry->json, "peak_unix_us",
				this->inquiry->answer.tracked_peak_ns / 1000);
	put_categories(this);
	put_changes(this);
	rvp_inquiry_end(this->inquiry);
}

struct rvp_status rvp_answer_why_peak(struct rvp_inquiry *inquiry)
{
	struct why_peak this = {.inquiry = inquiry};
	struct rvp_status status = rvp_fail("answer", NULL, ENOMEM);

	if (inquiry->answer.tracked_peak_ns == RVP_NEVER && !inquiry->asked.json)
		return rvp_fail_with("say why the peak was so high", NULL, "no block was recorded");
	if (open_why(&this))
		status = look_again(&this);
	if (!rvp_failed(status) && inquiry->asked.json)
		put_all(&this);
	else if (!rvp_failed(status))
		print_all(&this);
	close_why(&this);
	return status;
}
