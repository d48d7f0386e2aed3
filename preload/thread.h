/* SPDX-License-Identifier: MIT */
/* thread.h: what the recorder keeps for a thread, and how a hook enters and leaves.
 *
 * The thread-local part is a few words (initial-exec, so that touching it never allocates). The rest is in pages of
 * our own, one struct rvp_thread a slot of the buffer file; it is never freed, and passes with its slot to a later
 * thread when its own is gone.
 *
 * Invariants
 *   (H1) `phase` is OUTSIDE except between rvp_enter and rvp_leave of the outermost hook of this thread.
 *   (H2) Only the thread itself touches its struct rvp_thread and appends to its slot, and only in phase OURS.
 *   (H3) A hook that runs in phase OURS was called by a signal handler: our own code calls no hooked function.
 *   (H4) In a child by fork the word `rvp_process.alive` is zero (its page is wiped on fork) until the child has
 *        made itself at home; a child of vfork shares it, and is the parent as far as recording goes.
 */
#ifndef RVP_THREAD_H
#define RVP_THREAD_H

#include "preload/arch/x86_64/machine.h"
#include "record/slot.h"

#include <stdbool.h>

/* OWN: the thread is in another library, at work for the profiler (device_own.h). */
enum rvp_phase { RVP_OUTSIDE = 0, RVP_OURS = 1, RVP_REAL = 2, RVP_OWN = 3 };

enum { RVP_FRAMES_MAX = 1024, RVP_WALK_STACK_BYTES = 12 * 1024 };

/* Where files were read to lately (reads.c); an epoch lasts while the thread records nothing else. */
enum { RVP_FILLED_PLACES = 16 };
struct rvp_filled {
	uint64_t address, bytes;
	uint32_t epoch, count;
};
struct rvp_fills {
	uint64_t last_word; /* of the slot, behind the last FILL */
	uint32_t epoch;
	struct rvp_filled places[RVP_FILLED_PLACES];
};

/* How often this thread makes blocks of a kind (rate.h). */
struct rvp_rate {
	uint64_t looked_ns; /* 0: never */
	uint32_t left;      /* until the next look */
	bool is_fast;
};

/* Where texts of marks stand in the open chunk (text_places.h). */
enum { RVP_TEXT_PLACES_BITS = 10, RVP_TEXT_PLACES = 1 << RVP_TEXT_PLACES_BITS };

/* A thread's part of order.h. */
struct rvp_order_place {
	uint64_t epoch;    /* that it saw last */
	uint64_t stamp_at; /* from which length of the open chunk on an event takes a stamp again */
	uint32_t serial;   /* never used again */
};

struct rvp_thread {
	struct rvp_slot *slot; /* NULL: this thread has counters only (nothing to record yet, or no buffer) */
	uint32_t slot_number;
	uint32_t tid;
	struct rvp_delta delta; /* of the slot's open chunk */
	struct rvp_order_place order;
	int64_t short_given;    /* of full_left, when it was set last (full.h) */
	uint64_t short_moved;   /* what the counters had moved then */
	uint64_t last_stamp;
	uint64_t other_records;         /* of the open chunk: neither alloc nor free */
	uint64_t stack_low, stack_high; /* bounds of its stack; 0, 0: unknown */
	uint64_t random;                /* state of its generator, never 0 */
	int64_t sample_left;            /* bytes until the next sample, while the short way is closed */
	uint32_t agreed_count;          /* blocks that quick.c found as it thinks */
	uint64_t moved_bytes;           /* given out and back since the last look at the clock */
	uint64_t events_left;           /* until the next look at the clock */
	uint32_t writes_looks;          /* of those who follow writes (snapshot.c) */
	struct rvp_rate large, aligned;
	uint64_t cost_events, cost_seen; /* since one was timed, of all when that was (cost.h) */
	uint64_t frames[RVP_FRAMES_MAX]; /* scratch of the walk */
	struct rvp_fills fills;
	uint16_t text_places[RVP_TEXT_PLACES]; /* 0: none */
	void *walker;                   /* the unwinder's own state for this thread */
	void *rows;                     /* python_rows.c's */
	uint32_t rows_left;             /* of rows.c's share of the log */
};

/* What counts from the begin of a chunk counts anew. */
static inline void rvp_thread_begin_chunk(struct rvp_thread *thread)
{
	thread->delta = (struct rvp_delta){0};
	thread->order.stamp_at = 0;
	thread->other_records = 0;
	__builtin_memset(thread->text_places, 0, sizeof thread->text_places);
}

struct rvp_local {
	int64_t sample_left; /* bytes until the next sample; 0: the short way is closed (quick.h) */
	int64_t frees_left;  /* until a free goes the long way; the same */
	struct rvp_counters *quick; /* where the short way counts */
	bool is_quick;
	struct rvp_thread *full; /* the thread, where its short way of full mode is open (full.h) */
	int64_t full_left;       /* events until one goes the long way; 0 or less: the short way is closed */
	struct rvp_thread *thread;
	struct rvp_counters *counters;
	volatile uint32_t phase;
	uint32_t state; /* thread.c's */
	uint32_t own_depth; /* device_own.c's, as are the next */
	int64_t own_sample_left, own_frees_left;
};
extern __thread struct rvp_local rvp_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
