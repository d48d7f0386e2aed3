/* SPDX-License-Identifier: MIT */
/* steps_loop.c: see steps_loop.h.
 *
 * Equal words side by side are one run: what a call or an inner loop allocates is one thing here. Then a word
 * is an anchor of the loop when
 *   - it comes at least `least` times, and most times (4 of 5) some block of it dies before it comes again:
 * what only grows (a page of a cache at every 16th turn) marks no turn;
 *   - the others are regular against it: equally often between any two of it, in 85 of 100 cases; regular
 *     words must be 2 of 3 runs, or the turns are not alike;
 *   - what comes once a turn has its part of the bytes (1 of 50), unless all does: else it is an accident
 * inside a smaller loop. Of anchors the rarest wins: its loop is the outermost. Words that hardly allocate (1
 * of 500 of the bytes that come and go) are left out before: a message at every tenth turn is no loop.
 *
 * A turn begins with the word, of those that come once a turn, which came first of all.
 */
#include "report/steps_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 24, WINDOW_RUNS = 1 << 18, NO_WORD = UINT32_MAX };

struct run {
	uint32_t word;
	uint32_t first, last; /* in the list */
};

struct word {
	uint64_t key;
	uint64_t bytes;       /* of blocks that died before the next run of the word */
	uint32_t run_count;   /* in all */
	uint32_t short_count; /* runs of which a block died before the next run of the word */
	uint32_t last_run;    /* + 1; 0: none yet */
	/* Against one anchor. */
	uint32_t total, in_turn, matches, per_turn;
	bool is_regular;
	bool is_left_out;
};

struct search {
	const struct rvp_step_events *events;
	const uint32_t *list;
	size_t count;
	uint32_t depth;
	uint64_t after_ns; /* what comes for the last time before is no anchor */
	struct run *runs;
	size_t run_count;
	struct word *words;
	size_t word_count, word_room;
	uint32_t *places; /* word + 1 */
	size_t mask;
};

static bool widen(struct search *search)
{
	size_t mask = search->mask ? search->mask * 2 + 1 : 1023;
	uint32_t *places = calloc(mask + 1, sizeof *places);
	struct word *words = realloc(search->words, (mask / 2 + 1) * sizeof *words);

	if (words)
		search->words = words;
	if (!places || !words) {
		free(places);
		return false;
	}
	for (uint32_t i = 0; i < search->word_count; i++) {
		size_t at = (words[i].key * 0x9e3779b97f4a7c15u >> 20) & mask;

		while (places[at])
			at = (at + 1) & mask;
		places[at] = i + 1;
	}
	free(search->places);
	search->places = places;
	search->mask = mask;
	search->word_room = mask / 2 + 1;
	return true;
}

static uint32_t word_of(struct search *search, uint64_t key)
{
	size_t at;

	if (search->word_count == search->word_room && !widen(search))
		return NO_WORD;
	at = (key * 0x9e3779b97f4a7c15u >> 20) & search->mask;
	while (search->places[at] && search->words[search->places[at] - 1].key != key)
		at = (at + 1) & search->mask;
	if (!search->places[at]) {
		search->words[search->word_count] = (struct word){.key = key};
		search->places[at] = (uint32_t)++search->word_count;
	}
	return search->places[at] - 1;
}

/* The word of each event into `of`. There are far fewer paths: they are asked once. */
static bool number_words(struct search *search, uint32_t *of)
{
	const struct rvp_step_events *events = search->events;
	uint32_t *of_path = calloc(events->path_count + 1, sizeof *of_path); /* word + 1 */
	bool is_good = of_path != NULL;

	for (size_t i = 0; is_good && i < search->count; i++) {
		uint32_t path = events->events[search->list[i]].path;

		if (!of_path[path])
			of_path[path] =
			    word_of(search, events->words[events->paths[path].first + search->depth]) + 1;
		of[i] = of_path[path] - 1;
		is_good = of[i] != NO_WORD;
	}
	free(of_path);
	return is_good;
}

static uint64_t bytes_of_all(const struct search *search)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < search->word_count; i++)
		sum += search->words[i].bytes;
	return sum;
}

/* Whether a block was gone before its word came again as allocation `number`. Given back right before that,
 * it is gone too, unless the new one is larger: that is how a cache grows. */
