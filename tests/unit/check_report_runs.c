/* SPDX-License-Identifier: MIT */
/* check_report_runs.c: there are three ways through a log (report/pass_runs.c), and all must end in the same answer:
 * runs of allocs and frees where nobody looks on, the same where an observer wants each event, and record by record.
 *
 * Two threads read what one does, to the last site's number. With attribution there are two ways more: by what is known of a call path already, and block by block.
 *
 * A log of several processes and threads with everything that can be out of order is made from a seed: of compact events,
 * which make runs, and of records of the same, a chunk each, which do not.
 */
#include "record/event_encode.h"
#include "report/analysis.h"
#include "report/attribution.h"
#include "report/block_table.h"
#include "report/observer.h"
#include "report/read_ahead.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES = 3, THREADS = 3, EVENTS = 12000, ADDRESSES = 60, STACKS = 40, ROWS = 50, MOMENTS = 5 };

static uint64_t seed;

static uint64_t below(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

/* ---- the log ---- */

static void put_definitions(struct maker_thread *thread)
{
	/* Every path has two numbers. */
	for (uint64_t i = 1; i <= STACKS; i++)
		MAKE(thread, NODE, 0, .node = i, .parent = 0, .pc = 0x1000 + i / 2 * 16);
	MAKE(thread, CODE, 64, .code = 1, .first_line = 3, .version = 0x30b, .name = {"f", 1}, .file = {"f.py", 4});
	MAKE(thread, PYTHON_NODE, 0, .node = 1, .parent = 0, .code = 1, .instruction = 2, .is_entry = 1);
}

/* Compact events make runs; records of the same do not. */
static bool is_compact;

static void put_plain_alloc(struct maker_thread *thread, uint64_t stamp, uint64_t address, uint64_t bytes)
{
	uint32_t stack = (uint32_t)below(STACKS), python = (uint32_t)below(2), family = (uint32_t)below(6);
	uint8_t *at;

	if (!is_compact) {
		MAKE(thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = stack,
		     .python = python, .family = family);
		return;
	}
	at = maker_room(thread, RVP_COMPACT_ROOM_BYTES);
	maker_commit(thread,
		     rvp_put_event_alloc(at, &thread->delta, stamp == thread->delta.stamp ? NULL : &stamp, address,
					 bytes, stack, python, family, false),
		     RVP_ALLOC, bytes);
}

static void put_plain_free(struct maker_thread *thread, uint64_t stamp, uint64_t address)
{
	unsigned family = below(4) ? RVP_FAMILY_FREE : RVP_FAMILY_REALLOC;
	uint8_t *at;

	if (!is_compact) {
		MAKE(thread, FREE, 0, .stamp = stamp, .address = address, .family = family);
		return;
	}
	at = maker_room(thread, RVP_COMPACT_ROOM_BYTES);
	maker_commit(thread,
		     rvp_put_event_free(at, &thread->delta, stamp == thread->delta.stamp ? NULL : &stamp, address, family,
					false),
		     RVP_FREE, 0);
}

static void put_alloc(struct maker_thread *thread, uint64_t stamp, uint64_t address)
{
	uint64_t bytes = below(20) ? below(5000) : below(3000000);

	if (below(50))
		put_plain_alloc(thread, stamp, address, bytes);
	else
		MAKE(thread, SAMPLE, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = below(STACKS));
}

static void put_free(struct maker_thread *thread, uint64_t stamp, uint64_t address)
{
	put_plain_free(thread, stamp, address);
	if (!below(30))
		MAKE(thread, UNFREE, 0, .stamp = stamp + 1, .address = address);
}

/* Frees of what is not live and allocs of what is are meant: they are what is out of order. */
static void put_event(struct maker_thread *thread, uint64_t stamp, bool *is_live)
{
	uint64_t number = below(ADDRESSES), address = 0x10000 + number * 4096;
	bool is_odd = !below(15);

	if (!below(200)) {
		MAKE(thread, SNAPSHOT, 0, .stamp = stamp, .rss_anon_bytes = below(100) << 20);
		return;
	}
	if (is_live[number] != is_odd)
		put_free(thread, stamp, address);
	else
		put_alloc(thread, stamp, address);
	is_live[number] = !is_live[number] ^ is_odd;
}

static void put_words(struct maker_thread *thread, uint64_t stamp, int process, bool is_early)
{
	uint64_t address = 0x10000 + below(ADDRESSES) * 4096 + below(2) * 64;

	/* So that what is asked by address, and what is not, both are for long; and one process has scopes. */
	if (is_early && process == 1 && !below(40))
		MAKE(thread, TAG, 64, .stamp = stamp, .address = address, .source = RVP_SOURCE_API,
		     .category = {"kv_cache", 8}, .name = {"k", 1});
	if (process == 2 && !below(40))
		MAKE(thread, SCOPE, 64, .stamp = stamp, .kind = below(2) ? RVP_SCOPE_BEGIN : RVP_SCOPE_END,
		     .source = RVP_SOURCE_API, .category = {"activation", 10}, .name = {"s", 1});
}

static void make_run(struct maker *maker, uint64_t from, bool is_alone)
{
	static bool is_live[PROCESSES][ADDRESSES];
	struct maker_process *processes[PROCESSES];
	uint64_t stamp = 2000;

	seed = from;
	is_compact = !is_alone;
	memset(is_live, 0, sizeof is_live);
	*maker = maker_open();
	for (int i = 0; i < PROCESSES; i++) {
		processes[i] = maker_add_with(maker, 100 + (uint32_t)i,
					      (struct rvp_record_PROCESS){.stamp = 1000,
									  .mode = i ? RVP_MODE_FULL : RVP_MODE_SAMPLED,
									  .sample_bytes = i ? 0 : 65536,
									  .page_bytes = 4096});
		put_definitions(&processes[i]->threads[0]);
		for (int k = 1; k < THREADS; k++)
			maker_thread(processes[i]);
	}
	for (int i = 0, process = 0, thread = 0; i < EVENTS; i++) {
		if (!below(6)) {
			process = (int)below(PROCESSES);
			thread = (int)below(THREADS);
		}
		if (below(3))
			stamp += below(10) ? below(300) : below(500000);
		put_words(&processes[process]->threads[thread], stamp, process, i < EVENTS / 3);
		if (from & 1 && i % (EVENTS / 12) == 0) /* then lives in steps speak too, and are overruled */
			MAKE(&processes[1]->threads[0], STEP, 0, .stamp = stamp, .kind = RVP_STEP_NEXT,
			     .source = RVP_SOURCE_API);
		put_event(&processes[process]->threads[thread], stamp, is_live[process]);
		if (is_alone)
			maker_seal(&processes[process]->threads[thread]);
	}
	maker_close(maker);
}

/* ---- the answers ---- */

struct count {
	struct rvp_observer observer; /* first */
	uint64_t born, died, first; /* first: of their sites */
	bool is_blind;
};

static const char rules[] = "weights \"small\":\n  python \"f\" bytes ..1K\n  because \"x\"\n"
			    "temp \"middle\":\n  python \"f\" bytes 1K..4K\n  because \"x\"\n"
			    "runtime \"of two pages\":\n  python \"f\" bytes ..4K\n  phase decode\n  because \"x\"\n"
			    "gradient \"large\":\n  python \"f\" bytes 1M..\n  generic\n  because \"x\"\n";

/* An answer, and who was overruled. */
struct told {
	struct rvp_analysis answer;
	struct rvp_disagreement disagreements[16];
	size_t disagreement_count;
};

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct count *count = (struct count *)observer;

	count->born += event->kind == RVP_EVENT_BORN;
	count->first += event->kind == RVP_EVENT_BORN && state->sites[event->block.split].first_ns == event->moment->ns &&
			state->sites[event->block.split].allocated.bytes == event->weight.amount.bytes;
	count->died += event->kind == RVP_EVENT_DIED;
}

