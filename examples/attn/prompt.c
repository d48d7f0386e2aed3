/* SPDX-License-Identifier: MIT */
/* prompt.c: see prompt.h. A key is its topic's direction and noise of its own; a value points at its class.
 * Topics point away from each other: the sum of their directions is nothing. */
#include "prompt.h"

#include <string.h>

enum { PART_SHAPE = 1, PART_TOPICS = 2, PART_QUESTIONS = 3, PART_PAGES = 1000 };

static const float topic_weight = 0.75f, own_weight = 0.6f, value_noise = 0.35f, question_noise = 0.35f,
		   sharpness = 1.15f;

void prompt_make(struct prompt *prompt, uint64_t seed, uint64_t sample, size_t tokens)
{
	struct attn_random random = attn_random_from(seed, sample, PART_SHAPE);

	*prompt =
	    (struct prompt){.seed = seed, .sample = sample, .tokens = tokens, .pages = tokens / PAGE_TOKENS};
	for (size_t t = 0; t < TOPICS; t++) {
		prompt->begin[t] = prompt->pages * t / TOPICS;
		prompt->bridge[t] = attn_uniform(&random);
	}
	prompt->begin[TOPICS] = prompt->pages;
	prompt->reach = attn_uniform(&random) * 0.25f;
}

/* Corners of a simplex, turned at random: of each group of TOPICS components one is up and the others are
 * down. */
static void topic_direction(const struct prompt *prompt, size_t topic, float direction[WIDTH])
{
	struct attn_random random = attn_random_from(prompt->seed, prompt->sample, PART_TOPICS);

	for (size_t i = 0; i < WIDTH; i += TOPICS) {
		size_t turn = (size_t)(attn_uniform(&random) * (float)TOPICS);

		for (size_t j = 0; j < TOPICS; j++)
			direction[i + j] = (topic + turn) % TOPICS == j ? 1.7320508f : -0.57735027f;
	}
}

static size_t topic_of(const struct prompt *prompt, size_t page)
{
	size_t topic = 0;

	while (page >= prompt->begin[topic + 1])
		topic++;
	return topic;
}

/* The direction of a page: its topic's, and where it is the last of it, some of the next one's. */
static void page_direction(const struct prompt *prompt, size_t page, float direction[WIDTH])
{
	size_t topic = topic_of(prompt, page);
	float other[WIDTH], share = prompt->bridge[topic];

	topic_direction(prompt, topic, direction);
	if (topic + 1 == TOPICS || page + 1 != prompt->begin[topic + 1])
		return;
	topic_direction(prompt, topic + 1, other);
	for (size_t i = 0; i < WIDTH; i++)
		direction[i] = (1 - share / 2) * direction[i] + share * other[i];
}

unsigned prompt_class(const struct prompt *prompt, size_t token)
{
	struct attn_random random = attn_random_from(prompt->seed, prompt->sample, PART_PAGES * 2 + token);

	return (unsigned)(attn_uniform(&random) * (float)CLASSES);
}

static void token_key(const struct prompt *prompt, size_t token, const float direction[WIDTH], float *key)
{
	struct attn_random random = attn_random_from(prompt->seed, prompt->sample, PART_PAGES * 1000 + token);

	for (size_t i = 0; i < WIDTH; i++)
		key[i] = topic_weight * direction[i] + own_weight * attn_normal(&random);
}

static void token_value(const struct prompt *prompt, size_t token, float *value)
{
	struct attn_random random = attn_random_from(prompt->seed, prompt->sample, PART_PAGES * 2000 + token);
	unsigned class = prompt_class(prompt, token);

	for (size_t i = 0; i < WIDTH; i++)
		value[i] = (i % CLASSES == class ? 1.0f : 0.0f) + value_noise * attn_normal(&random);
}

void prompt_page(const struct prompt *prompt, size_t page, float *keys, float *values)
{
	float direction[WIDTH];

	page_direction(prompt, page, direction);
	for (size_t i = 0; i < PAGE_TOKENS; i++) {
		token_key(prompt, page * PAGE_TOKENS + i, direction, keys + i * WIDTH);
		token_value(prompt, page * PAGE_TOKENS + i, values + i * WIDTH);
	}
}

/* Mostly of the topic that came last, now and then of any page. */
static size_t pick_token(const struct prompt *prompt, size_t pages, struct attn_random *random)
{
	size_t from = prompt->begin[topic_of(prompt, pages - 1)] * PAGE_TOKENS,
	       count = pages * PAGE_TOKENS - from;
	float where = attn_uniform(random);

	if (attn_uniform(random) < prompt->reach)
		return (size_t)(where * (float)(pages * PAGE_TOKENS));
	return from + (size_t)(where * (float)count);
}

void prompt_questions(const struct prompt *prompt, size_t round, size_t pages, float *questions,
		      unsigned *answers)
{
	struct attn_random random =
	    attn_random_from(prompt->seed, prompt->sample, PART_QUESTIONS + 16 * round);
	float direction[WIDTH];

	for (size_t q = 0; q < QUESTIONS; q++, questions += WIDTH) {
		size_t token = pick_token(prompt, pages, &random);

		page_direction(prompt, token / PAGE_TOKENS, direction);
		token_key(prompt, token, direction, questions);
		for (size_t i = 0; i < WIDTH; i++)
			questions[i] = sharpness * (questions[i] + question_noise * attn_normal(&random));
		answers[q] = prompt_class(prompt, token);
	}
}
