/* SPDX-License-Identifier: MIT */
/* check_steps_detect.c: steps of programs that name none. A decoder is made as a log: main calls step, step
 * asks for an input and now and then for a page that stays, goes through its layers (a query, a hidden row),
 * asks for scores and gives all back. Each rule is tried on both of its sides. */
#include "report/steps.h"

#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>

enum { THRESHOLD_BYTES = 16384 };

/* Places: numbers of call-path nodes. */
enum place {
	MAIN = 1,
	LOAD,
	DECODE,  /* main calls step */
	PREFILL, /* and from elsewhere */
	NOISE,
	MESSAGE,
	INPUT = 10,
	LAYER,
	SCORES,
	QUERY,
	PAGE,
	HIDDEN,
	OF_PREFILL = 20, /* the same places on the other way */
};

struct decoder {
	unsigned steps, layers, prefill;
	bool prefill_is_batch;
	unsigned page_every, message_every, noise;
	bool is_irregular; /* the number of layers changes */
	uint64_t ns, bytes;
	unsigned afterwards; /* allocations of another kind behind */
	enum rvp_mode mode;
	bool grows;             /* a query has room for all tokens */
	enum rvp_family family; /* of what the model asks for; of the noise: malloc */
	uint64_t teardown_ns;   /* how long the program gives back behind its last step */
	uint64_t pause_ns;      /* of each step, in which another program runs */
	uint64_t growth_bytes;  /* of the scores, a token */
	bool grows_unevenly;
	unsigned hole_from, hole_steps; /* in which small blocks are not recorded */
	bool hole_has_sample;
	unsigned told_every;    /* a function is said to be called around so many steps */
	unsigned twice_every;   /* such a step asks for all but its input twice */
	bool has_random_places; /* main calls step from two */
	bool is_handed_on;      /* input and scores are given back when their next are asked for */
};
static const struct decoder usual = {
    .steps = 60, .layers = 4, .ns = 30000, .bytes = 2048, .mode = RVP_MODE_FULL};
/* The usual one but for ... */
#define DECODER(...)                       \
	({                                 \
		struct decoder it = usual; \
		(void)(__VA_ARGS__);       \
		it;                        \
	})

static struct maker maker;
static struct maker_thread *thread;
static uint64_t now_ns, next_address, random_state;
static uint64_t handed_on[20]; /* by place: the block that is there; 0: none yet */
static enum rvp_family family;
static bool is_in_hole;

static void node(uint64_t number, uint64_t parent, uint64_t pc)
{
	MAKE(thread, NODE, 0, .node = number, .parent = parent, .pc = pc);
}

static void make_nodes(void)
{
	node(MAIN, 0, 0x1000);
	node(LOAD, MAIN, 0x1100);
	node(DECODE, MAIN, 0x1200);
	node(PREFILL, MAIN, 0x1300);
	node(NOISE, MAIN, 0x1400);
	node(MESSAGE, MAIN, 0x1500);
	for (uint64_t way = 0; way <= OF_PREFILL; way += OF_PREFILL) {
		node(way + INPUT, way ? PREFILL : DECODE, 0x2000);
		node(way + LAYER, way ? PREFILL : DECODE, 0x2100);
		node(way + SCORES, way ? PREFILL : DECODE, 0x2200);
		node(way + QUERY, way + LAYER, 0x3000);
		node(way + PAGE, way ? PREFILL : DECODE, 0x3100);
		node(way + HIDDEN, way + LAYER, 0x3200);
	}
}

static uint64_t take(uint64_t place, uint64_t bytes, uint64_t ns)
{
	uint64_t address = next_address += (bytes + 31) & ~15ul;

	if (is_in_hole && bytes < THRESHOLD_BYTES) {
		now_ns += ns;
		return 0;
	}
	MAKE(thread, ALLOC, 0, .stamp = now_ns, .address = address, .bytes = bytes, .stack = place,
	     .family = place == NOISE || place == LOAD ? RVP_FAMILY_MALLOC : family);
	now_ns += ns;
	return address;
}

