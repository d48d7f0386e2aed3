/* SPDX-License-Identifier: MIT */
/* report_questions.h: the options of `rvprof report` that ask one question in place of the whole report. */
#ifndef RVP_REPORT_QUESTIONS_H
#define RVP_REPORT_QUESTIONS_H

#include "report/inquiry.h"

#include <getopt.h>

struct rvp_question_words {
	enum rvp_asked what;
	const char *text;
	uint64_t step, versus_step, fit_bytes;
	bool has_versus;
};

/* Their numbers in getopt_long's table. */
enum rvp_question_option {
	RVP_OPTION_WHY_PEAK = 1000,
	RVP_OPTION_WHY,
	RVP_OPTION_KV,
	RVP_OPTION_FIT,
	RVP_OPTION_STEP,
	RVP_OPTION_VERSUS,
	RVP_OPTION_GROWTH,
	RVP_OPTION_TRACE,
};

/* clang-format off */
#define RVP_QUESTION_OPTIONS                                              \
	{"why-peak", no_argument, NULL, RVP_OPTION_WHY_PEAK},             \
	{"why", required_argument, NULL, RVP_OPTION_WHY},                 \
	{"kv", no_argument, NULL, RVP_OPTION_KV},                         \
	{"fit", required_argument, NULL, RVP_OPTION_FIT},                 \
	{"step", required_argument, NULL, RVP_OPTION_STEP},               \
	{"vs", required_argument, NULL, RVP_OPTION_VERSUS},               \
	{"growth", no_argument, NULL, RVP_OPTION_GROWTH},                 \
	{"memory-trace", no_argument, NULL, RVP_OPTION_TRACE}

#define RVP_QUESTIONS_HELP                                                                                    \
	"Questions, one at a time:\n"                                                                         \
	"  --why-peak          what was live at the peak, what it would be without, what would lower it most\n" \
	"  --why SITE          what a call path's blocks are for and who says so: part of a function's or file's name\n" \
	"  --why bN            the same of one block, by its number\n"                                        \
	"  --kv                the KV cache: bytes a token, reserved and used\n"                              \
	"  --kv --fit SIZE     and how many tokens fit into 24GiB\n"                                          \
	"  --step N --vs M     what is live at the end of step N and was not at that of M\n"                  \
	"  --growth            what a step adds, by call stack\n"                                             \
	"  --memory-trace      used and held bytes over time, and big bumps\n"
/* clang-format on */

/* All options of `rvprof report`, for its completion too. */
extern const struct option rvp_report_options[];

/* False after a complaint; so is the other: whether what goes together is together. */
bool rvp_take_question(struct rvp_question_words *words, int option, const char *argument);
bool rvp_questions_are_whole(const struct rvp_question_words *words);

#endif
