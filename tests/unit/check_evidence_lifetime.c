/* SPDX-License-Identifier: MIT */
/* check_evidence_lifetime.c: programs without names, made of steps of 1 ms: what grows, what passes, what
 * stays, and on which side of each threshold. */
#include "tests/unit/attributed.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>

enum { MS = 1000000, STEPS = 20, KIB = 1024 };
/* Call paths: main calls load, a step, and its operators. */
enum { MAIN = 1, LOAD, STEP, KV_K, KV_V, OPERATOR, IN_OPERATOR, PROMPT, RESULT };

static struct maker maker;
static struct maker_thread *thread;
static struct attributed it;
static uint64_t now, next_address;

static void node(uint64_t number, uint64_t parent)
{
	MAKE(thread, NODE, 0, .node = number, .parent = parent, .pc = 0x1000 + number * 16);
}

static void begin(void)
{
	maker = maker_open();
	thread = maker_thread(maker_add(&maker, 100));
	now = 1000;
	next_address = 0x100000;
	node(MAIN, 0);
	node(LOAD, MAIN);
	node(STEP, MAIN);
	node(KV_K, STEP);
	node(KV_V, STEP);
	node(OPERATOR, STEP);
	node(IN_OPERATOR, OPERATOR);
	node(PROMPT, STEP);
	node(RESULT, STEP);
}

static uint64_t give(uint64_t stack, uint64_t bytes)
{
	uint64_t address = next_address;

	next_address += (bytes + 4095) & ~UINT64_C(4095);
	now += 100;
	MAKE(thread, ALLOC, 0, .stamp = now, .address = address, .bytes = bytes, .stack = stack);
	return address;
}

static void take(uint64_t address)
{
	now += 100;
	MAKE(thread, FREE, 0, .stamp = now, .address = address, .family = RVP_FAMILY_FREE);
}

static void step(int number)
{
	now = (uint64_t)(number + 1) * MS;
	MAKE(thread, STEP, 0, .stamp = now, .kind = RVP_STEP_BEGIN);
}

static void end_step(int number)
{
	now = (uint64_t)(number + 1) * MS + 900000;
	MAKE(thread, STEP, 0, .stamp = now, .kind = RVP_STEP_END);
}

static void end(void)
{
	attributed_open(&it, &maker, &(struct rvp_attribution_settings){.without_rules = true}, NULL, 0);
}

static void done(void)
{
	attributed_close(&it, &maker);
}

static uint64_t most(enum rvp_category category)
{
	return it.answer.max_by_category[category].bytes;
}

/* Two stores a step that are copied into larger ones: torch.cat. */
START_TEST(copies_that_grow_are_a_cache)
{
	uint64_t k = 0, v = 0;

	begin();
	give(LOAD, 512 * KIB);
	for (int i = 0; i < STEPS; i++) {
		uint64_t bytes = 64 * KIB + (uint64_t)i * KIB, old_k = k, old_v = v;

		step(i);
		k = give(KV_K, bytes);
		v = give(KV_V, bytes);
		if (i) {
			take(old_k);
			take(old_v);
		}
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), (83 + 83 + 82 + 82) * KIB);
	ck_assert_uint_eq(most(RVP_CATEGORY_UNKNOWN), 512 * KIB);
	done();
}
END_TEST

/* Pages of both kinds every fourth step, never given back. */
START_TEST(pages_that_stay_are_a_cache)
{
	begin();
	for (int i = 0; i < STEPS; i++) {
		step(i);
		if (i % 4 == 0) {
			give(KV_K, 8 * KIB);
			give(KV_V, 8 * KIB);
		}
		take(give(OPERATOR, 512));
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 5 * 16 * KIB);
	done();
}
END_TEST

/* Four blocks of the prompt, of which `kept` stay; at each of `steps` four of the loop take the place of what was
 * there, twice as large. */
