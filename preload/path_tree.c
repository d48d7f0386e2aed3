/* SPDX-License-Identifier: MIT */
/* path_tree.c: see path_tree.h. Nodes lie in chunks by number; tables find them by hash, each four times as
 * big as the one before. A full table stays, and what is found in it is entered in the newest on the way. */
#include "preload/path_tree.h"

#include "preload/own.h"

enum {
	FIRST_CAPACITY = 1 << 12,
	LAST_CAPACITY = 1 << 22,
	GROWTH = 4,
	NUMBER_BITS = 22,
	NUMBER_MASK = (1 << NUMBER_BITS) - 1
};
_Static_assert((int)RVP_NODES_MAX < (int)LAST_CAPACITY, "the last table has a free place whatever happens");

/* A place holds tag << 22 | number, 0 when free; the tag is the top ten bits of the path's hash. */
struct rvp_path_table {
	struct rvp_path_table *older;
	uint32_t capacity; /* a power of two */
	_Atomic uint32_t used;
	_Atomic uint32_t places[];
};

struct key {
	uint64_t frame, hash;
	uint32_t parent, era;
};

static uint64_t hash_of(uint64_t frame, uint32_t parent, uint32_t era)
{
	uint64_t hash = (frame ^ (uint64_t)era << 40) * 0x9e3779b97f4a7c15;

	hash = (hash ^ hash >> 29 ^ parent) * 0xbf58476d1ce4e5b9;
	return hash ^ hash >> 32;
}

static uint32_t tag_of(const struct key *key)
{
	return (uint32_t)(key->hash >> 54);
}

static struct rvp_path_node *node_at(struct rvp_path_tree *tree, uint32_t number)
{
	struct rvp_path_node *chunk =
	    atomic_load_explicit(&tree->chunks[number / RVP_NODES_CHUNK], memory_order_acquire);

	return chunk + number % RVP_NODES_CHUNK;
}

static bool is_node(struct rvp_path_tree *tree, uint32_t number, const struct key *key)
{
	const struct rvp_path_node *node = node_at(tree, number);

	return node->frame == key->frame && node->parent == key->parent && node->era == key->era;
}

/* The number of a path in one table, or 0; *place: where it is, or where it would go. */
static uint32_t look_up(struct rvp_path_tree *tree, struct rvp_path_table *table, const struct key *key,
			uint32_t *place)
{
	uint32_t mask = table->capacity - 1, at = (uint32_t)key->hash & mask, tag = tag_of(key);

	for (uint32_t i = 0; i < table->capacity; i++, at = (at + 1) & mask) {
		uint32_t found = atomic_load_explicit(&table->places[at], memory_order_acquire);

		*place = at;
		if (!found)
			return 0;
		if (found >> NUMBER_BITS == tag && is_node(tree, found & NUMBER_MASK, key))
			return found & NUMBER_MASK;
	}
	*place = UINT32_MAX;
	return 0;
}

static size_t table_bytes(uint32_t capacity)
{
	return sizeof(struct rvp_path_table) + capacity * sizeof(uint32_t);
}

/* The newest table, or one four times as big in front of it when it is three quarters full. NULL: there is
 * none.
 */
static struct rvp_path_table *roomy_table(struct rvp_path_tree *tree)
{
	struct rvp_path_table *table = atomic_load_explicit(&tree->newest, memory_order_acquire), *bigger;
	uint32_t capacity = table ? GROWTH * table->capacity : FIRST_CAPACITY;

	if (table && (table->capacity >= LAST_CAPACITY ||
		      atomic_load_explicit(&table->used, memory_order_relaxed) < table->capacity / 4 * 3))
		return table;
	bigger = rvp_own_map(table_bytes(capacity));
	if (!bigger)
		return table;
	bigger->older = table;
	bigger->capacity = capacity;
	if (atomic_compare_exchange_strong(&tree->newest, &table, bigger))
		return bigger;
	rvp_own_unmap(bigger, table_bytes(capacity));
	return table;
}

