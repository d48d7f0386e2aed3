/* SPDX-License-Identifier: MIT */
/* check_report_match.c: worked examples with known bytes: what lives, dies, is put right or inherited, and what totals say. */
#include "record/log_writer.h"
#include "report/analysis.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct maker maker;
static struct rvp_run *run;
static struct rvp_analysis answer;

static void analyse_with(struct rvp_question question)
{
	maker_close(&maker);
	struct rvp_status status = rvp_run_open(&run, maker.folder);
	char line[600];

	ck_assert_msg(!rvp_failed(status), "%s", rvp_status_line(&status, line, sizeof line));
	ck_assert(!rvp_failed(rvp_analyse(run, &question, &answer)));
}

static void analyse(void)
{
	analyse_with((struct rvp_question){.series_rows = 10});
}

static void done(void)
{
	rvp_analysis_free(&answer);
	rvp_run_close(run);
	maker_remove(&maker);
}

static const struct rvp_site *site_with(uint32_t process, uint32_t stack)
{
	for (size_t i = 0; i < answer.site_count; i++)
		if (answer.sites[i].process == process && answer.sites[i].stack == stack)
			return &answer.sites[i];
	ck_abort_msg("no site with stack %u in process %u", stack, process);
}

static void put_alloc(struct maker_thread *thread, uint64_t stamp, uint64_t address, uint64_t bytes,
		      uint64_t stack)
{
	MAKE(thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = stack);
}

static void put_free(struct maker_thread *thread, uint64_t stamp, uint64_t address)
{
	MAKE(thread, FREE, 0, .stamp = stamp, .address = address, .family = RVP_FAMILY_FREE);
}

START_TEST(one_thread_to_the_byte)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	put_alloc(thread, 2000, 0x1000, 100, 1);
	put_alloc(thread, 3000, 0x2000, 50, 2);
	put_free(thread, 4000, 0x1000);
	put_alloc(thread, 5000, 0x3000, 30, 1);
	maker_seal(thread);
	put_alloc(thread, 6000, 0x1000, 7, 1);
	analyse();
	ck_assert_uint_eq(answer.totals.peak_live_bytes, 150);
	ck_assert_uint_eq(answer.totals.peak_ns, MAKER_EPOCH_NS + 3000);
	ck_assert_uint_eq(answer.totals.end_live_bytes, 87);
	ck_assert_uint_eq(answer.totals.free_bytes, 100);
	ck_assert_uint_eq(answer.totals.live_count, 3);
	ck_assert(answer.totals.timeline_is_exact);
	ck_assert(answer.totals.counters_are_exact);
	ck_assert_uint_eq(answer.totals.lost_records, 0);
	ck_assert_uint_eq(site_with(0, 1)->at_peak.bytes, 100);
	ck_assert_uint_eq(site_with(0, 2)->at_peak.bytes, 50);
	ck_assert_uint_eq(site_with(0, 1)->at_end.bytes, 37);
	ck_assert_uint_eq(site_with(0, 1)->at_end.count, 2);
	ck_assert_uint_eq(site_with(0, 1)->allocated.bytes, 137);
	ck_assert_uint_eq(site_with(0, 1)->largest_bytes, 100);
	done();
}
END_TEST

START_TEST(threads_merge_by_time)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *one = &process->threads[0], *two = maker_thread(process);

	put_alloc(one, 2000, 0x1000, 100, 1);
	put_free(two, 3000, 0x1000);
	put_alloc(one, 4000, 0x1000, 60, 1);
	put_alloc(two, 5000, 0x9000, 10, 2);
	put_free(one, 6000, 0x9000);
	analyse();
	ck_assert_uint_eq(answer.totals.peak_live_bytes, 100);
	ck_assert_uint_eq(answer.totals.end_live_bytes, 60);
	ck_assert_uint_eq(answer.totals.free_bytes, 110);
	ck_assert_uint_eq(answer.totals.loss[RVP_LOSS_INVERSION], 0);
	ck_assert(answer.totals.timeline_is_exact);
	done();
}
END_TEST

