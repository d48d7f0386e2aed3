/* SPDX-License-Identifier: MIT */
/* resident.c: see resident.h.
 *
 * Neighbouring lines of one name (the parts of a library) are one REGION. Runs of pages are RESIDENT records;
 * the more there are, the larger gaps they may have, so that a look never writes more than a few thousand.
 */
#include "preload/resident.h"

#include "preload/descriptor.h"
#include "preload/emit.h"
#include "preload/map_lines.h"
#include "preload/own.h"
#include "preload/page_runs.h"
#include "preload/process.h"
#include "preload/stamp.h"
#include "preload/sys.h"

#include <string.h>
#include <time.h>

enum {
	TEXT_BYTES = 64 * 1024,
	PAGES_BYTES = 32 * 1024,
	TOUCHED_BYTES = 8 * 1024, /* of each: the kernel gives a page of text at once; more pages are many runs */
	PAGE_BYTES = 4096,
	EVERY_NS = 100 * 1000 * 1000, /* of looks for what has fallen */
	BUDGET_PARTS = 100,
	COST_NS_PER_MIB = 10000,
	/* A program of less than a second has a peak too, and may be killed there. A build's many small processes
	 * stay below what gives a free start. */
	FIRST_BUDGET_NS = 5 * 1000 * 1000,
	FREE_START_RSS_BYTES = 32 * 1024 * 1024,
	LEAST_GROWTH_BYTES = 256 * 1024,
	REST_PARTS = 128,
	GROWTH_PARTS = 22, /* then a peak between two looks is less than a twentieth above the first */
	/* Smaller data files are a row of the ledger, no evidence of weights. */
	LEAST_FILE_BYTES = 64 * 1024,
	/* After so many runs the gaps that a run may have double. */
	RUNS_A_GAP = 512,
};

static const uint64_t user_end = 1ull << 47; /* [vsyscall] lies above */

struct group { /* neighbouring lines of one name */
	struct rvp_map_line first;
	uint64_t mapped_bytes, rss_bytes, swap_bytes;
	bool is_executable;
};

struct look {
	struct rvp_thread *thread;
	uint64_t stamp;
	struct group group;
	struct rvp_page_run run; /* not emitted yet */
	uint64_t runs, region;
	enum rvp_range kind;
	bool wants_runs;
};

static char *text;
static void *pages;
static _Atomic uint32_t is_looking;
static _Atomic uint64_t highest_rss_bytes, looked_rss_bytes, looked_ns, spent_ns, last_cost_ns, begin_ns;
static bool has_no_scan;

