/* SPDX-License-Identifier: MIT */
/* writes_pages.c: see writes_pages.h.
 *
 * A block is followed with the whole mapping that it lies in where it has one of its own (glibc's large
 * chunks: with the header's page, so that mremap still moves it in place); else its whole pages.
 *
 * Which unit of a page changed can only be seen by comparing. So of the pages that a scan finds written a few
 * are copied, spread over what is written; when such a page is written again, it is compared with its copy in
 * units of two bytes (the smallest number that a cache is kept in, but for quantized ones, whose blocks are
 * larger still).
 *
 * Invariants
 *   (W3) `address` of a followed block is 0 from the moment when it is given back: it is in no record then.
 *   (W4) The program's memory is read by rvp_sys_peek alone.
 */
#include "preload/writes_pages.h"

#include "preload/emit.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/sys.h"
#include "preload/writes_kernel.h"
#include "preload/writes_places.h"

#include <string.h>

enum { PAGE = 4096, UNIT = 2, UNITS = PAGE / UNIT };
enum { SAMPLES = 48, NEW_A_SCAN = 8, SAMPLES_LEAST = 16 };
enum { COPIES = 8192 /* 32 MiB at the most, touched as they are needed */ };
enum { RANGES = 512 };
/* All blocks from here on are followed; smaller ones only while there are few. */
static const uint64_t large_bytes = 256 * 1024;
enum { FEW = 256 };

struct sample {
	uint32_t page, times; /* scans in which it was written */
};

struct followed {
	_Atomic uint64_t address, bytes; /* as the program knows it */
	_Atomic uint64_t moves;
	uint64_t known_moves, offset; /* that the fields below know of; of the block in what is registered */
	uint64_t from, to;            /* what is registered; from == to: nothing */
	uint64_t first_seen_page;     /* in `seen`, of the page at `from` */
	uint64_t page_count;          /* at the begin */
	uint64_t active, resident, written, early, late, runs, least, most;
	uint64_t observations, new_units, again_units;
	uint64_t last_written; /* pages, in the scan before */
	uint32_t sample_count, first_copy;
	struct sample samples[SAMPLES];
};

struct copy {
	uint64_t words[PAGE / 8];
	uint8_t changed[UNITS / 8]; /* units that changed in this window */
};

static struct {
	struct followed *blocks; /* RVP_FOLLOWED_MAX, kept once it is there: others may look */
	struct copy *copies;
	uint8_t *seen; /* a bit a page: it was written in this window */
	uint64_t seen_bytes, copy_bytes;
	uint32_t count, samples_each;
	struct rvp_page_range ranges[RANGES];
	uint64_t page[PAGE / 8];
	uint32_t sizes[64 * 4];
} all;

/* ---- which blocks, and where they lie ---- */

/* Quarters of powers of two. */
static unsigned size_class(uint64_t bytes)
{
	unsigned power = 63 - (unsigned)__builtin_clzll(bytes | 4);

	return power * 4 + (unsigned)(bytes >> (power - 2) & 3);
}

/* The least size class that is followed. */
static unsigned choose_class(void)
{
	unsigned class = sizeof all.sizes / sizeof *all.sizes;
	uint64_t count = 0;

	memset(all.sizes, 0, sizeof all.sizes);
	for (uint32_t i = 0; i < RVP_PLACES; i++) {
		struct rvp_written_place place = rvp_places_at(i);

		if (place.address)
			all.sizes[size_class(place.bytes)]++;
	}
	for (; class > 0; class --) {
		uint64_t more = all.sizes[class - 1];

		if (count + more > (class > size_class(large_bytes) ? RVP_FOLLOWED_MAX : FEW) && count)
			break;
		count += more;
	}
	return class;
}

/* Header of a chunk of glibc's: its size with flags, and what lies before it in its mapping. */
static bool find_mapping(uint64_t address, uint64_t bytes, uint64_t *from, uint64_t *to)
{
	enum { IS_MAPPED = 2, FLAGS = 7 };
	uint64_t header[2], size;

	if (address % 16 || rvp_sys_peek((int)rvp_process.pid, (void *)(address - sizeof header), header,
					 sizeof header) != sizeof header)
		return false;
	size = header[1] & ~(uint64_t)FLAGS;
	*from = address - sizeof header - header[0];
	*to = address - sizeof header + size;
	return (header[1] & FLAGS) == IS_MAPPED && *from % PAGE == 0 && *to % PAGE == 0 &&
	       header[0] < PAGE * 16 && size >= bytes + sizeof header && size < bytes + PAGE * 16;
}

