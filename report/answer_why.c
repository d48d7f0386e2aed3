/* SPDX-License-Identifier: MIT */
/* answer_why.c: `report --why b<number>` and `report --why SITE`: what a block, or the blocks of a call path,
 * are taken to be for, on whose word, who was overruled, and how they lived.
 *
 * A SITE is a part of a frame's text as JSON has it. It must mean one call path (which may have a row for
 * each purpose): else the paths are listed, each with its largest block, whose number says it exactly.
 */
#include "report/inquiry.h"

#include "report/block_lives.h"
#include "report/text_categories.h"
#include "report/text_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_BYTES = 40000, LABEL_COLUMNS = 12, WHEN_BYTES = 96, REASON_COLUMNS = 100, MATCHES_MAX = 64 };

struct why {
	struct rvp_inquiry *inquiry;
	const struct rvp_group *groups[MATCHES_MAX]; /* a row each */
	size_t row_count;
	size_t more; /* groups that match beyond these */
	struct rvp_lives *rows;
	uint32_t *row_of_site;
	uint64_t number; /* of a block; 0: a site was asked for */
};

/* ---- which ---- */

static bool is_number(const char *text, uint64_t *number)
{
	char *end;

	if (text[0] != 'b' || text[1] < '0' || text[1] > '9')
		return false;
	errno = 0;
	*number = strtoull(text + 1, &end, 10);
	return !*end && !errno && *number;
}

static bool has_frame(const struct rvp_inquiry *inquiry, const struct rvp_group *group, char *text)
{
	struct rvp_frame_list stack = rvp_group_stack(&inquiry->groups, group);

	for (size_t i = 0; i < stack.count; i++) {
		rvp_frame_text(&stack.frames[i], text, FRAME_BYTES);
		if (strstr(text, inquiry->asked.text))
			return true;
	}
	return false;
}

static bool match(struct why *this)
{
	const struct rvp_groups *groups = &this->inquiry->groups;
	char *text = malloc(FRAME_BYTES);
	size_t count;
	uint32_t *order = rvp_groups_by(groups, RVP_ALLOCATED, &count);

	/* By bytes at the peak where they differ would hide what is never live then: allocated holds all. */
	for (size_t i = 0; text && order && i < count; i++) {
		const struct rvp_group *group = &groups->groups[order[i]];

		if (!has_frame(this->inquiry, group, text))
			continue;
		if (this->row_count < MATCHES_MAX)
			this->groups[this->row_count++] = group;
		else
			this->more++;
	}
	/* Mappings are in no sum of allocs. */
	for (size_t i = 0; text && order && i < groups->count; i++) {
		const struct rvp_group *group = &groups->groups[i];

		if (group->allocated.bytes || group->allocated.count ||
		    !has_frame(this->inquiry, group, text))
			continue;
		if (this->row_count < MATCHES_MAX)
			this->groups[this->row_count++] = group;
		else
			this->more++;
	}
	free(order);
	free(text);
	return text && order;
}

static bool is_one_path(const struct why *this)
{
	for (size_t i = 1; i < this->row_count; i++)
		if (!rvp_groups_share_stack(&this->inquiry->groups, this->groups[0], this->groups[i]))
			return false;
	return !this->more;
}

static bool map_sites(struct why *this)
{
	const struct rvp_group **of_sites = rvp_inquiry_groups_of_sites(this->inquiry);
	size_t sites = this->inquiry->answer.site_count;

	this->row_of_site = calloc(sites + 1, sizeof *this->row_of_site);
	for (size_t i = 0; of_sites && this->row_of_site && i < sites; i++)
		for (size_t k = 0; k < this->row_count; k++)
			if (of_sites[i] == this->groups[k])
				this->row_of_site[i] = (uint32_t)k + 1;
	free(of_sites);
	return of_sites && this->row_of_site;
}

static struct rvp_status look(struct why *this)
{
	struct rvp_block_lives lives;
	struct rvp_analysis again;
	struct rvp_status status;

