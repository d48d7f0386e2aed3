/* SPDX-License-Identifier: MIT */
/* read_ahead.c: see read_ahead.h.
 *
 * Invariants
 *   (H1) A lane's batches from `taken` up to `filled` are the first thread's to read; the batch that it has
 *        at hand, taken - 1, is not written before it takes the next one.
 *   (H2) Whoever fills decodes from a copy of where the lane stands (`source`) into a batch of his own, and
 *        puts it into the ring unless the other one was sooner: the lane is held for moments, and a thread
 *        that lost its processor while it decodes stops nobody.
 *   (H3) A bit of `wanted` is set by the first thread, and taken out by the second before it looks at the
 *        lane: what is wanted while it looks is looked at again.
 */
#include "report/read_ahead.h"

#include "report/run_source.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LANES_MAX = 31, BATCHES = 32, SPINS = 100 };
static const uint32_t stop_bit = 1u << LANES_MAX;
static const uint64_t least_lane_bytes = 1 << 20, least_bytes = 64 << 20; /* a second's work */

struct batch {
	uint32_t brief_count;
	bool has_record, is_end;
	uint64_t last_ns, last_stamp;
	const struct rvp_chunk *chunk;
	struct rvp_record record;
	struct rvp_brief briefs[RVP_BRIEFS_MAX];
};

struct rvp_ahead_lane {
	struct rvp_read_ahead *ahead;
	uint32_t bit;
	struct rvp_stream source; /* (H2) */
	atomic_flag is_held;
	_Alignas(64) _Atomic uint32_t filled; /* numbers of batches, that go round */
	_Alignas(64) _Atomic uint32_t taken;
	struct batch *room, *ring[BATCHES], *spare[2]; /* spare: of the first thread, of the second */
};

struct rvp_read_ahead {
	const struct rvp_run *run;
	struct rvp_ahead_lane *lanes;
	uint32_t lane_count;
	_Atomic uint32_t wanted; /* (H3) a bit a lane, and stop_bit */
	pthread_t thread;
};

static unsigned thread_limit;

void rvp_set_reading_threads(unsigned count)
{
	thread_limit = count;
}

static bool has_two_processors(void)
{
	cpu_set_t processors;

	return sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) > 1;
}

/* ---- a lane ---- */

static void hold(struct rvp_ahead_lane *lane)
{
	for (unsigned spins = 1; atomic_flag_test_and_set_explicit(&lane->is_held, memory_order_acquire);
	     spins++)
		if (spins % SPINS == 0)
			sched_yield();
}

static void let_go(struct rvp_ahead_lane *lane)
{
	atomic_flag_clear_explicit(&lane->is_held, memory_order_release);
}

/* One of the batches is at hand, and is not to be written over. */
static bool has_place(const struct rvp_ahead_lane *lane)
{
	return atomic_load_explicit(&lane->filled, memory_order_relaxed) -
		   atomic_load_explicit(&lane->taken, memory_order_acquire) <
	       BATCHES - 1;
}

static void keep(struct batch *batch, const struct rvp_stream *source)
{
	batch->brief_count = source->brief_count;
	batch->has_record = source->has_record;
	batch->is_end = source->is_over;
	batch->last_ns = source->last_ns;
	batch->last_stamp = source->last_stamp;
	batch->chunk = source->chunk;
	if (source->has_record)
		batch->record = source->record;
}

/* The batch of this number, by one of the two, in his spare one; the ring has a place. False: there is none.
 */
static bool fill_one(struct rvp_ahead_lane *lane, uint32_t number, int who)
{
	struct rvp_stream source;
	struct batch *mine = lane->spare[who];
	bool is_mine;

	hold(lane);
	source = lane->source;
	is_mine = atomic_load_explicit(&lane->filled, memory_order_relaxed) == number && !source.is_over;
	let_go(lane);
	if (!is_mine)
		return !source.is_over;
	source.briefs = mine->briefs;
	source.is_over = !rvp_stream_decode(&source, lane->ahead->run);
	keep(mine, &source);
	hold(lane);
	if (atomic_load_explicit(&lane->filled, memory_order_relaxed) == number) {
		lane->source = source;
		lane->spare[who] = lane->ring[number % BATCHES];
		lane->ring[number % BATCHES] = mine;
		atomic_store_explicit(&lane->filled, number + 1, memory_order_release);
	}
	let_go(lane);
	return !source.is_over;
}

static void fill(struct rvp_ahead_lane *lane)
{
	while (has_place(lane) &&
	       fill_one(lane, atomic_load_explicit(&lane->filled, memory_order_acquire), 1))
		;
}

/* ---- the second thread ---- */