static void give(uint64_t address)
{
	if (!address)
		return;
	MAKE(thread, FREE, 0, .stamp = now_ns, .address = address);
}

static unsigned random_below(unsigned most)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % most;
}

static void layer(const struct decoder *decoder, uint64_t way, unsigned token)
{
	uint64_t query_bytes = decoder->bytes * (decoder->grows ? 10 + token : 1);
	uint64_t query = take(way + QUERY, query_bytes, decoder->ns), hidden;

	hidden = take(way + HIDDEN, decoder->bytes * 3, decoder->ns);
	give(hidden);
	give(query);
}

/* What is handed on lives until just before its next is asked for. */
static uint64_t take_kept(const struct decoder *decoder, uint64_t place, uint64_t bytes)
{
	uint64_t *last = &handed_on[place % OF_PREFILL];

	if (decoder->is_handed_on && *last)
		give(*last);
	return *last = take(place, bytes, decoder->ns);
}

static uint64_t scores_bytes(const struct decoder *decoder, unsigned token)
{
	unsigned tokens = decoder->grows_unevenly ? token * 100 + random_below(100) : token;

	return decoder->bytes * 5 + decoder->growth_bytes * tokens;
}

/* A hole begins and ends within a step. */
static void set_hole(const struct decoder *decoder, unsigned token)
{
	if (token == decoder->hole_from && decoder->hole_steps) {
		is_in_hole = true;
		if (decoder->hole_has_sample)
			MAKE(thread, SAMPLE, 0, .stamp = now_ns, .address = next_address += 4096,
			     .bytes = 999, .stack = QUERY, .family = family);
	}
	if (token == decoder->hole_from + decoder->hole_steps)
		is_in_hole = false;
}

static void through_layers(const struct decoder *decoder, uint64_t way, unsigned token, unsigned tokens)
{
	unsigned layers = decoder->layers + (decoder->is_irregular ? random_below(7) : 0);
	uint64_t scores;

	for (unsigned i = 0; i < layers * tokens; i++)
		layer(decoder, way, token);
	set_hole(decoder, token);
	now_ns += decoder->pause_ns;
	scores = take_kept(decoder, way + SCORES, scores_bytes(decoder, token));
	if (!decoder->is_handed_on)
		give(scores);
}

static void step(const struct decoder *decoder, uint64_t way, unsigned token, unsigned tokens)
{
	uint64_t input = take_kept(decoder, way + INPUT, decoder->bytes * 2);

	if (decoder->page_every && token % decoder->page_every == 0)
		take(way + PAGE, decoder->bytes * 8, decoder->ns);
	through_layers(decoder, way, token, tokens);
	if (decoder->twice_every && token % decoder->twice_every == 3)
		through_layers(decoder, way, token, tokens);
	if (!decoder->is_handed_on)
		give(input);
}

static void around(const struct decoder *decoder, unsigned token)
{
	unsigned noise = decoder->noise ? random_below(decoder->noise) : 0;

	for (unsigned i = 0; i < noise; i++)
		give(take(NOISE, 1 + random_below(40), 100));
	if (decoder->message_every && token % decoder->message_every == 0)
		give(take(MESSAGE, 64, 100));
}

static void tell(enum rvp_step_kind kind)
{
	MAKE(thread, STEP, 64, .stamp = now_ns, .kind = kind, .source = RVP_SOURCE_ADAPTER,
	     .name = {"Model", 5});
}

static void decode(const struct decoder *decoder)
{
	for (int i = 0; i < 20; i++)
		take(LOAD, 1 << 20, 1000);
	if (decoder->prefill_is_batch)
		step(decoder, OF_PREFILL, 0, decoder->prefill);
	for (unsigned i = 0; i < decoder->prefill && !decoder->prefill_is_batch; i++)
		step(decoder, OF_PREFILL, i, 1);
	for (unsigned i = 0; i < decoder->steps; i++) {
		if (decoder->told_every && i % decoder->told_every == 0)
			tell(RVP_STEP_BEGIN);
		uint64_t way = decoder->has_random_places && random_below(2) ? OF_PREFILL : 0;

		step(decoder, way, decoder->prefill + i, 1);
		around(decoder, i);
		if (decoder->told_every && (i + 1) % decoder->told_every == 0)
			tell(RVP_STEP_END);
	}
	for (unsigned i = 0; i < decoder->afterwards; i++)
		take(LOAD, 1 << 16, decoder->ns);
	now_ns += decoder->teardown_ns;
	if (decoder->teardown_ns)
		give(0x100000);
}

