/* SPDX-License-Identifier: MIT */
/* text_json.c: see text_json.h. Written as it goes: a large answer needs no memory for its text. */
#include "report/text_json.h"

#include "report/text_categories.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_BYTES = 40000 };

/* Bytes of the UTF-8 character at `at`, 0 when there is none. */
static size_t character_bytes(const uint8_t *at)
{
	size_t bytes = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;

	if (*at >= 0xf5 || (*at >= 0x80 && *at < 0xc2))
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return bytes;
}

void rvp_json_text(FILE *out, const char *text)
{
	const uint8_t *at = (const uint8_t *)text;

	fputc('"', out);
	while (*at) {
		size_t bytes = character_bytes(at);

		if (!bytes)
			fputs("\\ufffd", out);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else
			fwrite(at, 1, bytes, out);
		at += bytes ? bytes : 1;
	}
	fputc('"', out);
}

static int64_t total_bytes(const struct rvp_view *view, enum rvp_measure measure)
{
	const struct rvp_analysis *answer = view->answer;
	uint64_t sum = 0;

	switch (measure) {
	case RVP_AT_PEAK: return (int64_t)answer->tracked_peak_bytes;
	case RVP_AT_END: return (int64_t)answer->tracked_end_bytes;
	case RVP_ALLOCATED:
	case RVP_ALLOCATED_COUNT: return (int64_t)answer->totals.counters.alloc_bytes;
	case RVP_AT_MOMENT: return (int64_t)answer->moment_live_bytes[0];
	case RVP_GROWTH: return rvp_view_growth_bytes(view);
	case RVP_TEMPORARY:
		for (size_t i = 0; i < answer->site_count; i++)
			sum += answer->sites[i].temporary.bytes;
		return (int64_t)sum;
	case RVP_MEASURE_COUNT: break;
	}
	return 0;
}

static void write_stack(FILE *out, const struct rvp_frame_list *stack, char *text)
{
	fputs("\"stack\": [", out);
	for (size_t i = 0; i < stack->count; i++) {
		rvp_frame_text(&stack->frames[i], text, FRAME_BYTES);
		if (i)
			fputs(", ", out);
		rvp_json_text(out, text);
	}
	fputs("]", out);
}

static void write_row(const struct rvp_view *view, const struct rvp_group *group, enum rvp_measure measure,
		      char *text)
{
	struct rvp_change amount = rvp_group_amount(view->groups, group, measure);
	struct rvp_frame_list stack;

	fprintf(view->out, "{\"bytes\": %" PRId64 ", \"count\": %" PRId64 ", \"category\": \"%s\", ",
		amount.bytes, amount.count, rvp_view_purpose_name(view, group->site->purpose));
	if (view->attribution && group->site->reason) {
		fprintf(view->out,
			"\"evidence\": \"%s\", \"reason\": ", rvp_evidence_names[group->site->evidence]);
		rvp_json_text(view->out, rvp_reason_text(view->attribution, group->site->reason));
		fputs(", ", view->out);
	}
	if (group->is_estimate)
		fputs("\"estimate\": true, ", view->out);
	stack = rvp_group_stack(view->groups, group);
	write_stack(view->out, &stack, text);
	fputc('}', view->out);
}

static void write_rows(const struct rvp_view *view, enum rvp_measure measure, const uint32_t *order,
		       size_t count, char *text)
{
	fputs("{\"schema\": \"rvprof.report/1\", ", view->out);
	if (view->device)
		fprintf(view->out, "\"device\": \"%s\", ", view->device->name);
	fputs("\"rows\": [", view->out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",\n  " : "\n  ", view->out);
		write_row(view, &view->groups->groups[order[i]], measure, text);
	}
	fprintf(view->out, "],\n \"total_bytes\": %" PRId64 "}\n", total_bytes(view, measure));
}

struct rvp_status rvp_json_sites(const struct rvp_view *view, enum rvp_measure measure, size_t row_count)
{
	size_t count = 0;
	uint32_t *order = rvp_groups_by(view->groups, measure, &count);
	char *text = malloc(FRAME_BYTES);
	bool is_good = order && text;

	if (is_good)
		write_rows(view, measure, order, count < row_count ? count : row_count, text);
	free(order);
	free(text);
	return is_good ? RVP_OK : rvp_fail("sort the call stacks", NULL, ENOMEM);
}
