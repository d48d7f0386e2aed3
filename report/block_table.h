/* SPDX-License-Identifier: MIT */
/* block_table.h: live blocks by address. A block has a number that it keeps while it lives, and is a line of the cache;
 * numbers of the dead are used again, the last one first, so that short lives stay in the first-level cache. The numbers
 * are in a hash table of buckets, each a line of the cache too: seven hashes, seven numbers. A bucket's hashes are
 * compared all at once, without a branch that depends on what is in it: the processor could not foresee it.
 *
 * Invariants
 *   (L1) A number is in its home bucket, or in a later one; then each bucket from its home up to there counts it in
 *        `passed`. Who comes to a bucket that nobody passed need not go on.
 *   (L2) blocks[i] is in use if and only if its flags have RVP_BLOCK_OCCUPIED; the others are chained by `site`.
 */
#ifndef RVP_REPORT_BLOCK_TABLE_H
#define RVP_REPORT_BLOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum rvp_block_flags {
	RVP_BLOCK_SAMPLED = 1,  /* stands for more than itself */
	RVP_BLOCK_SUSPECT = 2,  /* given out while another was live there: one late free is to be swallowed */
	RVP_BLOCK_OCCUPIED = 4, /* the number is in use */
	RVP_BLOCK_MAPPED = 8,   /* a mapping of the program, not a block of its allocator */
	RVP_BLOCK_FILE = 16,    /* a mapping of a file: counts only when evidence speaks for it */
	RVP_BLOCK_POOL = 32,    /* of a device: what a pool of the driver's holds and has not given out */
	RVP_BLOCK_AGAIN = 64,   /* of a device: it was there under another address; no alloc */
	RVP_BLOCK_WATCHED = 128, /* somebody wants to see it go (rvp_survey_watch) */
	RVP_BLOCK_SEGMENT = 256, /* of a device: a tensor was in it */
	RVP_BLOCK_DEVICE_SHIFT = 16, /* the number of the device above these (device_list.h); 0: the host */
};

#define RVP_NOT_COUNTED UINT32_MAX

struct rvp_block {
	uint64_t address;
	uint64_t bytes; /* requested */
	uint64_t birth_ns;
	uint32_t site;   /* by call path alone; what observers and answers see is `split` in its place */
	uint32_t split;  /* site by call path and purpose; RVP_NOT_COUNTED: in no sum */
	uint32_t stream; /* that gave it out */
	uint32_t flags;  /* enum rvp_block_flags */
	uint32_t thread; /* low bits of its thread_serial */
	uint32_t birth;  /* low bits of the number of its birth in its process; 0: of a mapping */
	uint64_t unused[2]; /* a block is one line of the cache */
};

/* The device that it is on; 0: the host. */
static inline uint32_t rvp_block_device(const struct rvp_block *block)
{
	return block->flags >> RVP_BLOCK_DEVICE_SHIFT;
}

enum { RVP_BUCKET_PLACES = 7 };
struct rvp_block_bucket {
	uint32_t hashes[RVP_BUCKET_PLACES]; /* 0: empty */
	uint32_t passed;
	uint32_t numbers[RVP_BUCKET_PLACES]; /* of blocks, + 1 */
	uint32_t unused;
};

struct rvp_block_table {
	struct rvp_block *blocks;         /* block_count of them were ever in use */
	struct rvp_block_bucket *buckets; /* NULL before the first block */
	size_t count, mask;               /* mask: buckets - 1 */
	uint32_t block_count, block_room, free; /* free: number + 1 of the last that died; 0: none */
};

/* Never 0. */
static inline uint32_t rvp_block_hash(uint64_t address)
{
	return (uint32_t)((address ^ address >> 32) * 0x9e3779b97f4a7c15u >> 32) | 1u << 31;
}

/* In which places of the bucket this hash is, a bit each. */
static inline unsigned rvp_bucket_places(const struct rvp_block_bucket *bucket, uint32_t hash)
{
#ifdef __SSE2__
	__m128i wanted = _mm_set1_epi32((int)hash);
	__m128i low = _mm_cmpeq_epi32(wanted, _mm_loadu_si128((const __m128i *)bucket->hashes));
	__m128i high = _mm_cmpeq_epi32(wanted, _mm_loadu_si128((const __m128i *)bucket->hashes + 1));

	/* The eighth of them is `passed`. */
	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(low, high), high)) & 0x7f;