/* What is found in its log. */
static struct rvp_steps steps;
static struct rvp_run *run;

static size_t found(struct decoder decoder)
{
	struct maker_process *process;

	maker = maker_open();
	process = maker_add_with(&maker, 100,
				 (struct rvp_record_PROCESS){.stamp = 1000,
							     .page_bytes = 4096,
							     .mode = decoder.mode,
							     .threshold_bytes = THRESHOLD_BYTES,
							     .exe = {"/usr/bin/app", 12}});
	thread = &process->threads[0];
	now_ns = 2000000;
	next_address = 0x100000;
	family = decoder.family;
	random_state = 11;
	is_in_hole = false;
	memset(handed_on, 0, sizeof handed_on);
	make_nodes();
	decode(&decoder);
	ck_assert_uint_lt(now_ns, MAKER_END_NS);
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_steps_find(run, &steps)));
	maker_remove(&maker);
	ck_assert_str_eq(steps.source, decoder.told_every ? "python" : steps.count ? "detected" : "none");
	ck_assert((*steps.why_none != 0) == (steps.count == 0));
	return steps.count;
}

static void forget(void)
{
	rvp_steps_free(&steps);
	rvp_run_close(run);
}

static size_t count_of(struct decoder decoder)
{
	size_t count = found(decoder);

	forget();
	return count;
}

START_TEST(a_step_is_a_turn_of_the_outermost_loop_not_of_its_layers)
{
	ck_assert_uint_eq(count_of(usual), 60);
}
END_TEST

/* Tensors: small, with an alignment, so that sampled mode has each of them; and an interpreter that takes its
 * time to go. */
START_TEST(tensors_alone_show_the_steps_in_both_modes)
{
	for (int mode = RVP_MODE_SAMPLED; mode <= RVP_MODE_FULL; mode++) {
		ck_assert_uint_eq(count_of(DECODER(it.mode = mode, it.family = RVP_FAMILY_POSIX_MEMALIGN,
						   it.noise = 9, it.teardown_ns = 100000000)),
				  60);
		ck_assert_uint_eq(
		    count_of(DECODER(it.mode = mode, it.family = RVP_FAMILY_POSIX_MEMALIGN, it.steps = 20)),
		    mode == RVP_MODE_FULL ? 20 : 0); /* 200 are too few */
	}
	ck_assert_uint_eq(count_of(DECODER(it.mode = RVP_MODE_SAMPLED)), 0);
}
END_TEST

START_TEST(steps_that_came_too_fast_are_counted_by_their_large_blocks_or_not_at_all)
{
	struct decoder fast = DECODER(it.mode = RVP_MODE_SAMPLED, it.family = RVP_FAMILY_POSIX_MEMALIGN,
				      it.bytes = 4000, it.hole_from = 20, it.hole_steps = 7);

	ck_assert_uint_eq(count_of(fast), 60); /* its scores are large */
	fast.hole_has_sample = true;
	ck_assert_uint_eq(count_of(fast), 60);
	fast.bytes = 2000; /* nothing is */
	ck_assert_uint_eq(count_of(fast), 0);
	fast.hole_steps = 0;
	ck_assert_uint_eq(count_of(fast), 60);
	fast.bytes = 4000;
	fast.twice_every = 12;
	ck_assert_uint_eq(count_of(fast), 60); /* turns that do more, and all of it is there */
	fast.twice_every = 0;
	fast.hole_steps = 40; /* more large blocks than turns that show what they are */
	ck_assert_uint_eq(count_of(fast), 0);
	fast.bytes = 20000; /* all of it is large */
	ck_assert_uint_eq(count_of(fast), 0);
	fast.hole_has_sample = false;
	ck_assert_uint_eq(count_of(fast), 60);
}
END_TEST

