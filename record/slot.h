/* SPDX-License-Identifier: MIT */
/* slot.h: the commit protocol: how a record gets from a hook into a file that outlives the process.
 *
 * A process has one buffer file (RVP_BUFFER_FILE), fully allocated on disk and mapped shared: a header page and
 * slots of 64 KiB. A thread owns a slot. Appending a record is: write its bytes behind the slot's committed length,
 * then one release store of `word` = {sequence, committed length}. The kernel owns the pages, so whatever is
 * committed outlives the process; what a SIGKILL interrupts before the store never was.
 *
 *   slot:  owner | serial | word | counters ... | deferred events | chunk header | payload ............ |
 *          0                                                       960            1024             65536
 *
 * When a record no longer fits, the owner flushes:
 *   [seal]     fill in the chunk header before the payload (sizes, checksums)       word = {n, length}
 *   [write]    reserve log space by fetch-add on `log_tail`, pwrite there           word = {n, length}
 *   [restart]  one store: word = {n + 1, 0}
 * A kill before [restart] leaves chunk n in both places or only in the slot, or torn in the log and whole in the
 * slot; (slot, n) names it, so the reader takes it once. After [restart] it is whole in the log.
 * If the write fails, the owner counts the records as lost and stores {n, 0}: n stays free for the next.
 *
 * Invariants
 *   (S1) Payload bytes [0, length) are whole records of chunk `sequence` and never change while word stands.
 *   (S2) Only the owner stores `word`. A new owner takes the slot by compare-and-swap of `owner`, flushes what it
 *        finds, stores {n + 1, 0}, and only then changes `serial`.
 *   (S3) Header fields that describe the open chunk (serial, tid) change only while length is 0.
 *   (S4) Counters only grow; they belong to the slot, not to the thread, and are never reset.
 *
 * Nothing here calls libc but memcpy and memset; nothing allocates, locks or fails.
 */
#ifndef RVP_SLOT_H
#define RVP_SLOT_H

#include "record/chunk.h"
#include "record/counters.h"
#include "record/names.h"
#include "record/schema.h"

#include <stdatomic.h>

#define RVP_BUFFER_MAGIC "RVPBUF\r\n"

enum {
	RVP_BUFFER_HEADER_BYTES = 4096,
	RVP_SLOT_BYTES = 65536,
	RVP_SLOT_PAYLOAD_AT = 1024,
	RVP_SLOT_HEADER_AT = RVP_SLOT_PAYLOAD_AT - (int)sizeof(struct rvp_chunk_header),
	RVP_DEFERRED_MAX = 12,
};

/* An event of a hook that ran inside a hook of the same thread (a signal handler): kept here whole, and turned
 * into a record, without a stack, when the outer hook ends. */
struct rvp_deferred {
	uint64_t stamp;
	uint64_t address;
	uint64_t bytes;
	uint32_t kind;   /* RVP_ALLOC, RVP_FREE, ... */
	uint32_t family; /* enum rvp_family */
};

struct rvp_slot {
	_Atomic uint32_t owner; /* tid; 0: free */
	uint32_t tid;           /* of the open chunk's thread */
	uint64_t serial;        /* of the open chunk's thread */
	_Atomic uint64_t word;  /* sequence << 32 | committed length */
	uint64_t record_count;  /* in the open chunk; a hint until sealed */
	struct rvp_counters counters;
	_Atomic uint64_t deferred_count;
	struct rvp_deferred deferred[RVP_DEFERRED_MAX];
};
_Static_assert(sizeof(struct rvp_slot) <= RVP_SLOT_HEADER_AT, "a slot's head fits before its chunk header");

struct rvp_buffers {
	struct rvp_file_header file; /* magic RVP_BUFFER_MAGIC */
	uint32_t slot_bytes;
	_Atomic uint32_t slot_count;  /* slots that exist in the file */
	_Atomic uint64_t log_tail;    /* next free offset of the log */
	_Atomic uint64_t next_serial; /* of threads */
	uint32_t tree_entry;          /* of this process in tree.rvt */
	uint32_t reserved;
	_Atomic uint64_t loss[64]; /* indexed by enum rvp_loss */
	_Atomic uint64_t node_count, python_node_count, own_bytes, recorded_blocks;
};
_Static_assert(sizeof(struct rvp_buffers) <= RVP_BUFFER_HEADER_BYTES, "the buffer file's header is a page");
_Static_assert(RVP_LOSS_COUNT <= 64, "loss reasons fit");

