/* SPDX-License-Identifier: MIT */
/* verdicts.c: see verdicts.h. */
#include "report/verdicts.h"

#include "report/category_totals.h"
#include "report/site_name.h"
#include "report/text_numbers.h"
#include "report/text_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAMED_CATEGORIES = 3,
	/* Fewer ends of steps than that lie on a line by chance. */
	LEAST_STEPS = 8,
	/* Caches and pools of a healthy program settle within a MiB. */
	LEAST_GROWTH_BYTES = 1 << 20,
	/* A sample stands for half a MiB: sixteen of them are no chance. */
	LEAST_SAMPLED_GROWTH_BYTES = 16 * RVP_SAMPLE_BYTES,
	/* What any allocator keeps. */
	LEAST_KEPT_BYTES = 64 << 20,
	KEPT_PERCENT = 15,
	PEAK_PARTS = 100, /* of the peak; growth below it changes nothing */
};

/* r squared from which on growth is a line: a vector that doubles stays below, a page now and then above. */
static const double straight = 0.9;

struct maker {
	struct rvp_verdicts *verdicts;
	const struct rvp_run *run;
	const struct rvp_analysis *answer;
	struct rvp_attribution *attribution;
	const struct rvp_step_ends *ends;
	const char *where; /* "live memory", "memory of cuda:0" */
	const char *peak_id;
};

static void say(struct rvp_verdicts *verdicts, const char *id, uint64_t bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say(struct rvp_verdicts *verdicts, const char *id, uint64_t bytes, const char *format, ...)
{
	struct rvp_sentence *sentence;
	va_list arguments;

	if (verdicts->count == RVP_SENTENCES_MAX)
		return;
	sentence = &verdicts->sentences[verdicts->count++];
	sentence->id = id;
	sentence->bytes = bytes;
	va_start(arguments, format);
	vsnprintf(sentence->text, sizeof sentence->text, format, arguments);
	va_end(arguments);
}

/* ---- the peak ---- */

/* The category with most bytes that was not named yet; -1: none that is a hundredth of the whole. */
static int next_category(const struct rvp_category_totals *totals, const bool *named)
{
	int best = -1;

	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (!named[i] && totals->by_category[i].at_peak_bytes >= totals->peak_bytes / PEAK_PARTS &&
		    totals->by_category[i].at_peak_bytes &&
		    (best < 0 ||
		     totals->by_category[i].at_peak_bytes > totals->by_category[best].at_peak_bytes))
			best = i;
	return best;
}

static void list_categories(const struct rvp_category_totals *totals, char *text, size_t text_bytes)
{
	bool named[RVP_CATEGORY_COUNT] = {false};
	char share[RVP_NUMBER_TEXT_BYTES];
	size_t length = 0;
	int category;

	for (int i = 0; i < NAMED_CATEGORIES && (category = next_category(totals, named)) >= 0; i++) {
		uint64_t bytes = totals->by_category[category].at_peak_bytes;

		named[category] = true;
		length += (size_t)snprintf(text + length, text_bytes - length, "%s%s %s", i ? ", " : "",
					   rvp_category_names[category],
					   rvp_text_share(bytes, totals->peak_bytes, share));
	}
}

static void say_peak(const struct maker *maker)
{
	struct rvp_category_totals *totals = malloc(sizeof *totals);
	uint64_t peak = maker->answer->tracked_peak_bytes;
	char bytes[RVP_NUMBER_TEXT_BYTES], list[192] = "";

	if (totals && peak) {
		rvp_category_totals(totals, maker->answer, rvp_attribution_purposes(maker->attribution));
		list_categories(totals, list, sizeof list);
		/* Of an ordinary program nothing is known, and it need not be said. */
		if (totals->by_category[RVP_CATEGORY_UNKNOWN].at_peak_bytes < peak)
			say(maker->verdicts, maker->peak_id, peak, "%s was highest at %s: %s", maker->where,
			    rvp_text_bytes(peak, bytes), list);
	}
	free(totals);
}

/* ---- growth ---- */

struct growth {
	const struct rvp_site *site;
	double step_bytes;
	uint64_t bytes;
};

static uint64_t least_growth(const struct maker *maker, const struct rvp_site *site)
{
	uint64_t least = site->is_estimate ? LEAST_SAMPLED_GROWTH_BYTES : LEAST_GROWTH_BYTES;
	uint64_t part = maker->answer->tracked_peak_bytes / PEAK_PARTS;

	return part > least ? part : least;
}

/* Whether bytes at the ends of steps grow to the last one: a line, of which the second half has its part. */
static bool grows(const struct maker *maker, const struct rvp_site *site, const double *x, const double *y,
		  struct growth *growth)
{
	size_t count = maker->ends->count;
	struct rvp_line line;

	if (y[count - 1] - y[0] < (double)least_growth(maker, site) ||
	    y[count - 1] - y[count / 2] < (y[count - 1] - y[0]) / 4)
		return false;
	line = rvp_line_through(x, y, count);
	*growth = (struct growth){site, line.slope, (uint64_t)(y[count - 1] - y[0])};
	return line.slope > 0 && line.fit >= straight;
}

static void say_growth(const struct maker *maker, const struct growth *growth, bool of_cache)
{
	const char *purpose =
	    rvp_purpose_name(rvp_attribution_purposes(maker->attribution), growth->site->purpose);
	const char *mark = growth->site->is_estimate ? " ±" : "";
	char a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES], place[160];
	uint32_t steps = maker->ends->steps[maker->ends->count - 1] - maker->ends->steps[0];

	rvp_text_bytes((uint64_t)growth->step_bytes, a);
	rvp_text_bytes(growth->bytes, b);
	if (of_cache) {
		say(maker->verdicts, "kv_growth", growth->bytes,
		    growth->site->evidence == RVP_EVIDENCE_LIFETIME
			? "what grows like a KV cache%s%s does so by %s%s a step, %s in %u steps: a leak if it "
			  "is none"
			: "the KV cache%s%s grows by %s%s a step, as it is made to: %s in %u steps",
		    maker->answer->device ? " in " : "", maker->answer->device ? maker->where : "", a, mark, b, steps);
		return;
	}
	rvp_site_name(maker->run, growth->site, place, sizeof place);
	say(maker->verdicts, "growth", growth->bytes,
	    "%s grows by %s%s a step, %s in %u steps, at %s (%s)", maker->where, a, mark, b, steps, place,
	    purpose);
}