static bool minds(struct rvp_observer *observer, uint32_t process)
{
	(void)process;
	return !((struct count *)observer)->is_blind;
}

static struct rvp_attribution *attribute(struct rvp_run *run)
{
	char path[] = "/tmp/rvprof-unit-XXXXXX";
	const char *files[] = {path, NULL};
	struct rvp_attribution *attribution;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, rules, strlen(rules)), (int)strlen(rules));
	close(fd);
	ck_assert(!rvp_failed(rvp_attribute(
	    run, &(struct rvp_attribution_settings){.rule_files = files, .without_rules = true}, &attribution)));
	unlink(path);
	return attribution;
}

static void note_disagreements(struct told *told, const struct rvp_attribution *attribution)
{
	size_t count;
	const struct rvp_disagreement *found = rvp_attribution_disagreements(attribution, &count);

	ck_assert_uint_le(count, 16);
	told->disagreement_count = count;
	memcpy(told->disagreements, found, count * sizeof *found);
}

static void answer_into(struct told *told, uint64_t from, bool is_alone, bool is_attributed, struct count *count)
{
	static const uint64_t moments[MOMENTS] = {MAKER_EPOCH_NS + 3000, MAKER_EPOCH_NS + 10000000,
						  MAKER_EPOCH_NS + 50000000, MAKER_EPOCH_NS + 200000000,
						  MAKER_EPOCH_NS + 900000000};
	struct rvp_observer *observers[] = {count ? &count->observer : NULL, NULL};
	struct maker maker;
	struct rvp_attribution *attribution;
	struct rvp_run *run;

	*told = (struct told){.disagreement_count = 0};
	make_run(&maker, from, is_alone);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	attribution = is_attributed ? attribute(run) : NULL;
	ck_assert(!rvp_failed(rvp_analyse(run,
					  &(struct rvp_question){.series_rows = ROWS,
								 .moments_ns = moments,
								 .moment_count = MOMENTS,
								 .attribution = attribution,
								 .observers = count ? observers : NULL},
					  &told->answer)));
	if (attribution)
		note_disagreements(told, attribution);
	rvp_attribution_close(attribution);
	rvp_run_close(run);
	maker_remove(&maker);
}