static void find_pages(uint64_t address, uint64_t bytes, uint64_t *from, uint64_t *to)
{
	if (address % PAGE == 0 && bytes % PAGE == 0) {
		*from = address;
		*to = address + bytes;
		return;
	}
	if (find_mapping(address, bytes, from, to))
		return;
	*from = (address + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	*to = (address + bytes) & ~(uint64_t)(PAGE - 1);
}

static bool register_pages(struct followed *block)
{
	find_pages(atomic_load(&block->address), atomic_load(&block->bytes), &block->from, &block->to);
	block->offset = atomic_load(&block->address) - block->from;
	if (block->from < block->to && rvp_writes_register(block->from, block->to))
		return true;
	block->to = block->from;
	return false;
}

/* ---- a scan ---- */

struct look {
	struct followed *block;
	unsigned scan, half;
	uint64_t pages, stride, phase;
	uint32_t new_samples;
};

static void see_resident(void *context, uint64_t from, uint64_t to)
{
	struct look *look = context;

	look->pages += (to - from) / PAGE;
}

static bool is_first_write(uint64_t page)
{
	uint8_t bit = (uint8_t)(1u << page % 8);

	if (page / 8 >= all.seen_bytes || all.seen[page / 8] & bit)
		return false;
	all.seen[page / 8] |= bit;
	return true;
}

static void note_first_writes(struct look *look, uint64_t first, uint64_t last)
{
	struct followed *block = look->block;
	uint64_t count = 0;

	if (last > block->page_count)
		last = block->page_count;
	for (uint64_t page = first; page < last; page++)
		count += is_first_write(block->first_seen_page + page);
	if (look->scan < look->half)
		block->early += count;
	else
		block->late += count;
}

static bool read_page(const struct followed *block, uint32_t page, uint64_t *to)
{
	return rvp_sys_peek((int)rvp_process.pid, (void *)(block->from + (uint64_t)page * PAGE), to, PAGE) ==
	       PAGE;
}

/* Eight bytes that are not the same: four units. */
static void compare_word(struct followed *block, struct copy *copy, unsigned word, uint64_t differing)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned unit = word * 4 + i;
		uint8_t bit = (uint8_t)(1u << unit % 8);

		if (!(differing >> 16 * i & 0xffff))
			continue;
		if (copy->changed[unit / 8] & bit)
			block->again_units++;
		else
			block->new_units++;
		copy->changed[unit / 8] |= bit;
	}
}

static void compare_units(struct followed *block, struct copy *copy)
{
	for (unsigned word = 0; word < PAGE / 8; word++)
		if (all.page[word] != copy->words[word])
			compare_word(block, copy, word, all.page[word] ^ copy->words[word]);
	memcpy(copy->words, all.page, PAGE);
}

static void compare_sample(struct followed *block, uint32_t number)
{
	struct sample *sample = &block->samples[number];

	sample->times++;
	if (!read_page(block, sample->page, all.page))
		return;
	block->observations++;
	compare_units(block, &all.copies[block->first_copy + number]);
}

static void take_sample(struct look *look, uint32_t page)
{
	struct followed *block = look->block;
	struct copy *copy = &all.copies[block->first_copy + block->sample_count];

	for (uint32_t i = 0; i < block->sample_count; i++)
		if (block->samples[i].page == page)
			return;
	if (!read_page(block, page, copy->words))
		return;
	memset(copy->changed, 0, sizeof copy->changed);
	block->samples[block->sample_count++] = (struct sample){page, 1};
	look->new_samples++;
}

static void take_samples(struct look *look, uint64_t first, uint64_t last)
{
	uint64_t page = first + (look->stride - look->phase % look->stride) % look->stride;

	look->phase += last - first;
	for (; page < last && look->new_samples < NEW_A_SCAN && look->block->sample_count < all.samples_each;
	     page += look->stride)
		take_sample(look, (uint32_t)page);
}

static void see_written(void *context, uint64_t from, uint64_t to)
{
	struct look *look = context;
	struct followed *block = look->block;
	uint64_t first = (from - block->from) / PAGE, last = (to - block->from) / PAGE;

	look->pages += last - first;
	block->runs++;
	note_first_writes(look, first, last);
	for (uint32_t i = 0; i < block->sample_count; i++)
		if (block->samples[i].page >= first && block->samples[i].page < last)
			compare_sample(block, i);
	if (last <= UINT32_MAX)
		take_samples(look, first, last);
}