static uint64_t cpu_ns(void)
{
	struct timespec now = {0};

	rvp_syscall6(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool has_grown(uint64_t rss_bytes)
{
	uint64_t highest = highest_rss_bytes, step = highest / GROWTH_PARTS;

	return rss_bytes > highest + (step > LEAST_GROWTH_BYTES ? step : LEAST_GROWTH_BYTES);
}

/* What the last look says is not so any more: in a tree it would stand for what the process holds. */
static bool has_fallen(uint64_t rss_bytes, uint64_t now)
{
	return rss_bytes < looked_rss_bytes / 2 && now - looked_ns >= EVERY_NS;
}

static bool has_moved(uint64_t rss_bytes)
{
	uint64_t looked = looked_rss_bytes, least = looked / REST_PARTS;

	if (least < LEAST_GROWTH_BYTES)
		least = LEAST_GROWTH_BYTES;
	return rss_bytes > looked + least || rss_bytes + least < looked;
}

static bool is_news(uint64_t rss_bytes, enum rvp_look_for what, uint64_t now)
{
	return has_grown(rss_bytes) || (what == RVP_LOOK_FOR_NEWS && has_fallen(rss_bytes, now)) ||
	       (what == RVP_LOOK_FOR_REST && has_moved(rss_bytes));
}

/* The next one costs more by what there is more to look at. */
static uint64_t next_cost_ns(uint64_t rss_bytes)
{
	uint64_t before = looked_rss_bytes, more_bytes = rss_bytes > before ? rss_bytes - before : 0;

	return last_cost_ns + (more_bytes >> 20) * COST_NS_PER_MIB;
}

bool rvp_resident_is_due(uint64_t rss_bytes, enum rvp_look_for what)
{
	uint64_t now = rvp_monotonic_ns(), none = 0, first_ns = 0;

	atomic_compare_exchange_strong(&begin_ns, &none, now);
	if (!is_news(rss_bytes, what, now))
		return false;
	if (what == RVP_LOOK_FOR_LAST_CHANCE || rss_bytes >= FREE_START_RSS_BYTES)
		first_ns = FIRST_BUDGET_NS;
	return spent_ns + next_cost_ns(rss_bytes) <= (now - begin_ns) / BUDGET_PARTS + first_ns;
}

static bool open_files(void)
{
	return (rvp_descriptor_use(RVP_DESCRIPTOR_MAPS) >= 0 ||
		rvp_descriptor_open(RVP_DESCRIPTOR_MAPS, "/proc/self/maps", O_RDONLY, 0)) &&
	       (rvp_descriptor_use(RVP_DESCRIPTOR_PAGEMAP) >= 0 ||
		rvp_descriptor_open(RVP_DESCRIPTOR_PAGEMAP, "/proc/self/pagemap", O_RDONLY, 0));
}

static bool take_turn(void)
{
	uint32_t no = 0;

	return atomic_compare_exchange_strong(&is_looking, &no, 1);
}

bool rvp_resident_is_looking(void)
{
	return atomic_load_explicit(&is_looking, memory_order_relaxed);
}

bool rvp_resident_prepare(void)
{
	bool good;

	if (rvp_process_is_vfork_child() || !take_turn())
		return false;
	if (!text)
		text = rvp_own_map(TEXT_BYTES);
	if (!pages)
		pages = rvp_own_map(PAGES_BYTES);
	good = text && pages && open_files();
	if (good && !looked_ns) { /* touched now, counted in RSS then */
		memset(text, 0, TOUCHED_BYTES);
		memset(pages, 0, TOUCHED_BYTES);
	}
	atomic_store(&is_looking, 0);
	return good;
}

/* ---- runs ---- */

static void emit_run(struct look *look)
{
	const struct rvp_page_run *run = &look->run;

	if (run->bytes && look->wants_runs) {
		RVP_EMIT(look->thread, RESIDENT, 0, .stamp = look->stamp, .address = run->address,
			 .bytes = run->bytes, .resident_bytes = run->resident_bytes,
			 .swapped_bytes = run->swapped_bytes, .kind = look->kind, .region = look->region,
			 .looked_bytes = run->looked_bytes);
		look->runs++;
	}
	look->run.bytes = 0;
}

/* The new run goes on where the last one ended, or so close behind it that the gap is not worth a record. */
static bool joins(const struct look *look, const struct rvp_page_run *run)
{
	uint64_t gap_pages = look->runs / RUNS_A_GAP ? 1ull << (look->runs / RUNS_A_GAP - 1) : 0;

	return look->run.bytes && look->run.bytes == look->run.looked_bytes &&
	       run->bytes == run->looked_bytes &&
	       run->address - (look->run.address + look->run.bytes) <= gap_pages * PAGE_BYTES;
}

static void see_run(void *context, const struct rvp_page_run *run)
{
	struct look *look = context;

	look->group.rss_bytes += run->resident_bytes;
	look->group.swap_bytes += run->swapped_bytes;
	if (!joins(look, run)) {
		emit_run(look);
		look->run = *run;
		return;
	}
	look->run.bytes = look->run.looked_bytes = run->address + run->bytes - look->run.address;
	look->run.resident_bytes += run->resident_bytes;
	look->run.swapped_bytes += run->swapped_bytes;
}

/* ---- names ---- */

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool is_shared_memory(const char *name)
{
	return begins(name, "/memfd:") || begins(name, "/dev/shm/") || begins(name, "/SYSV") ||
	       begins(name, "/dev/zero");
}

static enum rvp_range range_of(const struct rvp_map_line *line)
{
	if (is_shared_memory(line->name) || (line->is_shared && !line->inode))
		return RVP_RANGE_SHARED;
	if (line->name[0] == '/')
		return RVP_RANGE_FILE;
	if (begins(line->name, "[stack"))
		return RVP_RANGE_STACK;
	return begins(line->name, "[heap]") ? RVP_RANGE_HEAP : RVP_RANGE_ANON;
}

static enum rvp_category category_of(const struct group *group)
{
	const char *name = group->first.name;

	if (begins(name, "[stack"))
		return RVP_CATEGORY_STACK;
	if (begins(name, "[vdso]") || begins(name, "[vvar"))
		return RVP_CATEGORY_CODE;
	if (name[0] != '/' || is_shared_memory(name))
		return RVP_CATEGORY_UNKNOWN;
	return group->is_executable ? RVP_CATEGORY_CODE : RVP_CATEGORY_FILE;
}

static void emit_group(struct look *look)
{
	const struct group *group = &look->group;
	const char *name = group->first.name[0] ? group->first.name : "[anon]";

	if (group->rss_bytes || group->swap_bytes)
		RVP_EMIT(look->thread, REGION, strlen(name), .stamp = look->stamp, .pid = rvp_process.pid,
			 .category = category_of(group), .start = group->first.start,
			 .mapped_bytes = group->mapped_bytes, .rss_bytes = group->rss_bytes,
			 .swap_bytes = group->swap_bytes, .name = {name, strlen(name)});
	memset(&look->group, 0, sizeof look->group);
}

static void begin_group(struct look *look, const struct rvp_map_line *line)
{
	bool is_same = look->group.mapped_bytes && line->inode == look->group.first.inode &&
		       !strcmp(line->name, look->group.first.name);

	if (!is_same) {
		emit_group(look);
		look->group.first = *line;
	}
	look->group.mapped_bytes += line->end - line->start;
	look->group.is_executable |= line->is_executable;
}

static bool see_line(struct look *look, struct rvp_page_reader *reader, const struct rvp_map_line *line)
{
	begin_group(look, line);
	look->kind = range_of(line);
	look->region = line->start;
	look->wants_runs = look->kind != RVP_RANGE_FILE ||
			   (!line->is_executable && line->end - line->start >= LEAST_FILE_BYTES);
	if (begins(line->name, "[v")) /* the kernel's: vvar is no memory, vdso is a page of code */
		return true;
	if (!rvp_page_runs(reader, line->start, line->end, see_run, look))
		return false;
	emit_run(look);
	return true;
}

static void emit_own(struct look *look)
{
	uint64_t address, bytes;

	for (unsigned i = 0; i < RVP_OWN_RANGES_MAX; i++)
		if (rvp_own_range(i, &address, &bytes))
			RVP_EMIT(look->thread, OWN_RANGE, 0, .stamp = look->stamp, .address = address,
				 .bytes = bytes);
}

static void walk(struct look *look)
{
	struct rvp_map_lines lines = {
	    .fd = rvp_descriptor_use(RVP_DESCRIPTOR_MAPS), .text = text, .room_bytes = TEXT_BYTES};
	struct rvp_page_reader reader = {.fd = rvp_descriptor_use(RVP_DESCRIPTOR_PAGEMAP),
					 .room = pages,
					 .room_bytes = PAGES_BYTES,
					 .has_no_scan = has_no_scan,
					 .ahead_end = user_end - PAGE_BYTES};
	struct rvp_map_line line;

	if (lines.fd < 0 || reader.fd < 0)
		return;
	emit_own(look);
	while (rvp_map_lines_next(&lines, &line) && line.end <= user_end)
		if (!see_line(look, &reader, &line))
			break;
	emit_group(look);
	has_no_scan = reader.has_no_scan;
}

void rvp_resident_look(struct rvp_thread *thread, uint64_t stamp, uint64_t rss_bytes)
{
	struct look look = {.thread = thread, .stamp = stamp};
	uint64_t begin_cpu_ns;

	if (!take_turn())
		return;
	begin_cpu_ns = cpu_ns();
	walk(&look);
	atomic_store(&last_cost_ns, cpu_ns() - begin_cpu_ns);
	atomic_fetch_add(&spent_ns, last_cost_ns);
	atomic_store(&looked_rss_bytes, rss_bytes);
	if (rss_bytes > highest_rss_bytes)
		atomic_store(&highest_rss_bytes, rss_bytes);
	atomic_store(&looked_ns, rvp_monotonic_ns());
	atomic_store(&is_looking, 0);
}

void rvp_resident_after_fork(void)
{
	atomic_store(&is_looking, 0);
	atomic_store(&highest_rss_bytes, 0);
	atomic_store(&looked_rss_bytes, 0);
	atomic_store(&looked_ns, 0);
	atomic_store(&spent_ns, 0);
	atomic_store(&last_cost_ns, 0);
	atomic_store(&begin_ns, 0);
}