static void same_amount(struct rvp_amount a, struct rvp_amount b)
{
	ck_assert_uint_eq(a.bytes, b.bytes);
	ck_assert_uint_eq(a.count, b.count);
}

static const struct rvp_site *site_like(const struct rvp_analysis *answer, const struct rvp_site *like)
{
	for (size_t i = 0; i < answer->site_count; i++)
		if (answer->sites[i].process == like->process && answer->sites[i].stack == like->stack &&
		    answer->sites[i].python == like->python && answer->sites[i].purpose == like->purpose &&
		    answer->sites[i].evidence == like->evidence)
			return &answer->sites[i];
	ck_abort_msg("a site is missing");
}

static void same_site(const struct rvp_site *a, const struct rvp_site *b)
{
	ck_assert_uint_eq(a->first_ns, b->first_ns);
	ck_assert_uint_eq(a->last_ns, b->last_ns);
	ck_assert_uint_eq(a->largest_bytes, b->largest_bytes);
	ck_assert_uint_eq(a->is_estimate, b->is_estimate);
	ck_assert_uint_eq(a->reason, b->reason);
	ck_assert_uint_eq(a->confidence, b->confidence);
	ck_assert_uint_eq(a->peak_sampled_bytes, b->peak_sampled_bytes);
	same_amount(a->allocated, b->allocated);
	same_amount(a->temporary, b->temporary);
	same_amount(a->at_peak, b->at_peak);
	same_amount(a->at_end, b->at_end);
	for (int i = 0; i < MOMENTS; i++)
		same_amount(rvp_site_at(a, i), rvp_site_at(b, i));
}

static void same_totals(const struct rvp_totals *a, const struct rvp_totals *b)
{
	ck_assert_uint_eq(a->free_bytes, b->free_bytes);
	ck_assert_uint_eq(a->peak_live_bytes, b->peak_live_bytes);
	ck_assert_uint_eq(a->peak_ns, b->peak_ns);
	ck_assert_uint_eq(a->end_live_bytes, b->end_live_bytes);
	ck_assert_uint_eq(a->live_count, b->live_count);
	ck_assert_uint_eq(a->matched_events, b->matched_events);
	ck_assert_int_eq(memcmp(a->loss, b->loss, sizeof a->loss), 0);
}

static void same_series(const struct rvp_analysis *a, const struct rvp_analysis *b)
{
	ck_assert_uint_eq(a->series_count, b->series_count);
	for (size_t i = 0; i < a->series_count; i++) {
		ck_assert_uint_eq(a->series[i].ns, b->series[i].ns);
		ck_assert_uint_eq(a->series[i].live_bytes, b->series[i].live_bytes);
		ck_assert_uint_eq(a->series[i].rss_bytes, b->series[i].rss_bytes);
	}
}