START_TEST(late_free_is_swallowed)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *one = &process->threads[0], *two = maker_thread(process);

	put_alloc(one, 2000, 0x1000, 100, 1);
	put_alloc(two, 3000, 0x1000, 60, 2);
	put_free(one, 3010, 0x1000); /* of the first block: it came late */
	analyse();
	ck_assert_uint_eq(answer.totals.end_live_bytes, 60);
	ck_assert_uint_eq(answer.totals.free_bytes, 100);
	ck_assert_uint_eq(answer.totals.loss[RVP_LOSS_INVERSION], 1);
	ck_assert(answer.totals.timeline_is_exact);
	done();
}
END_TEST

START_TEST(second_free_behind_a_late_one_counts)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *one = &process->threads[0], *two = maker_thread(process);

	put_alloc(one, 2000, 0x1000, 100, 1);
	put_alloc(two, 3000, 0x1000, 60, 2);
	put_free(one, 3010, 0x1000);
	put_free(one, 3020, 0x1000);
	analyse();
	ck_assert_uint_eq(answer.totals.end_live_bytes, 0);
	ck_assert_uint_eq(answer.totals.free_bytes, 160);
	done();
}
END_TEST

START_TEST(early_free_is_taken_back)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *one = &process->threads[0], *two = maker_thread(process);

	put_free(two, 3000, 0x1000); /* of the block that the other thread's clock saw 10 ns later */
	put_alloc(one, 3010, 0x1000, 100, 1);
	analyse();
	ck_assert_uint_eq(answer.totals.end_live_bytes, 0);
	ck_assert_uint_eq(answer.totals.free_bytes, 100);
	ck_assert_uint_eq(answer.totals.loss[RVP_LOSS_INVERSION], 1);
	ck_assert_uint_eq(answer.totals.loss[RVP_LOSS_UNKNOWN_FREE], 0);
	done();
}
END_TEST

START_TEST(free_of_unknown_address_is_counted_unless_early)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *one = &process->threads[0];

	put_alloc(one, 2000, 0x1000, 100, 1);
	put_free(one, 3000, 0x7000);
	put_free(one, 3001, 0x8000);
	process->entry.counters.early_count = 1;
	analyse();
	ck_assert_uint_eq(answer.totals.loss[RVP_LOSS_UNKNOWN_FREE], 1);
	ck_assert(!answer.totals.timeline_is_exact);
	ck_assert_uint_eq(answer.totals.end_live_bytes, 100);
	done();
}
END_TEST

START_TEST(failed_realloc_restores)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	put_alloc(thread, 2000, 0x1000, 100, 1);
	MAKE(thread, FREE, 0, .stamp = 3000, .address = 0x1000, .family = RVP_FAMILY_REALLOC);
	MAKE(thread, UNFREE, 0, .stamp = 3100, .address = 0x1000);
	analyse();
	ck_assert_uint_eq(answer.totals.end_live_bytes, 100);
	ck_assert_uint_eq(answer.totals.free_bytes, 0);
	ck_assert_uint_eq(answer.totals.peak_live_bytes, 100);
	ck_assert_uint_eq(site_with(0, 1)->temporary.count, 0);
	ck_assert(answer.totals.timeline_is_exact);
	done();
}
END_TEST

