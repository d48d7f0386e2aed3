/* SPDX-License-Identifier: MIT */
/* answer_kv.c: `report --kv [--fit SIZE]`: the KV cache: how many bytes a token takes, measured and by the
 * model's shape, how much of what is reserved is in use, and how much of it would fit into a given size.
 *
 * Rules
 *   - Measured means: the cache grows with the tokens of the steps, in a line. A cache that is made in one
 *     piece says nothing about a token, and that is said.
 *   - Used means resident pages of the blocks, where the map was looked at; else it is not visible.
 *   - Beside the cache fits what was there without it at its highest (counterfactual.h), not what the peak
 *     held.
 */
#include "report/inquiry.h"

#include "report/counterfactual.h"
#include "report/ledger.h"
#include "report/source_files.h"
#include "report/step_ends.h"
#include "report/text_categories.h"
#include "report/text_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { LABEL_COLUMNS = 16, LEAST_POINTS = 3 };

/* How straight growth must be to be called so much a token; what grows in pages or by doubling has less. */
static const double straight = 0.9;

struct kv {
	struct rvp_inquiry *inquiry;
	uint64_t peak_bytes, first_bytes,
	    last_bytes;      /* of the cache: at the peak, at the first and last end of a step */
	double token_bytes;  /* measured; 0: not */
	const char *per;     /* "token" or "step" */
	const char *why_not; /* not measured */
	size_t points;
	struct rvp_model_shape shape;
	char model_name[96];      /* "": no model with a shape */
	uint64_t shape_f16_bytes; /* a token */
	bool has_resident;
	uint64_t held_bytes, resident_bytes; /* when the map was looked at */
	struct rvp_absence rest;
};

/* ---- measured ---- */

static bool is_kv(const struct kv *this, const struct rvp_site *site)
{
	return rvp_purpose_category(rvp_attribution_purposes(this->inquiry->attribution), site->purpose) ==
	       RVP_CATEGORY_KV_CACHE;
}

static uint64_t bytes_at(const struct kv *this, size_t moment)
{
	const struct rvp_analysis *answer = &this->inquiry->answer;
	uint64_t bytes = 0;

	for (size_t i = 0; i < answer->site_count; i++)
		if (is_kv(this, &answer->sites[i]))
			bytes += rvp_site_at(&answer->sites[i], moment).bytes;
	return bytes;
}

static void sum_peak(struct kv *this)
{
	const struct rvp_analysis *answer = &this->inquiry->answer;

	for (size_t i = 0; i < answer->site_count; i++) {
		if (!is_kv(this, &answer->sites[i]))
			continue;
		this->peak_bytes += answer->sites[i].at_peak.bytes;
	}
}

/* Tokens in the cache after a step: told, else counted up from the first step, else the steps themselves. */
static double position(const struct rvp_steps *steps, uint32_t number, bool has_length, bool has_tokens)
{
	double tokens = 0;

	if (has_length)
		return (double)steps->steps[number].seq_len;
	for (uint32_t i = 0; has_tokens && i <= number; i++)
		tokens += (double)steps->steps[i].tokens;
	return has_tokens ? tokens : (double)number;
}

static void fit_line(struct kv *this, const double *x, const double *y, bool is_tokens)
{
	struct rvp_line line = rvp_line_through(x, y, this->points);

	if (this->first_bytes == this->last_bytes)
		this->why_not = "it has its size from the beginning: it was made in one piece";
	else if (line.slope <= 0 || line.fit < straight)
		this->why_not = "it does not grow in a straight line with the steps";
	else
		this->token_bytes = line.slope;
	this->per = is_tokens ? "token" : "step";
}

static bool measure(struct kv *this)
{
	const struct rvp_inquiry *inquiry = this->inquiry;
	size_t count = inquiry->moment_count;
	double *x = calloc(count + 1, sizeof *x), *y = calloc(count + 1, sizeof *y);
	bool has_length = true, has_tokens = true, is_good = x && y;

	for (size_t i = 0; i < count; i++) {
		has_length &= inquiry->steps->steps[inquiry->moment_steps[i]].seq_len != 0;
		has_tokens &= inquiry->steps->steps[inquiry->moment_steps[i]].tokens != 0;
	}
	for (size_t i = 0; is_good && i < count; i++) {
		x[i] = position(inquiry->steps, inquiry->moment_steps[i], has_length, has_tokens);
		y[i] = (double)bytes_at(this, i);
	}
	this->points = count;
	if (is_good && count) {
		this->first_bytes = (uint64_t)y[0];
		this->last_bytes = (uint64_t)y[count - 1];
	}
	if (is_good && count >= LEAST_POINTS)
		fit_line(this, x, y, has_length || has_tokens);
	else
		this->why_not = inquiry->steps->count ? "there are too few steps" : "there are no steps";
	free(x);
	free(y);
	return is_good;
}

