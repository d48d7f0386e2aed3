/* SPDX-License-Identifier: MIT */
/* evidence_tags.c: a block is for what somebody said of its address: rvprof_tag, tag() of rvprof.py, an
 * adapter.
 *
 * Rules
 *   - A block's first tag holds for its whole life, a later one of another category from then on.
 *   - A tag of a part is a part: the parts of a block are kept (a later one replaces what it covers), and the
 * block is for the category of at least DECISIVE_PERCENT of its bytes, if one has so much. One that is cut up
 * between several keeps what less specific evidence says, and a note tells how many such blocks there were: a
 * block has one purpose at a time, and a large minority in a false one would be worse than a block that is
 * not named by tags.
 *   - A tag of no live block (gone, or never one) is counted in a note. In sampled mode small blocks are not
 * recorded each: a tag of less than the threshold needs no note, one of a whole block has the reason in it. A
 * tag without a category, or with a word that is none, claims nothing.
 *   - Memory: a row a live tagged block, PARTS_MAX parts each.
 */
#include "report/evidence.h"
#include "report/grow.h"
#include "report/purpose.h"
#include "report/run.h"
#include "report/text_numbers.h"

#include <stdlib.h>
#include <string.h>

/* DECISIVE_PERCENT: alignment, padding and a header in front must not undo a tag; what is called by a name
 * not its own stays at most a tenth of one block. */
enum { DECISIVE_PERCENT = 90, PARTS_MAX = 1024, GAP_BYTES = 256, NAME_BYTES = 80 };

struct part {
	uint64_t begin, end; /* offsets in the block */
	uint16_t purpose;
};

struct tagged {
	struct rvp_block_key key;
	uint64_t bytes;
	struct part *parts; /* in no order; they do not overlap */
	size_t part_room;
	uint32_t part_count;
	uint16_t claimed; /* RVP_PURPOSE_NONE: not yet */
	bool is_used;
};

struct tags {
	struct rvp_evidence_source source; /* first: the source is the evidence */
	struct tagged *rows;               /* open addressing by key */
	size_t count, mask;                /* mask: places - 1 */
	uint64_t cut_up, cut_up_bytes;
	uint64_t homeless;      /* tags of what would have been recorded */
	uint64_t maybe_sampled; /* tags of a whole block that was perhaps too small for that */
	uint64_t threshold_bytes;
	struct rvp_misnamed misnamed;
};

/* ---- the table of tagged blocks ---- */

static size_t home_of(const struct tags *tags, uint32_t process, uint64_t address)
{
	return (size_t)(((address >> 4) + process) * 0x9e3779b97f4a7c15u >> 20) & tags->mask;
}

static struct tagged *row_of(struct tags *tags, uint32_t process, uint64_t address)
{
	size_t at;

	if (!tags->rows)
		return NULL;
	for (at = home_of(tags, process, address); tags->rows[at].is_used; at = (at + 1) & tags->mask)
		if (tags->rows[at].key.address == address && tags->rows[at].key.process == process)
			return &tags->rows[at];
	return NULL;
}

static struct tagged *free_place(struct tags *tags, uint32_t process, uint64_t address)
{
	size_t at = home_of(tags, process, address);

	while (tags->rows[at].is_used)
		at = (at + 1) & tags->mask;
	return &tags->rows[at];
}

static bool grow(struct tags *tags)
{
	struct tags old = *tags;
	size_t places = old.rows ? (old.mask + 1) * 2 : 64;

	if (old.rows && tags->count * 2 < old.mask + 1)
		return true;
	tags->rows = calloc(places, sizeof *tags->rows);
	if (!tags->rows) {
		*tags = old;
		return false;
	}
	tags->mask = places - 1;
	for (size_t i = 0; old.rows && i <= old.mask; i++)
		if (old.rows[i].is_used)
			*free_place(tags, old.rows[i].key.process, old.rows[i].key.address) = old.rows[i];
	free(old.rows);
	return true;
}