	rvp_block_lives_open(&lives, this->inquiry->attribution, this->rows);
	lives.row_of_site = this->row_of_site;
	lives.site_count = this->row_of_site ? this->inquiry->answer.site_count : 0;
	lives.wanted_number = this->number;
	status = rvp_inquiry_ask_again(this->inquiry, &lives.observer, &again);
	if (rvp_failed(status))
		return status;
	rvp_analysis_free(&again);
	if (this->number && !this->rows[0].largest[0].number)
		return rvp_fail_with("find the block", this->inquiry->asked.text,
				     "the blocks are b1 to b%" PRIu64, lives.number);
	return RVP_OK;
}

/* The group of the block that was found; NULL: it is in none (a file's mapping that nobody speaks for). */
static const struct rvp_group *group_of_block(struct why *this)
{
	uint32_t split = this->rows[0].largest[0].split;

	if (split >= this->inquiry->answer.site_count)
		return NULL;
	return rvp_group_of(&this->inquiry->groups, &this->inquiry->answer.sites[split]);
}

/* ---- text ---- */

static void label(const struct why *this, const char *text)
{
	fprintf(this->inquiry->view.out, "  %-*s", LABEL_COLUMNS, text);
}

static void print_words(const struct why *this, const struct rvp_lives *row)
{
	const struct rvp_view *view = &this->inquiry->view;
	char bytes[RVP_NUMBER_TEXT_BYTES];

	if (!row->word_count) {
		label(this, "said by");
		fputs("nobody: no evidence speaks for it\n", view->out);
	}
	for (int believed = 1; believed >= 0; believed--)
		for (size_t i = 0; i < row->word_count; i++) {
			const struct rvp_life_word *word = &row->words[i];

			if (word->is_believed != believed)
				continue;
			label(this, believed ? "said by" : "overruled");
			fprintf(view->out, "%s: %s, %u %% sure, ", rvp_evidence_names[word->verdict.evidence],
				rvp_view_purpose_name(view, word->verdict.purpose), word->verdict.confidence);
			rvp_print_safely(view->out,
					 rvp_reason_text(this->inquiry->attribution, word->verdict.reason),
					 REASON_COLUMNS);
			if (!this->number)
				fprintf(view->out, " (%s)", rvp_text_bytes(word->bytes, bytes));
			fputc('\n', view->out);
		}
}

static void print_block(const struct why *this, const struct rvp_life_block *block)
{
	FILE *out = this->inquiry->view.out;
	char bytes[RVP_NUMBER_TEXT_BYTES], when[WHEN_BYTES];

	fprintf(out, "b%" PRIu64 ": %s, from %s ", block->number, rvp_text_bytes(block->bytes, bytes),
		rvp_inquiry_when(this->inquiry, block->birth_ns, when, sizeof when));
	if (block->death_ns == RVP_NEVER)
		fputs("on, never given back\n", out);
	else
		fprintf(out, "to %s\n", rvp_inquiry_when(this->inquiry, block->death_ns, when, sizeof when));
}

static void print_life(const struct why *this, const struct rvp_lives *row)
{
	FILE *out = this->inquiry->view.out;
	char count[RVP_NUMBER_TEXT_BYTES], mean[RVP_NUMBER_TEXT_BYTES], most[RVP_NUMBER_TEXT_BYTES];

	label(this, "lived");
	if (row->died_count)
		fprintf(out, "%s given back, after %s on average, %s at most; ",
			rvp_text_count(row->died_count, count),
			rvp_text_duration((uint64_t)(row->life_ns / (double)row->died_count), mean),
			rvp_text_duration(row->longest_ns, most));
	fprintf(
	    out, "%s never\n",
	    rvp_text_count(row->born_count > row->died_count ? row->born_count - row->died_count : 0, count));
	if (!this->inquiry->steps->count || !row->died_count)
		return;
	label(this, "steps");
	fprintf(out, "%s went in the step they came in, ", rvp_text_count(row->same_step, count));
	fprintf(out, "%s in the next, ", rvp_text_count(row->next_step, count));
	fprintf(out, "%s later\n", rvp_text_count(row->later_step, count));
}

