/* SPDX-License-Identifier: MIT */
/* check_peak_moment.c: in sampled mode, where is the peak that categories are shown at (report/peak_noise.h)?
 * Programs are made from seeds, whose true bytes are known at each moment; of their small blocks the log has
 * what a sampler with a mean of half a MiB meets. Each is looked at with many seeds, since by one alone
 * nearly every rule is right.
 */
#include "report/analysis.h"
#include "report/peak_noise.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 240, SMALL_BYTES = 4096, SMALL_MAX = 16384, LARGE_MAX = 256, STEPS = 120 };
static const uint64_t sample_bytes = 512 << 10, kib = 1 << 10, mib = 1 << 20;

struct program {
	struct maker maker;
	struct maker_thread *thread;
	uint64_t seed, ns;
	bool is_met[SMALL_MAX]; /* of small blocks */
	uint64_t small_count;   /* live: those of lower numbers */
	uint64_t large_count;
	uint64_t large_bytes[LARGE_MAX], large_sum_bytes;
};

/* Where it was found. */
struct peak {
	uint64_t ns, exact_bytes;
};

static uint64_t below(struct program *program, uint64_t limit)
{
	program->seed ^= program->seed << 13;
	program->seed ^= program->seed >> 7;
	program->seed ^= program->seed << 17;
	return (program->seed >> 11) % limit;
}

static void begin(struct program *program, int number)
{
	memset(program, 0, sizeof *program);
	program->seed = 88172645463325252u + (uint64_t)number * 0x9e3779b97f4a7c15u;
	program->ns = 2000;
	program->maker = maker_open();
	program->thread = &maker_add_with(&program->maker, 100,
					  (struct rvp_record_PROCESS){.stamp = 1000,
								      .mode = RVP_MODE_SAMPLED,
								      .sample_bytes = sample_bytes,
								      .exe = {"/app", 4}})
			       ->threads[0];
	for (int i = 0; i < 10; i++)
		below(program, 2);
}

static struct peak end(struct program *program)
{
	struct rvp_analysis answer;
	struct rvp_run *run;
	struct peak peak;

	maker_close(&program->maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, program->maker.folder)));
	ck_assert(!rvp_failed(rvp_analyse(run, &(struct rvp_question){0}, &answer)));
	peak = (struct peak){.ns = answer.tracked_peak_ns - MAKER_EPOCH_NS};
	for (size_t i = 0; i < answer.site_count; i++)
		peak.exact_bytes += answer.sites[i].at_peak.bytes - answer.sites[i].peak_sampled_bytes;
	rvp_analysis_free(&answer);
	rvp_run_close(run);
	maker_remove(&program->maker);
	return peak;
}

static uint64_t small_address(uint64_t number)
{
	return 0x10000000 + number * 2 * SMALL_BYTES;
}

static void bear_small(struct program *program, uint64_t number)
{
	double p = -expm1(-(double)SMALL_BYTES / (double)sample_bytes);

	program->is_met[number] = (double)below(program, 1 << 30) < p * (1 << 30);
	if (program->is_met[number])
		MAKE(program->thread, SAMPLE, 0, .stamp = program->ns += 10, .address = small_address(number),
		     .bytes = SMALL_BYTES, .stack = 2);
}

static void bury_small(struct program *program, uint64_t number)
{
	if (program->is_met[number])
		MAKE(program->thread, FREE, 0, .stamp = program->ns += 10, .address = small_address(number));
}

static void have_small(struct program *program, uint64_t bytes)
{
	for (; program->small_count < bytes / SMALL_BYTES; program->small_count++)
		bear_small(program, program->small_count);
	for (; program->small_count > bytes / SMALL_BYTES; program->small_count--)
		bury_small(program, program->small_count - 1);
}

/* So many small blocks go, and as many others come: no byte more or less. */
static void churn(struct program *program, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / SMALL_BYTES; i++) {
		uint64_t number = below(program, program->small_count);

		bury_small(program, number);
		bear_small(program, number);
	}
}

static void add_large(struct program *program, uint64_t bytes)
{
	MAKE(program->thread, ALLOC, 0, .stamp = program->ns += 10,
	     .address = 0x900000000 + program->large_count * mib, .bytes = bytes, .stack = 1);
	program->large_bytes[program->large_count++] = bytes;
	program->large_sum_bytes += bytes;
}