static void same(const struct rvp_analysis *a, const struct rvp_analysis *b)
{
	same_totals(&a->totals, &b->totals);
	for (int i = 0; i < PROCESSES; i++)
		same_totals(&a->processes[i], &b->processes[i]);
	same_series(a, b);
	ck_assert_uint_eq(a->tracked_peak_bytes, b->tracked_peak_bytes);
	ck_assert_uint_eq(a->tracked_peak_ns, b->tracked_peak_ns);
	ck_assert_uint_eq(a->tracked_end_bytes, b->tracked_end_bytes);
	ck_assert_int_eq(memcmp(a->max_by_purpose, b->max_by_purpose, sizeof a->max_by_purpose), 0);
	ck_assert_int_eq(memcmp(a->max_by_category, b->max_by_category, sizeof a->max_by_category), 0);
	for (int i = 0; i < MOMENTS; i++)
		ck_assert_uint_eq(a->moment_live_bytes[i], b->moment_live_bytes[i]);
	ck_assert_uint_eq(a->site_count, b->site_count);
	for (size_t i = 0; i < a->site_count; i++)
		same_site(&a->sites[i], site_like(b, &a->sites[i]));
}

static void same_told(const struct told *a, const struct told *b)
{
	same(&a->answer, &b->answer);
	ck_assert_uint_eq(a->disagreement_count, b->disagreement_count);
	for (size_t i = 0; i < a->disagreement_count; i++) {
		ck_assert_uint_eq(a->disagreements[i].count, b->disagreements[i].count);
		ck_assert_uint_eq(a->disagreements[i].bytes, b->disagreements[i].bytes);
	}
}

static uint64_t from_of(int number)
{
	return 88172645463325252u + (uint64_t)number * 7919;
}

START_TEST(three_ways_and_one_answer)
{
	struct count count = {.observer = {.see = see, .minds = minds}};
	struct told quick, seen, alone;

	answer_into(&quick, from_of(_i), false, false, NULL);
	answer_into(&seen, from_of(_i), false, false, &count);
	answer_into(&alone, from_of(_i), true, false, NULL);
	ck_assert_uint_gt(quick.answer.totals.peak_live_bytes, 0);
	ck_assert_uint_gt(quick.answer.totals.loss[RVP_LOSS_INVERSION] + quick.answer.totals.loss[RVP_LOSS_UNKNOWN_FREE], 0);
	ck_assert_uint_gt(count.died, 1000);
	same_told(&quick, &seen);
	same_told(&quick, &alone);
	rvp_analysis_free(&quick.answer);
	rvp_analysis_free(&seen.answer);
	rvp_analysis_free(&alone.answer);
}

static bool has_purpose(const struct rvp_analysis *answer, enum rvp_category category, enum rvp_evidence evidence)
{
	for (size_t i = 0; i < answer->site_count; i++)
		if (answer->sites[i].purpose == category && answer->sites[i].evidence == evidence)
			return true;
	return false;
}

START_TEST(what_is_known_of_a_call_path_is_what_each_block_is_for)
{
	struct count count = {.observer = {.see = see, .minds = minds}};
	struct told quick, seen, alone;

	answer_into(&quick, from_of(_i), false, true, NULL);
	answer_into(&seen, from_of(_i), false, true, &count);
	answer_into(&alone, from_of(_i), true, true, NULL);
	ck_assert(has_purpose(&quick.answer, RVP_CATEGORY_WEIGHTS, RVP_EVIDENCE_RULE));
	ck_assert(has_purpose(&quick.answer, RVP_CATEGORY_TEMP, RVP_EVIDENCE_RULE));
	ck_assert(has_purpose(&quick.answer, RVP_CATEGORY_GRADIENT, RVP_EVIDENCE_GENERIC));
	ck_assert(has_purpose(&quick.answer, RVP_CATEGORY_KV_CACHE, RVP_EVIDENCE_TAG));
	ck_assert(has_purpose(&quick.answer, RVP_CATEGORY_ACTIVATION, RVP_EVIDENCE_SCOPE));
	ck_assert_uint_gt(quick.disagreement_count, from_of(_i) & 1 ? 1 : 0);
	same_told(&quick, &seen);
	same_told(&quick, &alone);
	rvp_analysis_free(&quick.answer);
	rvp_analysis_free(&seen.answer);
	rvp_analysis_free(&alone.answer);
}

