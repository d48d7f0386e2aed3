/* SPDX-License-Identifier: MIT */
/* attend.c: see attend.h. Two passes over the pages: logits and their highest, then weights and values. */
#include "attend.h"

#include <float.h>
#include <string.h>

static const float scale = 0.125f; /* 1 / sqrt(WIDTH) */

static void read_keys(const float *keys, const float *question, float *logits, float *most)
{
	for (size_t token = 0; token < PAGE_TOKENS; token++) {
		logits[token] = attn_dot(question, keys + token * WIDTH, WIDTH) * scale;
		*most = logits[token] > *most ? logits[token] : *most;
	}
}

static void add_values(const float *values, const float *logits, float most, float *sum, float output[WIDTH])
{
	for (size_t token = 0; token < PAGE_TOKENS; token++) {
		float weight = attn_exp(logits[token] - most);

		*sum += weight;
		for (size_t i = 0; i < WIDTH; i++)
			output[i] += weight * values[token * WIDTH + i];
	}
}

void attend(page_fn *get_page, void *context, size_t pages, const float *questions, float *logits,
	    float *outputs)
{
	float most[QUESTIONS], sums[QUESTIONS] = {0};
	size_t tokens = pages * PAGE_TOKENS;

	memset(outputs, 0, QUESTIONS * WIDTH * sizeof *outputs);
	for (size_t q = 0; q < QUESTIONS; q++)
		most[q] = -FLT_MAX;
	for (size_t page = 0; page < pages; page++) {
		const float *rows = get_page(context, page);

		for (size_t q = 0; rows && q < QUESTIONS; q++)
			read_keys(rows, questions + q * WIDTH, logits + q * tokens + page * PAGE_TOKENS,
				  &most[q]);
	}
	for (size_t page = 0; page < pages; page++) {
		const float *rows = get_page(context, page);

		for (size_t q = 0; rows && q < QUESTIONS; q++)
			add_values(rows + PAGE_TOKENS * WIDTH, logits + q * tokens + page * PAGE_TOKENS,
				   most[q], &sums[q], outputs + q * WIDTH);
	}
	for (size_t q = 0; q < QUESTIONS; q++)
		for (size_t i = 0; sums[q] > 0 && i < WIDTH; i++)
			outputs[q * WIDTH + i] /= sums[q];
}
