/* SPDX-License-Identifier: MIT */
/* ledger_look.c: see ledger_look.h. */
#include "report/ledger_look.h"

#include "report/map_table.h"
#include "report/other_allocator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 1 << 20, HEAD_BYTES = 8, STEP_BYTES = 1 << 20 };

/* ---- the records ---- */

static bool ends_with(const struct rvp_text *name, const char *with)
{
	size_t length = strlen(with);

	return name->length >= length && !memcmp(name->bytes + name->length - length, with, length);
}

static bool is_ours(const struct rvp_text *name)
{
	return ends_with(name, "/" RVP_BUFFER_FILE) || ends_with(name, "/" RVP_TREE_FILE) ||
	       ends_with(name, "/librvprof.so") || ends_with(name, "/" RVP_LOG_FILE);
}

static void add(struct rvp_ledger_sums *sums, enum rvp_ledger_part part, uint64_t bytes, uint64_t resident)
{
	sums->parts[part].bytes += bytes;
	sums->parts[part].resident_bytes += resident;
}

/* Where a library's zeroed data begin, if it has any. */
static bool note_end_of_code(struct rvp_look *look, const struct rvp_record_REGION *region)
{
	uint64_t end = region->start + region->mapped_bytes;

	return region->category != RVP_CATEGORY_CODE ||
	       rvp_named_range_add(&look->behind_code, (struct rvp_named_range){end, end, RVP_PART_CODE});
}

static void note_allocator(struct rvp_ledger_sums *sums, const struct rvp_text *path)
{
	size_t length;
	const char *name = rvp_other_allocator(path->bytes, path->length, &length);

	if (name)
		snprintf(sums->other_allocator, sizeof sums->other_allocator, "%.*s", (int)length, name);
}

/* Anonymous regions are told by their runs. */
static bool take_region(struct rvp_look *look, const struct rvp_record_REGION *region)
{
	struct rvp_ledger_sums *sums = look->sums;
	struct rvp_ledger_amount amount = {region->mapped_bytes, region->rss_bytes};

	sums->swap_bytes += region->swap_bytes;
	sums->pss_bytes += region->pss_bytes;
	note_allocator(sums, &region->name);
	if (is_ours(&region->name))
		add(sums, RVP_PART_OWN, amount.bytes, amount.resident_bytes);
	else if (region->category == RVP_CATEGORY_CODE)
		add(sums, RVP_PART_CODE, amount.bytes, amount.resident_bytes);
	else if (region->category == RVP_CATEGORY_STACK)
		add(sums, RVP_PART_STACK, amount.bytes, amount.resident_bytes);
	else if (region->category == RVP_CATEGORY_FILE) {
		add(sums, RVP_PART_FILE, amount.bytes, amount.resident_bytes);
		rvp_ledger_add_file(sums, region->name.bytes, region->name.length, amount, region->start);
	} else if (region->name.length && region->name.bytes[0] == '/') {
		add(sums, RVP_PART_SHMEM, amount.bytes, amount.resident_bytes);
	}
	return note_end_of_code(look, region);
}

static bool take_run(struct rvp_look *look, const struct rvp_record_RESIDENT *record)
{
	uint64_t end = record->address + record->bytes;

	look->has_pages = true;
	if (!record->bytes || end < record->address || record->resident_bytes > record->bytes ||
	    record->kind > RVP_RANGE_FILE || look->run_count == RUNS_MAX)
		return true;
	if (look->run_count == look->run_room) {
		size_t room = look->run_room ? look->run_room * 2 : 256;
		struct rvp_look_run *more = realloc(look->runs, room * sizeof *more);

		if (!more)
			return false;
		look->runs = more;
		look->run_room = room;
	}
	look->runs[look->run_count++] =
	    (struct rvp_look_run){record->address,       record->bytes,  record->resident_bytes,
				  record->swapped_bytes, record->region, (uint32_t)record->kind};
	return true;
}

/* Small blocks by purpose, as the sites know them at the first record; mappings and large ones come off at
 * the close. */
static void take_sites(struct rvp_ledger_sums *sums, uint32_t process, const struct rvp_state *state)
{
	for (size_t i = 0; i < state->site_count; i++)
		if (state->sites[i].process == process && state->sites[i].purpose < RVP_PURPOSES_MAX)
			sums->by_purpose[state->sites[i].purpose].bytes += state->sites[i].live.bytes;
}