static void print_sizes(const struct why *this, const struct rvp_lives *row, const struct rvp_group *group)
{
	FILE *out = this->inquiry->view.out;
	char a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES];
	const char *mark = group->is_estimate ? " ±" : "";

	label(this, "blocks");
	fprintf(out, "%s recorded, ", rvp_text_count(row->born_count, a));
	if (row->least_bytes == row->most_bytes)
		fprintf(out, "%s each\n", rvp_text_bytes(row->least_bytes, a));
	else
		fprintf(out, "%s to %s each\n", rvp_text_bytes(row->least_bytes, a),
			rvp_text_bytes(row->most_bytes, b));
	label(this, "live");
	fprintf(out, "%s%s at the peak, ", rvp_text_bytes(group->at_peak.bytes, a), mark);
	fprintf(out, "%s%s %s\n", rvp_text_bytes(group->at_end.bytes, a), mark,
		this->inquiry->run->alive_count ? "now" : "at the end");
}

static void print_row(const struct why *this, const struct rvp_lives *row, const struct rvp_group *group)
{
	rvp_text_title(&this->inquiry->view,
		       rvp_view_purpose_name(&this->inquiry->view, group->site->purpose));
	print_words(this, row);
	print_sizes(this, row, group);
	print_life(this, row);
	for (int i = 0; i < RVP_LIVES_LARGEST && row->largest[i].number; i++) {
		label(this, i ? "" : "largest");
		print_block(this, &row->largest[i]);
	}
}

static void print_stack(const struct why *this, const struct rvp_group *group)
{
	struct rvp_frame_list stack = {0};

	if (group)
		stack = rvp_group_stack(&this->inquiry->groups, group);
	rvp_text_title(&this->inquiry->view, "Asked for at");
	rvp_text_stack(&this->inquiry->view, &stack);
}

static void print_single(const struct why *this, const struct rvp_group *group)
{
	const struct rvp_view *view = &this->inquiry->view;

	rvp_text_title(view, group ? rvp_view_purpose_name(view, group->site->purpose)
				   : "file: a mapping that nobody speaks for");
	label(this, "block");
	print_block(this, &this->rows[0].largest[0]);
	print_words(this, &this->rows[0]);
	print_life(this, &this->rows[0]);
	print_stack(this, group);
}

/* ---- JSON ---- */

