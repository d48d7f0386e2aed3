/* SPDX-License-Identifier: MIT */
/* path_tree.c: see path_tree.h. Tables of sets: two cache lines of five paths with their numbers. A set that
 * is full makes the next table, eight times as big; in the last table the oldest number of a set makes room.
 * Tables before the newest stay as they are: what is found there is entered in the newest on the way.
 *
 *   (T1) A place's number is 0 (free), TAKEN while its path is being written, or the number that the path
 * beside it has. It leaves 0 or an old number only by compare-and-swap to TAKEN, so a place has one writer.
 *   (T2) A reader takes a number when it was there before and after the path was read. Since a number stands
 * for one path for ever (P2), it cannot have come back with another. (T3) A place that is TAKEN is passed
 * over by readers and writers: nobody waits, not even for a thread that a signal stopped for good there.
 */
#include "preload/path_tree.h"

#include "preload/own.h"

enum { LINE_PLACES = RVP_PATH_NODES_A_SET / 2, CLAIMS_MAX = 4 };
static const uint32_t taken = UINT32_MAX;

struct line {
	_Atomic uint64_t path[LINE_PLACES];
	_Atomic uint32_t number[LINE_PLACES];
	uint32_t unused;
};

struct set {
	struct line line[2];
};
_Static_assert(sizeof(struct set) == RVP_PATH_SET_BYTES, "a line of the table is one of the cache");

struct rvp_path_table {
	struct rvp_path_table *older;
	uint32_t set_count;                             /* a power of two */
	_Alignas(RVP_PATH_SET_BYTES) struct set sets[]; /* pairs of lines come from memory together */
};

struct place {
	_Atomic uint64_t *path;
	_Atomic uint32_t *number;
	uint32_t seen; /* the number that was there */
};

static struct set *set_of(struct rvp_path_table *table, uint64_t path)
{
	return &table->sets[path & (table->set_count - 1)];
}

static uint32_t find_in_line(const struct line *line, uint64_t path)
{
	for (int i = 0; i < LINE_PLACES; i++) {
		uint32_t number;

		if (atomic_load_explicit(&line->path[i], memory_order_relaxed) != path)
			continue;
		number = atomic_load_explicit(&line->number[i], memory_order_acquire);
		if (number == 0 || number == taken ||
		    atomic_load_explicit(&line->path[i], memory_order_relaxed) != path)
			continue;
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&line->number[i], memory_order_relaxed) == number)
			return number;
	}
	return 0;
}

static uint32_t find(struct rvp_path_table *table, uint64_t path)
{
	const struct set *set = set_of(table, path);
	uint32_t number = find_in_line(&set->line[0], path);

	return number ? number : find_in_line(&set->line[1], path);
}

static uint32_t find_in_older(const struct rvp_path_table *table, uint64_t path)
{
	uint32_t number = 0;

	for (struct rvp_path_table *older = table->older; older && !number; older = older->older)
		number = find(older, path);
	return number;
}

static size_t table_bytes(uint32_t set_count)
{
	return sizeof(struct rvp_path_table) + set_count * sizeof(struct set);
}

/* Puts the next bigger table in front of `table`; false: there is no bigger one. */
static bool grow(struct rvp_path_tree *tree, struct rvp_path_table *table)
{
	uint32_t set_count = table ? RVP_PATH_GROWTH * table->set_count
				   : tree->last_sets / (RVP_PATH_GROWTH * RVP_PATH_GROWTH);
	struct rvp_path_table *bigger =
	    set_count <= tree->last_sets ? rvp_own_map(table_bytes(set_count)) : NULL;

	if (!bigger)
		return false;
	bigger->older = table;
	bigger->set_count = set_count;
	if (!atomic_compare_exchange_strong(&tree->newest, &table, bigger))
		rvp_own_unmap(bigger, table_bytes(set_count));
	return true;
}

/* The place of a set that is free, else the one with the oldest number. */
static struct place oldest_place(struct set *set)
{
	struct place oldest = {NULL, NULL, taken};

	for (int i = 0; i < RVP_PATH_NODES_A_SET && oldest.seen; i++) {
		struct line *line = &set->line[i / LINE_PLACES];
		_Atomic uint32_t *number = &line->number[i % LINE_PLACES];
		uint32_t seen = atomic_load_explicit(number, memory_order_relaxed);

		if (seen < oldest.seen)
			oldest = (struct place){&line->path[i % LINE_PLACES], number, seen};
	}
	return oldest;
}

