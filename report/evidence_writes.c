/* SPDX-License-Identifier: MIT */
/* evidence_writes.c: what blocks are for by how they are written to, for caches that are there from the
 * start: their lives tell nothing.
 *
 * Appended: written steadily, and no unit of two bytes twice. A cache or a log, and nobody can tell from one
 * alone. It is called kv_cache only with siblings (blocks of one size that grow alike: layers, keys and
 * values), or where one block grows at several places at once by the same in each step (layers and tokens
 * within one). Else it is said to be an append-only store, and stays unknown.
 *
 * Static: not written at all: weights, tables, buffers that nobody needs now. Never named by this alone.
 *
 * Rewritten: everything else: results, scratch, optimizer state, bookkeeping. Never named either.
 *
 * Evidence, and not proof: a reordered cache is rewritten, one that is begun anew in the window too; what a
 * device writes is not seen. Thresholds are measured (docs/attribution.md): of appended blocks 0.000 to 0.003
 * of the unit changes hit a unit again, of all others that were written in four looks and more 0.47 and more;
 * arenas of interpreters that only append do so by 4 to 7 units a step, caches by 400 and more.
 */
#include "report/evidence_writes.h"

#include "report/attribution.h"
#include "report/grow.h"
#include "report/write_windows.h"

#include <stdlib.h>

enum {
	LEAST_SCANS = 4, /* of fewer two are the begin and the end */
	ACTIVE_PERCENT = 90,
	REWRITTEN_PERCENT = 3,
	LEAST_CHANGES = 512, /* units that were seen to change: of fewer nothing follows */
	LEAST_UNITS = 64,    /* 128 bytes a step */
	LATE_PERCENT = 40,   /* of pages first written: a front that moves on to the end of the window */
	HOT_PERCENT = 80,    /* of scans: a page that is always written has no front */
	LEAST_GROUPS = 8,    /* of ticks */
	PLACES_AT_ONCE = 3,  /* a log has its end, and at most a head with its length */
	ALIKE_PERCENT =
	    150,  /* growth of siblings, at most so much of the other's: layers get the same rows */
	EVEN = 2, /* pages of a step, at most so many times those of another: where a row crosses a page */
	UNIT_BYTES = 2,
	UNITS_OF_PAGE = 2048,
	/* By ticks a look meets one layer at work and not the next, one token of it or a prompt: what must be so for
	 * one block then needs many. */
	CROWD_SIBLINGS = 4,
	CROWD_ALIKE_PERCENT = 300,
	CROWD_LEAST_ACTIVE = 8, /* looks */
	LATE_PARTS = 4,		/* of the second half of a window */
	SIBLINGS_TO_FOLLOW = 2, /* appended steadily: then a third one of that size belongs to them */
	NEIGHBOURS = 1024,      /* that are looked at for siblings */
};
enum { SIBLINGS_CONFIDENCE = 85, MANY_STORES_CONFIDENCE = 70, NO_NAME_CONFIDENCE = 100 };
static const size_t most_blocks = 65536;

/* ---- one block ---- */