/* ---- the model ---- */

static void take_model(struct kv *this, const struct rvp_source_file *file)
{
	const struct rvp_model_shape *shape = &file->model.shape;

	if (file->model.kind != RVP_MODEL_GGUF || file->model.role[0] || !shape->kv_heads ||
	    shape->block_count < this->shape.block_count)
		return;
	this->shape = *shape;
	snprintf(this->model_name, sizeof this->model_name, "%s", file->name);
	if (__builtin_mul_overflow(shape->kv_heads * 2, shape->key_length + shape->value_length,
				   &this->shape_f16_bytes))
		this->model_name[0] = 0;
}

static bool read_models(struct kv *this)
{
	struct rvp_source_files files = {0};
	bool is_good = rvp_source_files_open(&files, this->inquiry->run);

	for (size_t i = 0; is_good && files.places && i <= files.mask; i++)
		for (struct rvp_source_file *file = files.places[i]; file && is_good; file = file->next) {
			is_good = rvp_source_file_look(file);
			take_model(this, file);
		}
	rvp_source_files_free(&files);
	return is_good;
}

/* ---- what is in use, and what is beside it ---- */

static void take_resident(struct kv *this, const struct rvp_ledger_entry *entry)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(this->inquiry->attribution);

	if (this->has_resident || !entry->is_set || !entry->sums)
		return;
	for (uint32_t i = 0; i < purposes->count; i++) {
		if (rvp_purpose_category(purposes, (uint16_t)i) != RVP_CATEGORY_KV_CACHE)
			continue;
		this->held_bytes += entry->sums->by_purpose[i].bytes;
		this->resident_bytes += entry->sums->by_purpose[i].resident_bytes;
	}
	this->has_resident = this->held_bytes != 0;
}

/* The latest look in which the cache was there. */
static void take_ledger(struct kv *this, const struct rvp_ledger *ledger)
{
	take_resident(this, &ledger->end);
	take_resident(this, &ledger->peak);
	take_resident(this, &ledger->at_live_peak);
}

static struct rvp_status look_again(struct kv *this)
{
	struct rvp_counterfactual without;
	struct rvp_ledger ledger;
	struct rvp_observer *observers[] = {&without.observer, &ledger.observer, NULL};
	struct rvp_analysis again;
	struct rvp_status status;

	this->rest =
	    (struct rvp_absence){.what = RVP_ABSENT_CATEGORY, .number = RVP_CATEGORY_KV_CACHE, .share = 1};
	rvp_counterfactual_open(&without, &this->rest, 1, NULL, 0);
	if (!rvp_ledger_open(&ledger, this->inquiry->run))
		return rvp_fail("answer", NULL, ENOMEM);
	if (this->inquiry->asked.device)
		observers[1] = NULL; /* a device's pages are not looked at */
	status = rvp_analyse(this->inquiry->run,
			     &(struct rvp_question){.observers = observers,
						    .attribution = this->inquiry->attribution,
						    .device = this->inquiry->asked.device},
			     &again);
	if (!rvp_failed(status)) {
		take_ledger(this, &ledger);
		rvp_analysis_free(&again);
	}
	rvp_ledger_close(&ledger);
	return status;
}

/* What a token takes, by the best that is known; 0: nothing is. */
static double best_token_bytes(const struct kv *this)
{
	if (this->token_bytes > 0 && this->per[0] == 't')
		return this->token_bytes;
	return this->model_name[0] ? (double)this->shape_f16_bytes : 0;
}

/* ---- text ---- */

static void label(const struct kv *this, const char *text)
{
	fprintf(this->inquiry->view.out, "  %-*s", LABEL_COLUMNS, text);
}

