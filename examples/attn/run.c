/* SPDX-License-Identifier: MIT */
/* run.c: attn run: the workload. A prompt is a step of rvprof.h; judging it comes after the step. */
#include "commands.h"
#include "rvprof.h"
#include "witness.h"
#include "words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTHS_MAX = 16, LENGTH_MAX = 1 << 16, LEAST = ROUNDS * PAGE_TOKENS, WRONG_INPUT = 2, FAILED = 1 };

struct options {
	struct setting setting;
	uint64_t samples, seed, tau;
	bool is_baseline;
	const char *lengths, *witness_path;
};

struct totals {
	double coherence_delta, path_length_change;
	uint64_t flips, right, asked, pages, pages_left;
};

static bool read_lengths(const char *text, uint64_t lengths[LENGTHS_MAX], size_t *count)
{
	for (*count = 0; *text; text += *text == ',') {
		char *end;
		uint64_t length = strtoull(text, &end, 10);

		if (end == text || (*end && *end != ',') || length < LEAST || length > LENGTH_MAX ||
		    length % LEAST || *count == LENGTHS_MAX)
			return complain("run", "--lengths '%s': at most %d multiples of %d up to %d", text,
					LENGTHS_MAX, LEAST, LENGTH_MAX);
		lengths[(*count)++] = length;
		text = end;
	}
	return *count || complain("run", "--lengths is empty");
}

static bool read_options(struct options *options, int argc, char **argv)
{
	const struct word words[] = {{"--lambda", WORD_FLOAT, &options->setting.lambda},
				     {"--tau", WORD_COUNT, &options->tau},
				     {"--eps", WORD_FLOAT, &options->setting.eps},
				     {"--baseline", WORD_FLAG, &options->is_baseline},
				     {"--samples", WORD_COUNT, &options->samples},
				     {"--seed", WORD_COUNT, &options->seed},
				     {"--lengths", WORD_TEXT, &options->lengths},
				     {"--witness", WORD_TEXT, &options->witness_path},
				     {0}};

	if (!words_read("run", argc, argv, words))
		return false;
	options->setting.tau = options->tau;
	options->setting.is_gated = !options->is_baseline;
	return options->samples || complain("run", "--samples 0: there is nothing to do");
}

static bool run_one(const struct options *options, uint64_t number, uint64_t length, struct witness *witness,
		    struct totals *totals)
{
	struct prompt prompt;
	struct sample_result result;
	struct sample *sample;
	bool is_good;

	prompt_make(&prompt, options->seed, number, length);
	rvprof_step_begin("prompt", length);
	sample = sample_open(&prompt, &options->setting);
	is_good = sample && sample_run(sample, witness_put, witness);
	rvprof_step_end();
	is_good = is_good && sample_judge(sample, &result);
	if (sample)
		sample_close(sample);
	if (!is_good)
		return false;
	totals->coherence_delta += result.coherence_delta;
	totals->path_length_change += result.path_length_change;
	totals->flips += result.decision_flips;
	totals->right += result.right;
	totals->asked += result.asked;
	totals->pages += result.pages;
	totals->pages_left += result.pages_left;
	return true;
}

static void put(const char *before, const char *name, double value)
{
	printf("%s\"%s\":", before, name);
	put_double(stdout, value);
	rvprof_metric(name, value);
}

static void report(const struct options *options, const struct totals *totals)
{
	double samples = (double)options->samples;

	put("{", "coherence_delta", totals->coherence_delta / samples);
	put(",", "accuracy", (double)totals->right / (double)totals->asked);
	put(",", "decision_flips", (double)totals->flips);
	put(",", "path_length_change", totals->path_length_change / samples);
	put(",", "pages_left", (double)totals->pages_left / (double)totals->pages);
	puts("}");
}

static int run_all(const struct options *options, const uint64_t *lengths, size_t length_count, FILE *out)
{
	struct witness witness = {.out = out, .setting = &options->setting};
	struct totals totals = {.flips = 0};

	if (!witness_begin())
		return complain("run", "no SHA-256 in OpenSSL"), FAILED;
	for (uint64_t i = 0; i < options->samples; i++)
		if (!run_one(options, i, lengths[i % length_count], &witness, &totals)) {
			complain("run", "sample %llu: %s", (unsigned long long)i,
				 strerror(errno ? errno : ENOMEM));
			return FAILED;
		}
	report(options, &totals);
	return 0;
}

int attn_run(int argc, char **argv)
{
	struct options options = {.setting = {.lambda = 0.5f, .eps = 0.01f},
				  .tau = 2,
				  .samples = 1000,
				  .seed = 42,
				  .lengths = "256,512,1024"};
	uint64_t lengths[LENGTHS_MAX];
	size_t length_count;
	FILE *out = NULL;
	int status;

	if (!read_options(&options, argc, argv) || !read_lengths(options.lengths, lengths, &length_count))
		return WRONG_INPUT;
	if (options.witness_path && !(out = fopen(options.witness_path, "we"))) {
		complain("run", "cannot write %s: %s", options.witness_path, strerror(errno));
		return WRONG_INPUT;
	}
	status = run_all(&options, lengths, length_count, out);
	if (out && fclose(out) != 0 && !status) {
		complain("run", "cannot write %s: %s", options.witness_path, strerror(errno));
		status = FAILED;
	}
	return status;
}
