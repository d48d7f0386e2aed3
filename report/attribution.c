/* SPDX-License-Identifier: MIT */
/* attribution.c: see attribution.h. Runs the survey, and decides who is believed.
 *
 * At a birth three kinds of word are weighed: claims of this very block, claims of its site, and what sources
 * judge. The most specific evidence wins (evidence.def); of equals the block's claim before the site's before
 * a judgement, and the earlier before the later. What a loser said of another category is kept as a
 * disagreement.
 */
#include "report/attribution.h"

#include "report/analysis.h"
#include "report/claims.h"
#include "report/device_blocks.h"
#include "report/live_index.h"
#include "report/match.h"
#include "report/run_source.h"
#include "report/write_windows.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 64, DISAGREEMENTS_MAX = 256, DISAGREEMENT_PLACES = 1024, NOTE_BYTES = 256 };
static_assert(DISAGREEMENT_PLACES == 1 << (64 - 54), "the home of a disagreement is the top 10 bits");
static_assert((int)RVP_VERDICTS_MAX == (int)RVP_WORDS_MAX, "claims.h and attribution.h count alike");

static struct rvp_evidence_source *(*const makers[])(struct rvp_attribution *) = {
#define RVP_EVIDENCE_SOURCE(name) rvp_evidence_##name,
#include "report/evidence_sources.def"
    NULL};
enum { SOURCES = sizeof makers / sizeof makers[0] - 1 };

struct rvp_attribution {
	struct rvp_observer survey; /* first: the observer is the attribution */
	struct rvp_run *run;
	struct rvp_attribution_settings settings;
	struct rvp_purposes purposes;
	struct rvp_steps steps;
	struct rvp_claims claims;
	struct rvp_reasons reasons;
	struct rvp_live_index index;
	uint64_t *asked_counts; /* by process: records that asked for a block so far */
	const struct rvp_state *state; /* of the survey's present event */
	struct rvp_evidence_source *sources[SOURCES + 1];
	struct rvp_disagreement disagreements[DISAGREEMENTS_MAX];
	struct rvp_words words; /* of the birth judged last */
	size_t disagreement_count;
	uint16_t disagreement_places[DISAGREEMENT_PLACES]; /* number + 1 */
	char *notes[NOTES_MAX + 1];
	size_t note_count;
	bool no_memory;
};

const char *const rvp_evidence_names[RVP_EVIDENCE_COUNT] = {
#define RVP_EVIDENCE(id, name, what) [RVP_EVIDENCE_##id] = name,
#include "report/evidence.def"
};
const char *const rvp_evidence_texts[RVP_EVIDENCE_COUNT] = {
#define RVP_EVIDENCE(id, name, what) [RVP_EVIDENCE_##id] = what,
#include "report/evidence.def"
};

struct rvp_block_key rvp_key_of(const struct rvp_event *event)
{
	return rvp_block_key_of(&event->block, event->moment->process);
}

/* ---- what evidence asks for ---- */

const struct rvp_run *rvp_attribution_run(const struct rvp_attribution *attribution)
{
	return attribution->run;
}

const struct rvp_attribution_settings *rvp_attribution_settings(const struct rvp_attribution *attribution)
{
	return &attribution->settings;
}

const struct rvp_steps *rvp_attribution_steps(const struct rvp_attribution *attribution)
{
	return &attribution->steps;
}

struct rvp_purposes *rvp_attribution_purposes(struct rvp_attribution *attribution)
{
	return &attribution->purposes;
}

const struct rvp_block *rvp_survey_block(const struct rvp_attribution *attribution, uint32_t process,
					 uint64_t address)
{
	const struct rvp_block *block = rvp_live_index_find(&attribution->index, process, address);

	if (block || !attribution->state || process >= attribution->run->process_count)
		return block;
	block = rvp_device_block_at(attribution->state->devices, process, address);
	if (block)
		return block;
	return rvp_matched_block(attribution->state->matcher, process, address);
}

