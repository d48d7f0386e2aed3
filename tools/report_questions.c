/* SPDX-License-Identifier: MIT */
/* report_questions.c: see report_questions.h. */
#include "tools/report_questions.h"

#include "tools/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool ask(struct rvp_question_words *words, enum rvp_asked what)
{
	if (words->what && words->what != what) {
		rvp_complain("report takes one question at a time");
		return false;
	}
	words->what = what;
	return true;
}

static bool ask_why(struct rvp_question_words *words, const char *text)
{
	if (!*text) {
		rvp_complain("--why takes a block (b12) or a part of a frame, not ''");
		return false;
	}
	words->text = text;
	return ask(words, RVP_ASKED_WHY);
}

static bool step_of(const char *option, const char *text, uint64_t *step)
{
	char *end;

	errno = 0;
	*step = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *step <= UINT32_MAX)
		return true;
	rvp_complain("--%s takes the number of a step, not '%s'", option, text);
	return false;
}

/* "24GiB", "512M", "1.5g", "1000000": units of 1024. */
static bool size_of(const char *text, uint64_t *bytes)
{
	static const char *const units[] = {"", "k", "m", "g", "t"};
	char *end;
	double number = strtod(text, &end);

	for (int i = 0; i < 5; i++, number *= 1024) {
		size_t length = strlen(units[i]);
		const char *rest = end + length;

		if (strncasecmp(end, units[i], length) != 0 ||
		    (strcasecmp(rest, "") != 0 && strcasecmp(rest, "b") != 0 &&
		     (!length || strcasecmp(rest, "ib") != 0)))
			continue;
		if (*text < '0' || *text > '9' || number < 1 || number >= 9e18)
			break;
		*bytes = (uint64_t)number;
		return true;
	}
	rvp_complain("--fit takes a size like 24GiB or 512M, not '%s'", text);
	return false;
}

bool rvp_take_question(struct rvp_question_words *words, int option, const char *argument)
{
	switch ((enum rvp_question_option)option) {
	case RVP_OPTION_WHY_PEAK: return ask(words, RVP_ASKED_WHY_PEAK);
	case RVP_OPTION_WHY: return ask_why(words, argument);
	case RVP_OPTION_KV: return ask(words, RVP_ASKED_KV);
	case RVP_OPTION_FIT: return size_of(argument, &words->fit_bytes) && ask(words, RVP_ASKED_KV);
	case RVP_OPTION_STEP: return step_of("step", argument, &words->step) && ask(words, RVP_ASKED_STEPS);
	case RVP_OPTION_VERSUS: words->has_versus = true; return step_of("vs", argument, &words->versus_step);
	case RVP_OPTION_GROWTH: return ask(words, RVP_ASKED_GROWTH);
	case RVP_OPTION_TRACE: return ask(words, RVP_ASKED_TRACE);
	}
	return false;
}

bool rvp_questions_are_whole(const struct rvp_question_words *words)
{
	if ((words->what == RVP_ASKED_STEPS) == words->has_versus &&
	    (!words->has_versus || words->step != words->versus_step))
		return true;
	rvp_complain("--step N goes with --vs M, another step");
	return false;
}