START_TEST(temporary_is_freed_before_the_next_alloc)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *one = &process->threads[0], *two = maker_thread(process);

	put_alloc(one, 2000, 0x1000, 100, 1);
	put_free(one, 2100, 0x1000); /* temporary */
	put_alloc(one, 2200, 0x1000, 100, 2);
	put_alloc(one, 2300, 0x2000, 100, 3);
	put_free(one, 2400, 0x1000); /* not: another alloc came between */
	put_free(two, 2500, 0x2000); /* not: another thread */
	put_alloc(one, 2600, 0x3000, 8, 4);
	MAKE(one, FREE, 0, .stamp = 2700, .address = 0x3000,
	     .family = RVP_FAMILY_REALLOC); /* not: it grows */
	analyse();
	ck_assert_uint_eq(site_with(0, 1)->temporary.count, 1);
	ck_assert_uint_eq(site_with(0, 1)->temporary.bytes, 100);
	ck_assert_uint_eq(site_with(0, 2)->temporary.count, 0);
	ck_assert_uint_eq(site_with(0, 3)->temporary.count, 0);
	ck_assert_uint_eq(site_with(0, 4)->temporary.count, 0);
	done();
}
END_TEST

START_TEST(samples_stand_for_more)
{
	const uint64_t mean = 524288, bytes = 1024;
	double p = -expm1(-(double)bytes / (double)mean);

	maker = maker_open();
	struct maker_thread *thread = &maker_add_with(&maker, 100,
						      (struct rvp_record_PROCESS){.stamp = 1000,
										  .mode = RVP_MODE_SAMPLED,
										  .sample_bytes = mean,
										  .exe = {"/app", 4}})
					   ->threads[0];

	put_alloc(thread, 2000, 0x1000, 65536, 1);
	MAKE(thread, SAMPLE, 0, .stamp = 3000, .address = 0x20000, .bytes = bytes, .stack = 2);
	analyse();
	ck_assert_uint_eq(site_with(0, 1)->at_end.bytes, 65536);
	ck_assert_uint_eq(site_with(0, 2)->at_end.bytes, (uint64_t)((double)bytes / p + 0.5));
	ck_assert_uint_eq(site_with(0, 2)->at_end.count, (uint64_t)(1 / p + 0.5));
	ck_assert_uint_eq(site_with(0, 2)->is_estimate, 1);
	ck_assert_uint_eq(site_with(0, 1)->is_estimate, 0);
	ck_assert(!answer.totals.timeline_is_exact);
	ck_assert(answer.totals.error_is_known);
	double unmet = 3 / 1.959964 * (double)mean, one = (double)bytes / p * sqrt(1 - p);
	double error = 1.959964 * sqrt(one * one + unmet * unmet);

	ck_assert_uint_eq(answer.totals.end_error_bytes, (uint64_t)(error + 0.5));
	done();
}
END_TEST

/* Samples come and go while a store grows: one does not say when the peak was, eleven do (report/peak_noise.h). */
START_TEST(samples_noise_does_not_place_the_peak)
{
	for (int samples = 1; samples <= 11; samples += 10) {
		maker = maker_open();
		struct maker_thread *thread =
		    &maker_add_with(&maker, 100,
				    (struct rvp_record_PROCESS){.stamp = 1000,
								.mode = RVP_MODE_SAMPLED,
								.sample_bytes = 524288,
								.exe = {"/app", 4}})
			 ->threads[0];

		put_alloc(thread, 2000, 0x1000, 65536, 1);
		for (int i = 0; i < samples; i++)
			MAKE(thread, SAMPLE, 0, .stamp = 3000 + (uint64_t)i,
			     .address = 0x20000 + (uint64_t)i * 4096, .bytes = 1024, .stack = 2);
		for (int i = 0; i < samples; i++)
			put_free(thread, 4000 + (uint64_t)i, 0x20000 + (uint64_t)i * 4096);
		put_alloc(thread, 5000, 0x90000, 20000, 3);
		analyse();
		ck_assert_uint_eq(site_with(0, 3)->at_peak.bytes, samples == 1 ? 20000 : 0);
		ck_assert_uint_eq(answer.tracked_peak_ns - MAKER_EPOCH_NS, samples == 1 ? 5000 : 3010);
		done();
	}
}
END_TEST

