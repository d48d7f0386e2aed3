/* SPDX-License-Identifier: MIT */
/* sample.c: see sample.h. */
#include "sample.h"

#include "attend.h"
#include "cache.h"

#include <stdlib.h>
#include <string.h>

static const float slope = 1.0f, scale = 0.125f; /* a page of distance; 1 / sqrt(WIDTH) */

struct round_room {
	size_t places; /* pages + 1 */
	float *logits; /* of the gate's square */
	float *means;  /* of each place; a page reads as it is read, the last one is the questions' */
	float *token_logits, *questions, *outputs;
	unsigned *answers;
	bool *reaches;
	size_t asked;
};

struct sample {
	struct prompt prompt;
	struct setting setting;
	struct cache cache;
	struct hysteresis hysteresis;
	size_t decided; /* pages that a mask spoke of */
	struct round_room room;
};

static bool make_room(struct round_room *room, const struct prompt *prompt)
{
	room->places = prompt->pages + 1;
	room->logits = calloc(room->places * room->places, sizeof *room->logits);
	room->means = calloc(room->places * WIDTH, sizeof *room->means);
	room->token_logits = calloc(QUESTIONS * prompt->tokens, sizeof *room->token_logits);
	room->questions = calloc(QUESTIONS * WIDTH, sizeof *room->questions);
	room->outputs = calloc(ROUNDS * QUESTIONS * WIDTH, sizeof *room->outputs);
	room->answers = calloc(ROUNDS * QUESTIONS, sizeof *room->answers);
	room->reaches = calloc(room->places, sizeof *room->reaches);
	return room->logits && room->means && room->token_logits && room->questions && room->outputs &&
	       room->answers && room->reaches;
}

static void free_room(struct round_room *room)
{
	free(room->logits);
	free(room->means);
	free(room->token_logits);
	free(room->questions);
	free(room->outputs);
	free(room->answers);
	free(room->reaches);
}

static void mean_of(const float *rows, size_t count, float mean[WIDTH])
{
	memset(mean, 0, WIDTH * sizeof *mean);
	for (size_t row = 0; row < count; row++)
		for (size_t i = 0; i < WIDTH; i++)
			mean[i] += rows[row * WIDTH + i];
	for (size_t i = 0; i < WIDTH; i++)
		mean[i] /= (float)count;
}

/* How much place j reads place i; 0 where there is nothing to read or nobody to. */
static float reading(const struct sample *sample, size_t i, size_t j)
{
	const struct round_room *room = &sample->room;
	size_t last = room->places - 1;
	float logit;

	if (j < i || (i < last && (i >= sample->cache.filled || !sample->cache.rows[i])) ||
	    (j < last && (j >= sample->cache.filled || !sample->cache.rows[j])))
		return 0;
	logit = attn_dot(room->means + i * WIDTH, room->means + j * WIDTH, WIDTH) * scale;
	return j == last ? logit : logit - slope * (float)(j - i);
}

static void fill_square(struct sample *sample)
{
	struct round_room *room = &sample->room;

	for (size_t page = 0; page < sample->cache.filled; page++)
		if (sample->cache.rows[page])
			mean_of(sample->cache.rows[page], PAGE_TOKENS, room->means + page * WIDTH);
	mean_of(room->questions, QUESTIONS, room->means + (room->places - 1) * WIDTH);
	for (size_t i = 0; i < room->places; i++)
		for (size_t j = 0; j < room->places; j++)
			room->logits[i * room->places + j] = reading(sample, i, j);
}

/* From the questions back along kept entries: entries lead forward only, so one pass from the end is enough.
 */
static void find_reach(struct round_room *room, const bool *keep)
{
	memset(room->reaches, 0, room->places);
	room->reaches[room->places - 1] = true;
	for (size_t i = room->places - 1; i-- > 0;)
		for (size_t j = i + 1; j < room->places; j++)
			room->reaches[i] |= keep[i * room->places + j] && room->reaches[j];
}

/* What is said of a page for the first time holds at once, as a first mask does. */
static void meet_new_pages(struct sample *sample, const bool *keep)
{
	size_t places = sample->room.places;

	for (size_t i = sample->decided; sample->hysteresis.has_mask && i < sample->cache.filled; i++)
		for (size_t j = 0; j < places; j++) {
			sample->hysteresis.mask[i * places + j] = keep[i * places + j];
			sample->hysteresis.mask[j * places + i] = keep[j * places + i];
		}
	sample->decided = sample->cache.filled;
}

