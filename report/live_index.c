/* SPDX-License-Identifier: MIT */
/* live_index.c: see live_index.h. Split and merge of treaps; freed nodes are chained by `left`. */
#include "report/live_index.h"

#include <stdlib.h>
#include <string.h>

bool rvp_live_index_open(struct rvp_live_index *index, size_t process_count)
{
	*index = (struct rvp_live_index){.seed = 2463534242u, .process_count = process_count};
	index->roots = calloc(process_count + 1, sizeof *index->roots);
	return index->roots != NULL;
}

static struct rvp_live_node *node_at(const struct rvp_live_index *index, uint32_t number)
{
	return &index->nodes[number - 1];
}

static uint32_t next_priority(struct rvp_live_index *index)
{
	index->seed ^= index->seed << 13;
	index->seed ^= index->seed >> 17;
	index->seed ^= index->seed << 5;
	return index->seed;
}

static uint32_t make(struct rvp_live_index *index, const struct rvp_block *block)
{
	uint32_t number = index->free;

	if (number) {
		index->free = node_at(index, number)->left;
	} else {
		if (index->count == index->room) {
			uint32_t room = index->room ? index->room * 2 : 256;
			struct rvp_live_node *more = realloc(index->nodes, room * sizeof *more);

			if (!more)
				return 0;
			index->nodes = more;
			index->room = room;
		}
		number = ++index->count;
	}
	*node_at(index, number) = (struct rvp_live_node){.block = *block, .priority = next_priority(index)};
	return number;
}

/* *low gets what lies below `address`, *high the rest. */
static void split(struct rvp_live_index *index, uint32_t tree, uint64_t address, uint32_t *low,
		  uint32_t *high)
{
	while (tree) {
		struct rvp_live_node *node = node_at(index, tree);

		if (node->block.address < address) {
			*low = tree;
			low = &node->right;
			tree = node->right;
		} else {
			*high = tree;
			high = &node->left;
			tree = node->left;
		}
	}
	*low = *high = 0;
}

static uint32_t merge(struct rvp_live_index *index, uint32_t low, uint32_t high)
{
	uint32_t root = 0, *place = &root;

	while (low && high) {
		struct rvp_live_node *below = node_at(index, low), *above = node_at(index, high);

		if (below->priority >= above->priority) {
			*place = low;
			place = &below->right;
			low = below->right;
		} else {
			*place = high;
			place = &above->left;
			high = above->left;
		}
	}
	*place = low ? low : high;
	return root;
}

static void give_back(struct rvp_live_index *index, uint32_t number)
{
	node_at(index, number)->left = index->free;
	index->free = number;
}

/* Takes the tree apart along its right-hand chain; depth stays small because left subtrees are hung over. */
static void give_back_all(struct rvp_live_index *index, uint32_t tree)
{
	while (tree) {
		struct rvp_live_node *node = node_at(index, tree);
		uint32_t left = node->left, right = node->right;

		if (left) { /* rotate right: the left child becomes the root of what is left to do */
			node->left = node_at(index, left)->right;
			node_at(index, left)->right = tree;
			tree = left;
			continue;
		}
		give_back(index, tree);
		tree = right;
	}
}

bool rvp_live_index_put(struct rvp_live_index *index, uint32_t process, const struct rvp_block *block)
{
	uint64_t end = block->address + (block->bytes ? block->bytes : 1);
	uint32_t low, middle, high, number;
	const struct rvp_block *over;

	if (process >= index->process_count || end < block->address)
		return true;
	over = rvp_live_index_find(index, process, block->address);
	if (over)
		rvp_live_index_remove(index, process, over->address);
	number = make(index, block);
	if (!number)
		return false;
	split(index, index->roots[process], block->address, &low, &middle);
	split(index, middle, end, &middle, &high);
	give_back_all(index, middle);
	index->roots[process] = merge(index, merge(index, low, number), high);
	return true;
}

void rvp_live_index_remove(struct rvp_live_index *index, uint32_t process, uint64_t address)
{
	uint32_t low, middle, high;

	if (process >= index->process_count || address == UINT64_MAX)
		return;
	split(index, index->roots[process], address, &low, &middle);
	split(index, middle, address + 1, &middle, &high);
	give_back_all(index, middle);
	index->roots[process] = merge(index, low, high);
}

void rvp_live_index_clear(struct rvp_live_index *index, uint32_t process)
{
	if (process >= index->process_count)
		return;
	give_back_all(index, index->roots[process]);
	index->roots[process] = 0;
}

const struct rvp_block *rvp_live_index_find(const struct rvp_live_index *index, uint32_t process,
					    uint64_t address)
{
	uint32_t tree = process < index->process_count ? index->roots[process] : 0;
	const struct rvp_block *best = NULL;

	while (tree) {
		const struct rvp_live_node *node = node_at(index, tree);

		if (node->block.address > address) {
			tree = node->left;
			continue;
		}
		best = &node->block;
		tree = node->right;
	}
	if (!best || (address - best->address >= best->bytes && address != best->address))
		return NULL;
	return best;
}

const struct rvp_block *rvp_live_index_next(const struct rvp_live_index *index, uint32_t process,
					    uint64_t address)
{
	uint32_t tree = process < index->process_count ? index->roots[process] : 0;
	const struct rvp_block *best = NULL;

	while (tree) {
		const struct rvp_live_node *node = node_at(index, tree);

		if (node->block.address >= address)
			best = &node->block;
		tree = node->block.address >= address ? node->left : node->right;
	}
	return best;
}

void rvp_live_index_free(struct rvp_live_index *index)
{
	free(index->nodes);
	free(index->roots);
	memset(index, 0, sizeof *index);
}