static void print_measured(const struct kv *this)
{
	FILE *out = this->inquiry->view.out;
	char a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES], c[RVP_NUMBER_TEXT_BYTES];

	label(this, "measured");
	if (this->token_bytes > 0)
		fprintf(out, "%s a %s: from %s to %s over %zu steps\n",
			rvp_text_bytes((uint64_t)(this->token_bytes + 0.5), a), this->per,
			rvp_text_bytes(this->first_bytes, b), rvp_text_bytes(this->last_bytes, c),
			this->points);
	else
		fprintf(out, "no bytes a token: %s%s%s\n", this->why_not,
			this->inquiry->steps->count || !*this->inquiry->steps->why_none ? "" : ": ",
			this->inquiry->steps->count ? "" : this->inquiry->steps->why_none);
}

static void print_shape(const struct kv *this)
{
	FILE *out = this->inquiry->view.out;
	char f16[RVP_NUMBER_TEXT_BYTES], q8[RVP_NUMBER_TEXT_BYTES], n[RVP_NUMBER_TEXT_BYTES],
	    m[RVP_NUMBER_TEXT_BYTES];
	uint64_t q8_bytes = this->shape_f16_bytes * 34 / 64;

	label(this, "by the model");
	if (!this->model_name[0]) {
		fputs("not known: no GGUF file with a shape was read, or it is gone\n", out);
		return;
	}
	fprintf(out, "%s a token in f16 (%s in q8_0) of ", rvp_text_bytes(this->shape_f16_bytes, f16),
		rvp_text_bytes(q8_bytes, q8));
	rvp_print_safely(out, this->model_name, 0);
	fprintf(out, ": %" PRIu64 " KV heads in %" PRIu64 " layers x (%" PRIu64 " + %" PRIu64 ") x 2 bytes\n",
		this->shape.kv_heads, this->shape.block_count, this->shape.key_length,
		this->shape.value_length);
	if (!this->shape_f16_bytes || !q8_bytes)
		return;
	label(this, "");
	fprintf(out, "so at the peak there was room for %s tokens in f16, or %s in q8_0\n",
		rvp_text_count(this->peak_bytes / this->shape_f16_bytes, n),
		rvp_text_count(this->peak_bytes / q8_bytes, m));
}

static void print_used(const struct kv *this)
{
	FILE *out = this->inquiry->view.out;
	char a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES], share[RVP_NUMBER_TEXT_BYTES];

	label(this, "used");
	if (this->has_resident)
		fprintf(out, "%s of %s had been touched (%s) when the map was looked at last\n",
			rvp_text_bytes(this->resident_bytes, a), rvp_text_bytes(this->held_bytes, b),
			rvp_text_share(this->resident_bytes, this->held_bytes, share));
	else if (this->inquiry->asked.device)
		fputs("not visible: what of a device's memory is in use only the program can say\n", out);
	else
		fputs("not visible: the map was not looked at while the cache was there\n", out);
}

static void print_fit(const struct kv *this)
{
	FILE *out = this->inquiry->view.out;
	uint64_t fit = this->inquiry->asked.fit_bytes, left;
	double token = best_token_bytes(this);
	char a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES], c[RVP_NUMBER_TEXT_BYTES];

	if (!fit)
		return;
	label(this, "fit");
	if (this->rest.peak_bytes >= fit) {
		fprintf(out, "nothing fits: all the rest takes %s of %s\n",
			rvp_text_bytes(this->rest.peak_bytes, a), rvp_text_bytes(fit, b));
		return;
	}
	left = fit - this->rest.peak_bytes;
	fprintf(out, "%s - %s (all the rest at its highest) = %s for the cache\n", rvp_text_bytes(fit, a),
		rvp_text_bytes(this->rest.peak_bytes, b), rvp_text_bytes(left, c));
	if (token > 0) {
		label(this, "");
		fprintf(out, "%s / %s = %s tokens (%s)\n", rvp_text_bytes(left, a),
			rvp_text_bytes((uint64_t)(token + 0.5), b),
			rvp_text_count((uint64_t)((double)left / token), c),
			token == this->token_bytes ? "measured" : "by the model's shape, in f16");
	}
	label(this, "");
	fprintf(out, "%s / %s = %s caches like the one at the peak\n", rvp_text_bytes(left, a),
		rvp_text_bytes(this->peak_bytes, b), rvp_text_count(left / this->peak_bytes, c));
}