static unsigned count_bits(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

/* Scans are taken together in groups of `size`: those with any write. */
static unsigned count_active(uint64_t active, unsigned scans, unsigned size)
{
	uint64_t group = size < 64 ? ((uint64_t)1 << size) - 1 : UINT64_MAX;
	unsigned count = 0;

	for (unsigned at = 0; at + size <= scans; at += size)
		count += (active >> at & group) != 0;
	return count;
}

/* Ticks may be faster than the program's steps, as long as enough groups of them are left. */
static bool is_steady(const struct rvp_record_WRITTEN *written, bool by_ticks)
{
	unsigned scans = written->scans < 64 ? (unsigned)written->scans : 64, size = 1;

	do {
		if (count_active(written->active, scans, size) * 100 >= scans / size * ACTIVE_PERCENT)
			return true;
		size *= 2;
	} while (by_ticks && scans / size >= LEAST_GROUPS);
	return false;
}

static bool is_percent(uint64_t part, uint64_t whole, unsigned percent)
{
	return (double)part * 100 >= (double)whole * percent;
}

/* Rows of a page and more: no page is written twice, so there is nothing to compare. */
static bool is_front(const struct rvp_record_WRITTEN *written)
{
	uint64_t first = written->early_pages + written->late_pages;

	return !written->observations && written->sampled_pages && first &&
	       is_percent(written->late_pages, first, LATE_PERCENT) &&
	       !(is_percent(written->hottest, written->scans, HOT_PERCENT) && written->scans > 1);
}

double rvp_writing_growth(const struct rvp_record_WRITTEN *written)
{
	unsigned active = count_bits(written->active);
	double pages = active ? (double)written->written_pages / active : 0;

	if (is_front(written))
		return pages * UNITS_OF_PAGE;
	return written->observations ? (double)written->new_units / (double)written->observations * pages : 0;
}

static bool is_written_once(const struct rvp_record_WRITTEN *written)
{
	uint64_t changes = written->new_units + written->again_units;

	if (is_front(written))
		return true;
	return written->observations && changes >= LEAST_CHANGES &&
	       (double)written->again_units * 100 <= (double)changes * REWRITTEN_PERCENT;
}

enum rvp_writing rvp_writing_of(const struct rvp_record_WRITTEN *written, bool by_ticks)
{
	bool is_store;

	if (written->scans < LEAST_SCANS || !written->page_count)
		return RVP_WRITING_TOO_SHORT;
	if (!written->active)
		return written->resident_pages > written->page_count / 2 ? RVP_WRITING_STATIC
									 : RVP_WRITING_EMPTY;
	is_store = is_written_once(written) && rvp_writing_growth(written) >= LEAST_UNITS;
	if (!is_steady(written, by_ticks))
		return is_store ? RVP_WRITING_NOW_AND_THEN : RVP_WRITING_SELDOM;
	return is_store ? RVP_WRITING_APPENDED : RVP_WRITING_REWRITTEN;
}

static bool is_alike(const struct rvp_record_WRITTEN *one, const struct rvp_record_WRITTEN *other,
		     unsigned percent)
{
	double growth = rvp_writing_growth(one), others = rvp_writing_growth(other);

	return one->bytes == other->bytes && one->number == other->number &&
	       growth * 100 <= others * percent && others * 100 <= growth * percent;
}

bool rvp_writing_is_sibling(const struct rvp_record_WRITTEN *one, const struct rvp_record_WRITTEN *other)
{
	return is_alike(one, other, ALIKE_PERCENT);
}

/* Steady in the second half of the window, whatever came before: a prompt may fill the first one layer after layer.
 * What is filled once, block after block, is written in one part of it. */
static bool is_steady_late(const struct rvp_record_WRITTEN *written)
{
	unsigned scans = written->scans < 64 ? (unsigned)written->scans : 64, part = scans / 2 / LATE_PARTS;
	uint64_t of_part = ((uint64_t)1 << part) - 1;

	for (unsigned i = 0; i < LATE_PARTS; i++)
		if (!(written->active >> (scans - (i + 1) * part) & of_part))
			return false;
	return part && count_bits(written->active) >= CROWD_LEAST_ACTIVE;
}

bool rvp_writing_is_many_stores(const struct rvp_record_WRITTEN *written)
{
	return written->runs >= (uint64_t)PLACES_AT_ONCE * count_bits(written->active) &&
	       written->most_pages <= written->least_pages * EVEN;
}

/* ---- the survey ---- */

struct block {
	struct rvp_block_key key;
	struct rvp_record_WRITTEN written;
	enum rvp_writing writing;
	bool by_ticks;
};

struct writes {
	struct rvp_evidence_source source; /* first */
	struct block *blocks;
	size_t count, room;
	uint64_t lone_count, lone_bytes;
};

static bool make_room(struct writes *writes)
{
	return writes->count < most_blocks &&
	       rvp_grow((void **)&writes->blocks, &writes->room, writes->count + 1, sizeof *writes->blocks);
}

/* What came to be in the window, but by moving, was not there when it began. */
static bool is_the_same(const struct rvp_block *block, const struct rvp_record_WRITTEN *written,
			const struct rvp_write_span *span)
{
	return block->address == written->address && block->bytes == written->bytes &&
	       (block->birth_ns <= span->begin_ns || written->moves);
}

static void take(struct writes *writes, const struct rvp_process *of, uint32_t process,
		 const struct rvp_record_WRITTEN *written)
{
	const struct rvp_write_span *span = rvp_write_window_at(of, written->number);
	const struct rvp_block *block =
	    rvp_survey_block(writes->source.attribution, process, written->address);

	if (!block || !span || !is_the_same(block, written, span) || !make_room(writes))
		return;
	writes->blocks[writes->count++] =
	    (struct block){.key = rvp_block_key_of(block, process),
			   .written = *written,
			   .writing = rvp_writing_of(written, span->beat == RVP_WRITE_BEAT_TICKS),
			   .by_ticks = span->beat == RVP_WRITE_BEAT_TICKS};
}

static void survey(struct rvp_evidence_source *source, const struct rvp_event *event,
		   const struct rvp_state *state)
{
	uint32_t process = event->moment->process;

	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_WRITTEN &&
	    process < state->run->process_count)
		take((struct writes *)source, &state->run->processes[process], process,
		     &event->moment->record->WRITTEN);
}