static void *decode_ahead(void *context)
{
	struct rvp_read_ahead *ahead = context;

	for (;;) {
		uint32_t wanted = atomic_exchange(&ahead->wanted, 0);

		if (wanted & stop_bit)
			return NULL;
		if (!wanted)
			syscall(SYS_futex, &ahead->wanted, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
		for (; wanted; wanted &= wanted - 1)
			fill(&ahead->lanes[__builtin_ctz(wanted)]);
	}
}

static void want(struct rvp_read_ahead *ahead, uint32_t bits)
{
	if (!atomic_fetch_or(&ahead->wanted, bits))
		syscall(SYS_futex, &ahead->wanted, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- the first thread ---- */

static const struct batch *next_batch(struct rvp_ahead_lane *lane, uint32_t taken)
{
	if (atomic_load_explicit(&lane->filled, memory_order_acquire) == taken)
		fill_one(lane, taken, 0);
	return lane->ring[taken % BATCHES];
}

static void expect_blocks(const struct rvp_stream *stream)
{
	for (uint32_t i = 0; stream->expected_in && i < stream->brief_count; i++)
		rvp_block_expect(stream->expected_in, stream->briefs[i].event.address);
}

bool rvp_read_ahead_take(struct rvp_ahead_lane *lane, struct rvp_stream *stream)
{
	uint32_t taken = atomic_load_explicit(&lane->taken, memory_order_relaxed), ready;
	const struct batch *batch = next_batch(lane, taken);

	if (batch->is_end)
		return false;
	stream->next = 0;
	stream->brief_count = batch->brief_count;
	stream->briefs = (struct rvp_brief *)batch->briefs;
	stream->chunk = batch->chunk;
	stream->last_ns = batch->last_ns;
	stream->last_stamp = batch->last_stamp;
	stream->has_record = batch->has_record;
	if (batch->has_record)
		stream->record = batch->record;
	atomic_store_explicit(&lane->taken, taken + 1, memory_order_release);
	ready = atomic_load_explicit(&lane->filled, memory_order_relaxed) - (taken + 1);
	if (ready == BATCHES / 2 || !ready)
		want(lane->ahead, lane->bit);
	expect_blocks(stream);
	return true;
}

/* ---- open, close ---- */

static uint64_t payload_of(const struct rvp_stream *stream)
{
	uint64_t bytes = 0;

	for (const struct rvp_chunk *chunk = stream->chunk; !stream->deferred && chunk < stream->chunks_end;
	     chunk++)
		bytes += chunk->payload_bytes;
	return bytes;
}

static bool add_lane(struct rvp_read_ahead *ahead, struct rvp_stream *stream)
{
	struct rvp_ahead_lane *lane = &ahead->lanes[ahead->lane_count];

	lane->room = malloc((BATCHES + 2) * sizeof *lane->room);
	if (!lane->room)
		return false;
	for (int i = 0; i < BATCHES; i++)
		lane->ring[i] = &lane->room[i];
	lane->spare[0] = &lane->room[BATCHES];
	lane->spare[1] = &lane->room[BATCHES + 1];
	lane->ahead = ahead;
	lane->bit = 1u << ahead->lane_count;
	lane->source = *stream;
	atomic_flag_clear(&lane->is_held);
	stream->lane = lane;
	ahead->lane_count++;
	return true;
}

/* In order, as long as there are lanes: threads that are begun first are mostly those that last. */
static void add_lanes(struct rvp_read_ahead *ahead, struct rvp_stream *streams, uint32_t count)
{
	for (uint32_t i = 0; i < count && ahead->lane_count < LANES_MAX; i++)
		if (streams[i].source && !streams[i].deferred &&
		    (thread_limit || payload_of(&streams[i]) >= least_lane_bytes) &&
		    !add_lane(ahead, &streams[i]))
			return;
}

static bool is_worth_it(const struct rvp_stream *streams, uint32_t count)
{
	uint64_t bytes = 0;

	if (thread_limit)
		return thread_limit > 1;
	for (uint32_t i = 0; i < count && bytes < least_bytes; i++)
		bytes += payload_of(&streams[i]);
	return bytes >= least_bytes && has_two_processors();
}

struct rvp_read_ahead *rvp_read_ahead_open(const struct rvp_run *run, struct rvp_stream *streams,
					   uint32_t count)
{
	struct rvp_read_ahead *ahead = is_worth_it(streams, count) ? calloc(1, sizeof *ahead) : NULL;

	if (!ahead)
		return NULL;
	ahead->run = run;
	ahead->lanes = aligned_alloc(64, LANES_MAX * sizeof *ahead->lanes);
	if (ahead->lanes) {
		memset(ahead->lanes, 0, LANES_MAX * sizeof *ahead->lanes);
		add_lanes(ahead, streams, count);
	}
	atomic_store(&ahead->wanted, (1u << ahead->lane_count) - 1);
	if (ahead->lane_count && pthread_create(&ahead->thread, NULL, decode_ahead, ahead) == 0)
		return ahead;
	for (uint32_t i = 0; i < count; i++) /* nothing is decoded yet */
		streams[i].lane = NULL;
	for (uint32_t i = 0; i < ahead->lane_count; i++)
		free(ahead->lanes[i].room);
	free(ahead->lanes);
	free(ahead);
	return NULL;
}

void rvp_read_ahead_close(struct rvp_read_ahead *ahead)
{
	if (!ahead)
		return;
	want(ahead, stop_bit);
	pthread_join(ahead->thread, NULL);
	for (uint32_t i = 0; i < ahead->lane_count; i++)
		free(ahead->lanes[i].room);
	free(ahead->lanes);
	free(ahead);
}