static struct tagged *add_row(struct tags *tags, uint32_t process, const struct rvp_block *block)
{
	struct tagged *row;

	if (!grow(tags))
		return NULL;
	row = free_place(tags, process, block->address);
	*row = (struct tagged){.key = rvp_block_key_of(block, process),
			       .bytes = block->bytes,
			       .claimed = RVP_PURPOSE_NONE,
			       .is_used = true};
	tags->count++;
	rvp_survey_watch(tags->source.attribution, process, block->address);
	return row;
}

/* Deletion by moving back: between a row's home and its place no place is empty. */
static void remove_row(struct tags *tags, struct tagged *row)
{
	size_t hole = (size_t)(row - tags->rows), at = hole;

	free(row->parts);
	for (;;) {
		struct tagged *next = &tags->rows[at = (at + 1) & tags->mask];
		size_t home;

		if (!next->is_used)
			break;
		home = home_of(tags, next->key.process, next->key.address);
		if (((at - home) & tags->mask) < ((at - hole) & tags->mask))
			continue;
		tags->rows[hole] = *next;
		hole = at;
	}
	tags->rows[hole] = (struct tagged){0};
	tags->count--;
}

/* The row of the block: a row of an earlier block at this address is not its. */
static struct tagged *row_for(struct tags *tags, uint32_t process, const struct rvp_block *block)
{
	struct tagged *row = row_of(tags, process, block->address);

	if (row && (row->key.birth_ns != block->birth_ns || row->key.birth != block->birth)) {
		remove_row(tags, row);
		row = NULL;
	}
	return row ? row : add_row(tags, process, block);
}

/* ---- parts ---- */

/* Tensors in an arena stand side by side but for their alignment: such a gap is theirs. */
static uint64_t gap_bytes(const struct tagged *row)
{
	return row->bytes / 100 < GAP_BYTES ? row->bytes / 100 : GAP_BYTES;
}

static bool joins_a_neighbour(struct tagged *row, struct part part)
{
	for (uint32_t i = row->part_count; i-- > 0;) {
		struct part *old = &row->parts[i];

		if (old->purpose == part.purpose && old->end > old->begin && part.begin >= old->end &&
		    part.begin - old->end <= gap_bytes(row)) {
			old->end = part.end;
			return true;
		}
	}
	return false;
}

static bool put_part(struct tagged *row, struct part part)
{
	if (part.begin >= part.end || joins_a_neighbour(row, part))
		return true;
	if (row->part_count == PARTS_MAX ||
	    !rvp_grow((void **)&row->parts, &row->part_room, (size_t)row->part_count + 1, sizeof *row->parts))
		return false;
	row->parts[row->part_count++] = part;
	return true;
}

/* What the new part covers is no longer what it was; at most one old part is cut in two. */
static bool cover(struct tagged *row, struct part new)
{
	uint32_t count = row->part_count;

	for (uint32_t i = 0; i < count; i++) {
		struct part *old = &row->parts[i];
		struct part behind = {new.end, old->end, old->purpose};

		if (old->end <= new.begin || old->begin >= new.end)
			continue;
		if (old->begin < new.begin && old->end > new.end) {
			old->end = new.begin;
			return put_part(row, behind) && put_part(row, new);
		}
		if (old->begin < new.begin)
			old->end = new.begin;
		else if (old->end > new.end)
			old->begin = new.end;
		else
			old->end = old->begin;
	}
	for (uint32_t i = row->part_count; i-- > 0;)
		if (row->parts[i].begin >= row->parts[i].end)
			row->parts[i] = row->parts[--row->part_count];
	return put_part(row, new);
}

