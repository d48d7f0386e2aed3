/* SPDX-License-Identifier: MIT */
/* inquiry.c: see inquiry.h. What all answers share: opening, moments at ends of steps, pieces of text and
 * JSON. */
#include "report/inquiry.h"

#include "report/step_ends.h"
#include "report/text_categories.h"
#include "report/text_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { FRAME_BYTES = 40000, PLACE_FRAMES = 3, FUNCTION_COLUMNS = 40, PLACE_BYTES = 256 };

static struct rvp_status no_memory(void)
{
	return rvp_fail("answer", NULL, ENOMEM);
}

/* ---- opening ---- */

static struct rvp_status attribute(struct rvp_inquiry *inquiry)
{
	struct rvp_attribution_settings rules = {.rule_files = inquiry->asked.rule_files};
	struct rvp_status status = rvp_attribute(inquiry->run, &rules, &inquiry->attribution);

	if (rvp_failed(status))
		return status;
	inquiry->view.attribution = inquiry->attribution;
	inquiry->steps = rvp_attribution_steps(inquiry->attribution);
	return RVP_OK;
}

static bool choose_moments(struct rvp_inquiry *inquiry)
{
	const struct rvp_question_asked *asked = &inquiry->asked;
	struct rvp_step_ends ends = {0};
	bool is_good = true;

	if (asked->what == RVP_ASKED_KV || asked->what == RVP_ASKED_GROWTH)
		is_good = rvp_step_ends_spread(&ends, inquiry->run, inquiry->steps, RVP_STEP_ENDS_MAX);
	if (asked->what == RVP_ASKED_STEPS)
		is_good =
		    rvp_step_ends_two(&ends, inquiry->run, inquiry->steps, asked->step, asked->versus_step);
	inquiry->moments_ns = ends.moments_ns;
	inquiry->moment_steps = ends.steps;
	inquiry->moment_count = ends.count;
	return is_good;
}

static struct rvp_status analyse(struct rvp_inquiry *inquiry)
{
	struct rvp_question question = {.attribution = inquiry->attribution, .device = inquiry->asked.device};
	struct rvp_status status;

	if (!choose_moments(inquiry))
		return no_memory();
	question.moments_ns = inquiry->moments_ns;
	question.moment_count = inquiry->moment_count;
	status = rvp_analyse(inquiry->run, &question, &inquiry->answer);
	if (!rvp_failed(status))
		inquiry->view.answer = &inquiry->answer;
	return status;
}

static struct rvp_status name_stacks(struct rvp_inquiry *inquiry)
{
	struct rvp_status status;

	inquiry->symbols = rvp_symbols_open(NULL);
	inquiry->stacks = inquiry->symbols ? rvp_stacks_open(inquiry->symbols, inquiry->run) : NULL;
	if (!inquiry->stacks)
		return no_memory();
	status = rvp_groups_make(&inquiry->groups, inquiry->stacks, &inquiry->answer, inquiry->moment_count);
	if (!rvp_failed(status))
		inquiry->view.groups = &inquiry->groups;
	inquiry->view.symbols = inquiry->symbols;
	return status;
}

static struct rvp_status answer(struct rvp_inquiry *inquiry)
{
	switch (inquiry->asked.what) {
	case RVP_ASKED_WHY_PEAK: return rvp_answer_why_peak(inquiry);
	case RVP_ASKED_WHY: return rvp_answer_why(inquiry);
	case RVP_ASKED_KV: return rvp_answer_kv(inquiry);
	case RVP_ASKED_STEPS: return rvp_answer_steps(inquiry);
	case RVP_ASKED_GROWTH: return rvp_answer_growth(inquiry);
	case RVP_ASKED_TRACE: return rvp_answer_trace(inquiry);
	case RVP_ASKED_NOTHING: break;
	}
	return RVP_OK;
}

static void close_inquiry(struct rvp_inquiry *inquiry)
{
	if (inquiry->view.groups)
		rvp_groups_free(&inquiry->groups);
	rvp_stacks_close(inquiry->stacks);
	rvp_symbols_close(inquiry->symbols);
	if (inquiry->view.answer)
		rvp_analysis_free(&inquiry->answer);
	free(inquiry->moments_ns);
	free(inquiry->moment_steps);
	rvp_attribution_close(inquiry->attribution);
}

/* An answer about the host alone says so. */
static void mention_devices(const struct rvp_inquiry *inquiry)
{
	const struct rvp_run *run = inquiry->run;

	for (size_t i = 0; i < run->device_count && !inquiry->asked.json && !inquiry->asked.device; i++)
		if (run->devices[i].has_memory)
			fprintf(inquiry->view.out,
				"\n  This is of the host's memory; --device %s asks the same of the device's.\n",
				run->devices[i].name);
}

struct rvp_status rvp_inquire(struct rvp_run *run, const struct rvp_view *view,
			      const struct rvp_question_asked *asked)
{
	struct rvp_inquiry inquiry = {.asked = *asked, .view = *view, .run = run};
	struct rvp_status status;

	inquiry.view.run = run;
	inquiry.view.device = asked->device ? &run->devices[asked->device - 1] : NULL;
	inquiry.json.out = view->out;
	status = attribute(&inquiry);
	if (!rvp_failed(status))
		status = analyse(&inquiry);
	if (!rvp_failed(status))
		status = name_stacks(&inquiry);
	if (!rvp_failed(status))
		status = answer(&inquiry);
	if (!rvp_failed(status))
		mention_devices(&inquiry);
	close_inquiry(&inquiry);
	return status;
}