static bool was_gone(const struct rvp_step_event *block, const struct rvp_step_event *next, uint32_t number)
{
	return block->death < number || (block->death == number && next->bytes <= block->bytes);
}

static void meet_again(struct search *search, struct word *word, uint32_t at)
{
	const struct rvp_step_events *events = search->events;
	uint32_t number = events->numbers[search->list[at]];
	bool was_short = false;
	const struct run *run;

	if (!word->last_run)
		return;
	run = &search->runs[word->last_run - 1];
	for (uint32_t i = run->first; i <= run->last; i++) {
		const struct rvp_step_event *block = &events->events[search->list[i]];

		if (!was_gone(block, &events->events[search->list[at]], number))
			continue;
		word->bytes += block->bytes;
		was_short = true;
	}
	word->short_count += was_short;
}

static void begin_run(struct search *search, uint32_t word, uint32_t at)
{
	struct word *this = &search->words[word];

	meet_again(search, this, at);
	search->runs[search->run_count++] = (struct run){word, at, at};
	this->last_run = (uint32_t)search->run_count;
	this->run_count++;
}

static void make_runs(struct search *search, const uint32_t *of)
{
	for (uint32_t i = 0; i < search->count; i++) {
		struct run *last = search->run_count ? &search->runs[search->run_count - 1] : NULL;

		if (search->words[of[i]].is_left_out)
			continue;
		if (!last || last->word != of[i])
			begin_run(search, of[i], i);
		last = &search->runs[search->run_count - 1];
		last->last = i;
	}
}

/* Without the words that hardly allocate anything that comes and goes. */
static void make_runs_that_weigh(struct search *search, const uint32_t *of)
{
	uint64_t least;

	make_runs(search, of);
	least = bytes_of_all(search) / 500;
	for (size_t i = 0; i < search->word_count; i++) {
		struct word *word = &search->words[i];

		*word = (struct word){.key = word->key, .is_left_out = word->bytes < least};
	}
	search->run_count = 0;
	make_runs(search, of);
}

/* ---- one anchor ---- */

struct range {
	size_t first, half, last; /* runs of the anchor */
	size_t turns, half_turns; /* from first, from half */
};

/* The last WINDOW_RUNS runs up to the anchor's last. */
static struct range range_of(const struct search *search, uint32_t anchor)
{
	struct range range = {.last = search->run_count - 1};

	while (search->runs[range.last].word != anchor)
		range.last--;
	range.first = range.last > WINDOW_RUNS ? range.last - WINDOW_RUNS : 0;
	while (search->runs[range.first].word != anchor)
		range.first++;
	for (size_t i = range.first; i < range.last; i++)
		range.turns += search->runs[i].word == anchor;
	for (range.half = range.last; range.half_turns < (range.turns + 1) / 2;)
		range.half_turns += search->runs[--range.half].word == anchor;
	return range;
}

static void end_turn(struct search *search, const uint32_t *touched, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct word *word = &search->words[touched[i]];

		word->matches += word->in_turn == word->per_turn;
		word->in_turn = 0;
	}
}

/* What is usual is seen in the later half: the first turn may be a batch of many. */
static void count_totals(struct search *search, const struct range *range)
{
	for (size_t i = 0; i < search->word_count; i++) {
		struct word *word = &search->words[i];

		word->total = word->in_turn = word->matches = 0;
		word->is_regular = false;
	}
	for (size_t i = range->half; i < range->last; i++)
		search->words[search->runs[i].word].total++;
	for (size_t i = 0; i < search->word_count; i++)
		search->words[i].per_turn =
		    (uint32_t)lround((double)search->words[i].total / (double)range->half_turns);
}

/* Fills in per_turn and is_regular of the words; the share of runs that are regular. */
static double regularity(struct search *search, uint32_t anchor, const struct range *range, uint32_t *touched)
{
	size_t count = 0, regular = 0;

	count_totals(search, range);
	for (size_t i = range->first; i <= range->last; i++) {
		struct word *word = &search->words[search->runs[i].word];

		if (search->runs[i].word == anchor && i > range->first) {
			end_turn(search, touched, count);
			count = 0;
		}
		if (i == range->last)
			break;
		if (!word->in_turn++)
			touched[count++] = search->runs[i].word;
	}
	for (size_t i = 0; i < search->word_count; i++) {
		struct word *word = &search->words[i];

		word->is_regular = word->per_turn && word->matches * 100.0 >= 85.0 * (double)range->turns;
		if (word->is_regular)
			regular += word->total;
	}
	return (double)regular / (double)(range->last - range->half);
}

