/* SPDX-License-Identifier: MIT */
/* order.h: which events need a stamp of their own, so that the reader can put those of all threads in an order that
 * agrees with every thread's own and with every hand-over of a block.
 *
 * A stamp takes 11 to 50 ns, so most events have none and count as stamped like the record before them in their
 * thread's stream. In one stream that order is exact. Between streams it must hold that where event e of thread B happens
 * before event f of thread A, and both are about one address, e's stamp is less than f's.
 *
 * `epoch` is even while one thread alone has recorded. From the second on it is odd, and there is a table of owners: a
 * word for each hash of an address, with the serial of the thread that was there last. The steps of an event:
 *
 *   | look  | loads the epoch and, where it is odd, the address's word
 *   | short | where the epoch is the one that this thread saw last, the word is its own and no stamp is due: no stamp
 *   | stamp | else: loads the epoch and takes a stamp, which is later than every load before it and earlier than every
 *   |       | load behind it (rdtscp; lfence)
 *   | cross | where the word is not its own, exchanges it; the thread's next event takes a stamp
 *
 * Proof. Let r be e's last access to the word, its load or its exchange. e's stamp was taken before r: `stamp` comes
 * before `cross`, and the older stamp of an event without one came before every load behind it.
 *   (1) f takes a stamp. That is after e happened, so it is later than e's.
 *   (2) f takes none: it read its own serial, which A wrote by an exchange w. e happens before f, so by coherence f reads
 *       what r read or wrote, or what came later in the order of that word. That was B's serial, not A's; so w came after
 *       r. A took a stamp behind w, with its next event at the latest. So e's stamp < r < w < f's stamp.
 * Other addresses of the same word only cause more exchanges.
 *
 * While the epoch is even a stamp is a plain rdtsc, since there is nobody to come behind; the event looks at the epoch
 * again behind it, and where that is even still, this load is its r. Its stamp may be a little later than r, by what a
 * processor pulls a load forward while an instruction before it waits: nanoseconds, and no longer than to the next
 * interrupt. So the second thread, when its exchange has made the epoch odd, waits RVP_ORDER_SETTLE_TICKS before it goes
 * on; every w comes after that, and (2) holds. An event of another thread that happens before f happened behind that
 * exchange: f sees it.
 *
 * Records of other kinds (a step, a tag, a fork ..) have a stamp always, and once there are threads they raise the epoch
 * behind it (rvp_order_mark): what happens after such a record in any thread takes a stamp that is later, and what
 * happens before it has an older one. Scopes, operators and snapshots raise nothing.
 *
 * An event of a signal handler inside a hook takes a stamp, exchanges the word, and makes a stamp due, in this order. The
 * outer event asks whether one is due after its look at the word: so it sees that, or it had looked before.
 *
 * Time: an event without a stamp is shown where its thread's last stamp was. One is due every RVP_ORDER_EVERY_BYTES
 * of the stream, and large blocks always have one (events.c); docs/metrics.md says what that means.
 */
#ifndef RVP_ORDER_H
#define RVP_ORDER_H

#include "preload/process.h"
#include "preload/stamp.h"

enum {
	RVP_ORDER_WORDS_BITS = 15,
	RVP_ORDER_EVERY_BYTES = 160, /* some 32 events */
};
#ifndef RVP_ORDER_SETTLE_TICKS
#define RVP_ORDER_SETTLE_TICKS 65536 /* 20 to 65 microseconds, once a process */
#endif

struct rvp_order {
	_Atomic uint64_t epoch; /* odd: there are threads */
	_Atomic uint32_t next_serial;
	_Alignas(64) _Atomic uint32_t owner[1u << RVP_ORDER_WORDS_BITS];
};
extern struct rvp_order rvp_order __attribute__((visibility("hidden")));

/* Between the steps; the proof's test puts other threads there. */
#ifndef RVP_ORDER_STEP
#define RVP_ORDER_STEP() ((void)0)
#endif