void rvp_survey_watch(const struct rvp_attribution *attribution, uint32_t process, uint64_t address)
{
	struct rvp_block *block = rvp_matched_block(attribution->state->matcher, process, address);

	if (block)
		block->flags |= RVP_BLOCK_WATCHED;
}

uint32_t rvp_reason(struct rvp_attribution *attribution, const char *format, ...)
{
	char text[RVP_REASON_BYTES];
	va_list arguments;
	uint32_t number;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	number = rvp_reasons_number(&attribution->reasons, text);
	attribution->no_memory |= number == 0;
	return number;
}

const char *rvp_reason_text(const struct rvp_attribution *attribution, uint32_t reason)
{
	return rvp_reasons_text(&attribution->reasons, reason);
}

void rvp_evidence_note(struct rvp_attribution *attribution, const char *format, ...)
{
	char text[NOTE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < attribution->note_count; i++)
		if (strcmp(attribution->notes[i], text) == 0)
			return;
	if (attribution->note_count < NOTES_MAX &&
	    (attribution->notes[attribution->note_count] = strdup(text)))
		attribution->note_count++;
}

void rvp_evidence_loss(struct rvp_attribution *attribution, uint32_t process, enum rvp_loss reason,
		       uint64_t count)
{
	/* Said and not added: a run may be attributed again. */
	if (process < attribution->run->process_count)
		attribution->run->processes[process].loss[reason] = count;
}

const char *const *rvp_attribution_notes(const struct rvp_attribution *attribution)
{
	return (const char *const *)attribution->notes;
}

/* ---- claims ---- */

void rvp_claim_block(struct rvp_attribution *attribution, struct rvp_block_key key,
		     struct rvp_verdict verdict, uint64_t from_ns)
{
	if (verdict.purpose < attribution->purposes.count &&
	    !rvp_claims_add_block(&attribution->claims, &key, &verdict, from_ns))
		attribution->no_memory = true;
}

void rvp_claim_site(struct rvp_attribution *attribution, uint32_t site, struct rvp_verdict verdict,
		    uint64_t least_bytes, uint64_t most_bytes)
{
	if (verdict.purpose < attribution->purposes.count &&
	    !rvp_claims_add_site(&attribution->claims, site, &verdict, least_bytes, most_bytes))
		attribution->no_memory = true;
}

/* ---- the survey ---- */

/* Whether a record of the process will still ask for a block by an address in it. */
static bool will_ask(const struct rvp_attribution *attribution, uint32_t process)
{
	return attribution->asked_counts[process] < attribution->run->processes[process].source->asked_count;
}

static void count_asked(struct rvp_attribution *attribution, const struct rvp_moment *moment)
{
	if (moment->process < attribution->run->process_count &&
	    (moment->record->kind == RVP_TAG || moment->record->kind == RVP_FILL || moment->record->kind == RVP_WRITTEN))
		attribution->asked_counts[moment->process]++;
}

static bool survey_minds(struct rvp_observer *observer, uint32_t process)
{
	struct rvp_attribution *attribution = (struct rvp_attribution *)observer;

	for (int i = 0; i < SOURCES; i++)
		if (attribution->sources[i]->minds && attribution->sources[i]->minds(attribution->sources[i]))
			return true;
	return will_ask(attribution, process);
}

/* Of devices there is an index already, of tensors in segments. */
static bool is_indexed(const struct rvp_block *block)
{
	if (rvp_block_device(block))
		return false;
	return block->bytes >= RVP_INDEXED_BYTES || block->flags & RVP_BLOCK_MAPPED;
}

static void note_block(struct rvp_attribution *attribution, const struct rvp_event *event)
{
	const struct rvp_block *block = &event->block;

	if (!is_indexed(block) || !will_ask(attribution, event->moment->process))
		return;
	if (!rvp_live_index_put(&attribution->index, event->moment->process, block))
		attribution->no_memory = true;
}