static void drop_large(struct program *program)
{
	program->large_count--;
	MAKE(program->thread, FREE, 0, .stamp = program->ns += 10,
	     .address = 0x900000000 + program->large_count * mib);
	program->large_sum_bytes -= program->large_bytes[program->large_count];
}

/* Four tensors of activations, gone at the end of the step; small blocks come and go meanwhile. */
static void step(struct program *program, uint64_t activation_bytes, uint64_t churn_bytes)
{
	for (int i = 0; i < 4; i++) {
		add_large(program, activation_bytes / 4);
		churn(program, churn_bytes / 4);
	}
	for (int i = 0; i < 4; i++)
		drop_large(program);
}

/* A prompt needs 400 KiB, each token 290; what Python does meanwhile is as much before and after. The prompt
 * is the peak, wherever it stands among the steps. */
START_TEST(noise_of_small_blocks_does_not_move_the_peak)
{
	int misses = 0;

	for (int number = 0; number < SEEDS; number++) {
		static struct program program;
		uint64_t prompt_ns[2] = {0};
		struct peak peak;

		begin(&program, number);
		add_large(&program, 2 * mib);
		have_small(&program, 40 * mib);
		for (int i = 0; i < STEPS; i++) {
			bool is_prompt = i == number % STEPS;

			prompt_ns[0] = is_prompt ? program.ns : prompt_ns[0];
			step(&program, is_prompt ? 400 * kib : 290 * kib, (number % 4 + 1) * 256 * kib);
			prompt_ns[1] = is_prompt ? program.ns : prompt_ns[1];
		}
		peak = end(&program);
		misses += peak.exact_bytes != 2 * mib + 400 * kib || peak.ns < prompt_ns[0] ||
			  peak.ns > prompt_ns[1];
	}
	printf("elsewhere than in the prompt: %d of %d\n", misses, SEEDS);
	ck_assert_int_le(misses, SEEDS / 50);
}
END_TEST

/* What is far beyond noise decides, though what was recorded each says the contrary. */
START_TEST(small_blocks_that_are_many_place_the_peak)
{
	int misses = 0;

	for (int number = 0; number < SEEDS; number++) {
		static struct program program;
		uint64_t between[2];

		begin(&program, number);
		have_small(&program, 30 * mib);
		for (int i = 0; i < STEPS; i++) {
			if (i == STEPS / 3)
				have_small(&program, 60 * mib), between[0] = program.ns;
			if (i == STEPS / 2)
				between[1] = program.ns, have_small(&program, 30 * mib);
			step(&program, i < STEPS / 3 || i >= STEPS / 2 ? 2 * mib : 300 * kib, 128 * kib);
		}
		uint64_t ns = end(&program).ns;

		misses += ns < between[0] || ns > between[1];
	}
	printf("elsewhere than at the many: %d of %d\n", misses, SEEDS);
	ck_assert_int_le(misses, SEEDS / 50);
}
END_TEST

/* A small program is of small blocks alone, and has one large one at its end, when they are gone. */
START_TEST(a_program_of_small_blocks_has_its_peak_there)
{
	int misses = 0;

	for (int number = 0; number < SEEDS; number++) {
		static struct program program;
		uint64_t gone_ns;

		begin(&program, number);
		have_small(&program, 12 * mib);
		gone_ns = program.ns;
		have_small(&program, 0);
		add_large(&program, 20 * kib);
		misses += end(&program).ns > gone_ns;
	}
	printf("elsewhere than at the small ones: %d of %d\n", misses, SEEDS);
	ck_assert_int_le(misses, SEEDS / 50);
}
END_TEST

/* A cache grows by 16 KiB a step, small blocks lose 256: from one step to the next no sample tells, over all
 * of them they do. What the found peak had of both is never much less than the most. */
