/* SPDX-License-Identifier: MIT */
/* text_times.c: see text_times.h. A label is looked for among the marks of all processes; the first one
 * counts. "step:3" is the begin of a step of the run (steps.h). */
#include "report/text_times.h"

#include "report/steps.h"
#include "report/timeline.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_BYTES = 120 };

static double seconds_of(const struct rvp_run *run)
{
	return (double)(run->end_ns - run->begin_ns) / 1e9;
}

/* A plain decimal number and its unit; false when `text` is none. strtod alone would take "inf" and "0x1p3".
 */
static bool number_of(const char *text, double *number, const char **unit)
{
	char *end;

	if (!isdigit((unsigned char)*text) || (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')))
		return false;
	*number = strtod(text, &end);
	*unit = end;
	return isfinite(*number);
}

static struct rvp_status since_start(const struct rvp_run *run, const char *text, double seconds,
				     uint64_t *ns)
{
	if (seconds > seconds_of(run))
		return rvp_fail_with("find the moment", text, "the run is %.3f s long", seconds_of(run));
	*ns = run->begin_ns + (uint64_t)(seconds * 1e9);
	return RVP_OK;
}

static bool is_label(const struct rvp_record_MARK *mark, const char *text)
{
	return mark->kind == RVP_MARK_LABEL && mark->label.length == strlen(text) &&
	       !memcmp(mark->label.bytes, text, mark->label.length);
}

static bool is_printable(const struct rvp_text *text)
{
	for (uint64_t i = 0; i < text->length; i++)
		if ((unsigned char)text->bytes[i] < 0x20 || text->bytes[i] == 0x7f)
			return false;
	return text->length > 0;
}

/* Collects "a, b, c" for the message. */
static void add_label(char *labels, const struct rvp_record_MARK *mark)
{
	size_t length = strlen(labels), room = LABELS_BYTES - length;

	if (mark->kind != RVP_MARK_LABEL || !is_printable(&mark->label) || mark->label.length + 4 > room)
		return;
	memcpy(labels + length, length ? ", " : "", length ? 3 : 1);
	strncat(labels, mark->label.bytes, mark->label.length);
}

static struct rvp_status find_mark(const struct rvp_run *run, uint32_t process, const char *text, uint64_t *ns)
{
	struct rvp_timeline *timeline = rvp_timeline_open(run, process);
	char labels[LABELS_BYTES] = "";
	struct rvp_moment moment;
	bool is_found = false;

	if (!timeline)
		return rvp_fail("find the moment", text, ENOMEM);
	while (!is_found && rvp_timeline_next(timeline, &moment)) {
		if (moment.kind != RVP_MOMENT_RECORD || moment.record->kind != RVP_MARK)
			continue;
		is_found = is_label(&moment.record->MARK, text);
		*ns = moment.ns;
		add_label(labels, &moment.record->MARK);
	}
	rvp_timeline_close(timeline);
	if (is_found)
		return RVP_OK;
	return rvp_fail_with("find the moment", text,
			     "no mark of that name; write 12.5s, 40%%, step:3, peak, end%s%s",
			     *labels ? " or a mark: " : "", labels);
}

/* Whether `text` is "step:" and a number. */
static bool is_step(const char *text, uint64_t *number)
{
	char *end;

	if (strncmp(text, "step:", 5) != 0 || !isdigit((unsigned char)text[5]))
		return false;
	*number = strtoull(text + 5, &end, 10);
	return !*end;
}

static struct rvp_status find_step(const struct rvp_run *run, const char *text, uint64_t number, uint64_t *ns)
{
	struct rvp_steps steps;
	struct rvp_status status = rvp_steps_find(run, &steps);

	if (rvp_failed(status))
		return status;
	if (number < steps.count)
		*ns = steps.steps[number].begin_ns;
	else if (steps.count)
		status = rvp_fail_with("find the moment", text, "the steps are 0 to %zu", steps.count - 1);
	else
		status = rvp_fail_with("find the moment", text, "the run has no steps%s%s",
				       *steps.why_none ? ": " : "", steps.why_none);
	rvp_steps_free(&steps);
	return status;
}

struct rvp_status rvp_time_of_process(const struct rvp_run *run, uint32_t process, const char *text, uint64_t peak_ns,
				      uint64_t *ns)
{
	const char *unit;
	uint64_t step;
	double number;

	if (is_step(text, &step))
		return find_step(run, text, step, ns);
	if (!strcmp(text, "end")) {
		*ns = run->end_ns;
		return RVP_OK;
	}
	if (!strcmp(text, "peak")) {
		*ns = peak_ns;
		return peak_ns != RVP_NEVER ? RVP_OK
					    : rvp_fail_with("find the moment", text, "no block was recorded");
	}
	if (number_of(text, &number, &unit) && !strcmp(unit, "s"))
		return since_start(run, text, number, ns);
	if (number_of(text, &number, &unit) && !strcmp(unit, "%")) {
		if (number > 100)
			return rvp_fail_with("find the moment", text, "more than 100 %%");
		return since_start(run, text, seconds_of(run) * number / 100, ns);
	}
	return find_mark(run, process, text, ns);
}

struct rvp_status rvp_time_of(const struct rvp_run *run, const char *text, uint64_t peak_ns, uint64_t *ns)
{
	return rvp_time_of_process(run, RVP_NO_PROCESS, text, peak_ns, ns);
}