static void survey_see(struct rvp_observer *observer, const struct rvp_event *event,
		       const struct rvp_state *state)
{
	struct rvp_attribution *attribution = (struct rvp_attribution *)observer;

	attribution->state = state;
	if (event->kind == RVP_EVENT_BORN || event->kind == RVP_EVENT_RESTORED)
		note_block(attribution, event);
	for (int i = 0; i < SOURCES; i++)
		if (attribution->sources[i]->survey)
			attribution->sources[i]->survey(attribution->sources[i], event, state);
	if (event->kind == RVP_EVENT_RECORD)
		count_asked(attribution, event->moment);
	if (event->kind == RVP_EVENT_DIED && is_indexed(&event->block))
		rvp_live_index_remove(&attribution->index, event->moment->process, event->block.address);
	if (event->kind == RVP_EVENT_END)
		rvp_live_index_clear(&attribution->index, event->moment->process);
}

static void survey_finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	struct rvp_attribution *attribution = (struct rvp_attribution *)observer;

	attribution->state = state;
	for (int i = 0; i < SOURCES; i++)
		if (attribution->sources[i]->survey_end)
			attribution->sources[i]->survey_end(attribution->sources[i], state);
	attribution->state = NULL;
}

static bool open_sources(struct rvp_attribution *attribution)
{
	for (int i = 0; i < SOURCES; i++) {
		attribution->sources[i] = makers[i](attribution);
		if (!attribution->sources[i])
			return false;
		attribution->sources[i]->attribution = attribution;
	}
	return true;
}

static struct rvp_status survey(struct rvp_attribution *attribution)
{
	struct rvp_observer *observers[] = {&attribution->survey, NULL};
	struct rvp_analysis answer;
	struct rvp_status status;

	status = rvp_analyse(attribution->run, &(struct rvp_question){.observers = observers, .shows_devices = true},
			     &answer);
	if (rvp_failed(status))
		return status;
	rvp_analysis_free(&answer);
	if (attribution->no_memory || !rvp_claims_settle(&attribution->claims))
		return rvp_fail("attribute", attribution->run->folder, ENOMEM);
	return RVP_OK;
}

struct rvp_status rvp_attribute(struct rvp_run *run, const struct rvp_attribution_settings *settings,
				struct rvp_attribution **out)
{
	struct rvp_attribution *attribution = calloc(1, sizeof *attribution);
	struct rvp_status status = RVP_OK;

	*out = NULL;
	if (!attribution)
		return rvp_fail("attribute", run->folder, ENOMEM);
	attribution->survey = (struct rvp_observer){.see = survey_see, .minds = survey_minds, .finish = survey_finish};
	attribution->run = run;
	if (settings)
		attribution->settings = *settings;
	rvp_purposes_open(&attribution->purposes);
	status = rvp_steps_find(run, &attribution->steps);
	attribution->steps.followed_count = rvp_steps_in_write_windows(run, &attribution->steps);
	attribution->asked_counts = calloc(run->process_count + 1, sizeof *attribution->asked_counts);
	if (!rvp_failed(status) &&
	    (!attribution->asked_counts || !rvp_live_index_open(&attribution->index, run->process_count + 1) || !open_sources(attribution)))
		status = rvp_fail("attribute", run->folder, ENOMEM);
	if (!rvp_failed(status))
		status = survey(attribution);
	rvp_live_index_free(&attribution->index);
	if (rvp_failed(status))
		rvp_attribution_close(attribution);
	else
		*out = attribution;
	return status;
}

void rvp_attribution_close(struct rvp_attribution *attribution)
{
	if (!attribution)
		return;
	for (int i = 0; i < SOURCES; i++)
		if (attribution->sources[i])
			attribution->sources[i]->close(attribution->sources[i]);
	for (size_t i = 0; i < attribution->note_count; i++)
		free(attribution->notes[i]);
	rvp_steps_free(&attribution->steps);
	rvp_claims_free(&attribution->claims);
	rvp_reasons_free(&attribution->reasons);
	rvp_purposes_free(&attribution->purposes);
	free(attribution->asked_counts);
	free(attribution);
}

