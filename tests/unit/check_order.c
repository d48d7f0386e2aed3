/* SPDX-License-Identifier: MIT */
/* check_order.c: the proof of preload/order.h by trial. Fake threads go through events on a few addresses
 * that share words of the table; at each step of the protocol any other may go on, as a seed draws it, or a
 * signal handler comes in between. Time is one counter. A block is given out, handed on and given back as a
 * heap does it, so the events of one address come one after the other.
 *
 *   (O1) of two events on one address by two threads, the earlier one's stamp (its own or its stream's last)
 * is less (O2) what happens behind a record of another kind has a later stamp, what happened before it an
 * earlier one (O3) most events have none of their own, before there are threads and with them
 */
#define RVP_ORDER_STEP()       step()
#define RVP_ORDER_SETTLE_TICKS 3
static void step(void);

#include "preload/order.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { EVERY = 32, FAKES = 3, ADDRESSES = 6, EVENTS = 60, SEEDS = 1500, STACK_BYTES = 65536, BESIDE_MAX = 8 };
enum block { GIVEN_BACK, IN_HAND, LIVE };

struct fake {
	ucontext_t context;
	struct rvp_order_place place;
	uint64_t record, last;       /* of its open chunk; the stream's last stamp */
	uint64_t beside[BESIDE_MAX]; /* stamps of events of handlers that are not in the stream yet */
	int beside_count;
	bool is_done, is_in_event, is_in_handler;
	char stack[STACK_BYTES] __attribute__((aligned(16)));
};

struct rvp_order rvp_order;
static struct fake fakes[FAKES], *running;
static ucontext_t scheduler;
static uint64_t now, seed;
static uint64_t mark_stamp; /* of the last record of another kind that is done */
static enum block blocks[ADDRESSES];
static uint64_t last_stamp[ADDRESSES]; /* of the last event on it, and whose */
static struct fake *last_fake[ADDRESSES];
static uint64_t wrong, events, stamped;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

uint64_t rvp_stamp(void)
{
	return ++now;
}

uint64_t rvp_stamp_unordered(void)
{
	return ++now;
}

/* Addresses 0 to 2 share a word, and 3 to 5. */
static uint64_t addresses[ADDRESSES];

static void choose_addresses(void)
{
	uint64_t address = 0x7f0000000000;

	for (int i = 0; i < ADDRESSES; i++) {
		while (i % 3 && rvp_order_word(address) != rvp_order_word(addresses[i - 1]))
			address += 16;
		addresses[i] = address;
		address += 16;
	}
}

/* An event that began when `mark` was told happened with this stamp. */
static void happened(struct fake *fake, int address, uint64_t stamp, uint64_t mark)
{
	wrong += last_fake[address] && last_fake[address] != fake && last_stamp[address] >= stamp;
	wrong += stamp <= mark;
	last_stamp[address] = stamp;
	last_fake[address] = fake;
	events++;
}

/* It stands in the stream from here on; the stamp that it then has. */
static uint64_t append(struct fake *fake, uint64_t stamp)
{
	if (stamp > fake->last)
		fake->last = stamp;
	fake->record++;
	return fake->last;
}

static int take(enum block state)
{
	int address = (int)draw(ADDRESSES);

	for (int i = 0; i < ADDRESSES; i++, address = (address + 1) % ADDRESSES)
		if (blocks[address] == state) {
			blocks[address] = IN_HAND;
			return address;
		}
	return -1;
}

static void drain(struct fake *fake)
{
	for (int i = 0; i < fake->beside_count; i++)
		wrong += append(fake, fake->beside[i]) != fake->beside[i];
	fake->beside_count = 0;
}

/* A handler gives out a block or gives one back: at once, whenever its record comes into the stream. */
static void handle_signal(struct fake *fake)
{
	bool is_alloc = draw(2);
	int address = take(is_alloc ? GIVEN_BACK : LIVE);
	uint64_t mark = mark_stamp, stamp;

	if (address < 0)
		return;
	fake->is_in_handler = true;
	stamp = rvp_order_stamp_beside(&fake->place, addresses[address]);
	fake->beside[fake->beside_count++] = stamp;
	happened(fake, address, stamp, mark);
	blocks[address] = is_alloc ? LIVE : GIVEN_BACK;
	fake->is_in_handler = false;
}

static void step(void)
{
	struct fake *fake = running;

	if (!fake)
		return;
	if (fake->is_in_event && !fake->is_in_handler && fake->beside_count < BESIDE_MAX && draw(24) == 0)
		handle_signal(fake);
	if (draw(3))
		swapcontext(&fake->context, &scheduler);
}