/* ---- claims ---- */

static int compare_keys(const struct rvp_block_key *a, const struct rvp_block_key *b)
{
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->birth_ns != b->birth_ns)
		return a->birth_ns < b->birth_ns ? -1 : 1;
	return a->birth < b->birth ? -1 : a->birth > b->birth;
}

/* Of one block: a window that saw it rewritten contradicts all others; then those in which it was appended
 * to; then the latest. */
static unsigned rank_of(const struct block *block)
{
	if (block->writing == RVP_WRITING_REWRITTEN && !is_written_once(&block->written) &&
	    block->written.again_units)
		return 0;
	return block->writing == RVP_WRITING_APPENDED ? 1 : 2;
}

static int compare_blocks(const void *left, const void *right)
{
	const struct block *a = left, *b = right;
	int order = compare_keys(&a->key, &b->key);

	if (order)
		return order;
	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b) ? -1 : 1;
	return a->written.number > b->written.number ? -1 : a->written.number < b->written.number;
}

/* One word for each block. */
static void merge(struct writes *writes)
{
	size_t kept = 0;

	if (writes->count)
		qsort(writes->blocks, writes->count, sizeof *writes->blocks, compare_blocks);
	for (size_t i = 0; i < writes->count; i++)
		if (!kept || compare_keys(&writes->blocks[kept - 1].key, &writes->blocks[i].key))
			writes->blocks[kept++] = writes->blocks[i];
	writes->count = kept;
}

static int compare_sizes(const void *left, const void *right)
{
	const struct block *a = left, *b = right;

	if (a->key.process != b->key.process)
		return a->key.process < b->key.process ? -1 : 1;
	return a->written.bytes < b->written.bytes ? -1 : a->written.bytes > b->written.bytes;
}

static bool is_sibling(const struct block *one, const struct block *other)
{
	return other->writing == RVP_WRITING_APPENDED &&
	       rvp_writing_is_sibling(&one->written, &other->written);
}

/* One of many that are appended to until the window ends, if not in all looks. */
static bool is_of_crowd(const struct block *block)
{
	return block->by_ticks &&
	       (block->writing == RVP_WRITING_APPENDED || block->writing == RVP_WRITING_NOW_AND_THEN) &&
	       is_steady_late(&block->written);
}

static bool is_crowd_sibling(const struct block *one, const struct block *other)
{
	return is_of_crowd(other) && is_alike(&one->written, &other->written, CROWD_ALIKE_PERCENT);
}