static void count_scan(struct look *look)
{
	struct followed *block = look->block;

	if (!look->pages)
		return;
	block->active |= 1ull << look->scan;
	block->written += look->pages;
	block->last_written = look->pages;
	if (!block->least || look->pages < block->least)
		block->least = look->pages;
	if (look->pages > block->most)
		block->most = look->pages;
}

static struct rvp_writes_room room(void)
{
	return (struct rvp_writes_room){all.ranges, RANGES};
}

/* It was written to while it moved: that much is known. */
static void follow_moved(struct followed *block, struct look *look)
{
	uint64_t offset = block->offset;

	block->known_moves = atomic_load(&block->moves);
	if (register_pages(block))
		rvp_writes_scan(block->from, block->to, room(), see_resident, &(struct look){0});
	if (block->offset != offset)
		block->sample_count = 0; /* its pages are cut elsewhere now */
	block->active |= 1ull << look->scan;
}

static bool scan_block(struct followed *block, unsigned scan, unsigned half)
{
	struct look look = {.block = block, .scan = scan, .half = half};

	if (!atomic_load(&block->address))
		return true;
	look.stride = block->last_written / NEW_A_SCAN + 1;
	look.phase = scan;
	if (block->known_moves != atomic_load(&block->moves)) {
		follow_moved(block, &look);
		return true;
	}
	if (block->from == block->to)
		return true;
	if (!rvp_writes_scan(block->from, block->to, room(), see_written, &look))
		return false;
	count_scan(&look);
	return true;
}

/* One block that can't be scanned may be going right now; none that can is the end. */
bool rvp_followed_scan(unsigned scan, unsigned half)
{
	uint32_t good = 0;

	for (uint32_t i = 0; i < all.count; i++)
		good += scan_block(&all.blocks[i], scan, half);
	return good || !all.count;
}

/* ---- begin and end ---- */

static bool follow(uint32_t cell, struct rvp_written_place place)
{
	struct followed *block = &all.blocks[all.count];
	struct look look = {.block = block};

	memset(block, 0, sizeof *block);
	block->address = place.address;
	block->bytes = place.bytes;
	if (!rvp_places_follow(cell, place.address, all.count + 1))
		return false;
	if (!register_pages(block) || !rvp_writes_scan(block->from, block->to, room(), see_resident, &look)) {
		rvp_places_follow(cell, place.address, 0);
		return false;
	}
	block->resident = look.pages;
	block->page_count = (block->to - block->from) / PAGE;
	block->first_seen_page = all.seen_bytes * 8;
	all.seen_bytes += (block->page_count + 7) / 8;
	all.count++;
	return true;
}

static void follow_all(struct rvp_followed_sum *sum)
{
	unsigned class = choose_class();

	for (uint32_t i = 0; i < RVP_PLACES; i++) {
		struct rvp_written_place place = rvp_places_at(i);

		if (!place.address || size_class(place.bytes) < class)
			continue;
		if (all.count < RVP_FOLLOWED_MAX && follow(i, place)) {
			sum->block_count++;
			sum->block_bytes += place.bytes;
		} else {
			sum->left_out++;
		}
	}
}

static void share_copies(void)
{
	uint32_t each = all.count ? COPIES / all.count : SAMPLES;

	all.samples_each = each < SAMPLES_LEAST ? SAMPLES_LEAST : each > SAMPLES ? SAMPLES : each;
	for (uint32_t i = 0; i < all.count; i++)
		all.blocks[i].first_copy = i * all.samples_each;
}

bool rvp_followed_open(struct rvp_followed_sum *sum)
{
	*sum = (struct rvp_followed_sum){.left_out = rvp_places_left_out()};
	if (!all.blocks)
		all.blocks = rvp_own_map(sizeof *all.blocks * RVP_FOLLOWED_MAX);
	all.count = 0;
	all.seen_bytes = 0;
	if (!all.blocks)
		return false;
	follow_all(sum);
	share_copies();
	all.copy_bytes = sizeof *all.copies * (all.count * all.samples_each + 1);
	all.copies = rvp_own_map(all.copy_bytes);
	all.seen = rvp_own_map(all.seen_bytes + 1);
	return all.copies && all.seen;
}