#else
	unsigned places = 0;

	for (unsigned i = 0; i < RVP_BUCKET_PLACES; i++)
		places |= (unsigned)(bucket->hashes[i] == hash) << i;
	return places;
#endif
}

/* Soon somebody will look for this address: its bucket is fetched. These must be inlined at once: gcc takes a function
 * that does nothing but prefetch for one that does nothing. */
__attribute__((always_inline)) static inline void rvp_block_expect(const struct rvp_block_table *table, uint64_t address)
{
	if (table->buckets)
		__builtin_prefetch(&table->buckets[rvp_block_hash(address) & table->mask], 1);
}

/* A little later, when the bucket is there: the number + 1 of the block that this address probably has (0: none), which
 * is fetched. */
__attribute__((always_inline)) static inline uint32_t rvp_block_guess(const struct rvp_block_table *table,
								      uint64_t address)
{
	const struct rvp_block_bucket *bucket;
	uint32_t hash = rvp_block_hash(address), number;
	unsigned places;

	if (!table->buckets)
		return 0;
	bucket = &table->buckets[hash & table->mask];
	places = rvp_bucket_places(bucket, hash);
	number = places ? bucket->numbers[__builtin_ctz(places)] : 0;
	__builtin_prefetch(&table->blocks[number ? number - 1 : 0], 1);
	return number;
}

/* NULL: not there. The pointer holds until the next put or remove. */
static inline struct rvp_block *rvp_block_find(const struct rvp_block_table *table, uint64_t address)
{
	uint32_t hash = rvp_block_hash(address);

	if (!table->buckets)
		return NULL;
	for (size_t at = hash & table->mask;; at = (at + 1) & table->mask) {
		const struct rvp_block_bucket *bucket = &table->buckets[at];

		for (unsigned places = rvp_bucket_places(bucket, hash); places; places &= places - 1) {
			struct rvp_block *block = &table->blocks[bucket->numbers[__builtin_ctz(places)] - 1];

			if (block->address == address)
				return block;
		}
		if (!bucket->passed)
			return NULL;
	}
}

/* The same for who guessed before; a wrong guess costs time alone. */
static inline struct rvp_block *rvp_block_find_by(const struct rvp_block_table *table, uint32_t guess, uint64_t address)
{
	struct rvp_block *block = guess ? &table->blocks[guess - 1] : NULL;

	return block && block->address == address && block->flags ? block : rvp_block_find(table, address);
}

bool rvp_block_table_grow(struct rvp_block_table *table);

/* Into the first bucket from its home on that has a place. */
static inline void rvp_bucket_put(struct rvp_block_bucket *buckets, size_t mask, uint32_t hash, uint32_t number)
{
	for (size_t at = hash & mask;; at = (at + 1) & mask) {
		unsigned places = rvp_bucket_places(&buckets[at], 0);

		if (places) {
			buckets[at].hashes[__builtin_ctz(places)] = hash;
			buckets[at].numbers[__builtin_ctz(places)] = number;
			return;
		}
		buckets[at].passed++;
	}
}

/* At most four numbers a bucket, on average: then one in twenty is full. */
static inline bool rvp_block_has_room(const struct rvp_block_table *table)
{
	return table->buckets && table->count < 4 * (table->mask + 1) &&
	       (table->free || table->block_count < table->block_room);
}

/* A new block that has nothing but its address; NULL: one is there already, or no memory. */
static inline struct rvp_block *rvp_block_add(struct rvp_block_table *table, uint64_t address)
{
	uint32_t number = table->free;
	struct rvp_block *block;

	if ((!rvp_block_has_room(table) && !rvp_block_table_grow(table)) || rvp_block_find(table, address))
		return NULL;
	if (number)
		table->free = table->blocks[number - 1].site;
	else
		number = ++table->block_count;
	rvp_bucket_put(table->buckets, table->mask, rvp_block_hash(address), number);
	table->count++;
	block = &table->blocks[number - 1];
	block->address = address;
	block->flags = RVP_BLOCK_OCCUPIED;
	return block;
}

/* Its address must not be there. NULL without memory. Not one of the table's own. */
struct rvp_block *rvp_block_put(struct rvp_block_table *table, const struct rvp_block *block);

void rvp_block_remove(struct rvp_block_table *table, struct rvp_block *block);
void rvp_block_table_free(struct rvp_block_table *table);

#endif
