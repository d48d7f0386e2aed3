/* SPDX-License-Identifier: MIT */
/* block_lives.c: see block_lives.h. */
#include "report/block_lives.h"

#include <string.h>

static bool is_same_key(const struct rvp_block_key *a, const struct rvp_block_key *b)
{
	return a->address == b->address && a->birth_ns == b->birth_ns && a->process == b->process &&
	       a->birth == b->birth;
}

static struct rvp_life_word *word_of(struct rvp_lives *row, const struct rvp_verdict *verdict,
				     bool is_believed)
{
	for (size_t i = 0; i < row->word_count; i++)
		if (row->words[i].verdict.purpose == verdict->purpose &&
		    row->words[i].verdict.evidence == verdict->evidence &&
		    row->words[i].verdict.reason == verdict->reason &&
		    row->words[i].is_believed == is_believed)
			return &row->words[i];
	if (row->word_count == RVP_LIVES_WORDS)
		return NULL;
	row->words[row->word_count] = (struct rvp_life_word){.verdict = *verdict, .is_believed = is_believed};
	return &row->words[row->word_count++];
}

static void take_words(struct rvp_lives *row, const struct rvp_words *words, const struct rvp_event *birth)
{
	struct rvp_block_key key = rvp_key_of(birth);

	if (!is_same_key(&key, &words->key))
		return;
	for (size_t i = 0; i < words->count; i++) {
		struct rvp_life_word *word = word_of(row, &words->words[i], i == words->believed);

		if (!word)
			continue;
		word->count++;
		word->bytes += birth->block.bytes;
	}
}

static void take_largest(struct rvp_lives *row, const struct rvp_life_block *block)
{
	size_t place = RVP_LIVES_LARGEST;

	while (place && (!row->largest[place - 1].number || row->largest[place - 1].bytes < block->bytes))
		place--;
	if (place == RVP_LIVES_LARGEST)
		return;
	memmove(&row->largest[place + 1], &row->largest[place],
		(RVP_LIVES_LARGEST - place - 1) * sizeof *row->largest);
	row->largest[place] = *block;
}

static void born(struct rvp_block_lives *this, struct rvp_lives *row, const struct rvp_event *event)
{
	const struct rvp_block *block = &event->block;

	if (!row->born_count++ || block->bytes < row->least_bytes)
		row->least_bytes = block->bytes;
	if (block->bytes > row->most_bytes)
		row->most_bytes = block->bytes;
	if (row->born_count == 1)
		row->first_ns = block->birth_ns;
	row->last_ns = block->birth_ns;
	row->bytes += block->bytes;
	take_largest(row, &(struct rvp_life_block){.number = this->number,
						   .bytes = block->bytes,
						   .birth_ns = block->birth_ns,
						   .death_ns = RVP_NEVER,
						   .key = rvp_key_of(event),
						   .split = block->split});
	take_words(row, rvp_attribution_last_words(this->attribution), event);
}

/* Where it began before the first step, or behind the last one, the step is that before it. */
static void count_steps(const struct rvp_steps *steps, struct rvp_lives *row, uint64_t from_ns,
			uint64_t to_ns, int64_t by)
{
	int64_t passed;

	if (!steps->count)
		return;
	passed = rvp_step_at(steps, to_ns) - rvp_step_at(steps, from_ns);
	*(passed == 0 ? &row->same_step : passed == 1 ? &row->next_step : &row->later_step) += (uint64_t)by;
}

static struct rvp_life_block *listed(struct rvp_lives *row, const struct rvp_event *event)
{
	struct rvp_block_key key = rvp_key_of(event);

	for (int i = 0; i < RVP_LIVES_LARGEST; i++)
		if (row->largest[i].number && is_same_key(&row->largest[i].key, &key))
			return &row->largest[i];
	return NULL;
}

/* `by` is -1 when the last death did not happen after all. */
static void died(struct rvp_block_lives *this, struct rvp_lives *row, const struct rvp_event *event, int by)
{
	uint64_t life_ns = event->moment->ns - event->block.birth_ns;
	struct rvp_life_block *block = listed(row, event);

	row->died_count += (uint64_t)(int64_t)by;
	row->life_ns += by * (double)life_ns;
	if (by > 0 && life_ns > row->longest_ns)
		row->longest_ns = life_ns;
	count_steps(rvp_attribution_steps(this->attribution), row, event->block.birth_ns, event->moment->ns,
		    by);
	if (block)
		block->death_ns = by > 0 ? event->moment->ns : RVP_NEVER;
}

static bool is_wanted(const struct rvp_block_lives *this, const struct rvp_event *event)
{
	struct rvp_block_key key = rvp_key_of(event);

	if (event->kind == RVP_EVENT_BORN)
		return this->number == this->wanted_number;
	return this->rows[0].largest[0].number && is_same_key(&this->rows[0].largest[0].key, &key);
}

static struct rvp_lives *row_for(struct rvp_block_lives *this, const struct rvp_event *event)
{
	uint32_t split = event->block.split, row;

	if (this->wanted_number)
		return is_wanted(this, event) ? &this->rows[0] : NULL;
	row = split < this->site_count ? this->row_of_site[split] : 0;
	return row ? &this->rows[row - 1] : NULL;
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_block_lives *this = (struct rvp_block_lives *)observer;
	struct rvp_lives *row;

	(void)state;
	if (event->kind != RVP_EVENT_BORN && event->kind != RVP_EVENT_DIED &&
	    event->kind != RVP_EVENT_RESTORED)
		return;
	this->number += event->kind == RVP_EVENT_BORN;
	row = row_for(this, event);
	if (!row)
		return;
	if (event->kind == RVP_EVENT_BORN)
		born(this, row, event);
	else
		died(this, row, event, event->kind == RVP_EVENT_DIED ? 1 : -1);
}

void rvp_block_lives_open(struct rvp_block_lives *lives, const struct rvp_attribution *attribution,
			  struct rvp_lives *rows)
{
	*lives = (struct rvp_block_lives){.observer.see = see, .attribution = attribution, .rows = rows};
}