static void doubling(const int *steps, int count, int kept)
{
	uint64_t blocks[4] = {0}, bytes = 64 * KIB;

	begin();
	give(LOAD, 512 * KIB);
	for (int i = 0, at = 0; i < STEPS; i++) {
		bool is_due = i && at < count && steps[at] == i;

		step(i);
		for (int k = 0; (is_due || !i) && k < 4; k++) {
			uint64_t old = blocks[k];

			blocks[k] = give(i ? KV_K : PROMPT, bytes);
			if (i && (at || k >= kept))
				take(old);
		}
		at += is_due;
		bytes *= is_due || !i ? 2 : 1;
		take(give(OPERATOR, 512));
		end_step(i);
	}
	end();
}

/* Each border of growth is one more, and so is the prompt's store that the first one took over, as a whole. */
START_TEST(what_a_doubling_store_took_over_is_growth)
{
	static const int twice[] = {3, 11};

	doubling(twice, 2, 0);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), (4 * 256 + 128) * KIB);
	done();
	doubling(twice, 1, 0);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 0);
	done();
	doubling(twice, 2, 1);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 0);
	done();
}
END_TEST

/* A prompt that goes through token by token has made the store double more often than the loop does. */
START_TEST(a_store_that_doubled_before_goes_on)
{
	uint64_t blocks[4] = {0}, bytes = 16 * KIB;

	begin();
	give(LOAD, 512 * KIB);
	for (int i = 0; i < STEPS; i++) {
		step(i);
		for (int k = 0; (i == 0 || i == 2 || i == 4 || i == 8) && k < 4; k++) {
			uint64_t old = blocks[k];

			blocks[k] = give(i < 8 ? PROMPT : KV_K, bytes);
			if (old)
				take(old);
		}
		bytes *= i == 0 || i == 2 || i == 4 ? 2 : 1;
		take(give(OPERATOR, 512));
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), (4 * 128 + 64) * KIB);
	done();
}
END_TEST

/* One store that doubles now and then, with no sibling: a list of results may do the same. */
START_TEST(a_lone_store_that_grows_unevenly_has_no_name)
{
	uint64_t store = 0;

	begin();
	for (int i = 0; i < STEPS; i++) {
		step(i);
		if ((i & (i - 1)) == 0) {
			uint64_t old = store;

			store = give(RESULT, (uint64_t)(i + 1) * 16 * KIB);
			if (i)
				take(old);
		}
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 0);
	done();
}
END_TEST

/* Grows for some steps, is given back, grows again ...: as often down as up. */
START_TEST(a_pool_that_breathes_is_no_cache)
{
	uint64_t live[2][4];

	begin();
	for (int i = 0; i < STEPS; i++) {
		step(i);
		if (i % 4 < 2) {
			live[0][i % 4] = give(KV_K, 32 * KIB);
			live[1][i % 4] = give(KV_V, 32 * KIB);
		} else {
			take(live[0][i % 4 - 2]);
			take(live[1][i % 4 - 2]);
		}
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 0);
	done();
}
END_TEST

/* The prompt's cache comes from another call path and goes when the growing one takes over. */
START_TEST(what_a_cache_replaces_is_cache_too)
{
	uint64_t k = 0, v = 0;

	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t bytes = 64 * KIB + (uint64_t)i * KIB, old_k = k, old_v = v;

		step(i);
		k = give(i ? KV_K : PROMPT, bytes);
		v = give(i ? KV_K : PROMPT, bytes);
		if (i) {
			take(old_k);
			take(old_v);
		}
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_UNKNOWN), 0);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), (83 + 83 + 82 + 82) * KIB);
	done();
}
END_TEST

/* Asked for by the step and used by its operators: activation. Asked for and given back within one: temp. */
START_TEST(what_passes_is_activation_or_temp)
{
	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t activation, inner;

		step(i);
		activation = give(RESULT, 4 * KIB);
		inner = give(OPERATOR, 2 * KIB);
		take(give(IN_OPERATOR, KIB));
		take(inner);
		give(KV_K, 100); /* a leak: stays, too small to be anything */
		now += 700000;
		take(activation);
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_ACTIVATION), 4 * KIB);
	ck_assert_uint_eq(most(RVP_CATEGORY_TEMP), 3 * KIB);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 0);
	done();
}
END_TEST