static inline uint64_t rvp_word(uint64_t sequence, uint64_t length)
{
	return sequence << 32 | length;
}
static inline uint32_t rvp_word_length(uint64_t word)
{
	return (uint32_t)word;
}
static inline uint32_t rvp_word_sequence(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static inline struct rvp_slot *rvp_slot_at(struct rvp_buffers *buffers, uint32_t number)
{
	return (struct rvp_slot *)((char *)buffers + RVP_BUFFER_HEADER_BYTES + (size_t)number * buffers->slot_bytes);
}
static inline uint8_t *rvp_slot_payload(struct rvp_slot *slot)
{
	return (uint8_t *)slot + RVP_SLOT_PAYLOAD_AT;
}
static inline uint32_t rvp_slot_length(struct rvp_slot *slot)
{
	return rvp_word_length(atomic_load_explicit(&slot->word, memory_order_relaxed));
}
static inline struct rvp_chunk_header *rvp_slot_chunk(struct rvp_slot *slot)
{
	return (struct rvp_chunk_header *)((char *)slot + RVP_SLOT_HEADER_AT);
}

/* Where the next record's bytes go, or NULL when fewer than `bytes` are left: flush first. Owner only. */
static inline uint8_t *rvp_slot_room(struct rvp_slot *slot, uint32_t slot_bytes, uint64_t bytes)
{
	uint64_t length = rvp_slot_length(slot);

	if (length + bytes > slot_bytes - RVP_SLOT_PAYLOAD_AT)
		return 0;
	return rvp_slot_payload(slot) + length;
}

/* The record whose bytes end at `end` exists from here on. Owner only. */
static inline void rvp_slot_commit(struct rvp_slot *slot, const uint8_t *end)
{
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
	uint64_t length = (uint64_t)(end - rvp_slot_payload(slot));

	slot->record_count++;
	atomic_store_explicit(&slot->word, rvp_word(rvp_word_sequence(word), length), memory_order_release);
}

/* [seal] Fills in the chunk header; returns how many bytes from rvp_slot_chunk() on belong in the log. */
static inline size_t rvp_slot_seal(struct rvp_slot *slot, uint32_t number, uint64_t last_stamp)
{
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
	struct rvp_chunk_header *header = rvp_slot_chunk(slot);

	*header = (struct rvp_chunk_header){
	    .magic = RVP_CHUNK_MAGIC,
	    .version = RVP_FORMAT_VERSION,
	    .header_bytes = sizeof *header,
	    .payload_bytes = rvp_word_length(word),
	    .record_count = (uint32_t)slot->record_count,
	    .thread_serial = slot->serial,
	    .sequence = rvp_word_sequence(word),
	    .slot = number,
	    .tid = slot->tid,
	    .last_stamp = last_stamp,
	    .payload_checksum = rvp_checksum(rvp_slot_payload(slot), rvp_word_length(word)),
	};
	header->header_checksum = rvp_checksum(header, offsetof(struct rvp_chunk_header, header_checksum));
	return sizeof *header + header->payload_bytes;
}

/* [restart] after a good write. Owner only. */
static inline void rvp_slot_restart(struct rvp_slot *slot)
{
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

	slot->record_count = 0;
	atomic_store_explicit(&slot->word, rvp_word(rvp_word_sequence(word) + 1, 0), memory_order_release);
}

/* After a failed write: the records are gone and counted by the caller; the sequence number stays. Owner only. */
static inline void rvp_slot_drop(struct rvp_slot *slot)
{
	uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

	slot->record_count = 0;
	atomic_store_explicit(&slot->word, rvp_word(rvp_word_sequence(word), 0), memory_order_release);
}

#endif