static bool is_cache(const struct maker *maker, const struct rvp_site *site)
{
	return rvp_purpose_category(rvp_attribution_purposes(maker->attribution), site->purpose) ==
	       RVP_CATEGORY_KV_CACHE;
}

static void add_site(const struct maker *maker, const struct rvp_site *site, double *y)
{
	for (size_t i = 0; i < maker->ends->count; i++)
		y[i] += (double)rvp_site_at(site, i).bytes;
}

/* Of all sites but the cache's the one that grows fastest. */
static void find_growth(const struct maker *maker, const double *x, double *y)
{
	struct growth best = {0}, growth;

	for (size_t i = 0; i < maker->answer->site_count; i++) {
		const struct rvp_site *site = &maker->answer->sites[i];

		memset(y, 0, maker->ends->count * sizeof *y);
		add_site(maker, site, y);
		if (!is_cache(maker, site) && grows(maker, site, x, y, &growth) &&
		    growth.step_bytes > best.step_bytes)
			best = growth;
	}
	if (best.site)
		say_growth(maker, &best, false);
}

/* The cache is one thing, whichever site has its blocks: a tensor that is made anew goes from site to site.
 * The site with most of it speaks for all. */
static void find_cache_growth(const struct maker *maker, const double *x, double *y)
{
	size_t last = maker->ends->count - 1;
	const struct rvp_site *most = NULL;
	struct growth growth;

	memset(y, 0, maker->ends->count * sizeof *y);
	for (size_t i = 0; i < maker->answer->site_count; i++) {
		const struct rvp_site *site = &maker->answer->sites[i];

		if (!is_cache(maker, site))
			continue;
		add_site(maker, site, y);
		if (!most || rvp_site_at(site, last).bytes > rvp_site_at(most, last).bytes)
			most = site;
	}
	if (most && grows(maker, most, x, y, &growth))
		say_growth(maker, &growth, true);
}

static void judge_growth(const struct maker *maker)
{
	size_t count = maker->ends->count;
	double *x, *y;

	if (count < LEAST_STEPS || maker->answer->moment_count != count)
		return;
	x = calloc(count, sizeof *x);
	y = calloc(count, sizeof *y);
	for (size_t i = 0; x && i < count; i++)
		x[i] = maker->ends->steps[i];
	if (x && y) {
		find_growth(maker, x, y);
		find_cache_growth(maker, x, y);
	}
	free(x);
	free(y);
}

/* ---- the rest ---- */

/* At the peak of RSS, not at the end: a program that tidies up behind itself keeps much then, and it is no
 * waste. */
