/* SPDX-License-Identifier: MIT */
/* text_categories.c: see text_categories.h. */
#include "report/text_categories.h"

#include "report/category_totals.h"
#include "report/rows.h"
#include "report/text_numbers.h"

#include <stdlib.h>

enum { NAME_COLUMNS = 26, LISTED_DISAGREEMENTS = 5 };

const char *rvp_view_purpose_name(const struct rvp_view *view, uint16_t purpose)
{
	if (!view->attribution)
		return rvp_category_names[RVP_CATEGORY_UNKNOWN];
	return rvp_purpose_name(rvp_attribution_purposes(view->attribution), purpose);
}

void rvp_text_purpose(const struct rvp_view *view, const struct rvp_site *site)
{
	const char *reason;

	if (!view->attribution)
		return;
	fprintf(view->out, "  %s%s%s", rvp_style_on(&view->style, RVP_INK_TITLE),
		rvp_view_purpose_name(view, site->purpose), rvp_style_off(&view->style, RVP_INK_TITLE));
	if (site->evidence >= RVP_EVIDENCE_NONE)
		return;
	reason = rvp_reason_text(view->attribution, site->reason);
	fprintf(view->out, " by %s%s", rvp_evidence_names[site->evidence], *reason ? ": " : "");
	rvp_print_safely(view->out, reason, 60);
}

/* ---- the table ---- */

static void print_evidence(const struct rvp_view *view, const struct rvp_category_total *total)
{
	char share[RVP_NUMBER_TEXT_BYTES];
	const char *comma = "";

	for (int i = 0; i < RVP_EVIDENCE_NONE; i++) {
		if (!total->evidence_bytes[i])
			continue;
		fprintf(view->out, "%s%s", comma, rvp_evidence_names[i]);
		if (total->evidence_bytes[i] < total->at_peak_bytes)
			fprintf(view->out, " %s",
				rvp_text_share(total->evidence_bytes[i], total->at_peak_bytes, share));
		comma = ", ";
	}
}

static void print_row(const struct rvp_view *view, const char *indent, const char *name,
		      const struct rvp_category_total *total, uint64_t whole_bytes)
{
	char text[RVP_NUMBER_TEXT_BYTES];
	int columns = NAME_COLUMNS - (indent[0] ? 2 : 0);

	fprintf(view->out, "  %s%-*s%12s%2s", indent, columns, name,
		rvp_text_bytes(total->at_peak_bytes, text), total->is_estimate ? " ±" : "");
	fprintf(view->out, "%8s", whole_bytes ? rvp_text_share(total->at_peak_bytes, whole_bytes, text) : "");
	fprintf(view->out, "%12s", rvp_text_bytes(total->max_bytes, text));
	fprintf(view->out, "%12s  ", rvp_text_bytes(total->at_end_bytes, text));
	print_evidence(view, total);
	fputc('\n', view->out);
}

static void print_sub_kinds(const struct rvp_view *view, const struct rvp_category_totals *totals,
			    int category)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(view->attribution);

	for (uint32_t i = RVP_CATEGORY_COUNT; i < purposes->count; i++)
		if (purposes->categories[i] == category && totals->by_purpose[i].max_bytes)
			print_row(view, "  ", purposes->names[i], &totals->by_purpose[i], totals->peak_bytes);
}

static void print_disagreements(const struct rvp_view *view)
{
	size_t count, shown = 0;
	const struct rvp_disagreement *list = rvp_attribution_disagreements(view->attribution, &count);
	char text[RVP_NUMBER_TEXT_BYTES];

	for (size_t i = 0; i < count && shown < LISTED_DISAGREEMENTS; i++, shown++) {
		fprintf(view->out, "  %s was called %s by %s, and ", rvp_text_bytes(list[i].bytes, text),
			rvp_view_purpose_name(view, list[i].believed.purpose),
			rvp_evidence_names[list[i].believed.evidence]);
		fprintf(view->out, "%s by %s: the first is more specific\n",
			rvp_view_purpose_name(view, list[i].overruled.purpose),
			rvp_evidence_names[list[i].overruled.evidence]);
	}
	if (count > shown)
		fprintf(view->out, "  ... and %zu more disagreements\n", count - shown);
}

static void print_notes(const struct rvp_view *view)
{
	for (const char *const *note = rvp_attribution_notes(view->attribution); *note; note++) {
		fputs("  ", view->out);
		rvp_print_safely(view->out, *note, 0);
		fputc('\n', view->out);
	}
}

void rvp_text_category_table(const struct rvp_view *view)
{
	struct rvp_category_totals *totals = view->attribution ? malloc(sizeof *totals) : NULL;

	if (!totals)
		return;
	rvp_category_totals(totals, view->answer, rvp_attribution_purposes(view->attribution));
	fprintf(view->out, "  %-*s%12s  %8s%12s%12s  %s\n", NAME_COLUMNS, "category", "at the peak", "share",
		"at most", "at the end", "by");
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++) {
		if (rvp_category_is_resident(i) || !totals->by_category[i].max_bytes)
			continue;
		print_row(view, "", rvp_category_names[i], &totals->by_category[i], totals->peak_bytes);
		print_sub_kinds(view, totals, i);
	}
	free(totals);
}

void rvp_text_categories(const struct rvp_view *view)
{
	if (!view->attribution)
		return;
	rvp_text_title(view, "What the bytes are for");
	rvp_text_category_table(view);
	print_disagreements(view);
	print_notes(view);
}
