/* SPDX-License-Identifier: MIT */
/* check_steps.c: steps that somebody told of: whose count, where they begin and end, their phases; latency.
 * The made run lasts 10 s; times are ms since MAKER_EPOCH_NS. */
#include "report/latency.h"
#include "report/steps_said.h"

#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>

static struct maker maker;
static struct maker_process *process;
static struct rvp_run *run;
static struct rvp_steps steps;

static void begin(void)
{
	maker = maker_open();
	process = maker_add(&maker, 100);
}

static void find(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_steps_find(run, &steps)));
}

static void end(void)
{
	rvp_steps_free(&steps);
	rvp_run_close(run);
	maker_remove(&maker);
}

struct said {
	enum rvp_step_kind kind;
	enum rvp_source source;
	enum rvp_step_phase phase;
	uint64_t seq_len, tokens;
	const char *name;
};

static void say(struct maker_thread *thread, uint64_t ms, struct said said)
{
	struct rvp_text name = {said.name ? said.name : "", said.name ? strlen(said.name) : 0};

	MAKE(thread, STEP, 64, .stamp = ms * 1000000, .kind = said.kind, .source = said.source,
	     .phase = said.phase, .seq_len = said.seq_len, .tokens = said.tokens, .name = name);
}

#define SAY(thread, ms, kind_, source_, ...) \
	say(thread, ms, (struct said){.kind = RVP_STEP_##kind_, .source = RVP_SOURCE_##source_, __VA_ARGS__})

static uint64_t ms_of(uint64_t ns)
{
	return (ns - MAKER_EPOCH_NS) / 1000000;
}

static void expect(size_t number, uint64_t begin_ms, uint64_t end_ms)
{
	ck_assert_uint_lt(number, steps.count);
	ck_assert_uint_eq(ms_of(steps.steps[number].begin_ns), begin_ms);
	ck_assert_uint_eq(ms_of(steps.steps[number].end_ns), end_ms);
}

START_TEST(n_next_calls_are_n_steps_and_the_last_lasts_to_the_end)
{
	struct maker_thread *thread = &process->threads[0];

	for (uint64_t ms = 1000; ms <= 3000; ms += 1000)
		SAY(thread, ms, NEXT, API);
	find();
	ck_assert_uint_eq(steps.count, 3);
	ck_assert_str_eq(steps.source, "api");
	ck_assert_double_eq(steps.confidence, 1);
	expect(0, 1000, 2000);
	expect(1, 2000, 3000);
	ck_assert_uint_eq(steps.steps[2].end_ns, run->processes[0].end_ns);
	ck_assert(!steps.steps[2].is_open);
}
END_TEST

START_TEST(nested_begins_count_once_and_an_end_without_a_begin_is_nothing)
{
	struct maker_thread *thread = &process->threads[0];

	SAY(thread, 900, END, API);
	SAY(thread, 1000, BEGIN, API, .seq_len = 7, .name = "decode");
	SAY(thread, 1100, BEGIN, API, .name = "inner");
	SAY(thread, 1200, END, API);
	SAY(thread, 1300, END, API);
	SAY(thread, 1400, END, API);
	SAY(thread, 1500, BEGIN, API);
	find();
	ck_assert_uint_eq(steps.count, 2);
	expect(0, 1000, 1300);
	ck_assert_str_eq(steps.steps[0].name, "decode");
	ck_assert_uint_eq(steps.steps[0].phase, RVP_STEP_PHASE_DECODE);
	ck_assert_uint_eq(steps.steps[0].seq_len, 7);
	ck_assert(!steps.steps[0].is_open);
	ck_assert(steps.steps[1].is_open);
	ck_assert_uint_eq(steps.steps[1].end_ns, run->processes[0].end_ns);
}
END_TEST

static const struct {
	enum rvp_source said, beside;
	const char *source;
} beliefs[] = {
    {RVP_SOURCE_API, RVP_SOURCE_PYTHON, "api"},
    {RVP_SOURCE_PYTHON, RVP_SOURCE_NVTX, "python"},
    {RVP_SOURCE_NVTX, RVP_SOURCE_ADAPTER, "nvtx"},
    {RVP_SOURCE_ADAPTER, RVP_SOURCE_FUNCTION, "python"},
};

START_TEST(the_most_explicit_source_wins_however_many_others_tell_of)
{
	struct maker_thread *thread = &process->threads[0];

	for (uint64_t ms = 1000; ms < 1500; ms += 100) {
		say(thread, ms, (struct said){RVP_STEP_BEGIN, beliefs[_i].beside, 0, 0, 0, "llama_decode"});
		say(thread, ms + 50, (struct said){RVP_STEP_END, beliefs[_i].beside, 0, 0, 0, ""});
	}
	say(thread, 2000, (struct said){RVP_STEP_BEGIN, beliefs[_i].said, 0, 0, 0, "x"});
	say(thread, 2500, (struct said){RVP_STEP_END, beliefs[_i].said, 0, 0, 0, ""});
	find();
	ck_assert_uint_eq(steps.count, 1);
	ck_assert_str_eq(steps.source, beliefs[_i].source);
	expect(0, 2000, 2500);
}
END_TEST

START_TEST(of_functions_the_lowest_rank_counts_and_what_failed_does_not)
{
	struct maker_thread *thread = &process->threads[0];

	SAY(thread, 500, BEGIN, FUNCTION, .name = "ggml_backend_sched_graph_compute_async");
	SAY(thread, 600, END, FUNCTION);
	SAY(thread, 1000, BEGIN, FUNCTION, .phase = RVP_STEP_PHASE_PREFILL, .seq_len = 5, .tokens = 5,
	    .name = "llama_decode");
	SAY(thread, 1100, END, FUNCTION);
	SAY(thread, 1200, BEGIN, FUNCTION, .name = "llama_decode");
	SAY(thread, 1300, END, FUNCTION, .name = RVP_STEP_FAILED);
	find();
	ck_assert_uint_eq(steps.count, 1);
	expect(0, 1000, 1100);
	ck_assert_str_eq(steps.source, "function");
	ck_assert_double_eq(steps.confidence, 1);
	ck_assert_uint_eq(steps.steps[0].tokens, 5);
}
END_TEST

START_TEST(graphs_alone_are_believed_less)
{
	struct maker_thread *thread = &process->threads[0];

	SAY(thread, 500, BEGIN, FUNCTION, .name = "ggml_backend_sched_graph_compute_async");
	SAY(thread, 600, END, FUNCTION);
	find();
	ck_assert_uint_eq(steps.count, 1);
	ck_assert_double_lt(steps.confidence, 1);
}
END_TEST

START_TEST(a_functions_begin_ends_what_an_exception_left_open)
{
	struct maker_thread *thread = &process->threads[0];

	SAY(thread, 1000, BEGIN, FUNCTION, .name = "llama_decode");
	SAY(thread, 1500, BEGIN, FUNCTION, .name = "llama_decode");
	SAY(thread, 1600, END, FUNCTION);
	find();
	ck_assert_uint_eq(steps.count, 2);
	expect(0, 1000, 1500);
	expect(1, 1500, 1600);
	ck_assert(steps.steps[0].is_open);
	ck_assert(!steps.steps[1].is_open);
}
END_TEST

START_TEST(steps_that_take_turns_on_threads_are_one_sequence)
{
	struct maker_thread *first = &process->threads[0], *second = maker_thread(process);

	for (uint64_t i = 0; i < 4; i++) {
		SAY(i % 2 ? second : first, 1000 + 100 * i, BEGIN, FUNCTION, .name = "llama_decode");
		SAY(i % 2 ? second : first, 1100 + 100 * i, END, FUNCTION);
	}
	find();
	ck_assert_uint_eq(steps.count, 4);
	ck_assert_uint_eq(steps.other_count, 0);
	expect(3, 1300, 1400);
}
END_TEST

START_TEST(where_threads_overlap_the_busiest_is_the_clock)
{
	struct maker_thread *first = &process->threads[0], *second = maker_thread(process);

	for (uint64_t i = 0; i < 3; i++) {
		SAY(second, 1000 + 100 * i, BEGIN, API);
		SAY(second, 1060 + 100 * i, END, API);
	}
	for (uint64_t i = 0; i < 2; i++) {
		SAY(first, 1050 + 100 * i, BEGIN, API);
		SAY(first, 1090 + 100 * i, END, API);
	}
	find();
	ck_assert_uint_eq(steps.count, 3);
	ck_assert_uint_eq(steps.other_count, 2);
	expect(2, 1200, 1260);
}
END_TEST

START_TEST(the_process_with_the_most_steps_is_the_clock)
{
	struct maker_thread *other = &maker_add(&maker, 200)->threads[0];

	SAY(&process->threads[0], 1000, NEXT, API);
	SAY(other, 2000, NEXT, API);
	SAY(other, 3000, NEXT, API);
	find();
	ck_assert_uint_eq(steps.count, 2);
	ck_assert_uint_eq(run->processes[steps.steps[0].process].pid, 200);
	ck_assert_uint_eq(steps.other_count, 1);
}
END_TEST

START_TEST(phases_are_the_load_and_parts_of_steps)
{
	struct maker_thread *thread = &process->threads[0];

	SAY(thread, 1000, BEGIN, ADAPTER, .phase = RVP_STEP_PHASE_FORWARD);
	SAY(thread, 1100, PHASE, ADAPTER, .phase = RVP_STEP_PHASE_BACKWARD);
	SAY(thread, 1200, PHASE, ADAPTER, .phase = RVP_STEP_PHASE_UPDATE);
	SAY(thread, 1300, END, ADAPTER);
	SAY(thread, 1400, PHASE, ADAPTER, .phase = RVP_STEP_PHASE_FORWARD);
	find();
	ck_assert_uint_eq(steps.count, 1);
	ck_assert_uint_eq(steps.span_count, 4);
	ck_assert_uint_eq(rvp_phase_at(&steps, MAKER_EPOCH_NS + 900000000), RVP_STEP_PHASE_LOAD);
	ck_assert_uint_eq(rvp_phase_at(&steps, MAKER_EPOCH_NS + 1000000000), RVP_STEP_PHASE_FORWARD);
	ck_assert_uint_eq(rvp_phase_at(&steps, MAKER_EPOCH_NS + 1150000000), RVP_STEP_PHASE_BACKWARD);
	ck_assert_uint_eq(rvp_phase_at(&steps, MAKER_EPOCH_NS + 1299999999), RVP_STEP_PHASE_UPDATE);
	ck_assert_uint_eq(rvp_phase_at(&steps, MAKER_EPOCH_NS + 1300000000), RVP_STEP_PHASE_NONE);
	ck_assert_int_eq(rvp_step_at(&steps, MAKER_EPOCH_NS + 999999999), -1);
	ck_assert_int_eq(rvp_step_at(&steps, MAKER_EPOCH_NS + 1000000000), 0);
	ck_assert_int_eq(rvp_step_at(&steps, MAKER_EPOCH_NS + 5000000000), 0);
}
END_TEST

static void range(struct maker_thread *thread, uint64_t ms, enum rvp_scope_kind kind, const char *name)
{
	struct rvp_text text = {name, strlen(name)};

	MAKE(thread, SCOPE, 64, .stamp = ms * 1000000, .kind = kind, .source = RVP_SOURCE_NVTX, .name = text);
}

START_TEST(nvtx_ranges_with_a_steps_name_are_steps_whatever_is_around_and_inside)
{
	struct maker_thread *thread = &process->threads[0];

	range(thread, 500, RVP_SCOPE_BEGIN, "epoch");
	for (uint64_t i = 0; i < 3; i++) {
		range(thread, 1000 + 100 * i, RVP_SCOPE_BEGIN, i ? "ProfilerStep#2" : "step 0");
		range(thread, 1010 + 100 * i, RVP_SCOPE_BEGIN, "decode");
		range(thread, 1020 + 100 * i, RVP_SCOPE_END, "");
		range(thread, 1050 + 100 * i, RVP_SCOPE_END, "");
	}
	find();
	ck_assert_uint_eq(steps.count, 3);
	ck_assert_str_eq(steps.source, "nvtx");
	expect(1, 1100, 1150);
	ck_assert(!rvp_is_step_name("stepping stone", 14));
	ck_assert(!rvp_is_step_name("12", 2));
	ck_assert(rvp_is_step_name("Iteration [12]", 14));
}
END_TEST

START_TEST(a_run_without_a_word_has_none_and_says_why)
{
	find();
	ck_assert_uint_eq(steps.count, 0);
	ck_assert_str_eq(steps.source, "none");
	ck_assert_str_ne(steps.why_none, "");
	ck_assert_int_eq(rvp_step_at(&steps, MAKER_EPOCH_NS), -1);
}
END_TEST

static const struct {
	uint64_t times_us[12];
	size_t count;
	uint64_t p50, p95, p99;
	double mean, std;
} latencies[] = {
    {{0}, 0, 0, 0, 0, 0, 0},
    {{42}, 1, 42, 42, 42, 42, 0},
    {{1, 2}, 2, 1, 2, 2, 1.5, 0.5},
    {{100, 10, 50, 90, 20}, 5, 50, 100, 100, 54, 36.11094017053558},
    {{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 10, 50, 100, 100, 55, 28.722813232690143},
};

START_TEST(percentiles_are_by_nearest_rank_and_the_deviation_the_populations)
{
	uint64_t times_us[12];
	struct rvp_latency latency;

	memcpy(times_us, latencies[_i].times_us, sizeof times_us);
	latency = rvp_latency_of(times_us, latencies[_i].count);
	ck_assert_uint_eq(latency.count, latencies[_i].count);
	ck_assert_uint_eq(latency.p50_us, latencies[_i].p50);
	ck_assert_uint_eq(latency.p95_us, latencies[_i].p95);
	ck_assert_uint_eq(latency.p99_us, latencies[_i].p99);
	ck_assert_double_eq(latency.mean_us, latencies[_i].mean);
	ck_assert_double_eq_tol(latency.std_us, latencies[_i].std, 1e-12);
}
END_TEST

START_TEST(a_row_a_step_and_empty_fields_for_what_was_not_measured)
{
	struct rvp_step two[] = {{.begin_ns = 1000, .end_ns = 2501499, .seq_len = 25},
				 {.begin_ns = 3000000, .end_ns = 3000501}};
	char text[256] = "";
	FILE *file = fmemopen(text, sizeof text, "w");

	rvp_latency_write(file, NULL, &(struct rvp_steps){.steps = two, .count = 2}, NULL);
	fclose(file);
	ck_assert_str_eq(text, "sample_id,wall_time_us,kernel_time_us,seq_len\n0,2500,,25\n1,1,,\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steps");
	TCase *told = tcase_create("told"), *figures = tcase_create("figures");

	tcase_add_checked_fixture(told, begin, end);
	tcase_add_test(told, n_next_calls_are_n_steps_and_the_last_lasts_to_the_end);
	tcase_add_test(told, nested_begins_count_once_and_an_end_without_a_begin_is_nothing);
	tcase_add_loop_test(told, the_most_explicit_source_wins_however_many_others_tell_of, 0,
			    sizeof beliefs / sizeof *beliefs);
	tcase_add_test(told, of_functions_the_lowest_rank_counts_and_what_failed_does_not);
	tcase_add_test(told, graphs_alone_are_believed_less);
	tcase_add_test(told, a_functions_begin_ends_what_an_exception_left_open);
	tcase_add_test(told, steps_that_take_turns_on_threads_are_one_sequence);
	tcase_add_test(told, where_threads_overlap_the_busiest_is_the_clock);
	tcase_add_test(told, the_process_with_the_most_steps_is_the_clock);
	tcase_add_test(told, phases_are_the_load_and_parts_of_steps);
	tcase_add_test(told, nvtx_ranges_with_a_steps_name_are_steps_whatever_is_around_and_inside);
	tcase_add_test(told, a_run_without_a_word_has_none_and_says_why);
	tcase_add_loop_test(figures, percentiles_are_by_nearest_rank_and_the_deviation_the_populations, 0,
			    sizeof latencies / sizeof *latencies);
	tcase_add_test(figures, a_row_a_step_and_empty_fields_for_what_was_not_measured);
	suite_add_tcase(suite, told);
	suite_add_tcase(suite, figures);
	return run_suite(suite);
}
