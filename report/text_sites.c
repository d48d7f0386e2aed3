/* SPDX-License-Identifier: MIT */
/* text_sites.c: the lists: call stacks by what they hold, have allocated, or by how they grew. */
#include "report/text_categories.h"
#include "report/text_numbers.h"
#include "report/text_report.h"

#include <stdlib.h>

struct list {
	enum rvp_measure measure;
	uint64_t whole_bytes, whole_count; /* what the shares are of */
	char title[256];
};

static const char *moment_name(const struct rvp_view *view, size_t number, char *text)
{
	char duration[RVP_NUMBER_TEXT_BYTES];
	const struct rvp_asked_moment *moment = &view->moments[number];
	uint64_t since = moment->ns > view->run->begin_ns ? moment->ns - view->run->begin_ns : 0;

	snprintf(text, 96, "%.40s (%s)", moment->text, rvp_text_duration(since, duration));
	return text;
}

static struct list list_of(const struct rvp_view *view, enum rvp_measure measure)
{
	const struct rvp_totals *totals = &view->answer->totals;
	struct list list = {.measure = measure};
	char from[96], to[96];

	switch (measure) {
	case RVP_AT_PEAK:
		list.whole_bytes = view->answer->tracked_peak_bytes;
		snprintf(list.title, sizeof list.title, "Live at the peak");
		break;
	case RVP_AT_END:
		list.whole_bytes = view->answer->tracked_end_bytes;
		snprintf(list.title, sizeof list.title, "%s",
			 view->run->alive_count ? "Live now" : "Left at the end");
		break;
	case RVP_ALLOCATED:
	case RVP_ALLOCATED_COUNT:
		list.whole_bytes = totals->counters.alloc_bytes;
		snprintf(list.title, sizeof list.title, "Most allocating");
		break;
	case RVP_TEMPORARY:
		snprintf(list.title, sizeof list.title,
			 "Most temporary (freed by their thread before its next alloc)");
		break;
	case RVP_AT_MOMENT:
		list.whole_bytes = view->answer->moment_live_bytes[0];
		snprintf(list.title, sizeof list.title, "Live at %s", moment_name(view, 0, from));
		break;
	case RVP_GROWTH:
		snprintf(list.title, sizeof list.title, "Growth from %s to %s", moment_name(view, 0, from),
			 moment_name(view, 1, to));
		break;
	case RVP_MEASURE_COUNT: break;
	}
	return list;
}

int64_t rvp_view_growth_bytes(const struct rvp_view *view)
{
	const uint64_t *live_bytes = view->answer->moment_live_bytes;
	uint64_t last_bytes = view->groups->grows_to_end ? view->answer->tracked_end_bytes : live_bytes[1];

	return (int64_t)(last_bytes - live_bytes[0]);
}

static bool is_by_count(enum rvp_measure measure)
{
	return measure == RVP_TEMPORARY || measure == RVP_ALLOCATED_COUNT;
}

static void print_title(const struct rvp_view *view, const struct list *list, size_t shown, size_t all)
{
	char title[512], bytes[RVP_NUMBER_TEXT_BYTES];

	if (list->measure == RVP_GROWTH) {
		snprintf(title, sizeof title, "%s: %s", list->title,
			 rvp_text_change(rvp_view_growth_bytes(view), bytes));
	} else if (list->whole_bytes) {
		snprintf(title, sizeof title, "%s: %s, %zu of %zu call stacks", list->title,
			 rvp_text_bytes(list->whole_bytes, bytes), shown, all);
	} else {
		snprintf(title, sizeof title, "%s: %zu of %zu call stacks", list->title, shown, all);
	}
	rvp_text_title(view, title);
}

static void print_bytes(const struct rvp_view *view, const struct list *list, const struct rvp_change *amount,
			bool is_estimate)
{
	char bytes[RVP_NUMBER_TEXT_BYTES];
	bool is_growth = list->measure == RVP_GROWTH;

	fprintf(view->out, "%s%11s%s%s", rvp_style_on(&view->style, RVP_INK_NUMBER),
		is_growth ? rvp_text_change(amount->bytes, bytes)
			  : rvp_text_bytes((uint64_t)amount->bytes, bytes),
		rvp_style_off(&view->style, RVP_INK_NUMBER), is_estimate ? " ±" : "");
}

static void print_group(const struct rvp_view *view, const struct list *list, unsigned rank, uint32_t number)
{
	const struct rvp_group *group = &view->groups->groups[number];
	struct rvp_change amount = rvp_group_amount(view->groups, group, list->measure);
	char share[RVP_NUMBER_TEXT_BYTES], count[RVP_NUMBER_TEXT_BYTES];
	struct rvp_frame_list stack;
	uint64_t blocks = amount.count < 0 ? -(uint64_t)amount.count : (uint64_t)amount.count;
	const char *unit = list->measure == RVP_ALLOCATED || is_by_count(list->measure) ? "alloc" : "block";

	fprintf(view->out, "%3u. ", rank);
	print_bytes(view, list, &amount, group->is_estimate);
	if (list->whole_bytes)
		fprintf(view->out, "  %6s", rvp_text_share((uint64_t)amount.bytes, list->whole_bytes, share));
	fprintf(view->out, "  %s%s %s%s%s",
		amount.count < 0                        ? "-"
		: list->measure == RVP_GROWTH && blocks ? "+"
							: "",
		rvp_text_count(blocks, count), unit, blocks == 1 ? "" : "s", group->is_estimate ? " ±" : "");
	if (group->process_count > 1)
		fprintf(view->out, ", %u processes", group->process_count);
	rvp_text_purpose(view, group->site);
	fputc('\n', view->out);
	stack = rvp_group_stack(view->groups, group);
	rvp_text_stack(view, &stack);
}

void rvp_text_sites(const struct rvp_view *view, enum rvp_measure measure, unsigned most)
{
	struct list list = list_of(view, measure);
	size_t count;
	uint32_t *order = rvp_groups_by(view->groups, measure, &count);
	size_t shown = count < most ? count : most;

	print_title(view, &list, shown, count);
	if (!order)
		fputs("  not enough memory to sort it\n", view->out);
	else if (!count)
		fputs("  nothing\n", view->out);
	for (size_t i = 0; order && i < shown; i++)
		print_group(view, &list, (unsigned)i + 1, order[i]);
	free(order);
}
