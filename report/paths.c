/* SPDX-License-Identifier: MIT */
/* paths.c: one number for each call path. The library forgets paths to bound its memory, and gives a path
 * that comes again another number (preload/path_tree.h): here all numbers of a path become one, and the
 * tables of nodes shrink to one node a path. Code objects of the same text and line are one likewise.
 *
 * A process's nodes are read by the numbers of its log, then renumbered once, in place: a path's number is
 * never above the lowest of its numbers in the log. Records and sums are translated where they come in
 * (rvp_number_paths), so that nobody else knows of it.
 *
 * Invariants
 *   (R1) A node's parent has a lower number, so following `parent` from any node ends at 0, whatever the log
 * said. (R2) Two nodes differ in parent or frame; but a native frame that lies where different files were
 * loaded in turn is a node each time it was told: what it names depends on when.
 */
#include "report/run_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct key {
	uint64_t frame; /* 0: no node */
	uint32_t parent, flag;
};

/* Addresses that different files held in turn. */
struct range {
	uint64_t start, end;
};

struct paths {
	struct rvp_process *process;
	uint32_t *number_of; /* by number in the log */
	struct place {
		uint32_t hash, number; /* number 0: empty */
	} * places;
	size_t mask, count; /* count: nodes so far, the unused 0 included */
	struct range *shared;
	size_t shared_count;
};

/* What differs between the two trees. */
struct tree {
	struct key (*key)(const struct rvp_process *process, size_t number);
	void (*keep)(struct rvp_process *process, size_t from, size_t to, uint32_t parent);
	bool is_native;
};

static struct key native_key(const struct rvp_process *process, size_t number)
{
	const struct rvp_node *node = &process->nodes[number];

	return (struct key){node->pc, node->parent, node->exact};
}

static void keep_native(struct rvp_process *process, size_t from, size_t to, uint32_t parent)
{
	process->nodes[to] = process->nodes[from];
	process->nodes[to].parent = parent;
}

static struct key python_key(const struct rvp_process *process, size_t number)
{
	const struct rvp_python_node *node = &process->python_nodes[number];

	return (struct key){node->code ? (uint64_t)node->code << 32 | node->instruction : 0, node->parent,
			    node->is_entry};
}

static void keep_python(struct rvp_process *process, size_t from, size_t to, uint32_t parent)
{
	process->python_nodes[to] = process->python_nodes[from];
	process->python_nodes[to].parent = parent;
}

static const struct tree native_tree = {native_key, keep_native, true},
			 python_tree = {python_key, keep_python, false};

static uint32_t hash_of(const struct key *key)
{
	uint64_t hash = (key->frame ^ (uint64_t)key->flag << 63) * 0x9e3779b97f4a7c15u;

	hash = (hash ^ hash >> 32 ^ key->parent) * 0xc2b2ae3d27d4eb4fu;
	return (uint32_t)(hash >> 32);
}

static bool same_key(struct key a, struct key b)
{
	return a.frame == b.frame && a.parent == b.parent && a.flag == b.flag;
}