/* In order of compare_sizes they are neighbours. */
static unsigned count_those(const struct writes *writes, size_t number,
			    bool (*is_one)(const struct block *, const struct block *))
{
	const struct block *one = &writes->blocks[number];
	size_t least = number > NEIGHBOURS ? number - NEIGHBOURS : 0;
	size_t most = writes->count - number > NEIGHBOURS ? number + NEIGHBOURS : writes->count;
	unsigned count = 0;

	for (size_t i = number; i-- > least && compare_sizes(&writes->blocks[i], one) == 0;)
		count += is_one(one, &writes->blocks[i]);
	for (size_t i = number + 1; i < most && compare_sizes(&writes->blocks[i], one) == 0; i++)
		count += is_one(one, &writes->blocks[i]);
	return count;
}

static unsigned count_siblings(const struct writes *writes, size_t number)
{
	unsigned siblings = count_those(writes, number, is_sibling), crowd;

	if (siblings >= CROWD_SIBLINGS || !is_of_crowd(&writes->blocks[number]))
		return siblings;
	crowd = count_those(writes, number, is_crowd_sibling);
	return crowd >= CROWD_SIBLINGS ? crowd : siblings;
}

static void claim(struct writes *writes, const struct block *block, enum rvp_category category,
		  unsigned confidence, uint32_t reason)
{
	rvp_claim_block(writes->source.attribution, block->key,
			(struct rvp_verdict){.purpose = (uint16_t)category,
					     .evidence = RVP_EVIDENCE_WRITES,
					     .confidence = (uint8_t)confidence,
					     .reason = reason},
			0);
}

static const char *scan_word(const struct block *block)
{
	return block->by_ticks ? "looks" : "steps";
}

static void claim_appended(struct writes *writes, size_t number)
{
	const struct block *block = &writes->blocks[number];
	const struct rvp_record_WRITTEN *written = &block->written;
	unsigned siblings = count_siblings(writes, number);
	bool is_many = !block->by_ticks && rvp_writing_is_many_stores(written);
	uint32_t reason =
	    rvp_reason(writes->source.attribution,
		       "append-only%s: about %.0f bytes a time, %llu of %llu sampled units written twice in "
		       "%llu %s, %u of "
		       "the same size do the same%s",
		       siblings || is_many ? "" : " store (cache or log)",
		       rvp_writing_growth(written) * UNIT_BYTES, (unsigned long long)written->again_units,
		       (unsigned long long)(written->new_units + written->again_units),
		       (unsigned long long)written->scans, scan_word(block), siblings,
		       is_many ? ", it grows at several places at once" : "");

	if (siblings || is_many) {
		claim(writes, block, RVP_CATEGORY_KV_CACHE,
		      siblings ? SIBLINGS_CONFIDENCE : MANY_STORES_CONFIDENCE, reason);
		return;
	}
	claim(writes, block, RVP_CATEGORY_UNKNOWN, NO_NAME_CONFIDENCE, reason);
	writes->lone_count++;
	writes->lone_bytes += written->bytes;
}

/* Layers are read one after the other while a prompt is: then some are met at work more often than others. */
static bool follows_siblings(const struct writes *writes, size_t number)
{
	return writes->blocks[number].writing == RVP_WRITING_NOW_AND_THEN &&
	       count_siblings(writes, number) >= SIBLINGS_TO_FOLLOW;
}