/* Pages of the prompt: asked for at the same place, called from elsewhere. */
START_TEST(pages_of_the_prompt_join)
{
	begin();
	MAKE(thread, NODE, 0, .node = 20, .parent = PROMPT, .pc = 0x7777);
	MAKE(thread, NODE, 0, .node = 21, .parent = KV_K, .pc = 0x7777);
	for (int i = 0; i < STEPS; i++) {
		step(i);
		for (int k = 0; k < (i ? 2 : 12); k++)
			give(i ? 21 : 20, 8 * KIB);
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), (12 + 2 * (STEPS - 1)) * 8 * KIB);
	done();
}
END_TEST

/* Said steps are taken at their word: one is enough for what passes within it. */
START_TEST(what_passes_in_the_only_said_step)
{
	begin();
	step(0);
	take(give(RESULT, 4 * KIB));
	end_step(0);
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_ACTIVATION) + most(RVP_CATEGORY_TEMP), 4 * KIB);
	done();
}
END_TEST

static void phase(enum rvp_step_phase phase)
{
	now += 1000;
	MAKE(thread, STEP, 0, .stamp = now, .kind = RVP_STEP_PHASE, .phase = phase);
	now += 1000;
}

/* Saved for backward, and not. */
START_TEST(in_training_activation_is_what_backward_needs)
{
	begin();
	for (int i = 0; i < STEPS; i++) {
		uint64_t saved, result;

		step(i);
		phase(RVP_STEP_PHASE_FORWARD);
		saved = give(RESULT, 4 * KIB);
		result = give(PROMPT, 2 * KIB);
		take(give(OPERATOR, 64));
		take(result);
		phase(RVP_STEP_PHASE_BACKWARD);
		take(give(KV_V, KIB));
		take(saved);
		end_step(i);
	}
	end();
	ck_assert_uint_eq(most(RVP_CATEGORY_ACTIVATION), 4 * KIB);
	ck_assert_uint_eq(most(RVP_CATEGORY_TEMP), 2 * KIB + 64);
	done();
}
END_TEST

static void record_growth(int steps)
{
	begin();
	for (int i = 0; i < steps; i++) {
		step(i);
		give(KV_K, 64 * KIB);
		give(KV_V, 64 * KIB);
		end_step(i);
	}
	end();
}

START_TEST(three_steps_prove_nothing_and_four_do)
{
	record_growth(3);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 0);
	done();
	record_growth(4);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 4 * 128 * KIB);
	done();
}
END_TEST

/* Without steps the same allocations have no name. */
START_TEST(without_steps_nothing_is_said)
{
	begin();
	for (int i = 0; i < STEPS; i++) {
		now = (uint64_t)(i + 1) * MS;
		give(KV_K, 64 * KIB + (uint64_t)(i * 7 % 5) * KIB);
		take(give(OPERATOR, KIB + (uint64_t)(i * 3 % 7)));
	}
	end();
	ck_assert_uint_eq(it.answer.tracked_peak_bytes, most(RVP_CATEGORY_UNKNOWN));
	done();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evidence_lifetime");
	TCase *cases = tcase_create("evidence_lifetime");

	tcase_add_test(cases, copies_that_grow_are_a_cache);
	tcase_add_test(cases, pages_that_stay_are_a_cache);
	tcase_add_test(cases, a_lone_store_that_grows_unevenly_has_no_name);
	tcase_add_test(cases, a_pool_that_breathes_is_no_cache);
	tcase_add_test(cases, what_a_cache_replaces_is_cache_too);
	tcase_add_test(cases, what_passes_is_activation_or_temp);
	tcase_add_test(cases, pages_of_the_prompt_join);
	tcase_add_test(cases, what_passes_in_the_only_said_step);
	tcase_add_test(cases, in_training_activation_is_what_backward_needs);
	tcase_add_test(cases, three_steps_prove_nothing_and_four_do);
	tcase_add_test(cases, without_steps_nothing_is_said);
	tcase_add_test(cases, what_a_doubling_store_took_over_is_growth);
	tcase_add_test(cases, a_store_that_doubled_before_goes_on);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