START_TEST(moments_and_growth)
{
	const uint64_t moments[] = {MAKER_EPOCH_NS + 3000, MAKER_EPOCH_NS + 5000};

	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	put_alloc(thread, 2000, 0x1000, 100, 1);
	put_alloc(thread, 3000, 0x2000, 50, 2); /* at the moment: in it */
	put_free(thread, 4000, 0x1000);
	put_alloc(thread, 4500, 0x3000, 500, 3);
	put_alloc(thread, 5001, 0x4000, 1, 3); /* behind the second */
	analyse_with((struct rvp_question){.moments_ns = moments, .moment_count = 2});
	ck_assert_uint_eq(answer.moment_live_bytes[0], 150);
	ck_assert_uint_eq(answer.moment_live_bytes[1], 550);
	ck_assert_uint_eq(rvp_site_at(site_with(0, 1), 0).bytes, 100);
	ck_assert_uint_eq(rvp_site_at(site_with(0, 1), 1).bytes, 0);
	ck_assert_uint_eq(rvp_site_at(site_with(0, 3), 0).bytes, 0);
	ck_assert_uint_eq(rvp_site_at(site_with(0, 3), 1).bytes, 500);
	uint32_t *order = rvp_sites_by(&answer, RVP_BY_GROWTH);

	ck_assert_uint_eq(answer.sites[order[0]].stack, 3);
	ck_assert_uint_eq(answer.sites[order[1]].stack, 2);
	ck_assert_uint_eq(answer.sites[order[2]].stack, 1);
	free(order);
	done();
}
END_TEST

START_TEST(ended_process_leaves_the_tree)
{
	maker = maker_open();
	struct maker_process *one = maker_add(&maker, 100), *two = maker_add(&maker, 200);

	put_alloc(&one->threads[0], 2000, 0x1000, 100, 1);
	one->entry.end_realtime_ns = MAKER_EPOCH_NS + 3000;
	put_alloc(&two->threads[0], 2500, 0x1000, 30, 1);
	put_alloc(&two->threads[0], MAKER_END_NS + 10, 0x2000, 60, 1);
	two->entry.end_realtime_ns = MAKER_EPOCH_NS + MAKER_END_NS + 20;
	/* The first one's last anchor lies behind its said end: no record lies outside a life. */
	analyse();
	ck_assert_uint_eq(answer.totals.peak_live_bytes, 130);
	ck_assert_uint_eq(answer.totals.end_live_bytes, 190);
	ck_assert_uint_eq(answer.processes[0].end_live_bytes, 100);
	ck_assert_uint_eq(answer.processes[1].end_live_bytes, 90);
	ck_assert_uint_eq(answer.processes[1].peak_live_bytes, 90);
	ck_assert_uint_eq(site_with(0, 1)->at_end.bytes, 100);
	ck_assert_uint_eq(site_with(0, 1)->at_peak.bytes, 100);
	done();
}
END_TEST

static struct maker_process *add_child(uint32_t pid, uint32_t parent_pid, uint64_t stamp)
{
	return maker_add_with(&maker, pid,
			      (struct rvp_record_PROCESS){.stamp = stamp,
							  .parent_pid = parent_pid,
							  .start_ticks = pid,
							  .mode = RVP_MODE_FULL,
							  .is_fork = 1,
							  .exe = {"/usr/bin/app", 12}});
}

START_TEST(child_gives_back_what_its_parent_had)
{
	maker = maker_open();
	struct maker_thread *parent = &maker_add(&maker, 100)->threads[0];

	put_alloc(parent, 2000, 0x1000, 100, 1);
	put_alloc(parent, 2100, 0x2000, 11, 1);
	MAKE(parent, FORK, 0, .stamp = 3000, .child_pid = 200);
	put_free(parent, 3100,
		 0x1000); /* after the fork, before the child's first record: still the child's */
	put_alloc(parent, 3200, 0x1000, 999, 1);
	struct maker_thread *child = &add_child(200, 100, 3300)->threads[0];

	put_free(child, 3400, 0x1000);
	put_alloc(child, 3500, 0x1000, 5, 1);
	put_free(child, 3600, 0x1000);
	analyse();
	ck_assert_uint_eq(answer.processes[1].free_bytes, 105);
	ck_assert_uint_eq(answer.processes[1].end_live_bytes, 0);
	ck_assert_uint_eq(answer.processes[0].end_live_bytes, 1010);
	ck_assert_uint_eq(answer.totals.loss[RVP_LOSS_UNKNOWN_FREE], 0);
	ck_assert(answer.totals.timeline_is_exact);
	done();
}
END_TEST