/* ---- for the answers ---- */

const struct rvp_group **rvp_inquiry_groups_of_sites(const struct rvp_inquiry *inquiry)
{
	const struct rvp_analysis *analysis = &inquiry->answer;
	const struct rvp_group **groups = calloc(analysis->site_count + 1, sizeof *groups);

	for (size_t i = 0; groups && i < analysis->site_count; i++)
		groups[i] = rvp_group_of(&inquiry->groups, &analysis->sites[i]);
	return groups;
}

struct rvp_status rvp_inquiry_ask_again(struct rvp_inquiry *inquiry, struct rvp_observer *observer,
					struct rvp_analysis *analysis)
{
	struct rvp_observer *observers[] = {observer, NULL};

	return rvp_analyse(inquiry->run,
			   &(struct rvp_question){.observers = observers,
						  .attribution = inquiry->attribution,
						  .device = inquiry->asked.device},
			   analysis);
}

void rvp_inquiry_begin(struct rvp_inquiry *inquiry, const char *schema)
{
	if (!inquiry->asked.json)
		return;
	rvp_json_open(&inquiry->json, NULL, '{');
	rvp_json_string(&inquiry->json, "schema", schema);
	if (inquiry->view.device)
		rvp_json_string(&inquiry->json, "device", inquiry->view.device->name);
	rvp_json_open(&inquiry->json, "rows", '[');
}

void rvp_inquiry_end_rows(struct rvp_inquiry *inquiry, int64_t total_bytes)
{
	rvp_json_close(&inquiry->json, ']');
	rvp_json_signed(&inquiry->json, "total_bytes", total_bytes);
}

void rvp_inquiry_end(struct rvp_inquiry *inquiry)
{
	rvp_json_close(&inquiry->json, '}');
	fputc('\n', inquiry->view.out);
}

static void put_stack(struct rvp_inquiry *inquiry, const struct rvp_group *group)
{
	struct rvp_frame_list stack = rvp_group_stack(&inquiry->groups, group);
	char *text = malloc(FRAME_BYTES);

	rvp_json_open(&inquiry->json, "stack", '[');
	for (size_t i = 0; text && i < stack.count; i++) {
		rvp_frame_text(&stack.frames[i], text, FRAME_BYTES);
		rvp_json_string(&inquiry->json, NULL, text);
	}
	rvp_json_close(&inquiry->json, ']');
	free(text);
}

void rvp_inquiry_put_group(struct rvp_inquiry *inquiry, const struct rvp_group *group)
{
	const struct rvp_site *site = group->site;

	rvp_json_string(&inquiry->json, "category", rvp_view_purpose_name(&inquiry->view, site->purpose));
	if (site->evidence < RVP_EVIDENCE_NONE) {
		rvp_json_string(&inquiry->json, "evidence", rvp_evidence_names[site->evidence]);
		rvp_json_string(&inquiry->json, "reason",
				rvp_reason_text(inquiry->attribution, site->reason));
	}
	if (group->is_estimate)
		rvp_json_bool(&inquiry->json, "estimate", true);
	put_stack(inquiry, group);
}

void rvp_inquiry_place(const struct rvp_inquiry *inquiry, const struct rvp_group *group, char *text,
		       size_t text_bytes)
{
	struct rvp_frame_list stack = rvp_group_stack(&inquiry->groups, group);
	const struct rvp_frame *frames[PLACE_FRAMES];
	size_t count = rvp_text_shown_frames(&stack, frames, PLACE_FRAMES), length = 0;

	snprintf(text, text_bytes, "[no call stack was recorded]");
	for (size_t i = 0; i < count && length < text_bytes; i++) {
		int printed = snprintf(text + length, text_bytes - length, "%s%.*s", i ? " < " : "",
				       FUNCTION_COLUMNS, frames[i]->function);

		length += printed > 0 ? (size_t)printed : 0;
		if (frames[i]->line && length < text_bytes)
			length +=
			    (size_t)snprintf(text + length, text_bytes - length, ":%u", frames[i]->line);
	}
}

void rvp_inquiry_print_place(const struct rvp_inquiry *inquiry, const struct rvp_group *group)
{
	char text[PLACE_BYTES];

	rvp_inquiry_place(inquiry, group, text, sizeof text);
	rvp_print_safely(inquiry->view.out, text, 0);
}

const char *rvp_inquiry_when(const struct rvp_inquiry *inquiry, uint64_t ns, char *text, size_t text_bytes)
{
	char duration[RVP_NUMBER_TEXT_BYTES];
	uint64_t since = ns > inquiry->run->begin_ns ? ns - inquiry->run->begin_ns : 0;
	int64_t step = rvp_step_at(inquiry->steps, ns);

	rvp_text_duration(since, duration);
	if (step < 0)
		snprintf(text, text_bytes, "%s", duration);
	else
		snprintf(text, text_bytes, "%s, %s step %" PRId64, duration,
			 ns <= inquiry->steps->steps[step].end_ns ? "in" : "after", step);
	return text;
}