START_TEST(what_sinks_slowly_is_seen)
{
	int misses = 0;

	for (int number = 0; number < SEEDS; number++) {
		static struct program program;
		uint64_t ns[STEPS], bytes[STEPS], most = 0, had = 0;

		begin(&program, number);
		have_small(&program, 40 * mib);
		for (int i = 0; i < STEPS; i++) {
			add_large(&program, 16 * kib);
			ns[i] = program.ns;
			bytes[i] = program.large_sum_bytes + program.small_count * SMALL_BYTES;
			most = bytes[i] > most ? bytes[i] : most;
			have_small(&program, program.small_count * SMALL_BYTES - 256 * kib);
		}
		uint64_t at = end(&program).ns;

		for (int i = 0; i < STEPS; i++)
			had = ns[i] <= at ? bytes[i] : had;
		misses += had + 12 * mib < most;
	}
	printf("more than 12 MiB below the highest: %d of %d\n", misses, SEEDS);
	ck_assert_int_le(misses, SEEDS / 50);
}
END_TEST

/* ---- the sums themselves, (N1) ---- */

enum { PROCESSES = 3, SAMPLES_MAX = 3000 };

struct sample {
	uint64_t born_at, died_at; /* numbers of events; 0: not yet */
	uint32_t process;
	double variance;
};

static double variance_since(const struct sample *samples, size_t count, uint64_t then)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		bool was = samples[i].born_at <= then && (!samples[i].died_at || samples[i].died_at > then);

		sum += was == !samples[i].died_at ? 0 : samples[i].variance;
	}
	return sum;
}

static double bury_process(struct sample *samples, size_t count, uint32_t process, uint64_t now)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		if (samples[i].process == process && !samples[i].died_at) {
			sum += samples[i].variance;
			samples[i].died_at = now;
		}
	return sum;
}

START_TEST(a_mark_has_what_came_and_went_since)
{
	static struct sample samples[SAMPLES_MAX];
	struct program program = {.seed = 88172645463325252u + (uint64_t)_i * 7919};
	struct rvp_peak_noise noise;
	uint64_t peak_at = 0, base_at = 0;
	size_t count = 0;

	ck_assert(rvp_peak_noise_open(&noise, PROCESSES, sample_bytes));
	for (uint64_t now = 1; now < 6000 && count < SAMPLES_MAX; now++) {
		struct sample *one = &samples[below(&program, count + 2)];
		uint64_t number = noise.base.number;

		if (!below(&program, 300)) {
			uint32_t process = (uint32_t)below(&program, PROCESSES);

			rvp_peak_noise_end_process(&noise, process,
						   bury_process(samples, count, process, now));
		} else if (!below(&program, 20)) {
			rvp_peak_noise_see_peak(&noise, below(&program, 400) * sample_bytes, now);
			peak_at = now;
			base_at = noise.base.number != number ? now : base_at;
		} else if (one < samples + count && !one->died_at) {
			one->died_at = now;
			rvp_peak_noise_see_sample(&noise,
						  &(struct rvp_peak_sample){.process = one->process,
									    .birth_ns = one->born_at,
									    .variance = one->variance});
		} else {
			one = &samples[count++];
			*one = (struct sample){now, 0, (uint32_t)below(&program, PROCESSES),
					       (double)(1 + below(&program, 9))};
			rvp_peak_noise_see_sample(&noise, &(struct rvp_peak_sample){.process = one->process,
										    .birth_ns = now,
										    .variance = one->variance,
										    .comes = true});
		}
		ck_assert(fabs(noise.peak.variance - variance_since(samples, count, peak_at)) < 0.5);
		ck_assert(fabs(noise.base.variance - variance_since(samples, count, base_at)) < 0.5);
	}
	ck_assert_uint_gt(noise.base.number, 3);
	ck_assert_uint_gt(noise.peak.number, noise.base.number);
	rvp_peak_noise_free(&noise);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peak_moment");
	TCase *moments = tcase_create("moments");

	tcase_set_timeout(moments, 120);
	tcase_add_test(moments, noise_of_small_blocks_does_not_move_the_peak);
	tcase_add_test(moments, small_blocks_that_are_many_place_the_peak);
	tcase_add_test(moments, a_program_of_small_blocks_has_its_peak_there);
	tcase_add_test(moments, what_sinks_slowly_is_seen);
	tcase_add_loop_test(moments, a_mark_has_what_came_and_went_since, 0, 4);
	suite_add_tcase(suite, moments);
	return run_suite(suite);
}