/* By raw clone: no FORK record. What the parent gave back between the child's start and its first record may
 * be the child's; what it gave back before that is not. */
START_TEST(child_made_behind_the_hooks_gives_back_what_its_parent_had)
{
	for (int is_early = 0; is_early < 2; is_early++) {
		maker = maker_open();
		struct maker_thread *parent = &maker_add(&maker, 100)->threads[0];

		put_alloc(parent, 2000, 0x1000, 100, 1);
		put_free(parent, is_early ? 3000 : 20003100, 0x1000);
		struct maker_process *child = add_child(2, 100, 20003300); /* and its start_ticks */

		put_free(&child->threads[0], 20003400, 0x1000);
		analyse();
		ck_assert_uint_eq(answer.processes[1].free_bytes, is_early ? 0 : 100);
		ck_assert_uint_eq(answer.totals.loss[RVP_LOSS_UNKNOWN_FREE], is_early);
		done();
	}
}
END_TEST

/* The moment of birth is known to a hundredth of a second: an address may have been another block's then. */
START_TEST(what_a_child_behind_the_hooks_inherited_is_said_not_to_be_exact)
{
	static const uint64_t again_at[] = {0, 10003200, 20003200, 30013000};

	for (int i = 0; i < 4; i++) {
		maker = maker_open();
		struct maker_thread *parent = &maker_add(&maker, 100)->threads[0];

		put_alloc(parent, 2000, 0x1000, 100, 1);
		put_free(parent, i == 1 ? 10003100 : 20003100, 0x1000);
		if (again_at[i])
			put_alloc(parent, again_at[i], 0x1000, 200, 1);
		if (i == 2)
			put_free(parent, 20003250, 0x1000);
		struct maker_process *child = add_child(2, 100, 40013300);

		put_free(&child->threads[0], 40013400, 0x1000);
		analyse();
		ck_assert(!answer.totals.timeline_is_exact);
		if (i != 2)
			ck_assert_uint_eq(answer.processes[1].free_bytes, i == 1 ? 200 : 100);
		done();
	}
}
END_TEST

START_TEST(grandchild_inherits_through_its_parent)
{
	maker = maker_open();
	struct maker_thread *root = &maker_add(&maker, 100)->threads[0];

	put_alloc(root, 2000, 0x1000, 100, 1);
	put_alloc(root, 2001, 0x5000, 40, 1);
	MAKE(root, FORK, 0, .stamp = 3000, .child_pid = 200);
	put_free(root, 3001, 0x1000);
	struct maker_thread *child = &add_child(200, 100, 3300)->threads[0];

	put_alloc(child, 3400, 0x2000, 20, 1);
	put_free(child, 3410, 0x5000); /* gone before the grandchild: it can not free it again */
	MAKE(child, FORK, 0, .stamp = 3500, .child_pid = 0);
	struct maker_thread *grandchild = &add_child(300, 200, 3600)->threads[0];

	put_free(grandchild, 3700, 0x1000);
	put_free(grandchild, 3701, 0x2000);
	put_free(grandchild, 3702, 0x5000);
	analyse();
	ck_assert_uint_eq(answer.processes[1].free_bytes, 40);
	ck_assert_uint_eq(answer.processes[2].free_bytes, 120);
	ck_assert_uint_eq(answer.processes[2].loss[RVP_LOSS_UNKNOWN_FREE], 1);
	done();
}
END_TEST