/* As in preload/events.c. */
static void event(struct fake *fake, int address)
{
	uint64_t mark = mark_stamp, stamp = 0;

	fake->is_in_event = true;
	if (!rvp_order_is_known(&fake->place, addresses[address], fake->record)) {
		stamped++;
		do {
			drain(fake);
			stamp = rvp_order_stamp(&fake->place, addresses[address], fake->record + EVERY);
		} while (fake->beside_count);
	}
	step();
	happened(fake, address, append(fake, stamp), mark);
	drain(fake);
	fake->is_in_event = false;
}

static void alloc_or_free(struct fake *fake)
{
	bool is_alloc = draw(2);
	int address = take(is_alloc ? GIVEN_BACK : LIVE);

	if (address < 0)
		return;
	event(fake, address);
	blocks[address] = is_alloc ? LIVE : GIVEN_BACK;
}

/* A record of another kind. */
static void say(struct fake *fake)
{
	uint64_t highest = 0, stamp;

	for (int i = 0; i < ADDRESSES; i++)
		if (last_stamp[i] > highest)
			highest = last_stamp[i];
	stamp = rvp_stamp();
	wrong += stamp <= highest;
	step();
	rvp_order_mark();
	fake->place.stamp_at = 0;
	if (stamp > fake->last)
		fake->last = stamp;
	if (stamp > mark_stamp)
		mark_stamp = stamp;
}

static void begin_chunk(struct fake *fake)
{
	fake->record = 0;
	fake->place.stamp_at = 0;
}

static void live(void)
{
	struct fake *fake = running;
	int delay = fake == fakes ? 0 : (int)draw(EVENTS);

	while (delay--)
		swapcontext(&fake->context, &scheduler);
	rvp_order_attach(&fake->place, fake == fakes);
	for (int i = 0; i < EVENTS; i++) {
		switch (draw(24)) {
		case 0: say(fake); break;
		case 1: begin_chunk(fake); break;
		default: alloc_or_free(fake);
		}
		step();
	}
	fake->is_done = true;
	swapcontext(&fake->context, &scheduler);
}

static void start(struct fake *fake)
{
	memset(fake, 0, offsetof(struct fake, stack));
	getcontext(&fake->context);
	fake->context.uc_stack.ss_sp = fake->stack;
	fake->context.uc_stack.ss_size = sizeof fake->stack;
	makecontext(&fake->context, live, 0);
}

static void run(uint64_t number, int count)
{
	int left = count;

	seed = number * 0x9e3779b97f4a7c15u | 1;
	mark_stamp = 0;
	memset(&rvp_order, 0, sizeof rvp_order);
	memset(blocks, 0, sizeof blocks);
	memset(last_stamp, 0, sizeof last_stamp);
	memset(last_fake, 0, sizeof last_fake);
	for (int i = 0; i < count; i++)
		start(&fakes[i]);
	while (left) {
		running = &fakes[draw((uint64_t)count)];
		if (running->is_done)
			continue;
		swapcontext(&scheduler, &running->context);
		left -= running->is_done;
	}
}

START_TEST(threads_that_hand_over)
{
	wrong = events = stamped = 0;
	for (uint64_t number = 1; number <= SEEDS; number++) {
		run(number, FAKES);
		ck_assert_msg(wrong == 0, "seed %llu: %llu stamps out of order", (unsigned long long)number,
			      (unsigned long long)wrong);
	}
	ck_assert_uint_gt(events, SEEDS * EVENTS);
	ck_assert_uint_lt(stamped, events);
}
END_TEST

START_TEST(alone)
{
	wrong = events = stamped = 0;
	for (uint64_t number = 1; number <= 100; number++)
		run(number, 1);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_lt(stamped * 2, events);
}
END_TEST

/* Words of its own stay a thread's own, whatever others do. */
START_TEST(with_threads_that_keep_to_themselves)
{
	struct rvp_order_place one, two;
	uint64_t record = 0, stamps = 0;

	memset(&rvp_order, 0, sizeof rvp_order);
	running = NULL;
	rvp_order_attach(&one, true);
	rvp_order_attach(&two, false);
	for (int i = 0; i < 1600; i++, record++) {
		if (!rvp_order_is_known(&one, addresses[0], record)) {
			rvp_order_stamp(&one, addresses[0], record + EVERY);
			stamps++;
		}
		if (!rvp_order_is_known(&two, addresses[3], record))
			rvp_order_stamp(&two, addresses[3], record + EVERY);
	}
	ck_assert_uint_le(stamps, 1600 / EVERY + 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("order");
	TCase *cases = tcase_create("order");

	choose_addresses();
	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, alone);
	tcase_add_test(cases, threads_that_hand_over);
	tcase_add_test(cases, with_threads_that_keep_to_themselves);
	return run_suite(suite);
}