static inline _Atomic uint32_t *rvp_order_word(uint64_t address)
{
	return &rvp_order.owner[(address >> 4) * 0x9e3779b97f4a7c15u >> (64 - RVP_ORDER_WORDS_BITS)];
}

static inline void rvp_order_settle(void)
{
	uint64_t begin = rvp_stamp();

	while (rvp_stamp() - begin < RVP_ORDER_SETTLE_TICKS)
		RVP_ORDER_STEP();
}

/* The thread's first act: from here on a stamp is due. */
static inline void rvp_order_attach(struct rvp_order_place *place, bool is_first)
{
	place->serial = atomic_fetch_add(&rvp_order.next_serial, 1) + 1;
	place->epoch = UINT64_MAX;
	place->stamp_at = 0;
	RVP_ORDER_STEP();
	if (!is_first && !(atomic_fetch_or(&rvp_order.epoch, 1) & 1))
		rvp_order_settle();
}

/* A child by fork is alone; its thread attaches anew, so no word is its own. */
static inline void rvp_order_after_fork(void)
{
	atomic_store(&rvp_order.epoch, 0);
}

/* [look], [short]: true where the event on `address`, for which the open chunk has come to `length`, needs no stamp. */
static inline __attribute__((always_inline)) bool rvp_order_is_known(const struct rvp_order_place *place, uint64_t address,
								     uint64_t length)
{
	uint64_t epoch = atomic_load_explicit(&rvp_order.epoch, memory_order_relaxed);

	RVP_ORDER_STEP();
	if (__builtin_expect(epoch != place->epoch, 0))
		return false;
	if (epoch & 1 &&
	    __builtin_expect(
		atomic_load_explicit(rvp_order_word(address), memory_order_relaxed) != place->serial, 0))
		return false;
	RVP_ORDER_STEP();
	atomic_signal_fence(memory_order_seq_cst);
	return __builtin_expect(length < place->stamp_at, 1);
}

/* [stamp], [cross]: the stamp of the event on `address`. The next one is due at the length `stamp_at`. */
static inline uint64_t rvp_order_stamp(struct rvp_order_place *place, uint64_t address, uint64_t stamp_at)
{
	uint64_t stamp;

	place->stamp_at = stamp_at;
	atomic_signal_fence(memory_order_seq_cst);
	place->epoch = atomic_load_explicit(&rvp_order.epoch, memory_order_relaxed);
	RVP_ORDER_STEP();
	stamp = place->epoch & 1 ? rvp_stamp() : rvp_stamp_unordered();
	RVP_ORDER_STEP();
	if (!(place->epoch & 1)) {
		/* Whether that is so still is asked behind the stamp. */
		if (__builtin_expect((atomic_load_explicit(&rvp_order.epoch, memory_order_relaxed) & 1) == 0,
				     1))
			return stamp;
		place->stamp_at = 0;
	}
	if (atomic_load_explicit(rvp_order_word(address), memory_order_relaxed) == place->serial)
		return stamp;
	RVP_ORDER_STEP();
	atomic_exchange(rvp_order_word(address), place->serial);
	RVP_ORDER_STEP();
	place->stamp_at = 0;
	return stamp;
}

/* Right behind the stamp of a record of another kind. */
static inline void rvp_order_mark(void)
{
	if (atomic_load_explicit(&rvp_order.epoch, memory_order_relaxed) & 1)
		atomic_fetch_add(&rvp_order.epoch, 2);
}

/* The stamp of an event on `address` in a signal handler inside a hook. */
static inline uint64_t rvp_order_stamp_beside(struct rvp_order_place *place, uint64_t address)
{
	uint64_t stamp = rvp_stamp();

	RVP_ORDER_STEP();
	if (atomic_load_explicit(&rvp_order.epoch, memory_order_relaxed) & 1)
		atomic_exchange(rvp_order_word(address), place->serial);
	RVP_ORDER_STEP();
	place->stamp_at = 0;
	atomic_signal_fence(memory_order_seq_cst);
	return stamp;
}

#endif