/* No name, but what was seen: for whoever asks why it has none. */
static void claim_other(struct writes *writes, const struct block *block)
{
	struct rvp_attribution *attribution = writes->source.attribution;
	unsigned long long scans = block->written.scans, active = count_bits(block->written.active);
	uint32_t reason;

	switch (block->writing) {
	case RVP_WRITING_STATIC:
		reason = rvp_reason(attribution, "static: never written in %llu %s, and filled before", scans,
				    scan_word(block));
		break;
	case RVP_WRITING_EMPTY:
		reason = rvp_reason(attribution, "static: never written in %llu %s, and mostly never touched",
				    scans, scan_word(block));
		break;
	case RVP_WRITING_NOW_AND_THEN:
		reason = rvp_reason(attribution, "append-only, but in %llu of %llu %s", active, scans,
				    scan_word(block));
		break;
	case RVP_WRITING_SELDOM:
		reason = rvp_reason(attribution, "written now and then: in %llu of %llu %s", active, scans,
				    scan_word(block));
		break;
	case RVP_WRITING_REWRITTEN:
		reason =
		    rvp_reason(attribution, "rewritten: in %llu of %llu %s", active, scans, scan_word(block));
		break;
	default: return;
	}
	claim(writes, block, RVP_CATEGORY_UNKNOWN, NO_NAME_CONFIDENCE, reason);
}

struct windows {
	unsigned long long count, cut, scans, blocks, cost_ns, ns;
	const char *reason;
};

static struct windows sum_windows(struct rvp_attribution *attribution, const struct rvp_process *process)
{
	struct windows sum = {.reason = ""};

	for (size_t i = 0; i < process->write_window_count; i++) {
		const struct rvp_write_span *span = &process->write_windows[i];

		if (!span->number) {
			rvp_evidence_note(
			    attribution,
			    "writes could not be followed: %s; caches that are there from the start "
			    "can not be told from other blocks",
			    span->reason);
			continue;
		}
		sum.count++;
		sum.cut += !span->has_end;
		sum.scans += span->scans;
		sum.cost_ns += span->cost_ns;
		sum.ns += span->has_end && span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
		sum.blocks = span->block_count > sum.blocks ? span->block_count : sum.blocks;
		sum.reason = span->reason;
	}
	return sum;
}

static void note_windows(struct rvp_attribution *attribution, const struct rvp_process *process)
{
	struct windows sum = sum_windows(attribution, process);

	if (!sum.count)
		return;
	rvp_evidence_note(
	    attribution,
	    "writes to %llu blocks were followed in %llu window%s of %.3f s in all (%llu looks, "
	    "%.1f ms)%s%s%s",
	    sum.blocks, sum.count, sum.count == 1 ? "" : "s", (double)sum.ns / 1e9, sum.scans,
	    (double)sum.cost_ns / 1e6, sum.reason[0] ? "; the last ended because " : "", sum.reason,
	    sum.cut ? "; one was open when the process was gone: what it saw is lost" : "");
}

static void survey_end(struct rvp_evidence_source *source, const struct rvp_state *state)
{
	struct writes *writes = (struct writes *)source;

	merge(writes);
	if (writes->count)
		qsort(writes->blocks, writes->count, sizeof *writes->blocks, compare_sizes);
	for (size_t i = 0; i < writes->count; i++) {
		if (writes->blocks[i].writing == RVP_WRITING_APPENDED || follows_siblings(writes, i))
			claim_appended(writes, i);
		else
			claim_other(writes, &writes->blocks[i]);
	}
	for (size_t i = 0; i < state->run->process_count; i++)
		note_windows(source->attribution, &state->run->processes[i]);
	if (writes->lone_count)
		rvp_evidence_note(
		    source->attribution,
		    "append-only stores that stand alone (cache or log): %llu, %llu bytes, left unknown",
		    (unsigned long long)writes->lone_count, (unsigned long long)writes->lone_bytes);
}

static void close_writes(struct rvp_evidence_source *source)
{
	free(((struct writes *)source)->blocks);
	free(source);
}

struct rvp_evidence_source *rvp_evidence_writes(struct rvp_attribution *attribution)
{
	struct writes *writes = calloc(1, sizeof *writes);

	(void)attribution;
	if (!writes)
		return NULL;
	writes->source.survey = survey;
	writes->source.survey_end = survey_end;
	writes->source.close = close_writes;
	return &writes->source;
}
