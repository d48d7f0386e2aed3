/* SPDX-License-Identifier: MIT */
/* page_runs.c: see page_runs.h. The kernel's own structures are spelled out: the headers of the oldest
 * systems that we build on do not have them. */
#include "preload/page_runs.h"

#include "preload/sys.h"

enum { PAGE_BYTES = 4096 };

static const uint64_t whole_limit_bytes = 1ull << 30; /* a read of 2 MiB, 1 to 2 ms */

/* ---- PAGEMAP_SCAN ---- */

struct scanned {
	uint64_t start, end, categories;
};
struct scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_length, max_pages;
	uint64_t inverted, all_of, any_of, returned;
};
enum { IS_PRESENT = 8, IS_SWAPPED = 16, IS_ZERO_PAGE = 32 };
static const long scan_request =
    3l << 30 | (long)sizeof(struct scan) << 16 | 'f' << 8 | 16; /* _IOWR('f', 16, ..) */

/* The part of it in [start, end). */
static void see_scanned(const struct scanned *from, uint64_t start, uint64_t end,
			void (*see)(void *, const struct rvp_page_run *), void *context)
{
	uint64_t low = from->start > start ? from->start : start, high = from->end < end ? from->end : end;
	bool is_swapped = from->categories & IS_SWAPPED;

	if (from->categories & IS_ZERO_PAGE || low >= high)
		return;
	see(context, &(struct rvp_page_run){.address = low,
					    .bytes = high - low,
					    .resident_bytes = is_swapped ? 0 : high - low,
					    .swapped_bytes = is_swapped ? high - low : 0,
					    .looked_bytes = high - low});
}

/* Where the scan stopped: only for want of room. The kernel's own word is where it last had to empty a buffer of its
 * own of 512 ranges, also when it went on from there to the end. */
static uint64_t scanned_to(const struct rvp_page_reader *reader, const struct scan *ask, size_t count)
{
	const struct scanned *found = reader->room;

	if (count < ask->vec_length || !count)
		return ask->end;
	return ask->walk_end > found[count - 1].end ? ask->walk_end : found[count - 1].end;
}

static bool scan_from(struct rvp_page_reader *reader, uint64_t start, uint64_t end)
{
	struct scan ask = {.size = sizeof ask,
			   .start = start,
			   .end = end,
			   .vec = (uint64_t)reader->room,
			   .vec_length = reader->room_bytes / sizeof(struct scanned),
			   .any_of = IS_PRESENT | IS_SWAPPED,
			   .returned = IS_PRESENT | IS_SWAPPED | IS_ZERO_PAGE};
	long count = rvp_syscall6(SYS_ioctl, reader->fd, scan_request, (long)&ask, 0, 0, 0);

	if (count < 0)
		return false;
	reader->known_start = start;
	reader->known_end = scanned_to(reader, &ask, (size_t)count);
	reader->known_count = (size_t)count;
	reader->known_next = 0;
	return true;
}

static bool scan_ahead(struct rvp_page_reader *reader, uint64_t start, uint64_t end)
{
	if (reader->ahead_end > end && scan_from(reader, start, reader->ahead_end))
		return true;
	reader->ahead_end = 0;
	return scan_from(reader, start, end);
}

static void see_known(struct rvp_page_reader *reader, uint64_t start, uint64_t end,
		      void (*see)(void *, const struct rvp_page_run *), void *context)
{
	const struct scanned *found = reader->room;

	for (; reader->known_next < reader->known_count; reader->known_next++) {
		const struct scanned *next = &found[reader->known_next];

		if (next->start < end)
			see_scanned(next, start, end, see, context);
		if (next->end > end)
			break;
	}
}

/* False: this kernel has no such call. */
static bool scan(struct rvp_page_reader *reader, uint64_t start, uint64_t end,
		 void (*see)(void *, const struct rvp_page_run *), void *context)
{
	for (uint64_t at = start; at < end; at = reader->known_end) {
		bool is_known = at >= reader->known_start && at < reader->known_end;

		if (!is_known && !scan_ahead(reader, at, end))
			return at != start;
		see_known(reader, at, end, see, context);
	}
	return true;
}

/* ---- eight bytes a page ---- */

static bool is_present(uint64_t entry)
{
	return entry >> 63;
}

static bool is_swapped(uint64_t entry)
{
	return !is_present(entry) && entry >> 62 & 1;
}

static void see_entries(const uint64_t *entries, size_t count, struct rvp_page_run part,
			void (*see)(void *, const struct rvp_page_run *), void *context)
{
	uint64_t scale = part.bytes / part.looked_bytes; /* 1: all of it was looked at */
	uint64_t resident = 0, swapped = 0;

	for (size_t i = 0, from = 0; i <= count; i++) {
		bool has_page = i < count && (is_present(entries[i]) || is_swapped(entries[i]));

		if (has_page) {
			resident += is_present(entries[i]);
			swapped += is_swapped(entries[i]);
		}
		if (scale > 1 ? i < count : has_page)
			continue;
		if (resident + swapped)
			see(context,
			    &(struct rvp_page_run){
				.address = part.address + (scale > 1 ? 0 : from * PAGE_BYTES),
				.bytes = scale > 1 ? part.bytes : (i - from) * PAGE_BYTES,
				.resident_bytes = resident * PAGE_BYTES * scale,
				.swapped_bytes = swapped * PAGE_BYTES * scale,
				.looked_bytes = scale > 1 ? part.looked_bytes : (i - from) * PAGE_BYTES});
		resident = swapped = 0;
		from = i + 1;
	}
}

static bool read_entries(struct rvp_page_reader *reader, uint64_t start, uint64_t end,
			 void (*see)(void *, const struct rvp_page_run *), void *context)
{
	uint64_t at_once = reader->room_bytes / 8 * PAGE_BYTES, every = (end - start) / whole_limit_bytes + 1;

	for (uint64_t at = start; at < end; at += at_once * every) {
		uint64_t bytes = end - at < at_once ? end - at : at_once;
		uint64_t stands_for =
		    end - at < bytes * every ? bytes : bytes * every; /* the last one for itself */
		long got = rvp_syscall6(SYS_pread64, reader->fd, (long)reader->room,
					(long)(bytes / PAGE_BYTES * 8), (long)(at / PAGE_BYTES * 8), 0, 0);

		if (got < 8)
			return false;
		see_entries(reader->room, (size_t)got / 8,
			    (struct rvp_page_run){.address = at, .bytes = stands_for, .looked_bytes = bytes},
			    see, context);
	}
	return true;
}

bool rvp_page_runs(struct rvp_page_reader *reader, uint64_t start, uint64_t end,
		   void (*see)(void *context, const struct rvp_page_run *run), void *context)
{
	if (!reader->has_no_scan && scan(reader, start, end, see, context))
		return true;
	reader->has_no_scan = true;
	return read_entries(reader, start, end, see, context);
}