/* realloc failed: what the child's parent inherited is still there for the child. */
START_TEST(grandchild_inherits_what_a_failed_realloc_left)
{
	maker = maker_open();
	struct maker_thread *root = &maker_add(&maker, 100)->threads[0];

	put_alloc(root, 2000, 0x1000, 100, 1);
	MAKE(root, FORK, 0, .stamp = 3000, .child_pid = 200);
	struct maker_thread *child = &add_child(200, 100, 3300)->threads[0];

	put_free(child, 3400, 0x1000);
	MAKE(child, UNFREE, 0, .stamp = 3401, .address = 0x1000);
	MAKE(child, FORK, 0, .stamp = 3500, .child_pid = 300);
	struct maker_thread *grandchild = &add_child(300, 200, 3600)->threads[0];

	put_free(grandchild, 3700, 0x1000);
	put_free(child, 3800, 0x1000);
	analyse();
	ck_assert_uint_eq(answer.processes[1].free_bytes, 100);
	ck_assert_uint_eq(answer.processes[2].free_bytes, 100);
	ck_assert_uint_eq(answer.processes[2].loss[RVP_LOSS_UNKNOWN_FREE], 0);
	done();
}
END_TEST

START_TEST(deferred_event_counts_once)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *thread = &process->threads[0];
	struct rvp_slot *slot = thread->slot;

	put_alloc(thread, 2000, 0x1000, 100, 1);
	slot->deferred[0] =
	    (struct rvp_deferred){2000, 0x1000, 100, RVP_ALLOC, RVP_FAMILY_MALLOC}; /* written since */
	slot->deferred[1] = (struct rvp_deferred){2500, 0x2000, 9, RVP_ALLOC, RVP_FAMILY_MALLOC};
	atomic_store(&slot->deferred_count, 2);
	slot->counters.alloc_count++;
	slot->counters.alloc_bytes += 9;
	analyse();
	ck_assert_uint_eq(answer.totals.end_live_bytes, 109);
	ck_assert_uint_eq(site_with(0, 0)->at_end.bytes, 9);
	ck_assert(answer.totals.timeline_is_exact);
	done();
}
END_TEST

START_TEST(missing_records_are_counted)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);

	put_alloc(&process->threads[0], 2000, 0x1000, 100, 1);
	process->entry.counters.record_count = 3; /* of a chunk that is nowhere */
	analyse();
	ck_assert_uint_eq(answer.totals.lost_records, 3);
	ck_assert(!answer.totals.timeline_is_exact);
	ck_assert(!answer.totals.error_is_known);
	done();
}
END_TEST

START_TEST(fold_counts_in_its_site)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	put_alloc(thread, 2000, 0x1000, 100, 1);
	MAKE(thread, FOLD, 0, .stamp = 3000, .stack = 1, .alloc_count = 10, .alloc_bytes = 1000);
	maker.tree.folded = 1;
	analyse();
	ck_assert_uint_eq(site_with(0, 1)->allocated.bytes, 1100);
	ck_assert_uint_eq(site_with(0, 1)->allocated.count, 11);
	ck_assert_uint_eq(site_with(0, 1)->at_end.bytes, 100);
	ck_assert(!answer.totals.timeline_is_exact);
	ck_assert(run->is_folded);
	done();
}
END_TEST

START_TEST(rss_of_the_tree_sums)
{
	maker = maker_open();
	struct maker_process *one = maker_add(&maker, 100), *two = maker_add(&maker, 200);

	MAKE(&one->threads[0], SNAPSHOT, 0, .stamp = 2000, .rss_anon_bytes = 1000, .rss_file_bytes = 10);
	MAKE(&two->threads[0], SNAPSHOT, 0, .stamp = 3000, .rss_anon_bytes = 500);
	MAKE(&one->threads[0], SNAPSHOT, 0, .stamp = 4000, .rss_anon_bytes = 200);
	analyse();
	ck_assert_uint_eq(answer.peak_rss_bytes, 1510);
	ck_assert_uint_eq(answer.peak_rss_ns, MAKER_EPOCH_NS + 3000);
	ck_assert_uint_eq(answer.series[answer.series_count - 1].rss_bytes, 700);
	done();
}
END_TEST