static void judge_allocator(const struct maker *maker, const struct rvp_ledger *ledger)
{
	const struct rvp_ledger_entry *peak = ledger ? &ledger->peak : NULL;
	uint64_t kept =
	    peak && peak->is_set && peak->sums ? peak->sums->parts[RVP_PART_FREE].resident_bytes : 0;
	const struct rvp_pin *pin = ledger && ledger->peak_pin_count ? &ledger->peak_pins[0] : NULL;
	char a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES];

	if (kept < LEAST_KEPT_BYTES || kept < peak->rss_bytes / 100 * KEPT_PERCENT)
		return;
	say(maker->verdicts, "allocator", kept,
	    "the allocator kept %s of freed memory when RSS was highest (%s)%s: see rvprof report --ledger",
	    rvp_text_bytes(kept, a), rvp_text_bytes(peak->rss_bytes, b),
	    pin && pin->below_bytes >= kept / 2 ? ", most of it below one live block" : "");
}

static void judge_loss(const struct maker *maker)
{
	uint64_t lost = maker->answer->totals.lost_records;
	char text[RVP_NUMBER_TEXT_BYTES];

	if (lost)
		say(maker->verdicts, "lost", 0, "%s record%s lost: figures may be too low, see what was lost",
		    rvp_text_count(lost, text), lost == 1 ? " was" : "s were");
}

void rvp_verdicts_make(struct rvp_verdicts *verdicts, const struct rvp_run *run,
		       const struct rvp_analysis *answer, struct rvp_attribution *attribution,
		       const struct rvp_step_ends *ends, const struct rvp_ledger *ledger)
{
	struct maker maker = {verdicts, run, answer, attribution, ends, "live memory", "peak"};

	*verdicts = (struct rvp_verdicts){0};
	say_peak(&maker);
	judge_growth(&maker);
	judge_allocator(&maker, ledger);
	judge_loss(&maker);
}

/* ---- devices ---- */

static void list_refused(const struct rvp_refusal *refusal, char *text, size_t text_bytes)
{
	bool named[RVP_CATEGORY_COUNT] = {false};
	char share[RVP_NUMBER_TEXT_BYTES];
	size_t length = 0;

	for (int i = 0; i < NAMED_CATEGORIES; i++) {
		int best = 0;

		for (int k = 1; k < RVP_CATEGORY_COUNT; k++)
			if (!named[k] && (named[best] || refusal->category_bytes[k] > refusal->category_bytes[best]))
				best = k;
		if (named[best] || !refusal->category_bytes[best])
			return;
		named[best] = true;
		length += (size_t)snprintf(text + length, text_bytes - length, "%s%s %s", i ? ", " : "",
					   rvp_category_names[best],
					   rvp_text_share(refusal->category_bytes[best], refusal->live_bytes, share));
	}
}

static void judge_refusals(const struct maker *maker, const struct rvp_device_answer *item)
{
	const struct rvp_device_refusals *refusals = &item->refusals;
	const struct rvp_refusal *worst = rvp_worst_refusal(refusals);
	uint64_t count = refusals->survived_count + refusals->fatal_count;
	char a[RVP_NUMBER_TEXT_BYTES], b[RVP_NUMBER_TEXT_BYTES], times[80] = "", largest[96] = "", list[192] = "";

	if (!worst)
		return;
	if (count > 1)
		snprintf(times, sizeof times, " (the worst of %s)", rvp_text_count(count, a));
	if (worst->segments.count)
		snprintf(largest, sizeof largest, ", the caching allocator's largest free block %s",
			 rvp_text_bytes(worst->segments.largest_free_bytes, a));
	list_refused(worst, list, sizeof list);
	say(maker->verdicts, "device_oom", worst->bytes, "%s had no %s%s, %s: %s were free%s; live: %s",
	    item->device->name, rvp_text_bytes(worst->bytes, a), times,
	    worst->fate == RVP_REFUSAL_FATAL ? "and the program ended of it" : "and the program went on",
	    worst->total_bytes ? rvp_text_bytes(worst->free_bytes, b) : "bytes not told", largest, list);
}

void rvp_verdicts_add_devices(struct rvp_verdicts *verdicts, const struct rvp_run *run,
			      const struct rvp_device_answers *devices, struct rvp_attribution *attribution,
			      const struct rvp_step_ends *ends)
{
	for (size_t i = 0; devices && i < devices->count; i++) {
		const struct rvp_device_answer *item = &devices->items[i];
		char where[64];
		struct maker maker = {verdicts, run, &item->analysis, attribution, ends, where, "device_peak"};

		snprintf(where, sizeof where, "memory of %s", item->device->name);
		say_peak(&maker);
		judge_refusals(&maker, item);
		judge_growth(&maker);
	}
}