void rvp_followed_restart(void)
{
	if (all.seen)
		memset(all.seen, 0, all.seen_bytes);
	for (uint32_t i = 0; i < all.count; i++) {
		struct followed *block = &all.blocks[i];

		block->active = block->written = block->early = block->late = block->runs = 0;
		block->least = block->most = block->observations = block->new_units = block->again_units = 0;
		for (uint32_t j = 0; j < block->sample_count; j++) {
			block->samples[j].times = 0;
			memset(all.copies[block->first_copy + j].changed, 0, UNITS / 8);
		}
	}
}

static bool is_append_only(const struct followed *block)
{
	return atomic_load(&block->address) && block->new_units >= 64 &&
	       block->again_units * 33 <= block->new_units;
}

bool rvp_followed_is_seldom(unsigned most)
{
	for (uint32_t i = 0; i < all.count; i++) {
		unsigned scans = (unsigned)__builtin_popcountll(all.blocks[i].active);

		if (scans && scans <= most && is_append_only(&all.blocks[i]))
			return true;
	}
	return false;
}

/* In each eighth of the scans. */
static bool is_steady(const struct followed *block, unsigned scans)
{
	unsigned each = scans / 8;
	uint64_t mask = each < 64 ? (1ull << each) - 1 : ~0ull;

	for (unsigned i = 0; each && i < 8; i++)
		if (!(block->active >> i * each & mask))
			return false;
	return each > 0;
}

/* 64 units in a scan with any. */
static bool is_fast(const struct followed *block)
{
	uint64_t scans = (uint64_t)__builtin_popcountll(block->active);

	return block->new_units * block->written >= 64 * block->observations * scans;
}

unsigned rvp_followed_count_stores(unsigned scans)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < all.count; i++)
		count += is_append_only(&all.blocks[i]) && is_steady(&all.blocks[i], scans) &&
			 is_fast(&all.blocks[i]);
	return count;
}

static uint64_t hottest(const struct followed *block)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < block->sample_count; i++)
		if (block->samples[i].times > most)
			most = block->samples[i].times;
	return most;
}

void rvp_followed_emit(struct rvp_thread *thread, uint64_t stamp, uint64_t window, uint64_t scans)
{
	for (uint32_t i = 0; i < all.count; i++) {
		const struct followed *block = &all.blocks[i];
		uint64_t address = atomic_load(&block->address);

		if (!address)
			continue;
		RVP_EMIT(thread, WRITTEN, 0, .stamp = stamp, .address = address,
			 .bytes = atomic_load(&block->bytes), .number = window, .scans = scans,
			 .active = block->active, .page_count = block->page_count,
			 .resident_pages = block->resident, .written_pages = block->written,
			 .early_pages = block->early, .late_pages = block->late, .runs = block->runs,
			 .least_pages = block->least, .most_pages = block->most,
			 .sampled_pages = block->sample_count, .observations = block->observations,
			 .new_units = block->new_units, .again_units = block->again_units,
			 .hottest = hottest(block), .moves = atomic_load(&block->moves));
	}
}

static void give_back_memory(void)
{
	if (all.copies)
		rvp_own_unmap(all.copies, all.copy_bytes);
	if (all.seen)
		rvp_own_unmap(all.seen, all.seen_bytes + 1);
	all.copies = NULL;
	all.seen = NULL;
}

void rvp_followed_close(void)
{
	rvp_places_follow_none();
	for (uint32_t i = 0; i < all.count; i++) {
		if (all.blocks[i].from < all.blocks[i].to)
			rvp_writes_unregister(all.blocks[i].from, all.blocks[i].to);
		atomic_store(&all.blocks[i].address, 0);
	}
	all.count = 0;
	give_back_memory();
}

void rvp_followed_gone(uint32_t number)
{
	if (number < RVP_FOLLOWED_MAX && all.blocks)
		atomic_store(&all.blocks[number].address, 0);
}

void rvp_followed_moved(uint32_t number, uint64_t address, uint64_t bytes)
{
	if (number >= RVP_FOLLOWED_MAX || !all.blocks)
		return;
	atomic_store(&all.blocks[number].bytes, bytes);
	atomic_store(&all.blocks[number].address, address);
	atomic_fetch_add(&all.blocks[number].moves, 1);
}

void rvp_followed_after_fork(void)
{
	rvp_places_follow_none();
	all.count = 0;
	give_back_memory();
}