/* ---- the second pass ---- */

void rvp_attribution_begin_pass(struct rvp_attribution *attribution)
{
	attribution->disagreement_count = 0;
	memset(attribution->disagreement_places, 0, sizeof attribution->disagreement_places);
	attribution->words.count = 0;
	for (int i = 0; i < SOURCES; i++)
		if (attribution->sources[i]->begin_pass)
			attribution->sources[i]->begin_pass(attribution->sources[i]);
}

void rvp_attribution_see(struct rvp_attribution *attribution, const struct rvp_event *event)
{
	for (int i = 0; i < SOURCES; i++)
		if (attribution->sources[i]->see)
			attribution->sources[i]->see(attribution->sources[i], event);
}

static bool are_of(const struct rvp_disagreement *entry, const struct rvp_verdict *believed,
		   const struct rvp_verdict *overruled)
{
	return entry->believed.purpose == believed->purpose &&
	       entry->believed.evidence == believed->evidence &&
	       entry->overruled.purpose == overruled->purpose &&
	       entry->overruled.evidence == overruled->evidence;
}

static size_t disagreement_home(const struct rvp_verdict *believed, const struct rvp_verdict *overruled)
{
	uint64_t key = (uint64_t)believed->purpose << 32 | (uint64_t)overruled->purpose << 16 |
		       (uint64_t)believed->evidence << 8 | overruled->evidence;

	return key * 0x9e3779b97f4a7c15u >> 54;
}

/* A quarter of the places is taken at most. */
static struct rvp_disagreement *disagreement_of(struct rvp_attribution *attribution,
						const struct rvp_verdict *believed,
						const struct rvp_verdict *overruled)
{
	size_t at = disagreement_home(believed, overruled);
	struct rvp_disagreement *entry;

	for (uint16_t number; (number = attribution->disagreement_places[at]);
	     at = (at + 1) % DISAGREEMENT_PLACES)
		if (are_of(&attribution->disagreements[number - 1], believed, overruled))
			return &attribution->disagreements[number - 1];
	if (attribution->disagreement_count == DISAGREEMENTS_MAX)
		return NULL;
	entry = &attribution->disagreements[attribution->disagreement_count++];
	attribution->disagreement_places[at] = (uint16_t)attribution->disagreement_count;
	*entry = (struct rvp_disagreement){.believed = *believed, .overruled = *overruled};
	return entry;
}

/* Not who only says what he saw, nor who says nearly the same. */
static bool is_told(const struct rvp_attribution *attribution, const struct rvp_verdict *believed,
		    const struct rvp_verdict *overruled)
{
	return overruled->purpose != RVP_CATEGORY_UNKNOWN &&
	       rvp_purpose_category(&attribution->purposes, believed->purpose) !=
		   rvp_purpose_category(&attribution->purposes, overruled->purpose);
}

static void note_disagreement(struct rvp_attribution *attribution, const struct rvp_verdict *believed,
			      const struct rvp_verdict *overruled, const struct rvp_event *birth)
{
	struct rvp_disagreement *entry =
	    is_told(attribution, believed, overruled) ? disagreement_of(attribution, believed, overruled) : NULL;

	if (!entry)
		return;
	entry->count += birth->weight.amount.count;
	entry->bytes += birth->weight.amount.bytes;
}

/* Of equals the first. */
static size_t most_specific(const struct rvp_words *words)
{
	size_t best = 0;

	for (size_t i = 1; i < words->count; i++)
		if (words->words[i].evidence < words->words[best].evidence)
			best = i;
	return best;
}

struct rvp_verdict rvp_attribution_judge(struct rvp_attribution *attribution, const struct rvp_event *birth)
{
	struct rvp_words *words = &attribution->words;