START_TEST(who_does_not_mind_is_shown_the_first_block_of_each_site)
{
	struct count all = {.observer = {.see = see, .minds = minds}};
	struct count blind = {.observer = {.see = see, .minds = minds}, .is_blind = true};
	struct told seen, quick;

	answer_into(&seen, from_of(_i), false, false, &all);
	answer_into(&quick, from_of(_i), false, false, &blind);
	same_told(&quick, &seen);
	ck_assert_uint_eq(blind.first, all.first);
	ck_assert_uint_ge(blind.first, quick.answer.site_count);
	ck_assert_uint_lt(blind.born * 2, all.born);
	rvp_analysis_free(&seen.answer);
	rvp_analysis_free(&quick.answer);
}

START_TEST(two_threads_and_one_answer)
{
	struct told one, two;

	rvp_set_reading_threads(1);
	answer_into(&one, from_of(_i), false, true, NULL);
	for (int i = 0; i < 5; i++) {
		rvp_set_reading_threads(2);
		answer_into(&two, from_of(_i), false, true, NULL);
		same_told(&one, &two);
		for (size_t k = 0; k < one.answer.site_count; k++)
			same_site(&one.answer.sites[k], &two.answer.sites[k]);
		rvp_analysis_free(&two.answer);
	}
	rvp_set_reading_threads(0);
	rvp_analysis_free(&one.answer);
}

/* Whoever has enough stops in the middle. */
START_TEST(a_second_thread_ends_with_its_timeline)
{
	struct maker maker;
	struct rvp_run *run;

	make_run(&maker, from_of(0), false);
	rvp_set_reading_threads(2);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	for (int enough = 0; enough < 300; enough++) {
		struct rvp_timeline *timeline = rvp_timeline_open(run, RVP_NO_PROCESS);
		struct rvp_moment moment;

		ck_assert_ptr_nonnull(timeline);
		for (int i = 0; i < enough; i++)
			ck_assert(rvp_timeline_next(timeline, &moment));
		rvp_timeline_close(timeline);
	}
	rvp_set_reading_threads(0);
	rvp_run_close(run);
	maker_remove(&maker);
}

/* ---- the table of live blocks ---- */

START_TEST(a_table_holds_what_was_put_and_not_removed)
{
	enum { KEYS = 2000 };
	static uint64_t bytes[KEYS]; /* 0: not in */
	struct rvp_block_table table = {0};
	size_t count = 0;

	seed = 88172645463325252u;
	for (int i = 0; i < 60000; i++) {
		uint64_t key = below(KEYS), address = key << (key % 3 * 12);
		struct rvp_block *block = rvp_block_find_by(&table, rvp_block_guess(&table, address), address);

		ck_assert_int_eq(block != NULL, bytes[key] != 0);
		if (block) {
			ck_assert_uint_eq(block->bytes, bytes[key]);
			ck_assert_ptr_null(rvp_block_add(&table, address));
			rvp_block_remove(&table, rvp_block_find(&table, address));
			bytes[key] = 0;
			count--;
		} else {
			bytes[key] = 1 + below(1000000);
			ck_assert_ptr_nonnull(rvp_block_put(
			    &table, &(struct rvp_block){.address = address, .bytes = bytes[key]}));
			count++;
		}
		ck_assert_uint_eq(table.count, count);
	}
	ck_assert_uint_le(table.block_count, KEYS);
	rvp_block_table_free(&table);
}

int main(void)
{
	Suite *suite = suite_create("report_runs");
	TCase *ways = tcase_create("ways"), *blocks = tcase_create("blocks");

	tcase_set_timeout(ways, 60);
	tcase_set_timeout(blocks, 60);
	tcase_add_loop_test(ways, three_ways_and_one_answer, 0, 4);
	tcase_add_loop_test(ways, what_is_known_of_a_call_path_is_what_each_block_is_for, 0, 4);
	tcase_add_loop_test(ways, who_does_not_mind_is_shown_the_first_block_of_each_site, 0, 2);
	tcase_add_loop_test(ways, two_threads_and_one_answer, 0, 4);
	tcase_add_test(ways, a_second_thread_ends_with_its_timeline);
	suite_add_tcase(suite, ways);
	tcase_add_test(blocks, a_table_holds_what_was_put_and_not_removed);
	suite_add_tcase(suite, blocks);
	return run_suite(suite);
}