static bool begin(struct rvp_look *look, const struct rvp_moment *moment, const struct rvp_state *state)
{
	struct rvp_ledger_sums *sums = calloc(1, sizeof *sums);

	if (!sums)
		return false;
	free(look->sums);
	look->sums = sums;
	look->ns = moment->ns;
	look->is_open = true;
	look->has_pages = false;
	look->run_count = look->named.count = look->behind_code.count = 0;
	take_sites(sums, moment->process, state);
	return true;
}

bool rvp_look_take(struct rvp_look *look, const struct rvp_event *event, const struct rvp_state *state)
{
	const struct rvp_record *record = event->moment->record;

	if (record->kind == RVP_SNAPSHOT) {
		look->snapshot = record->SNAPSHOT;
		look->snapshot_ns = event->moment->ns;
		return true;
	}
	if ((!look->is_open || look->ns != event->moment->ns) && !begin(look, event->moment, state))
		return false;
	switch (record->kind) {
	case RVP_REGION: return take_region(look, &record->REGION);
	case RVP_RESIDENT: return take_run(look, &record->RESIDENT);
	case RVP_OWN_RANGE:
		return rvp_named_range_add(&look->named, (struct rvp_named_range){record->OWN_RANGE.address,
										  record->OWN_RANGE.address +
										      record->OWN_RANGE.bytes,
										  RVP_PART_OWN});
	default: return true;
	}
}

/* ---- whose a page is ---- */

struct walk {
	struct rvp_look *look;
	const struct rvp_ledger_ranges *ranges;
	const struct rvp_state *state;
	uint32_t process;
	bool is_allocators;  /* of the region that the run lies in */
	bool is_behind_code; /* likewise: it begins where a library's files end */
	uint64_t pool_bytes; /* resident, the allocator's, beyond large blocks */
	uint64_t large_bytes[RVP_PURPOSES_MAX],
	    mapped_bytes[RVP_PURPOSES_MAX];           /* requested; resident in sums */
	uint64_t blocks_bytes, blocks_resident_bytes; /* large blocks that are no mappings */
};

static int by_start(const void *left, const void *right)
{
	const struct rvp_named_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* The last that starts at or before `address`; `next` gets the start of the one behind it. */
static const struct rvp_named_range *named_at(const struct rvp_look *look, uint64_t address, uint64_t *next)
{
	const struct rvp_named_range *ranges = look->named.ranges;
	size_t low = 0, high = look->named.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < look->named.count && ranges[low].start < *next)
		*next = ranges[low].start;
	return low && address < ranges[low - 1].end ? &ranges[low - 1] : NULL;
}

static const struct rvp_block *block_at(const struct rvp_live_index *index, uint32_t process,
					uint64_t address, uint64_t *next)
{
	const struct rvp_block *block = rvp_live_index_find(index, process, address), *behind;

	if (block)
		return block;
	behind = rvp_live_index_next(index, process, address);
	if (behind && behind->address < *next)
		*next = behind->address;
	return NULL;
}

static uint16_t purpose_of(const struct walk *walk, const struct rvp_block *block)
{
	const struct rvp_block *now = rvp_matched_block(walk->state->matcher, walk->process, block->address);
	uint32_t split = now ? now->split : block->split;

	if (split >= walk->state->site_count || walk->state->sites[split].purpose >= RVP_PURPOSES_MAX)
		return RVP_CATEGORY_UNKNOWN;
	return walk->state->sites[split].purpose;
}