/* The purpose that most of the leading category's bytes have; NONE when no category leads so far. */
static uint16_t decisive_purpose(struct tags *tags, const struct tagged *row)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(tags->source.attribution);
	uint64_t by_category[RVP_CATEGORY_COUNT] = {0}, by_purpose[RVP_PURPOSES_MAX] = {0};
	uint16_t best = RVP_PURPOSE_NONE;

	for (uint32_t i = 0; i < row->part_count; i++) {
		by_category[rvp_purpose_category(purposes, row->parts[i].purpose)] +=
		    row->parts[i].end - row->parts[i].begin;
		by_purpose[row->parts[i].purpose] += row->parts[i].end - row->parts[i].begin;
	}
	for (uint16_t purpose = 0; purpose < purposes->count; purpose++) {
		uint64_t bytes = by_category[rvp_purpose_category(purposes, purpose)];

		if (by_purpose[purpose] && bytes * 100.0 >= (double)row->bytes * DECISIVE_PERCENT &&
		    (best == RVP_PURPOSE_NONE || by_purpose[purpose] > by_purpose[best]))
			best = purpose;
	}
	return best;
}

/* ---- tags ---- */

static const char *speaker(uint64_t source)
{
	return source == RVP_SOURCE_PYTHON    ? "Python"
	       : source == RVP_SOURCE_ADAPTER ? "the adapter"
					      : "the program";
}

static void claim(struct tags *tags, struct tagged *row, uint16_t purpose, const struct rvp_event *event)
{
	const struct rvp_record_TAG *tag = &event->moment->record->TAG;
	int length = tag->name.length < NAME_BYTES ? (int)tag->name.length : NAME_BYTES;
	struct rvp_verdict verdict = {.purpose = purpose, .evidence = RVP_EVIDENCE_TAG, .confidence = 100};

	if (row->claimed == purpose)
		return;
	verdict.reason = rvp_reason(tags->source.attribution, "named by %s: '%.*s'", speaker(tag->source),
				    length, length ? tag->name.bytes : "");
	rvp_claim_block(tags->source.attribution, row->key, verdict,
			row->claimed == RVP_PURPOSE_NONE ? 0 : event->moment->ns);
	row->claimed = purpose;
}

static void take_tag(struct tags *tags, const struct rvp_event *event, const struct rvp_block *block,
		     uint16_t purpose)
{
	const struct rvp_record_TAG *tag = &event->moment->record->TAG;
	struct tagged *row = row_for(tags, event->moment->process, block);
	struct part part = {.end = block->bytes, .purpose = purpose};
	uint16_t decisive;

	if (!row)
		return;
	if (tag->bytes) { /* 0: all of it, wherever in it the address is */
		part.begin = tag->address - block->address;
		if (tag->bytes < part.end - part.begin)
			part.end = part.begin + tag->bytes;
	}
	if (!cover(row, part))
		return;
	decisive = decisive_purpose(tags, row);
	if (decisive != RVP_PURPOSE_NONE)
		claim(tags, row, decisive, event);
}

static uint16_t purpose_of(struct tags *tags, const struct rvp_record_TAG *tag)
{
	return rvp_purpose_said(rvp_attribution_purposes(tags->source.attribution), tag->category.bytes,
				tag->category.length, &tags->misnamed);
}

static void note_homeless(struct tags *tags, uint32_t number, uint64_t bytes)
{
	const struct rvp_process *process = &rvp_attribution_run(tags->source.attribution)->processes[number];

	if (process->mode == RVP_MODE_FULL || bytes >= process->threshold_bytes)
		tags->homeless++;
	else if (!bytes) {
		tags->maybe_sampled++;
		tags->threshold_bytes = process->threshold_bytes;
	}
}

static void see_tag(struct tags *tags, const struct rvp_event *event)
{
	const struct rvp_record_TAG *tag = &event->moment->record->TAG;
	const struct rvp_block *block;
	uint16_t purpose;

	if (!tag->category.length)
		return;
	purpose = purpose_of(tags, tag);
	if (purpose == RVP_PURPOSE_NONE)
		return;
	block = rvp_survey_block(tags->source.attribution, event->moment->process, tag->address);
	if (block && tag->address - block->address < (block->bytes ? block->bytes : 1))
		take_tag(tags, event, block, purpose);
	else
		note_homeless(tags, event->moment->process, tag->bytes);
}