/* Publishes `number` for a path: the number that is now the path's. 0: the table is full. */
static uint32_t publish(struct rvp_path_tree *tree, struct rvp_path_table *table, const struct key *key,
			uint32_t number)
{
	uint32_t entry = tag_of(key) << NUMBER_BITS | number, place, found, expected;

	for (;;) {
		found = look_up(tree, table, key, &place);
		if (found || place == UINT32_MAX)
			return found;
		expected = 0;
		if (!atomic_compare_exchange_strong(&table->places[place], &expected, entry))
			continue;
		atomic_fetch_add_explicit(&table->used, 1, memory_order_relaxed);
		return number;
	}
}

static uint32_t look_up_older(struct rvp_path_tree *tree, struct rvp_path_table *table, const struct key *key)
{
	uint32_t place, number;

	for (struct rvp_path_table *older = table->older; older; older = older->older) {
		number = look_up(tree, older, key, &place);
		if (number)
			return publish(tree, table, key, number);
	}
	return 0;
}

static bool make_chunk(struct rvp_path_tree *tree, uint32_t number)
{
	_Atomic(struct rvp_path_node *) *slot = &tree->chunks[number / RVP_NODES_CHUNK];
	struct rvp_path_node *chunk = NULL, *made;

	if (atomic_load_explicit(slot, memory_order_acquire))
		return true;
	made = rvp_own_map(RVP_NODES_CHUNK * sizeof *made);
	if (made && !atomic_compare_exchange_strong(slot, &chunk, made))
		rvp_own_unmap(made, RVP_NODES_CHUNK * sizeof *made);
	return made != NULL;
}

/* A fresh number with a filled-in node that nobody else sees yet; 0: none left. */
static uint32_t make_node(struct rvp_path_tree *tree, const struct key *key)
{
	uint32_t number = atomic_load_explicit(&tree->number_count, memory_order_relaxed);

	do
		if (number >= RVP_NODES_MAX - 1 || !make_chunk(tree, number + 1))
			return 0;
	while (!atomic_compare_exchange_weak(&tree->number_count, &number, number + 1));
	*node_at(tree, number + 1) = (struct rvp_path_node){key->frame, key->parent, key->era};
	return number + 1;
}

static __attribute__((noinline)) uint32_t add(struct rvp_path_tree *tree, struct rvp_thread *thread,
					      const struct key *key, void *context)
{
	struct rvp_path_table *table = roomy_table(tree);
	uint32_t number = table ? look_up_older(tree, table, key) : 0;

	if (number || !table)
		return number;
	number = make_node(tree, key);
	if (!number || !tree->emit(thread, number, key->parent, key->frame, context))
		return 0;
	return publish(tree, table, key, number);
}

uint32_t rvp_path_tree_node(struct rvp_path_tree *tree, struct rvp_thread *thread, uint32_t parent,
			    uint64_t frame, uint32_t era, void *context)
{
	struct key key = {frame, hash_of(frame, parent, era), parent, era};
	struct rvp_path_table *table = atomic_load_explicit(&tree->newest, memory_order_acquire);
	uint32_t place, number = table ? look_up(tree, table, &key, &place) : 0;

	return number ? number : add(tree, thread, &key, context);
}

void rvp_path_tree_reset(struct rvp_path_tree *tree)
{
	struct rvp_path_table *table = atomic_load(&tree->newest), *older;

	for (; table; table = older) {
		older = table->older;
		rvp_own_unmap(table, table_bytes(table->capacity));
	}
	for (int i = 0; i < RVP_NODES_CHUNKS; i++) {
		struct rvp_path_node *chunk = atomic_exchange(&tree->chunks[i], NULL);

		if (chunk)
			rvp_own_unmap(chunk, RVP_NODES_CHUNK * sizeof *chunk);
	}
	atomic_store(&tree->newest, NULL);
	atomic_store(&tree->number_count, 0);
}