/* (R2) */
static bool is_shared(const struct paths *paths, const struct tree *tree, const struct key *key)
{
	size_t low = 0, high = tree->is_native ? paths->shared_count : 0, count = high;
	uint64_t pc = key->frame - !key->flag;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (paths->shared[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && paths->shared[low].start <= pc;
}

static bool resize_places(struct paths *paths, size_t place_count)
{
	size_t mask = place_count - 1, old_count = paths->places ? paths->mask + 1 : 0;
	struct place *places = calloc(place_count, sizeof *places);

	if (!places)
		return false;
	for (size_t i = 0; i < old_count; i++) {
		size_t at = paths->places[i].hash & mask;

		if (!paths->places[i].number)
			continue;
		while (places[at].number)
			at = (at + 1) & mask;
		places[at] = paths->places[i];
	}
	free(paths->places);
	paths->places = places;
	paths->mask = mask;
	return true;
}

/* Where the path's number is, or is to be entered. */
static uint32_t *place_of(const struct paths *paths, const struct tree *tree, const struct key *key)
{
	uint32_t hash = hash_of(key);
	size_t at = hash & paths->mask;

	for (; paths->places[at].number; at = (at + 1) & paths->mask)
		if (paths->places[at].hash == hash &&
		    same_key(tree->key(paths->process, paths->places[at].number), *key))
			break;
	paths->places[at].hash = hash;
	return &paths->places[at].number;
}

/* Gives the node with `from` in the log its number. False without memory. */
static bool number_node(struct paths *paths, const struct tree *tree, size_t from)
{
	struct key key = tree->key(paths->process, from);
	uint32_t alone = 0, *place = &alone;

	if (!key.frame)
		return true;
	key.parent = key.parent < from ? paths->number_of[key.parent] : 0;
	if (paths->count * 4 > (paths->mask + 1) * 3 && !resize_places(paths, (paths->mask + 1) * 2))
		return false;
	if (!is_shared(paths, tree, &key))
		place = place_of(paths, tree, &key);
	if (!*place) {
		tree->keep(paths->process, from, paths->count, key.parent);
		*place = (uint32_t)paths->count++;
	}
	paths->number_of[from] = *place;
	return true;
}

static size_t first_place_count(size_t node_count)
{
	size_t place_count = 1024;

	while (place_count < node_count / 2)
		place_count *= 2;
	return place_count;
}

/* `*number_of` stays NULL where every number is its path's already. */
static bool number_tree(struct paths *paths, const struct tree *tree, size_t *count, uint32_t **number_of)
{
	bool is_done;

	if (!*count)
		return true;
	paths->count = 1;
	paths->number_of = calloc(*count, sizeof *paths->number_of);
	is_done = paths->number_of && resize_places(paths, first_place_count(*count));
	for (size_t i = 1; i < *count && is_done; i++)
		is_done = number_node(paths, tree, i);
	free(paths->places);
	paths->places = NULL;
	if (is_done && paths->count < *count)
		*number_of = paths->number_of;
	else
		free(paths->number_of);
	*count = is_done ? paths->count : 0;
	return is_done;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_code(const struct rvp_code *a, const struct rvp_code *b)
{
	return a->first_line == b->first_line && a->version == b->version &&
	       a->lines_bytes == b->lines_bytes && same_text(a->name, b->name) &&
	       same_text(a->file, b->file) &&
	       (!a->lines_bytes || memcmp(a->lines, b->lines, a->lines_bytes) == 0);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

static size_t home_of_code(const struct rvp_code *code, size_t mask)
{
	uint64_t hash = hash_bytes(code->first_line, code->name, strlen(code->name));

	hash = hash_bytes(hash, code->file, strlen(code->file));
	return hash_bytes(hash, code->lines, code->lines_bytes) & mask;
}

/* The first code object with the text of each: in `first`, by number. */
static void find_codes(const struct rvp_process *process, uint32_t *first, uint32_t *places, size_t mask)
{
	for (size_t i = 1; i < process->code_count; i++) {
		const struct rvp_code *code = &process->codes[i];
		size_t at;

		first[i] = (uint32_t)i;
		if (!code->name || !code->file)
			continue;
		for (at = home_of_code(code, mask); places[at]; at = (at + 1) & mask)
			if (same_code(code, &process->codes[places[at]]))
				break;
		if (!places[at])
			places[at] = (uint32_t)i;
		first[i] = places[at];
	}
}

static bool merge_codes(struct rvp_process *process)
{
	size_t place_count = 64;
	uint32_t *first, *places;

	while (place_count < process->code_count * 2)
		place_count *= 2;
	first = calloc(process->code_count + 1, sizeof *first);
	places = calloc(place_count, sizeof *places);
	if (first && places) {
		find_codes(process, first, places, place_count - 1);
		for (size_t i = 1; i < process->python_node_count; i++)
			if (process->python_nodes[i].code < process->code_count)
				process->python_nodes[i].code = first[process->python_nodes[i].code];
	}
	free(places);
	free(first);
	return first && places;
}

static int compare_starts(const void *left, const void *right)
{
	const struct rvp_module *const *a = left, *const *b = right;

	return (*a)->start < (*b)->start ? -1 : (*a)->start > (*b)->start;
}

static bool same_module(const struct rvp_module *a, const struct rvp_module *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias && a->device == b->device &&
	       a->inode == b->inode && a->file_bytes == b->file_bytes && a->modified_ns == b->modified_ns &&
	       a->build_id_bytes == b->build_id_bytes &&
	       (!a->build_id_bytes || memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0) &&
	       same_text(a->path, b->path);
}

/* Modules that overlap, one by one from the lowest: a run of them is shared unless it is one file. */
static void collect_shared(struct paths *paths, const struct rvp_module **modules, size_t count)
{
	for (size_t i = 0, next; i < count; i = next) {
		uint64_t end = modules[i]->end;
		bool is_one = true;

		for (next = i + 1; next < count && modules[next]->start < end; next++) {
			is_one &= same_module(modules[i], modules[next]);
			end = modules[next]->end > end ? modules[next]->end : end;
		}
		if (!is_one)
			paths->shared[paths->shared_count++] = (struct range){modules[i]->start, end};
	}
}

static bool find_shared(struct paths *paths)
{
	size_t count = paths->process->module_count;
	const struct rvp_module **modules = calloc(count + 1, sizeof *modules);

	paths->shared = calloc(count + 1, sizeof *paths->shared);
	if (modules && paths->shared) {
		for (size_t i = 0; i < count; i++)
			modules[i] = &paths->process->modules[i];
		qsort(modules, count, sizeof *modules, compare_starts);
		collect_shared(paths, modules, count);
	}
	free(modules);
	return modules && paths->shared;
}

static uint64_t number_at(const uint32_t *number_of, size_t count, uint64_t number)
{
	if (!number_of)
		return number;
	return number < count ? number_of[number] : 0;
}

static void number_folds(const struct rvp_process_source *source)
{
	for (size_t i = 0; i < source->log.fold_count; i++) {
		uint64_t key = atomic_load(&source->log.folds[i].key);
		uint64_t stack = number_at(source->node_numbers, source->node_numbers_count, (key - 1) >> 32);
		uint64_t python =
		    number_at(source->python_numbers, source->python_numbers_count, (uint32_t)(key - 1));

		if (key)
			atomic_store(&source->log.folds[i].key,
				     rvp_fold_key((uint32_t)stack, (uint32_t)python));
	}
}

/* Gives back what the tables do not need any more. */
static void shrink(struct rvp_process *process)
{
	struct rvp_node *nodes = reallocarray(process->nodes, process->node_count + 1, sizeof *nodes);
	struct rvp_python_node *python_nodes =
	    reallocarray(process->python_nodes, process->python_node_count + 1, sizeof *python_nodes);

	process->nodes = nodes ? nodes : process->nodes;
	process->python_nodes = python_nodes ? python_nodes : process->python_nodes;
}

struct rvp_status rvp_scan_paths(struct rvp_process *process)
{
	struct rvp_process_source *source = process->source;
	struct paths paths = {.process = process};
	bool is_done;

	source->node_numbers_count = process->node_count;
	source->python_numbers_count = process->python_node_count;
	is_done = find_shared(&paths) && merge_codes(process) &&
		  number_tree(&paths, &native_tree, &process->node_count, &source->node_numbers) &&
		  number_tree(&paths, &python_tree, &process->python_node_count, &source->python_numbers);
	free(paths.shared);
	if (!is_done)
		return rvp_fail("read", process->folder, ENOMEM);
	shrink(process);
	number_folds(source);
	return RVP_OK;
}

void rvp_number_paths(const struct rvp_process_source *source, struct rvp_record *record)
{
	const struct rvp_schema *schema = &rvp_schemas[record->kind];

	if (!source->node_numbers && !source->python_numbers)
		return;
	for (unsigned i = 0; i < schema->field_count; i++) {
		uint64_t *value = (uint64_t *)((char *)&record->ALLOC + schema->fields[i].offset);

		if (schema->fields[i].kind == 'S')
			*value = number_at(source->node_numbers, source->node_numbers_count, *value);
		else if (schema->fields[i].kind == 'P')
			*value = number_at(source->python_numbers, source->python_numbers_count, *value);
	}
}