static bool gate(struct sample *sample, decide_fn *decide, void *context)
{
	struct round_room *room = &sample->room;
	struct gate gate;
	bool is_good;

	fill_square(sample);
	is_good = gate_make(&gate, room->logits, room->places, sample->setting.lambda, sample->setting.eps);
	if (is_good)
		meet_new_pages(sample, gate.keep);
	is_good = is_good && hysteresis_apply(&sample->hysteresis, gate.keep, room->places * room->places) &&
		  decide(context, &(struct decision){.queries = room->means,
						     .keys = room->means,
						     .float_count = room->places * WIDTH,
						     .keep = gate.keep,
						     .keep_count = room->places * room->places,
						     .cut_cost = gate.cut_cost});
	if (is_good)
		find_reach(room, gate.keep);
	for (size_t page = 0; is_good && page < sample->cache.filled; page++)
		if (!room->reaches[page])
			cache_evict(&sample->cache, page);
	gate_free(&gate);
	return is_good;
}

static bool run_round(struct sample *sample, size_t round, decide_fn *decide, void *context)
{
	struct round_room *room = &sample->room;
	size_t pages = sample->prompt.pages * (round + 1) / ROUNDS;

	while (sample->cache.filled < pages)
		if (!cache_append(&sample->cache, &sample->prompt))
			return false;
	prompt_questions(&sample->prompt, round, pages, room->questions, room->answers + room->asked);
	if (sample->setting.is_gated && !gate(sample, decide, context))
		return false;
	attend(cache_page, &sample->cache, pages, room->questions, room->token_logits,
	       room->outputs + room->asked * WIDTH);
	room->asked += QUESTIONS;
	return true;
}

struct sample *sample_open(const struct prompt *prompt, const struct setting *setting)
{
	struct sample *sample = calloc(1, sizeof *sample);

	if (!sample)
		return NULL;
	sample->prompt = *prompt;
	sample->setting = *setting;
	sample->hysteresis.tau = setting->tau;
	if (cache_make(&sample->cache, prompt->pages) && make_room(&sample->room, prompt))
		return sample;
	sample_close(sample);
	return NULL;
}

bool sample_run(struct sample *sample, decide_fn *decide, void *context)
{
	for (size_t round = 0; round < ROUNDS; round++)
		if (!run_round(sample, round, decide, context))
			return false;
	return true;
}

void sample_close(struct sample *sample)
{
	hysteresis_free(&sample->hysteresis);
	free_room(&sample->room);
	cache_free(&sample->cache);
	free(sample);
}

/* ---- against plain attention ---- */

/* A page that is made again whenever it is asked for. */
struct remade {
	const struct prompt *prompt;
	float rows[2 * PAGE_TOKENS * WIDTH];
};

static const float *remade_page(void *context, size_t page)
{
	struct remade *remade = context;

	prompt_page(remade->prompt, page, remade->rows, remade->rows + PAGE_TOKENS * WIDTH);
	return remade->rows;
}

/* The class whose components are highest together. */
static unsigned answer_of(const float output[WIDTH])
{
	float sums[CLASSES] = {0};
	unsigned best = 0;

	for (size_t i = 0; i < WIDTH; i++)
		sums[i % CLASSES] += output[i];
	for (unsigned class = 1; class < CLASSES; class ++)
		if (sums[class] > sums[best])
			best = class;
	return best;
}

static void judge(const struct sample *sample, const float *references, struct sample_result *result)
{
	const struct round_room *room = &sample->room;
	struct behaviour behaviour = behaviour_of(references, room->outputs, room->asked * WIDTH);

	result->coherence_delta = behaviour.coherence_delta;
	result->path_length_change = behaviour.path_length_change;
	result->decision_flips = behaviour.decision_flips;
	result->asked = room->asked;
	for (size_t q = 0; q < room->asked; q++)
		result->right += answer_of(room->outputs + q * WIDTH) == room->answers[q];
}

bool sample_judge(struct sample *sample, struct sample_result *result)
{
	struct round_room *room = &sample->room;
	struct remade *remade;
	float *references;

	*result = (struct sample_result){.pages = sample->prompt.pages,
					 .pages_left = cache_live_pages(&sample->cache)};
	cache_free(&sample->cache);
	remade = malloc(sizeof *remade);
	references = calloc(ROUNDS * QUESTIONS * WIDTH, sizeof *references);
	for (size_t round = 0; remade && references && round < ROUNDS; round++) {
		size_t pages = sample->prompt.pages * (round + 1) / ROUNDS;

		remade->prompt = &sample->prompt;
		prompt_questions(&sample->prompt, round, pages, room->questions,
				 room->answers + round * QUESTIONS);
		attend(remade_page, remade, pages, room->questions, room->token_logits,
		       references + round * QUESTIONS * WIDTH);
	}
	if (remade && references)
		judge(sample, references, result);
	free(remade);
	free(references);
	return remade && references;
}