START_TEST(steps_begin_and_end_where_the_loop_turns)
{
	ck_assert_uint_eq(found(usual), 60);
	for (size_t i = 0; i < steps.count; i++) {
		ck_assert_uint_eq(steps.steps[i].end_ns - steps.steps[i].begin_ns, 10 * 30000);
		if (i)
			ck_assert_uint_eq(steps.steps[i].begin_ns, steps.steps[i - 1].end_ns);
	}
	ck_assert_uint_eq(steps.steps[0].begin_ns, MAKER_EPOCH_NS + 2000000 + 20 * 1000);
	ck_assert_uint_eq(rvp_phase_at(&steps, MAKER_EPOCH_NS + 2000000), RVP_STEP_PHASE_LOAD);
	forget();
}
END_TEST

START_TEST(pages_messages_and_noise_are_no_turns)
{
	ck_assert_uint_eq(count_of(DECODER(it.page_every = 7)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.message_every = 7)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.steps = 128, it.message_every = 8)), 128);
	ck_assert_uint_eq(count_of(DECODER(it.steps = 128, it.page_every = 8)), 128);
	ck_assert_uint_eq(count_of(DECODER(it.noise = 6)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.page_every = 7, it.message_every = 7, it.noise = 4)), 60);
}
END_TEST

START_TEST(a_prefill_through_the_same_function_joins)
{
	ck_assert_uint_eq(count_of(DECODER(it.prefill = 12)), 72);
	ck_assert_uint_eq(count_of(DECODER(it.prefill = 12, it.prefill_is_batch = true)), 61);
	ck_assert_uint_eq(count_of(DECODER(it.prefill = 12, it.noise = 6)), 72);
}
END_TEST

START_TEST(one_function_called_from_two_places_is_one)
{
	ck_assert_uint_eq(count_of(DECODER(it.has_random_places = true)), 60);
}
END_TEST

START_TEST(a_step_with_a_loop_inside_is_doubted)
{
	ck_assert_uint_eq(found(DECODER(it.told_every = 60)), 1);
	ck_assert_uint_eq(steps.turn_count, 60);
	ck_assert_double_eq(steps.confidence, 0.5);
	forget();
	ck_assert_uint_eq(found(DECODER(it.told_every = 1)), 60);
	ck_assert_uint_eq(steps.turn_count, 0);
	ck_assert_double_eq(steps.confidence, 1);
	forget();
	ck_assert_uint_eq(found(DECODER(it.steps = 8, it.told_every = 8)), 1);
	ck_assert_uint_eq(steps.turn_count, 8);
	forget();
	ck_assert_uint_eq(found(DECODER(it.steps = 14, it.told_every = 7)), 2);
	ck_assert_uint_eq(steps.turn_count, 0);
	forget();
	ck_assert_uint_eq(found(DECODER(it.steps = 24, it.told_every = 8)), 3);
	ck_assert_uint_eq(steps.turn_count, 0);
	forget();
}
END_TEST

START_TEST(eight_turns_are_a_loop_and_seven_are_not)
{
	ck_assert_uint_eq(count_of(DECODER(it.steps = 8)), 8);
	ck_assert_uint_eq(count_of(DECODER(it.steps = 7)), 0);
}
END_TEST

START_TEST(what_does_little_but_allocate_is_no_step)
{
	ck_assert_uint_eq(count_of(DECODER(it.ns = 10100)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.ns = 9900)), 0);
}
END_TEST

/* A compiler among others: a long turn for each function, and next to no time of its own between requests. */
START_TEST(time_that_another_program_had_is_not_the_steps)
{
	ck_assert_uint_eq(count_of(DECODER(it.ns = 30000, it.pause_ns = 50000000)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.ns = 5000, it.layers = 300, it.pause_ns = 50000000)), 0);
	ck_assert_uint_eq(count_of(DECODER(it.ns = 15000, it.layers = 300, it.pause_ns = 50000000)), 60);
}
END_TEST