/* Whether what comes once a turn has its part of the bytes. */
static bool once_words_weigh(const struct search *search)
{
	uint64_t once = 0, more = 0;

	for (size_t i = 0; i < search->word_count; i++) {
		const struct word *word = &search->words[i];

		if (word->is_regular && word->per_turn == 1)
			once += word->bytes;
		else if (word->is_regular)
			more += word->bytes;
	}
	return !more || once * 50 >= once + more;
}

static bool may_be_anchor(const struct search *search, const struct word *word, size_t least)
{
	const struct run *last;

	if (word->run_count < least || word->short_count * 5u < (word->run_count - 1) * 4u)
		return false;
	last = &search->runs[word->last_run - 1];
	return search->events->events[search->list[last->first]].ns >= search->after_ns;
}

/* The rarest possible anchors first. */
static size_t list_candidates(const struct search *search, size_t least, uint32_t *candidates)
{
	size_t count = 0;

	for (uint32_t i = 0; i < search->word_count; i++) {
		size_t at = count;

		if (!may_be_anchor(search, &search->words[i], least))
			continue;
		while (at && search->words[candidates[at - 1]].run_count > search->words[i].run_count)
			at--;
		if (at == CANDIDATES)
			continue;
		if (count == CANDIDATES)
			count--;
		memmove(&candidates[at + 1], &candidates[at], (count - at) * sizeof *candidates);
		candidates[at] = i;
		count++;
	}
	return count;
}

static double choose_anchor(struct search *search, size_t least, uint32_t *anchor, uint32_t *touched)
{
	uint32_t candidates[CANDIDATES];
	size_t count = list_candidates(search, least, candidates);

	for (size_t i = 0; i < count; i++) {
		struct range range = range_of(search, candidates[i]);
		double score;

		if (range.turns + 1 < least)
			continue;
		score = regularity(search, candidates[i], &range, touched);
		*anchor = candidates[i];
		if (score >= 2.0 / 3 && once_words_weigh(search))
			return score;
	}
	return 0;
}

/* The word with which a turn begins: as frequent as the anchor, and the first to come. */
static uint32_t first_word(const struct search *search, uint32_t anchor)
{
	uint32_t count = search->words[anchor].run_count;

	for (size_t i = 0; i < search->run_count; i++) {
		const struct word *word = &search->words[search->runs[i].word];

		if (word->is_regular && word->per_turn == 1 && word->run_count == count)
			return search->runs[i].word;
	}
	return anchor;
}

static bool write_turns(struct search *search, uint32_t word, double score, struct rvp_step_loop *loop)
{
	uint32_t last = 0;

	loop->begins = malloc(search->words[word].run_count * sizeof *loop->begins);
	if (!loop->begins)
		return false;
	for (size_t i = 0; i < search->run_count; i++) {
		if (search->runs[i].word == word)
			loop->begins[loop->count++] = search->list[search->runs[i].first];
		if (loop->count && search->words[search->runs[i].word].is_regular)
			last = search->list[search->runs[i].last];
	}
	loop->end = last;
	loop->score = score;
	return true;
}

bool rvp_step_loop_find(const struct rvp_step_events *events, const uint32_t *list, size_t count,
			uint32_t depth, size_t least, uint64_t after_ns, struct rvp_step_loop *loop)
{
	struct search search = {
	    .events = events, .list = list, .count = count, .depth = depth, .after_ns = after_ns};
	uint32_t *of = malloc((count + 1) * sizeof *of), anchor = 0;
	double score = 0;
	bool is_good;

	*loop = (struct rvp_step_loop){0};
	search.runs = malloc((count + 1) * sizeof *search.runs);
	is_good = of && search.runs && number_words(&search, of);
	if (is_good) {
		make_runs_that_weigh(&search, of);
		/* `of` has done its work: room for the words of a turn. */
		score = choose_anchor(&search, least, &anchor, of);
	}
	if (is_good && score > 0)
		is_good = write_turns(&search, first_word(&search, anchor), score, loop);
	free(of);
	free(search.runs);
	free(search.words);
	free(search.places);
	return is_good;
}