/* Samples from outside count for the image that lives then; the end as the watcher saw it stands. */
START_TEST(watcher_sees_rss_and_end)
{
	struct rvp_log_writer writer;
	char path[128];

	maker = maker_open();
	struct maker_process *before = maker_add(&maker, 100);

	before->entry.state = RVP_ENTRY_RUNNING;
	snprintf(path, sizeof path, "%s/" RVP_WATCH_FILE, maker.folder);
	ck_assert(!rvp_failed(rvp_log_writer_open(&writer, path, 99, 99)));
	RVP_WRITE(&writer, PROCESS, 8, .stamp = 900, .pid = 99, .clock = RVP_CLOCK_MONOTONIC);
	RVP_WRITE(&writer, ANCHOR, 0, .stamp = 900, .realtime_ns = MAKER_EPOCH_NS + 900, .boottime_ns = 977);
	RVP_WRITE(&writer, WATCH, 0, .stamp = 5000, .pid = 100, .start_ticks = 100, .rss_anon_bytes = 4096,
		  .rss_file_bytes = 1000, .peak_rss_bytes = 9000);
	RVP_WRITE(&writer, WATCH, 0, .stamp = 6000, .pid = 12345, .rss_anon_bytes = 1 << 30);
	RVP_WRITE(&writer, WATCH_CHILD, 0, .stamp = MAKER_END_NS + 500, .pid = 100, .how = RVP_ENDING_SIGNAL,
		  .status = 9);
	ck_assert(!rvp_failed(rvp_log_writer_close(&writer)));
	analyse();
	ck_assert_uint_eq(answer.peak_rss_bytes, 9000);
	ck_assert_uint_eq(answer.peak_rss_ns, MAKER_EPOCH_NS + 5000);
	ck_assert_int_eq(run->processes[0].end, RVP_END_KILLED);
	ck_assert_uint_eq(run->processes[0].end_ns, MAKER_EPOCH_NS + MAKER_END_NS + 500);
	ck_assert(run->has_child_end && run->child_status == 9);
	done();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_match");
	TCase *cases = tcase_create("match");

	suite_add_tcase(suite, cases);
	tcase_add_test(cases, one_thread_to_the_byte);
	tcase_add_test(cases, threads_merge_by_time);
	tcase_add_test(cases, late_free_is_swallowed);
	tcase_add_test(cases, second_free_behind_a_late_one_counts);
	tcase_add_test(cases, early_free_is_taken_back);
	tcase_add_test(cases, free_of_unknown_address_is_counted_unless_early);
	tcase_add_test(cases, failed_realloc_restores);
	tcase_add_test(cases, temporary_is_freed_before_the_next_alloc);
	tcase_add_test(cases, samples_stand_for_more);
	tcase_add_test(cases, samples_noise_does_not_place_the_peak);
	tcase_add_test(cases, moments_and_growth);
	tcase_add_test(cases, ended_process_leaves_the_tree);
	tcase_add_test(cases, child_gives_back_what_its_parent_had);
	tcase_add_test(cases, child_made_behind_the_hooks_gives_back_what_its_parent_had);
	tcase_add_test(cases, what_a_child_behind_the_hooks_inherited_is_said_not_to_be_exact);
	tcase_add_test(cases, grandchild_inherits_through_its_parent);
	tcase_add_test(cases, grandchild_inherits_what_a_failed_realloc_left);
	tcase_add_test(cases, deferred_event_counts_once);
	tcase_add_test(cases, missing_records_are_counted);
	tcase_add_test(cases, fold_counts_in_its_site);
	tcase_add_test(cases, rss_of_the_tree_sums);
	tcase_add_test(cases, watcher_sees_rss_and_end);
	return run_suite(suite);
}