static void put_words(const struct why *this, const struct rvp_lives *row)
{
	struct rvp_json *json = &this->inquiry->json;

	rvp_json_open(json, "words", '[');
	for (size_t i = 0; i < row->word_count; i++) {
		const struct rvp_life_word *word = &row->words[i];

		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "category",
				rvp_view_purpose_name(&this->inquiry->view, word->verdict.purpose));
		rvp_json_string(json, "evidence", rvp_evidence_names[word->verdict.evidence]);
		rvp_json_string(json, "reason",
				rvp_reason_text(this->inquiry->attribution, word->verdict.reason));
		rvp_json_number(json, "confidence_percent", word->verdict.confidence);
		rvp_json_bool(json, "believed", word->is_believed);
		rvp_json_number(json, "bytes", word->bytes);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

static void put_blocks(const struct why *this, const struct rvp_lives *row)
{
	struct rvp_json *json = &this->inquiry->json;

	rvp_json_open(json, "largest", '[');
	for (int i = 0; i < RVP_LIVES_LARGEST && row->largest[i].number; i++) {
		char id[32];

		snprintf(id, sizeof id, "b%" PRIu64, row->largest[i].number);
		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "id", id);
		rvp_json_number(json, "bytes", row->largest[i].bytes);
		rvp_json_number(json, "born_unix_us", row->largest[i].birth_ns / 1000);
		if (row->largest[i].death_ns != RVP_NEVER)
			rvp_json_number(json, "died_unix_us", row->largest[i].death_ns / 1000);
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

static void put_row(const struct why *this, const struct rvp_lives *row, const struct rvp_group *group)
{
	struct rvp_json *json = &this->inquiry->json;

	rvp_json_open(json, NULL, '{');
	rvp_json_number(json, "bytes", this->number || !group ? row->bytes : group->at_peak.bytes);
	rvp_json_number(json, "count", this->number || !group ? 1 : group->at_peak.count);
	if (group)
		rvp_json_number(json, "end_bytes", group->at_end.bytes);
	rvp_json_number(json, "born_count", row->born_count);
	rvp_json_number(json, "died_count", row->died_count);
	rvp_json_number(json, "least_bytes", row->least_bytes);
	rvp_json_number(json, "most_bytes", row->most_bytes);
	if (row->died_count)
		rvp_json_number(json, "mean_life_us",
				(uint64_t)(row->life_ns / (double)row->died_count / 1000));
	put_words(this, row);
	put_blocks(this, row);
	if (group)
		rvp_inquiry_put_group(this->inquiry, group);
	else
		rvp_json_string(json, "category", rvp_category_names[RVP_CATEGORY_FILE]);
	rvp_json_close(json, '}');
}

/* ---- the answer ---- */

static void say(struct why *this)
{
	const struct rvp_group *of_block = this->number ? group_of_block(this) : NULL;

	rvp_inquiry_begin(this->inquiry, "rvprof.why/1");
	if (this->inquiry->asked.json) {
		for (size_t i = 0; i < this->row_count; i++)
			put_row(this, &this->rows[i], this->number ? of_block : this->groups[i]);
		rvp_inquiry_end_rows(this->inquiry, (int64_t)this->inquiry->answer.tracked_peak_bytes);
		rvp_inquiry_end(this->inquiry);
		return;
	}
	rvp_text_run(&this->inquiry->view);
	if (this->number) {
		print_single(this, of_block);
		return;
	}
	for (size_t i = 0; i < this->row_count; i++)
		print_row(this, &this->rows[i], this->groups[i]);
	print_stack(this, this->groups[0]);
}

static void list(struct why *this)
{
	FILE *aside = this->inquiry->asked.aside, *out = this->inquiry->view.out;
	size_t shown =
	    this->row_count < this->inquiry->view.top_count ? this->row_count : this->inquiry->view.top_count;
	char bytes[RVP_NUMBER_TEXT_BYTES];

	this->inquiry->view.out = aside;
	for (size_t i = 0; i < shown; i++) {
		fprintf(aside, "  %-16s%11s at the peak  ",
			rvp_view_purpose_name(&this->inquiry->view, this->groups[i]->site->purpose),
			rvp_text_bytes(this->groups[i]->at_peak.bytes, bytes));
		fprintf(aside, "largest b%-8" PRIu64 " ", this->rows[i].largest[0].number);
		rvp_inquiry_print_place(this->inquiry, this->groups[i]);
		fputc('\n', aside);
	}
	if (this->row_count + this->more > shown)
		fprintf(aside, "  ... and %zu more\n", this->row_count + this->more - shown);
	this->inquiry->view.out = out;
}

static struct rvp_status answer_site(struct why *this)
{
	struct rvp_status status;

	if (!match(this))
		return rvp_fail("answer", NULL, ENOMEM);
	if (!this->row_count)
		return rvp_fail_with("find the call stack", this->inquiry->asked.text,
				     "no frame has this in it; a block is b<number>");
	if (!map_sites(this))
		return rvp_fail("answer", NULL, ENOMEM);
	status = look(this);
	if (rvp_failed(status))
		return status;
	if (is_one_path(this)) {
		say(this);
		return RVP_OK;
	}
	list(this);
	return rvp_fail_with("find the call stack", this->inquiry->asked.text,
			     "%zu of them have this in a frame, listed above; say more of it, or a block",
			     this->row_count + this->more);
}

struct rvp_status rvp_answer_why(struct rvp_inquiry *inquiry)
{
	struct why this = {.inquiry = inquiry, .rows = calloc(MATCHES_MAX, sizeof *this.rows)};
	struct rvp_status status = rvp_fail("answer", NULL, ENOMEM);

	if (this.rows && is_number(inquiry->asked.text, &this.number)) {
		this.row_count = 1;
		status = look(&this);
		if (!rvp_failed(status))
			say(&this);
	} else if (this.rows) {
		status = answer_site(&this);
	}
	free(this.rows);
	free(this.row_of_site);
	return status;
}