/* A block that lived and died cut up between several. */
static void note_end(struct tags *tags, const struct tagged *row)
{
	if (row->claimed != RVP_PURPOSE_NONE && decisive_purpose(tags, row) == row->claimed)
		return;
	tags->cut_up++;
	tags->cut_up_bytes += row->bytes;
}

/* What a user should know of the adapters: that one is off, not tested, or failed. */
static void note_adapter(struct rvp_evidence_source *source, const struct rvp_record_ADAPTER *adapter)
{
	static const char *const states[] = {[RVP_ADAPTER_OFF] = "off",
					     [RVP_ADAPTER_UNTESTED] = "on, untested",
					     [RVP_ADAPTER_FAILED] = "failed"};
	const char *state = adapter->state < sizeof states / sizeof states[0] ? states[adapter->state] : NULL;

	if (state)
		rvp_evidence_note(source->attribution, "%.*s %.*s%sadapter %s: %.*s",
				  (int)adapter->name.length, adapter->name.bytes,
				  (int)adapter->version.length, adapter->version.bytes,
				  adapter->version.length ? " " : "", state, (int)adapter->what.length,
				  adapter->what.bytes);
}

static void survey(struct rvp_evidence_source *source, const struct rvp_event *event,
		   const struct rvp_state *state)
{
	struct tags *tags = (struct tags *)source;
	struct tagged *row;

	(void)state;
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_TAG)
		see_tag(tags, event);
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_ADAPTER)
		note_adapter(source, &event->moment->record->ADAPTER);
	if (event->kind != RVP_EVENT_DIED || !tags->count)
		return;
	row = row_of(tags, event->moment->process, event->block.address);
	if (!row)
		return;
	note_end(tags, row);
	remove_row(tags, row);
}

static void note_homes(const struct tags *tags)
{
	char threshold[RVP_NUMBER_TEXT_BYTES];

	if (tags->homeless)
		rvp_evidence_note(tags->source.attribution, "%llu tags are of addresses in no recorded block",
				  (unsigned long long)tags->homeless);
	if (tags->maybe_sampled)
		rvp_evidence_note(
		    tags->source.attribution,
		    "%llu tags are of blocks that were not recorded: in sampled mode most below %s "
		    "are not (--mode full records each)",
		    (unsigned long long)tags->maybe_sampled,
		    rvp_text_bytes(tags->threshold_bytes, threshold));
}

static void survey_end(struct rvp_evidence_source *source, const struct rvp_state *state)
{
	struct tags *tags = (struct tags *)source;

	(void)state;
	for (size_t i = 0; tags->rows && i <= tags->mask; i++)
		if (tags->rows[i].is_used)
			note_end(tags, &tags->rows[i]);
	if (tags->cut_up)
		rvp_evidence_note(
		    source->attribution,
		    "%llu blocks (%llu bytes) have tags of parts that leave no category %d %% of the block: "
		    "they are named by other evidence",
		    (unsigned long long)tags->cut_up, (unsigned long long)tags->cut_up_bytes,
		    DECISIVE_PERCENT);
	note_homes(tags);
	if (tags->misnamed.count)
		rvp_evidence_note(source->attribution,
				  "%llu tags have a category that is none (\"%s\"): see rvprof.h",
				  (unsigned long long)tags->misnamed.count, tags->misnamed.first);
}

static void close_tags(struct rvp_evidence_source *source)
{
	struct tags *tags = (struct tags *)source;

	for (size_t i = 0; tags->rows && i <= tags->mask; i++)
		free(tags->rows[i].parts);
	free(tags->rows);
	free(tags);
}

struct rvp_evidence_source *rvp_evidence_tags(struct rvp_attribution *attribution)
{
	struct tags *tags = calloc(1, sizeof *tags);

	if (!tags)
		return NULL;
	tags->source = (struct rvp_evidence_source){
	    .survey = survey, .survey_end = survey_end, .close = close_tags, .attribution = attribution};
	return &tags->source;
}