	words->key = rvp_key_of(birth);
	words->count = rvp_claims_of(&attribution->claims, &words->key, &birth->block, words->words);
	for (int i = 0; i < SOURCES && words->count < RVP_VERDICTS_MAX; i++)
		if (attribution->sources[i]->judge &&
		    attribution->sources[i]->judge(attribution->sources[i], birth,
						   &words->words[words->count]) &&
		    words->words[words->count].purpose < attribution->purposes.count)
			words->count++;
	words->believed = most_specific(words);
	if (!words->count)
		return (struct rvp_verdict){.purpose = RVP_CATEGORY_UNKNOWN, .evidence = RVP_EVIDENCE_NONE};
	for (size_t i = 0; i < words->count; i++)
		if (i != words->believed)
			note_disagreement(attribution, &words->words[words->believed], &words->words[i],
					  birth);
	return words->words[words->believed];
}

/* What it counted at the last birth, for each who was overruled and is kept as a disagreement. False: too many. */
static bool note_repeated(const struct rvp_attribution *attribution, struct rvp_lasting *lasting)
{
	const struct rvp_words *words = &attribution->words;
	const struct rvp_verdict *believed = &words->words[words->believed];

	lasting->repeated_count = 0;
	for (size_t i = 0; i < words->count; i++) {
		size_t number = 0;

		if (i == words->believed || !is_told(attribution, believed, &words->words[i]))
			continue;
		while (number < attribution->disagreement_count &&
		       !are_of(&attribution->disagreements[number], believed, &words->words[i]))
			number++;
		if (number == attribution->disagreement_count || lasting->repeated_count == RVP_REPEATED_MAX)
			return false;
		lasting->repeated[lasting->repeated_count++] = (uint16_t)number;
	}
	return true;
}

bool rvp_attribution_lasts(const struct rvp_attribution *attribution, const struct rvp_event *birth,
			   struct rvp_lasting *lasting)
{
	uint64_t least = 0, most = UINT64_MAX;

	if (birth->block.flags & ~(uint32_t)(RVP_BLOCK_SAMPLED | RVP_BLOCK_SUSPECT) ||
	    rvp_claims_may_have(&attribution->claims, &attribution->words.key) ||
	    attribution->run->processes[birth->moment->process].source->has_scopes ||
	    !note_repeated(attribution, lasting))
		return false;
	rvp_claims_narrow(&attribution->claims, birth->block.site, birth->block.bytes, &least, &most);
	for (int i = 0; i < SOURCES; i++)
		if (attribution->sources[i]->lasts &&
		    !attribution->sources[i]->lasts(attribution->sources[i], birth, &least, &most))
			return false;
	lasting->least = least;
	lasting->most = most;
	return true;
}

void rvp_attribution_repeat(struct rvp_attribution *attribution, const struct rvp_lasting *lasting, uint64_t bytes)
{
	for (uint16_t i = 0; i < lasting->repeated_count; i++) {
		attribution->disagreements[lasting->repeated[i]].count++;
		attribution->disagreements[lasting->repeated[i]].bytes += bytes;
	}
}

bool rvp_attribution_claims_blocks(const struct rvp_attribution *attribution)
{
	return attribution->claims.block_count > 0;
}

bool rvp_attribution_may_claim(const struct rvp_attribution *attribution, const struct rvp_block_key *key)
{
	return rvp_claims_may_have(&attribution->claims, key);
}

const struct rvp_words *rvp_attribution_last_words(const struct rvp_attribution *attribution)
{
	return &attribution->words;
}

const struct rvp_recast *rvp_attribution_recasts(const struct rvp_attribution *attribution, size_t *count)
{
	*count = attribution->claims.change_count;
	return attribution->claims.changes;
}

const struct rvp_disagreement *rvp_attribution_disagreements(const struct rvp_attribution *attribution,
							     size_t *count)
{
	*count = attribution->disagreement_count;
	return attribution->disagreements;
}