static uint16_t mapped_purpose(const struct walk *walk, const struct rvp_block *block)
{
	if (block->split >= walk->state->site_count ||
	    walk->state->sites[block->split].purpose >= RVP_PURPOSES_MAX)
		return RVP_CATEGORY_UNKNOWN;
	return walk->state->sites[block->split].purpose;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void give_to_purpose(struct walk *walk, uint16_t purpose, const struct rvp_look_run *run,
			    uint64_t resident)
{
	struct rvp_ledger_sums *sums = walk->look->sums;

	sums->by_purpose[purpose].resident_bytes += resident;
	/* The row of its region has it already. */
	if (run->kind == RVP_RANGE_FILE) {
		rvp_ledger_take_from_file(sums, run->region, resident);
		sums->parts[RVP_PART_FILE].resident_bytes -=
		    least(resident, sums->parts[RVP_PART_FILE].resident_bytes);
	} else if (run->kind == RVP_RANGE_SHARED)
		sums->parts[RVP_PART_SHMEM].resident_bytes -=
		    least(resident, sums->parts[RVP_PART_SHMEM].resident_bytes);
}

/* What is no block's: [at, end) of the run, `next` is where something else may begin. Returns where it ends.
 */
static uint64_t give_to_rest(struct walk *walk, const struct rvp_look_run *run, uint64_t at, uint64_t next,
			     double density)
{
	struct rvp_ledger_sums *sums = walk->look->sums;
	const struct rvp_named_range *named = named_at(walk->look, at, &next);
	const struct rvp_block *reserved;
	uint64_t end, resident;

	if (run->kind != RVP_RANGE_ANON && run->kind != RVP_RANGE_HEAP)
		return next; /* its region's row has it */
	reserved = block_at(&walk->ranges->reserved, walk->process, at, &next);
	end = named      ? least(next, named->end)
	      : reserved ? least(next, reserved->address + reserved->bytes)
			 : next;
	resident = (uint64_t)((double)(end - at) * density + 0.5);
	if (named)
		add(sums, named->part, end - at, resident);
	else if (reserved)
		add(sums, RVP_PART_RESERVED, end - at, resident);
	else if (walk->is_allocators)
		walk->pool_bytes += resident;
	else if (walk->is_behind_code)
		add(sums, RVP_PART_CODE, end - at, resident);
	return end;
}

static void take_apart(struct walk *walk, const struct rvp_look_run *run)
{
	double density = (double)run->resident_bytes / (double)run->bytes;
	uint64_t end = run->address + run->bytes;

	for (uint64_t at = run->address, next; at < end; at = next) {
		const struct rvp_block *block, *mapped = NULL;
		uint64_t resident;

		next = end;
		block = block_at(&walk->ranges->blocks, walk->process, at, &next);
		if (!block)
			mapped = block_at(&walk->state->maps->index, walk->process, at, &next);
		if (!block && (!mapped || mapped->split == RVP_NOT_COUNTED)) {
			if (mapped)
				next = least(next, mapped->address + mapped->bytes);
			next = give_to_rest(walk, run, at, next, density);
			continue;
		}
		next = block ? least(next, block->address + block->bytes)
			     : least(next, mapped->address + mapped->bytes);
		resident = (uint64_t)((double)(next - at) * density + 0.5);
		give_to_purpose(walk, block ? purpose_of(walk, block) : mapped_purpose(walk, mapped), run,
				resident);
		walk->blocks_resident_bytes += block ? resident : 0;
	}
}

bool rvp_look_has_blocks(const struct rvp_look *look, size_t number, uint32_t process,
			 const struct rvp_ledger_ranges *ranges, size_t *behind)
{
	uint64_t region = look->runs[number].region;
	bool found = look->runs[number].kind == RVP_RANGE_HEAP;

	for (*behind = number; *behind < look->run_count && look->runs[*behind].region == region;
	     (*behind)++) {
		const struct rvp_look_run *run = &look->runs[*behind];

		for (uint64_t at = run->address; !found && at < run->address + run->bytes; at += STEP_BYTES)
			found = rvp_ledger_has_blocks(ranges, process, at);
		found = found ||
			rvp_ledger_has_blocks(ranges, process, run->address + run->bytes - 1);
	}
	return found;
}

static bool is_behind_code(const struct rvp_look *look, uint64_t region)
{
	for (size_t i = 0; i < look->behind_code.count; i++)
		if (look->behind_code.ranges[i].start == region)
			return true;
	return false;
}

static void take_apart_all(struct walk *walk)
{
	size_t behind;

	for (size_t i = 0; i < walk->look->run_count; i = behind) {
		walk->is_allocators = rvp_look_has_blocks(walk->look, i, walk->process, walk->ranges, &behind);
		walk->is_behind_code = is_behind_code(walk->look, walk->look->runs[i].region);
		for (size_t k = i; k < behind; k++)
			take_apart(walk, &walk->look->runs[k]);
	}
}

/* ---- small blocks ---- */

static void count_large(struct walk *walk)
{
	const struct rvp_live_index *blocks = &walk->ranges->blocks, *maps = &walk->state->maps->index;
	const struct rvp_block *block;

	for (block = rvp_live_index_next(blocks, walk->process, 0); block;
	     block = rvp_live_index_next(blocks, walk->process, block->address + 1)) {
		walk->large_bytes[purpose_of(walk, block)] += block->bytes;
		walk->blocks_bytes += block->bytes;
	}
	for (block = rvp_live_index_next(maps, walk->process, 0); block;
	     block = rvp_live_index_next(maps, walk->process, block->address + 1))
		if (block->split != RVP_NOT_COUNTED)
			walk->mapped_bytes[mapped_purpose(walk, block)] += block->bytes;
}

/* Requested bytes of small blocks, by the records an estimate in sampled mode. */
static uint64_t small_of(const struct walk *walk, int purpose)
{
	uint64_t all = walk->look->sums->by_purpose[purpose].bytes;
	uint64_t large = walk->large_bytes[purpose] + walk->mapped_bytes[purpose];

	return all > large ? all - large : 0;
}

/* The pool = small blocks + rounding + heads of chunks + free. Live usable bytes are counted, and stand above
 * the records; what is not touched yet of small blocks can't be told, and makes the pool smaller than they
 * are. */
static void divide_pool(struct walk *walk)
{
	struct rvp_ledger_sums *sums = walk->look->sums;
	const struct rvp_record_SNAPSHOT *snapshot = &walk->look->snapshot;
	uint64_t usable = snapshot->live_usable_bytes, small = 0, rounding, left = walk->pool_bytes, heads;
	bool is_fork = walk->state->run->processes[walk->process].is_fork;

	usable -= least(usable, walk->blocks_bytes);
	for (int i = 0; i < RVP_PURPOSES_MAX; i++)
		small += small_of(walk, i);
	heads = HEAD_BYTES * snapshot->live_count;
	rounding = usable > small ? usable - small : 0;
	usable = least(usable, left);
	for (int i = 0; small && i < RVP_PURPOSES_MAX; i++) {
		uint64_t part = (uint64_t)((double)small_of(walk, i) * least(usable, small) / (double)small);

		sums->by_purpose[i].resident_bytes += part;
		left -= least(part, left);
	}
	rounding = least(rounding + heads, left);
	add(sums, RVP_PART_ROUNDING, rounding, rounding);
	left -= rounding;
	add(sums, is_fork ? RVP_PART_INHERITED : RVP_PART_FREE, left, left);
	sums->allocator_bytes = walk->pool_bytes + walk->blocks_resident_bytes;
	sums->live_usable_bytes = snapshot->live_usable_bytes;
	sums->live_count = snapshot->live_count;
}

static bool name_ranges(struct walk *walk)
{
	const struct rvp_process *process = &walk->state->run->processes[walk->process];
	const struct rvp_named_ranges *stacks = &walk->ranges->stacks[walk->process];
	struct rvp_named_ranges *named = &walk->look->named;
	bool good = true;

	for (size_t i = 0; i < stacks->count && good; i++)
		good = rvp_named_range_add(named, stacks->ranges[i]);
	for (size_t i = 0; i < process->module_count && good; i++) {
		const struct rvp_module *module = &process->modules[i];
		struct rvp_text path = {module->path, strlen(module->path)};

		if (module->load_ns <= walk->look->ns && walk->look->ns < module->unload_ns)
			good = rvp_named_range_add(
			    named, (struct rvp_named_range){module->start, module->end,
							    is_ours(&path) ? RVP_PART_OWN : RVP_PART_CODE});
	}
	if (named->count)
		qsort(named->ranges, named->count, sizeof *named->ranges, by_start);
	return good;
}

bool rvp_look_close(struct rvp_look *look, uint32_t process, const struct rvp_ledger_ranges *ranges,
		    const struct rvp_state *state)
{
	struct walk *walk = calloc(1, sizeof *walk);
	bool good;

	look->is_open = false;
	if (!walk)
		return false;
	*walk = (struct walk){.look = look, .ranges = ranges, .state = state, .process = process};
	look->sums->rss_bytes =
	    look->snapshot.rss_anon_bytes + look->snapshot.rss_file_bytes + look->snapshot.rss_shmem_bytes;
	look->sums_ns = look->ns;
	good = name_ranges(walk);
	if (good) {
		count_large(walk);
		take_apart_all(walk);
		divide_pool(walk);
		rvp_ledger_order_files(look->sums);
	}
	free(walk);
	return good;
}

void rvp_look_free(struct rvp_look *look)
{
	free(look->runs);
	free(look->named.ranges);
	free(look->behind_code.ranges);
	free(look->sums);
	memset(look, 0, sizeof *look);
}