static const char *why_none(const struct kv *this)
{
	return this->inquiry->steps->count
		   ? "No kv_cache at the peak: no evidence calls any block of this run so."
		   : "No kv_cache at the peak: no evidence calls any block of this run so, and no steps "
		     "were found against which growth could show one.";
}

static void print_all(const struct kv *this)
{
	const struct rvp_view *view = &this->inquiry->view;
	char title[128], a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES];

	rvp_text_run(view);
	if (!this->peak_bytes) {
		fprintf(view->out, "\n%s\n", why_none(this));
		return;
	}
	snprintf(title, sizeof title, "KV cache: %s at the peak, %s of what was live",
		 rvp_text_bytes(this->peak_bytes, a),
		 rvp_text_share(this->peak_bytes, this->inquiry->answer.tracked_peak_bytes, b));
	rvp_text_title(view, title);
	print_measured(this);
	print_shape(this);
	print_used(this);
	print_fit(this);
}

/* ---- JSON ---- */

static void put_rows(struct kv *this)
{
	const struct rvp_groups *groups = &this->inquiry->groups;
	struct rvp_json *json = &this->inquiry->json;
	size_t count = 0, put = 0;
	uint32_t *order = rvp_groups_by(groups, RVP_AT_PEAK, &count);

	for (size_t i = 0; order && i < count && put < this->inquiry->asked.row_count; i++) {
		const struct rvp_group *group = &groups->groups[order[i]];

		if (!is_kv(this, group->site))
			continue;
		put++;
		rvp_json_open(json, NULL, '{');
		rvp_json_number(json, "bytes", group->at_peak.bytes);
		rvp_json_number(json, "count", group->at_peak.count);
		rvp_inquiry_put_group(this->inquiry, group);
		rvp_json_close(json, '}');
	}
	free(order);
}

static void put_fit(struct kv *this)
{
	struct rvp_json *json = &this->inquiry->json;
	uint64_t fit = this->inquiry->asked.fit_bytes,
		 left = fit > this->rest.peak_bytes ? fit - this->rest.peak_bytes : 0;
	double token = best_token_bytes(this);

	rvp_json_open(json, "fit", '{');
	rvp_json_number(json, "bytes", fit);
	rvp_json_number(json, "rest_bytes", this->rest.peak_bytes);
	if (token > 0)
		rvp_json_number(json, "tokens", (uint64_t)((double)left / token));
	rvp_json_number(json, "caches", left / this->peak_bytes);
	rvp_json_close(json, '}');
}

static void put_all(struct kv *this)
{
	struct rvp_json *json = &this->inquiry->json;

	rvp_inquiry_begin(this->inquiry, "rvprof.kv/1");
	put_rows(this);
	rvp_inquiry_end_rows(this->inquiry, (int64_t)this->peak_bytes);
	if (!this->peak_bytes)
		rvp_json_string(json, "why_none", why_none(this));
	if (this->token_bytes > 0)
		rvp_json_decimal(json, this->per[0] == 't' ? "token_bytes" : "step_bytes", this->token_bytes,
				 3);
	else if (this->peak_bytes)
		rvp_json_string(json, "why_not_measured", this->why_not);
	if (this->model_name[0]) {
		rvp_json_string(json, "model", this->model_name);
		rvp_json_number(json, "model_token_bytes_f16", this->shape_f16_bytes);
	}
	if (this->has_resident) {
		rvp_json_number(json, "reserved_bytes", this->held_bytes);
		rvp_json_number(json, "resident_bytes", this->resident_bytes);
	}
	if (this->inquiry->asked.fit_bytes && this->peak_bytes)
		put_fit(this);
	rvp_inquiry_end(this->inquiry);
}

struct rvp_status rvp_answer_kv(struct rvp_inquiry *inquiry)
{
	struct kv this = {.inquiry = inquiry};
	struct rvp_status status = rvp_fail("answer", NULL, ENOMEM);

	sum_peak(&this);
	if (measure(&this) && read_models(&this))
		status = look_again(&this);
	if (rvp_failed(status))
		return status;
	if (inquiry->asked.json)
		put_all(&this);
	else
		print_all(&this);
	return RVP_OK;
}