static void write_place(const struct place *place, uint64_t path, uint32_t number)
{
	atomic_thread_fence(
	    memory_order_release); /* whoever reads the new path sees that the old number is gone */
	atomic_store_explicit(place->path, path, memory_order_relaxed);
	atomic_store_explicit(place->number, number, memory_order_release);
}

/* Enters a path that has a number; where others are too quick it stays without a place. */
static void enter(struct rvp_path_tree *tree, uint64_t path, uint32_t number)
{
	struct rvp_path_table *table;

	for (int i = 0; i < CLAIMS_MAX && (table = atomic_load_explicit(&tree->newest, memory_order_acquire));
	     i++) {
		struct place place = oldest_place(set_of(table, path));

		if (!place.number)
			return;
		if (place.seen && grow(tree, table))
			continue;
		if (atomic_compare_exchange_strong(place.number, &place.seen, taken)) {
			write_place(&place, path, number);
			return;
		}
	}
}

static uint32_t next_number(struct rvp_path_tree *tree)
{
	uint32_t count = atomic_load_explicit(&tree->number_count, memory_order_relaxed);

	do
		if (count >= taken - 1)
			return 0;
	while (!atomic_compare_exchange_weak(&tree->number_count, &count, count + 1));
	return count + 1;
}

/* A number without a record goes back, if nobody took the next one: the reader expects few gaps. */
static void give_back(struct rvp_path_tree *tree, uint32_t number)
{
	atomic_compare_exchange_strong(&tree->number_count, &number, number - 1);
}

static __attribute__((noinline)) uint32_t add(struct rvp_path_tree *tree, struct rvp_thread *thread,
					      uint64_t path, uint32_t parent, uint64_t frame, void *context)
{
	struct rvp_path_table *table = atomic_load_explicit(&tree->newest, memory_order_acquire);
	uint32_t number = table ? find_in_older(table, path) : 0;

	if (!table && !grow(tree, NULL))
		return 0;
	if (!number) {
		number = next_number(tree);
		if (!number)
			return 0;
		if (!tree->emit(thread, number, parent, frame, context)) {
			give_back(tree, number);
			return 0;
		}
	}
	enter(tree, path, number);
	return number;
}

uint32_t rvp_path_tree_number(struct rvp_path_tree *tree, struct rvp_thread *thread, uint64_t path,
			      uint32_t parent, uint64_t frame, void *context)
{
	struct rvp_path_table *table = atomic_load_explicit(&tree->newest, memory_order_acquire);
	uint32_t number = table ? find(table, path) : 0;

	return number ? number : add(tree, thread, path, parent, frame, context);
}

uint32_t rvp_path_tree_known(struct rvp_path_tree *tree, uint64_t path)
{
	struct rvp_path_table *table = atomic_load_explicit(&tree->newest, memory_order_acquire);
	uint32_t number = table ? find(table, path) : 0;

	if (number || !table)
		return number;
	number = find_in_older(table, path);
	if (number)
		enter(tree, path, number);
	return number;
}

uint32_t rvp_path_tree_frames(struct rvp_path_tree *tree, struct rvp_thread *thread, uint32_t count, uint64_t root)
{
	uint64_t path = root;
	uint32_t number, next;

	for (uint32_t i = count; i--;)
		path = rvp_path_below(path, thread->frames[i]);
	number = count ? rvp_path_tree_known(tree, path) : 0;
	if (number)
		return number;
	for (uint32_t i = count; i--; number = next) {
		root = rvp_path_below(root, thread->frames[i]);
		next = rvp_path_tree_number(tree, thread, root, number, thread->frames[i], NULL);
		if (!next) {
			rvp_lose(RVP_LOSS_STACK_TABLE, 1);
			break;
		}
	}
	return number;
}

void rvp_path_tree_reset(struct rvp_path_tree *tree)
{
	struct rvp_path_table *table = atomic_load(&tree->newest), *older;

	for (; table; table = older) {
		older = table->older;
		rvp_own_unmap(table, table_bytes(table->set_count));
	}
	atomic_store(&tree->newest, NULL);
	atomic_store(&tree->number_count, 0);
}