START_TEST(what_is_handed_on_marks_turns)
{
	ck_assert_uint_eq(count_of(DECODER(it.is_handed_on = true)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.is_handed_on = true, it.prefill = 41)), 101);
	ck_assert_uint_eq(count_of(DECODER(it.is_handed_on = true, it.prefill = 41, it.noise = 3)), 101);
}
END_TEST

START_TEST(a_few_small_blocks_are_no_step)
{
	ck_assert_uint_eq(count_of(DECODER(it.bytes = 256)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.bytes = 150)), 0);
}
END_TEST

START_TEST(turns_that_are_not_alike_are_no_steps)
{
	ck_assert_uint_eq(count_of(DECODER(it.is_irregular = true)), 0);
}
END_TEST

START_TEST(a_loop_without_layers_is_no_model)
{
	ck_assert_uint_eq(count_of(DECODER(it.layers = 2)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.layers = 1, it.noise = 0)), 0);
}
END_TEST

START_TEST(a_loop_that_ends_early_is_no_step)
{
	ck_assert_uint_eq(count_of(DECODER(it.afterwards = 40)), 60);
	ck_assert_uint_eq(count_of(DECODER(it.afterwards = 120)), 0);
}
END_TEST

START_TEST(in_sampled_mode_layers_are_not_taken_for_steps)
{
	/* Only the queries and hidden rows of the layers are large enough to be seen. */
	ck_assert_uint_eq(count_of(DECODER(it.mode = RVP_MODE_SAMPLED, it.bytes = 3000, it.grows = true)), 0);
	ck_assert_uint_eq(count_of(DECODER(it.mode = RVP_MODE_SAMPLED, it.bytes = 20000)), 0);
}
END_TEST

START_TEST(in_sampled_mode_only_a_block_that_grows_evenly_shows_steps)
{
	struct decoder seen = DECODER(it.mode = RVP_MODE_SAMPLED, it.bytes = 20000, it.growth_bytes = 64);

	ck_assert_uint_eq(count_of(seen), 60);
	seen.steps = 32;
	ck_assert_uint_eq(count_of(seen), 32);
	seen.steps = 31;
	ck_assert_uint_eq(count_of(seen), 0);
	seen.steps = 60;
	seen.grows_unevenly = true;
	ck_assert_uint_eq(count_of(seen), 0);
	seen.mode = RVP_MODE_FULL;
	ck_assert_uint_eq(count_of(seen), 60);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steps_detect");
	TCase *tests = tcase_create("detect");

	tcase_add_test(tests, a_step_is_a_turn_of_the_outermost_loop_not_of_its_layers);
	tcase_add_test(tests, tensors_alone_show_the_steps_in_both_modes);
	tcase_add_test(tests, steps_that_came_too_fast_are_counted_by_their_large_blocks_or_not_at_all);
	tcase_add_test(tests, steps_begin_and_end_where_the_loop_turns);
	tcase_add_test(tests, pages_messages_and_noise_are_no_turns);
	tcase_add_test(tests, a_prefill_through_the_same_function_joins);
	tcase_add_test(tests, one_function_called_from_two_places_is_one);
	tcase_add_test(tests, a_step_with_a_loop_inside_is_doubted);
	tcase_add_test(tests, eight_turns_are_a_loop_and_seven_are_not);
	tcase_add_test(tests, what_does_little_but_allocate_is_no_step);
	tcase_add_test(tests, time_that_another_program_had_is_not_the_steps);
	tcase_add_test(tests, what_is_handed_on_marks_turns);
	tcase_add_test(tests, a_few_small_blocks_are_no_step);
	tcase_add_test(tests, turns_that_are_not_alike_are_no_steps);
	tcase_add_test(tests, a_loop_without_layers_is_no_model);
	tcase_add_test(tests, a_loop_that_ends_early_is_no_step);
	tcase_add_test(tests, in_sampled_mode_layers_are_not_taken_for_steps);
	tcase_add_test(tests, in_sampled_mode_only_a_block_that_grows_evenly_shows_steps);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
