/* SPDX-License-Identifier: MIT */
/* text_power.c: energy in a report: what it was, who said so, a step's and a token's share. Nothing where nobody asked. */
#include "report/text_report.h"

#include "report/power.h"
#include "report/text_numbers.h"

#include <inttypes.h>
#include <math.h>

enum { LABEL_COLUMNS = 14 };

/* Three digits that count: "0.0123", "1.23", "1,234". */
static const char *figure(double value, char *text)
{
	double size = fabs(value);

	if (size >= 1000)
		return rvp_text_count((uint64_t)llround(size), text);
	snprintf(text, RVP_NUMBER_TEXT_BYTES, "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4, value);
	return text;
}

static void print_sums(const struct rvp_view *view, const char *name, const struct rvp_power_sums *sums)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	fprintf(view->out, "  %-*s", LABEL_COLUMNS, name);
	if (!sums->energy.sample_count) {
		fputs("no sample", view->out);
		return;
	}
	fprintf(view->out, "%s%s J%s", rvp_style_on(&view->style, RVP_INK_NUMBER),
		figure(sums->energy.total_joules, text), rvp_style_off(&view->style, RVP_INK_NUMBER));
	fprintf(view->out, " in %.3f s", rvp_energy_duration_s(&sums->energy));
	fprintf(view->out, ": mean %s W", figure(rvp_energy_mean_watts(&sums->energy), text));
	fprintf(view->out, ", peak %s W", figure(sums->energy.peak_watts, text));
}

static void print_gaps(const struct rvp_view *view, const struct rvp_power_sums *sums)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	if (sums->unread)
		fprintf(view->out, "; %s samples could not be read", rvp_text_count(sums->unread, text));
	if (sums->resets)
		fprintf(view->out, "; its counter began anew %s times", rvp_text_count(sums->resets, text));
}

static void print_source(const struct rvp_view *view, const struct rvp_power_answer *answer, unsigned number)
{
	const struct rvp_power_source *source = &answer->list->sources[number];

	print_sums(view, source->name, &answer->sources[number]);
	fputs(" (", view->out);
	rvp_print_safely(view->out, source->kind == RVP_POWER_MOCK ? source->given : source->what, 60);
	fputs(source->kind == RVP_POWER_MOCK ? ": made up, not measured)" : ")", view->out);
	print_gaps(view, &answer->sources[number]);
	fputc('\n', view->out);
}

static void print_shares(const struct rvp_view *view, const struct rvp_power_answer *answer)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	if (!answer->step_count)
		return;
	fprintf(view->out, "  %-*s%s J a step", LABEL_COLUMNS, "",
		figure(answer->step_joules / (double)answer->step_count, text));
	if (answer->token_count)
		fprintf(view->out, ", %s J a token",
			figure(answer->decode_joules / (double)answer->token_count, text));
	fprintf(view->out, " (%s steps", rvp_text_count(answer->step_count, text));
	if (answer->token_count)
		fprintf(view->out, ", %s tokens of decode", rvp_text_count(answer->token_count, text));
	fprintf(view->out, "%s)\n", rvp_power_is_mock(answer->list) ? "; mock" : "");
}

void rvp_text_power(const struct rvp_view *view)
{
	const struct rvp_steps *steps = rvp_view_steps(view);
	struct rvp_power_answer answer;
	char sources[256];

	if (rvp_power_was_in_vain(view->run))
		fprintf(view->out,
			"  %-*snot measured: a program that is preloaded has nobody outside to sample power; `rvprof run "
			"--power` does\n",
			LABEL_COLUMNS, "energy");
	if (!view->run->power)
		return;
	rvp_power_read(&answer, view->run, steps, NULL);
	rvp_power_name_sources(answer.list, sources, sizeof sources);
	print_sums(view, "energy", &answer.sum);
	fputs(" (", view->out);
	rvp_print_safely(view->out, sources, 60);
	fputs(rvp_power_is_mock(answer.list) ? "; a mock is made up, not measured)" : ")", view->out);
	print_gaps(view, &answer.sum);
	fputc('\n', view->out);
	print_shares(view, &answer);
	for (unsigned i = 0; answer.list->source_count > 1 && i < answer.list->source_count; i++)
		print_source(view, &answer, i);
}
